// Keys: / searches, j and k go through a list, Enter opens, c corrects, x declares wrong, Escape leaves, ? lists the keys.

import { h } from "./dom.js";
import { notice } from "./parts/dialogs.js";
import { current, go } from "./route.js";

const ROWS = ".fact[tabindex], .cards > a, .list > li > a, .list > li > button";
export const KEYS = [
  ["/", "Ask memory"],
  ["j, k", "Next and previous row"],
  ["Enter", "Open the row in the drawer"],
  ["c", "Correct the row"],
  ["x", "Declare the row wrong"],
  ["1 to 9", "Decide the first question, in Review"],
  ["Escape", "Close the drawer, a dialog or a field"],
  ["?", "This list"],
];

export function listen() {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const at = document.activeElement;
    const isTyping = at?.matches("input, textarea, select");
    if (event.key === "Escape") {
      if (isTyping) at.blur();
      document.querySelector(".drawer .close")?.click();
    } else if (isTyping) return;
    else if (event.key === "/") ask(event);
    else if (event.key === "?") help();
    else if (event.key === "j") move(event, 1);
    else if (event.key === "k") move(event, -1);
    else if (event.key === "Enter" && at?.matches(".fact")) at.querySelector("a")?.click();
    else if (at?.closest(".fact")) at.closest(".fact").querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
    else document.querySelector(`#content [data-key="${CSS.escape(event.key)}"]`)?.click();
  });
}

function help() {
  notice("Keys", h("dl", { class: "pairs" }, KEYS.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])));
}

function ask(event) {
  event.preventDefault();
  const box = document.getElementById("question");
  if (box) box.focus();
  else go(current().bank, "ask");
}

function move(event, by) {
  const rows = [...document.querySelectorAll(ROWS)].filter((one) => one.checkVisibility());
  if (!rows.length) return;
  event.preventDefault();
  const place = rows.indexOf(document.activeElement);
  const row = rows[Math.max(0, Math.min(rows.length - 1, place + by))];
  row.focus();
  if (document.querySelector(".drawer") && row.matches(".fact")) row.querySelector("a")?.click();
}
