// Facts by their ids, for what rests on them.

import { verb } from "../api.js";
import { button, h } from "../dom.js";
import { row as factRow } from "./fact.js";

const MOST = 100;

/** The facts of `ids` with their numbers; those that are gone are named so. */
export async function citedFacts(bank, ids) {
  const asked = ids.slice(0, MOST);
  const facts = asked.length ? await verb(bank, "facts.get_many", { fact_ids: asked }) : [];
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  return h(
    "div",
    {},
    asked.map((id, place) => row(bank, byId.get(id), id, place + 1)),
    ids.length > MOST && h("p", { class: "faint" }, `and ${ids.length - MOST} more`),
  );
}

function row(bank, fact, id, number) {
  if (fact) return factRow(bank, fact, { place: number });
  return h("article", { class: "fact", id: `fact-${id}`, tabindex: 0 }, h("div", { class: "place" }, number), h("div", { class: "faint" }, "no longer in memory"));
}

/** A sentence whose numbers lead to its facts; to hover it or focus a number lights them up in `facts`. */
export function sentence(tag, text, ids, numbers, facts, props = {}) {
  const find = (id) => facts.querySelector(`#${CSS.escape(`fact-${id}`)}`);
  const lit = (on) => () => ids.forEach((id) => find(id)?.classList.toggle("lit", on));
  const cite = (id) => button(`[${numbers.get(id)}]`, () => find(id)?.focus(), { class: "plain cite", "aria-label": `Fact ${numbers.get(id)}` });
  return h(
    tag,
    { ...props, class: `sentence ${props.class ?? ""}`, on: { mouseenter: lit(true), mouseleave: lit(false), focusin: lit(true), focusout: lit(false) } },
    text,
    [...new Set(ids)].filter((id) => numbers.has(id)).map(cite),
  );
}
