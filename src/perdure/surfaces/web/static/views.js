// The views, in the order of the list at the side.

import { open as ask } from "./views/ask.js";
import { open as entity } from "./views/entity.js";
import { open as fact } from "./views/fact.js";
import { open as facts } from "./views/facts.js";
import { open as opinions } from "./views/opinions.js";
import { open as people } from "./views/people.js";
import { open as questions } from "./views/questions.js";

/** name in the address, title, sign beside it, group in the list (none: reached by links alone), and what draws it. */
export const VIEWS = [
  { name: "ask", title: "Ask", sign: "?", group: "Memory", open: ask },
  { name: "facts", title: "Facts", sign: "≡", group: "Memory", open: facts },
  { name: "people", title: "People and things", sign: "☺", group: "Memory", open: people },
  { name: "opinions", title: "Opinions", sign: "◐", group: "Memory", open: opinions },
  { name: "questions", title: "Questions", sign: "‽", group: "Memory", open: questions },
  { name: "fact", title: "Fact", sign: "", group: "", open: fact },
  { name: "entity", title: "Person or thing", sign: "", group: "", open: entity },
];
