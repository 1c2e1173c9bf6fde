// What went wrong, what is empty, what was done.

import { button, h, show } from "../dom.js";

const SHOWN_MS = 4000;
const UNDO_MS = 12_000;

export function failure(error) {
  const wait = error.retryAfter ? ` Try again in ${error.retryAfter} s.` : "";
  return h("div", { class: "card wrong", role: "alert" }, h("strong", {}, "That did not work. "), error.message, wait);
}

/** An empty view: what it would show, and how to fill it. */
export function empty(...content) {
  return h("p", { class: "empty" }, content);
}

/** Say what was done; `undo` takes it back. */
export function toast(text, undo = null) {
  for (const old of document.querySelectorAll(".toast")) old.remove();
  const shown = h("div", { class: "toast", role: "status" }, text);
  if (undo) {
    const takeBack = async () => {
      try {
        await undo();
        show(shown, "Undone.");
      } catch (error) {
        show(shown, error.message);
      }
    };
    shown.append(button("Undo", takeBack));
  }
  document.body.append(shown);
  setTimeout(() => shown.remove(), undo ? UNDO_MS : SHOWN_MS);
}
