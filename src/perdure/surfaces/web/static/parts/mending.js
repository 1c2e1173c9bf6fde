// Putting a fact right: correct its words, declare it wrong, take that back, forget it.

import { verb } from "../api.js";
import { button, field, h } from "../dom.js";
import { go } from "../route.js";
import { sheet, words } from "./dialogs.js";
import { forget } from "./forgetting.js";
import { toast } from "./notice.js";

export function mending(bank, fact) {
  const actions = [
    button("✎ Correct", () => correct(bank, fact)),
    fact.invalidated_at ? button("↺ Restore", () => restore(bank, fact)) : !fact.retired_at && button("✕ Declare wrong", () => invalidate(bank, fact)),
    button("Forget…", () => erase(bank, fact), { class: "danger" }),
  ];
  return h("div", { class: "row actions" }, actions);
}

function correct(bank, fact) {
  const text = h("textarea", { required: true, value: fact.text });
  const speaker = h("input", { value: fact.speaker });
  const tags = h("input", { value: [...fact.tags].join(", ") });
  const told = h("p", { class: "faint" }, "The old words are kept, closed, as history; the new ones take their place.");
  return sheet("Correct this fact", [told, field("What is right", text), field("Said by", speaker), field("Tags", tags, "With commas between.")], "Correct", async () => {
    const changes = {};
    if (text.value.trim() !== fact.text) changes.text = text.value.trim();
    if (speaker.value.trim() !== fact.speaker) changes.speaker = speaker.value.trim();
    const named = words(tags.value);
    if (named.sort().join() !== [...fact.tags].sort().join()) changes.tags = named;
    if (!Object.keys(changes).length) return;
    const changed = await verb(bank, "facts.update", { fact_id: fact.id, ...changes });
    toast("Corrected.");
    arrive(bank, changed.id, fact.id);
  });
}

function invalidate(bank, fact) {
  const reason = h("input", { placeholder: "what is wrong with it" });
  const told = h("p", { class: "faint" }, "It is no longer recalled, and what rests on it is judged without it. It can be restored.");
  return sheet("Declare it wrong", [told, field("Reason", reason)], "Declare wrong", async () => {
    await verb(bank, "facts.invalidate", { fact_id: fact.id, reason: reason.value.trim() || null });
    toast("Declared wrong.");
    arrive(bank, fact.id, fact.id);
  });
}

async function restore(bank, fact) {
  try {
    await verb(bank, "facts.restore", { fact_id: fact.id });
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
