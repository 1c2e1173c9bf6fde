// Dialogs: a yes before something that cannot be undone, and a form that stays open until what it asks for is done.

import { button, h, show } from "../dom.js";
import { failure } from "./notice.js";

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
        h("button", { type: "button", autofocus: true, on: { click: close(false) } }, "Leave it"),
      ),
    );
    dialog.addEventListener("cancel", close(false));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Ask for the values of `controls`; `send` does it and may refuse. Resolves to what it returned, or null where it was left. */
export function sheet(title, controls, word, send) {
  return new Promise((resolve) => {
    const told = h("div", { "aria-live": "polite" });
    const close = (value) => (dialog.close(), dialog.remove(), resolve(value));
    const submit = async (event) => {
      event.preventDefault();
      main.disabled = true;
      try {
        close((await send()) ?? true);
      } catch (error) {
        show(told, failure(error));
        main.disabled = false;
      }
    };
    const main = h("button", { class: "main" }, word);
    const form = h("form", { class: "stack", on: { submit } }, h("h2", {}, title), controls, told, h("div", { class: "row" }, main, button("Leave it", () => close(null))));
    const dialog = h("dialog", { "aria-label": title }, form);
    dialog.addEventListener("cancel", () => close(null));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Words of a field with commas between them. */
export function words(text) {
  return text.split(",").map((one) => one.trim()).filter(Boolean);
}
