// What went wrong, what is empty, what was done.

import { h } from "../dom.js";

export function failure(error) {
  const wait = error.retryAfter ? ` Try again in ${error.retryAfter} s.` : "";
  return h("div", { class: "card wrong", role: "alert" }, h("strong", {}, "✕ That did not work. "), error.message, wait);
}

export function empty(text) {
  return h("p", { class: "empty" }, text);
}

export function toast(text) {
  const shown = h("div", { class: "card toast", role: "status" }, text);
  document.body.append(shown);
  setTimeout(() => shown.remove(), 4000);
}
