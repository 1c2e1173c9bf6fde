// Who is who: make two entities one, make one two, or forget one.

import { verb } from "../api.js";
import { button, field, h, show } from "../dom.js";
import { plural } from "../format.js";
import { go } from "../route.js";
import { confirm } from "./dialogs.js";
import { forget } from "./forgetting.js";
import { redraw } from "./mending.js";
import { empty, failure, toast } from "./notice.js";

const FOUND = 8;
const SPLIT = 100;
/** A merge of more facts cannot be undone at once. */
const UNDONE = 1000;

export function identity(bank, entity) {
  const body = h("div");
  const show1 = (part) => async () => {
    show(body, h("div", { class: "card" }, await part(bank, entity)));
    body.querySelector("input")?.focus();
  };
  const erase = async () => {
    try {
      if (await forget(bank, { entity_id: entity.id }, `Forget ${entity.name} and everything that mentions it?`)) go(bank, "people");
    } catch (error) {
      toast(error.message);
    }
  };
  return h("div", {}, h("div", { class: "row actions" }, button("Merge with…", show1(merging)), button("Split…", show1(splitting)), button("Forget…", erase, { class: "danger" })), body);
}

/** Choose the entity that is the same; it goes, and its names become aliases. */
function merging(bank, entity) {
  const choices = h("ul", { class: "list" });
  const search = async (event) => {
    const text = event.target.value.trim();
    if (!text) return show(choices);
    try {
      const others = (await verb(bank, "entities.list", { text, limit: FOUND + 1 })).filter((one) => one.id !== entity.id);
      show(choices, others.length ? others.map((one) => h("li", {}, button(`${one.name} (${one.type}, ${plural(one.mentions, "mention")})`, () => merge(bank, entity, one)))) : empty("Nobody else has this name."));
    } catch (error) {
      show(choices, failure(error));
    }
    return undefined;
  };
  return [field(`Who is the same as ${entity.name}?`, h("input", { type: "search", on: { input: search } })), choices];
}

/** Merge another entity into one; undone by a split of its facts. */
export async function merge(bank, entity, other) {
  const told = h("p", {}, `${plural(other.mentions, "mention")} of ${other.name} will count as mentions of ${entity.name}, and ${other.name} becomes another name of ${entity.name}. No fact is lost.`);
  if (!(await confirm(`Merge ${other.name} into ${entity.name}?`, told, "Merge"))) return;
  await carryOut(async () => {
    const { facts } = await verb(bank, "facts.list", { entity: other.id, limit: UNDONE, where: { include_closed: true, include_expired: true } });
    await verb(bank, "entities.merge", { keep: entity.id, absorb: other.id });
    const undo = () => verb(bank, "entities.split", { entity_id: entity.id, name: other.name, fact_ids: facts.map((one) => one.id) }).then(redraw);
    toast(`${other.name} is now ${entity.name}.`, facts.length < UNDONE ? undo : null);
    redraw();
  });
}

/** Choose the facts that are about somebody else of the same name. */
async function splitting(bank, entity) {
  const page = await verb(bank, "facts.list", { entity: entity.id, limit: SPLIT, where: { include_closed: true, include_expired: true } });
  const name = h("input", { required: true, value: "" });
  const ticks = page.facts.map((fact) => {
    const tick = h("input", { type: "checkbox", id: `split-${fact.id}`, value: fact.id });
    return [tick, h("li", { class: "tick" }, tick, h("label", { for: tick.id }, fact.text))];
  });
  const submit = async (event) => {
    event.preventDefault();
    const ids = ticks.filter(([tick]) => tick.checked).map(([tick]) => tick.value);
    if (!ids.length) return toast("Choose the facts that are about the other one.");
    return split(bank, entity, name.value.trim(), ids);
  };
  return h(
    "form",
    { on: { submit } },
    field("Name of the other one", name),
    h("p", { class: "faint" }, `Which of these are not about ${entity.name}?`, page.total > SPLIT && ` The ${SPLIT} recorded last of ${page.total}.`),
    h("ul", { class: "plain choices" }, ticks.map(([, row]) => row)),
    h("button", { class: "main" }, "Split"),
  );
}

async function split(bank, entity, name, ids) {
  const told = h("p", {}, `${plural(ids.length, "fact")} will mention ${name} instead of ${entity.name}. No fact goes. A merge undoes this.`);
  if (!(await confirm(`Split ${name} from ${entity.name}?`, told, "Split"))) return;
  await carryOut(async () => {
    const other = await verb(bank, "entities.split", { entity_id: entity.id, name, fact_ids: ids });
    toast(`${name} is now separate.`);
    go(bank, "entity", other.id);
  });
}

async function carryOut(act) {
  try {
    await act();
  } catch (error) {
    toast(error.message);
  }
}
