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

/** Ask before something that cannot be undone; resolves to whether it was wanted. */
export function confirm(title, content, word) {
  return new Promise((resolve) => {
    const close = (value) => () => (dialog.close(), dialog.remove(), resolve(value));
    const dialog = h(
      "dialog",
      { "aria-label": title },
      h("h2", {}, title),
      content,
      h(
        "div",
        { class: "row" },
        h("button", { type: "button", class: "danger", on: { click: close(true) } }, word),
        h("button", { type: "button", on: { click: close(false) } }, "Leave it"),
      ),
    );
    dialog.addEventListener("cancel", close(false));
    document.body.append(dialog);
    dialog.showModal();
  });
}
