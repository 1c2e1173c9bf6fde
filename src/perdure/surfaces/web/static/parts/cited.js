// Facts by their ids, for what rests on them.

import { verb } from "../api.js";
import { h } from "../dom.js";
import { address } from "../route.js";
import { marks } from "./fact.js";

const MOST = 100;

/** The facts of `ids` with their numbers; those that are gone are named so. */
export async function citedFacts(bank, ids) {
  const asked = ids.slice(0, MOST);
  const facts = asked.length ? await verb(bank, "facts_by_id", { fact_ids: asked }) : [];
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  return h(
    "div",
    {},
    asked.map((id, place) => row(bank, byId.get(id), id, place + 1)),
    ids.length > MOST && h("p", { class: "faint" }, `and ${ids.length - MOST} more`),
  );
}

function row(bank, fact, id, number) {
  return h(
    "article",
    { class: "fact", id: `fact-${id}`, tabindex: 0 },
    h("div", { class: "place" }, number),
    fact ? h("div", {}, h("a", { class: "said", href: address(bank, "fact", id) }, fact.text), marks(fact)) : h("div", { class: "faint" }, "no longer in memory"),
  );
}

/** A sentence whose numbers lead to its facts; to hover or focus it lights them up in `facts`. */
export function sentence(tag, text, ids, numbers, facts, props = {}) {
  const lit = (on) => () => ids.forEach((id) => facts.querySelector(`#${CSS.escape(`fact-${id}`)}`)?.classList.toggle("lit", on));
  const cites = [...new Set(ids.map((id) => numbers.get(id)).filter(Boolean))];
  return h(
    tag,
    { ...props, class: `sentence ${props.class ?? ""}`, tabindex: 0, on: { mouseenter: lit(true), mouseleave: lit(false), focus: lit(true), blur: lit(false) } },
    text,
    h("span", { class: "cite" }, cites.map((number) => `[${number}]`).join("")),
  );
}
