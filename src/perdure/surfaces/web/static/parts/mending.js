// Correcting memory where an error is seen: correct the words, declare a fact wrong, restore it, forget it. All but forgetting can be undone.

import { verb } from "../api.js";
import { button, field, h } from "../dom.js";
import { icon } from "../icons.js";
import { go } from "../route.js";
import { sheet } from "./dialogs.js";
import { toast } from "./notice.js";

/** The actions on a fact; `compact`: icons alone, with their keys. */
export function actions(bank, fact, { compact = false } = {}) {
  if (fact.type === "observation") return compact ? null : h("p", { class: "faint" }, "A profile follows its sources: correct the facts below, and it is written anew.");
  const act = (name, text, click, props = {}) =>
    compact ? button(icon(name), click, { ...props, title: text, "aria-label": `${text}: ${fact.text.slice(0, 80)}` }) : button([icon(name), h("span", {}, text)], click, { ...props, class: `${props.class ?? ""} iconed` });
  const isWrong = Boolean(fact.invalidated_at);
  const list = [
    act("edit", "Correct", () => correct(bank, fact), { "data-key": compact ? "c" : null }),
    isWrong ? act("restore", "Restore", () => restore(bank, fact)) : !fact.retired_at && act("wrong", "Declare wrong", () => invalidate(bank, fact), { "data-key": compact ? "x" : null }),
    act("forget", "Forget", () => erase(bank, fact), { class: "danger" }),
  ];
  return compact ? list : h("div", { class: "row actions" }, list);
}

export const redraw = () => dispatchEvent(new HashChangeEvent("hashchange"));

function correct(bank, fact) {
  const text = h("textarea", { required: true, value: fact.text });
  const speaker = h("input", { value: fact.speaker ?? "" });
  const controls = [h("p", { class: "faint" }, "The old wording stays as history."), field("What is right", text), field("Said by", speaker)];
  return sheet("Correct this fact", controls, "Correct", async () => {
    const changes = {};
    if (text.value.trim() !== fact.text) changes.text = text.value.trim();
    if (speaker.value.trim() !== (fact.speaker ?? "")) changes.speaker = speaker.value.trim();
    if (!Object.keys(changes).length) return;
    const changed = await verb(bank, "facts.update", { fact_id: fact.id, ...changes });
    const before = Object.fromEntries(Object.keys(changes).map((name) => [name, fact[name] ?? ""]));
    toast("Corrected.", () => verb(bank, "facts.update", { fact_id: changed.id, ...before }).then(redraw));
    arrive(bank, changed.id, fact.id);
  });
}

async function invalidate(bank, fact) {
  const reason = h("input", { placeholder: "What is wrong with it" });
  const told = h("p", { class: "faint" }, "It is no longer recalled, and whatever rests on it is judged without it.");
  await sheet("Declare this fact wrong", [told, h("p", {}, fact.text), field("Reason", reason)], "Declare wrong", async () => {
    await verb(bank, "facts.invalidate", { fact_id: fact.id, reason: reason.value.trim() || null });
    toast("Declared wrong.", () => restore(bank, fact));
    redraw();
  });
}

async function restore(bank, fact) {
  try {
    await verb(bank, "facts.restore", { fact_id: fact.id });
    toast("Restored.");
    redraw();
  } catch (error) {
    toast(error.message);
  }
}

async function erase(bank, fact) {
  const { forget } = await import("./forgetting.js");
  try {
    if (!(await forget(bank, { fact_id: fact.id }, "Forget this fact?"))) return;
    if (location.hash.includes("/fact/")) go(bank, "facts");
    else redraw();
  } catch (error) {
    toast(error.message);
  }
}

/** Show the corrected fact where the old one was shown. */
function arrive(bank, id, shown) {
  if (id !== shown && location.hash.includes("/fact/")) go(bank, "fact", id);
  else redraw();
}
