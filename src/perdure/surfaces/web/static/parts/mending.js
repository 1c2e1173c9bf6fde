// Putting a fact right: correct its words, declare it wrong, take that back, forget it.

import { verb } from "../api.js";
import { button, field, h } from "../dom.js";
import { go } from "../route.js";
import { forget } from "./forgetting.js";
import { failure, toast } from "./notice.js";

export function mending(bank, fact) {
  const actions = [
    button("✎ Correct", () => correct(bank, fact)),
    fact.invalidated_at ? button("↺ Restore", () => restore(bank, fact)) : !fact.retired_at && button("✕ Declare wrong", () => invalidate(bank, fact)),
    button("Forget…", () => erase(bank, fact), { class: "danger" }),
  ];
  return h("div", { class: "row actions" }, actions);
}

/** Ask for something in a dialog; `send` does it, and what it refuses is told there. */
function ask(title, text, fields, word, send) {
  const told = h("div");
  const close = () => (dialog.close(), dialog.remove());
  const submit = async (event) => {
    event.preventDefault();
    try {
      await send();
      close();
    } catch (error) {
      told.replaceChildren(failure(error));
    }
  };
  const dialog = h(
    "dialog",
    { "aria-label": title },
    h("h2", {}, title),
    h("p", { class: "faint" }, text),
    h("form", { on: { submit } }, fields, told, h("div", { class: "row" }, h("button", { class: "main" }, word), button("Leave it", close))),
  );
  dialog.addEventListener("cancel", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function correct(bank, fact) {
  const text = h("textarea", { required: true, value: fact.text });
  const speaker = h("input", { value: fact.speaker });
  const tags = h("input", { value: [...fact.tags].join(", ") });
  const fields = [field("What is right", text), field("Said by", speaker), field("Tags", tags)];
  ask("Correct this fact", "The old words are kept, closed, as history; the new ones take their place.", fields, "Correct", async () => {
    const changes = {};
    if (text.value.trim() !== fact.text) changes.text = text.value.trim();
    if (speaker.value.trim() !== fact.speaker) changes.speaker = speaker.value.trim();
    const named = tags.value.split(",").map((one) => one.trim()).filter(Boolean);
    if (named.sort().join() !== [...fact.tags].sort().join()) changes.tags = named;
    if (!Object.keys(changes).length) return;
    const changed = await verb(bank, "update_fact", { fact_id: fact.id, ...changes });
    toast("Corrected.");
    arrive(bank, changed.id, fact.id);
  });
}

function invalidate(bank, fact) {
  const reason = h("input", { placeholder: "what is wrong with it" });
  ask("Declare it wrong", "It is no longer recalled, and what rests on it is judged without it. It can be restored.", [field("Reason", reason)], "Declare wrong", async () => {
    await verb(bank, "invalidate_fact", { fact_id: fact.id, reason: reason.value.trim() || null });
    toast("Declared wrong.");
    arrive(bank, fact.id, fact.id);
  });
}

async function restore(bank, fact) {
  try {
    await verb(bank, "restore_fact", { fact_id: fact.id });
    toast("Restored.");
    arrive(bank, fact.id, fact.id);
  } catch (error) {
    toast(error.message);
  }
}

async function erase(bank, fact) {
  try {
    if (await forget(bank, { fact_id: fact.id }, "Forget this fact?")) go(bank, "facts");
  } catch (error) {
    toast(error.message);
  }
}

/** Show a fact: the same one is drawn anew. */
function arrive(bank, id, shown) {
  if (id === shown) dispatchEvent(new HashChangeEvent("hashchange"));
  else go(bank, "fact", id);
}
