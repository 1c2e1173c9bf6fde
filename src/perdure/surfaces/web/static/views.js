// The views, in the order of the list at the side.

import { open as ask } from "./views/ask.js";

/** name in the address, title, sign beside it, group in the list (none: reached by links alone), and what draws it. */
export const VIEWS = [{ name: "ask", title: "Ask", sign: "?", group: "Memory", open: ask }];
