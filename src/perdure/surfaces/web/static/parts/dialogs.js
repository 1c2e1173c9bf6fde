// Dialogs: a yes before something that cannot be undone, and a form that stays open until what it asks for is done.

import { button, h, show } from "../dom.js";
import { failure } from "./notice.js";

/**
 * Ask before something that cannot be undone. `content` may still be on its way: there is no yes before it is there. The dialog stands
 * while `act` does it, and tells what it refuses. Resolves to what `act` returned, or to false where it was left.
 */
export function confirm(title, content, word, act = () => true) {
  return new Promise((resolve) => {
    const told = h("div", { "aria-live": "polite" }, h("p", { class: "faint" }, "Checking what this would change …"));
    const close = (value) => (dialog.close(), dialog.remove(), resolve(value));
    const carryOut = async () => {
      yes.disabled = true;
      try {
        close(await act());
      } catch (error) {
        show(told, failure(error));
      }
    };
    const yes = button(word, carryOut, { class: "danger", disabled: true });
    const leave = button("Cancel", () => close(false), { autofocus: true });
    const dialog = h("dialog", { "aria-label": title }, h("h2", {}, title), told, h("div", { class: "row" }, yes, leave));
    dialog.addEventListener("cancel", () => close(false));
    document.body.append(dialog);
    dialog.showModal();
    Promise.resolve(content).then(
      (shown) => (show(told, shown), (yes.disabled = false)),
      (error) => show(told, failure(error)),
    );
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
    const form = h("form", { class: "stack", on: { submit } }, h("h2", {}, title), controls, told, h("div", { class: "row" }, main, button("Cancel", () => close(null))));
    const dialog = h("dialog", { "aria-label": title }, form);
    dialog.addEventListener("cancel", () => close(null));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Show something to read. */
export function notice(title, ...content) {
  const dialog = h("dialog", { "aria-label": title }, h("h2", {}, title), content, h("div", { class: "row" }, button("Close", () => dialog.close(), { class: "main", autofocus: true })));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Words of a field with commas between them. */
export function words(text) {
  return text.split(",").map((one) => one.trim()).filter(Boolean);
}
