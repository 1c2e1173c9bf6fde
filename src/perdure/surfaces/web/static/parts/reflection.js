// What memory concludes: sentences whose citations light up their facts, and how they came about.

import { h, svg } from "../dom.js";
import { milliseconds, percent, plural } from "../format.js";
import { chip, recollection } from "./fact.js";
import { empty } from "./notice.js";

export function reflection(bank, result) {
  const places = new Map(result.based_on.map((one, place) => [one.fact.id, place + 1]));
  const facts = h("div", {}, result.based_on.map((one, place) => recollection(bank, { ...one, citation: place + 1 })));
  return h(
    "section",
    { "aria-label": "Reflection" },
    h("h2", {}, "Memory concludes"),
    result.answer && h("p", {}, h("strong", {}, result.answer)),
    result.sentences.length ? h("p", { class: "card" }, result.sentences.map((one) => sentence(one, places, facts))) : empty(result.text),
    h("div", { class: "chips" }, chip(`evidence ${result.evidence}`, result.evidence === "strong" ? "good" : ""), chip(`read by ${result.trace.reader || "rules"}`), result.trace.model && chip(result.trace.model), result.usage.input_tokens > 0 && chip(`${result.usage.input_tokens} tokens in, ${result.usage.output_tokens} out`)),
    result.trace.degraded.map((one) => h("p", { class: "faint" }, `${one.part} could not help: ${one.reason}`)),
    result.based_on.length > 0 && [h("h3", {}, `Rests on ${plural(result.based_on.length, "fact")}`), facts],
    h("details", {}, h("summary", {}, "How it came about"), trace(result.trace)),
  );
}

function sentence(one, places, facts) {
  const lit = (on) => () =>
    one.fact_ids.forEach((id) => facts.querySelector(`#${CSS.escape(`fact-${id}`)}`)?.classList.toggle("lit", on));
  const numbers = [...new Set(one.fact_ids.map((id) => places.get(id)).filter(Boolean))];
  return h(
    "span",
    { class: "sentence", tabindex: 0, on: { mouseenter: lit(true), mouseleave: lit(false), focus: lit(true), blur: lit(false) } },
    one.text,
    h("span", { class: "cite" }, numbers.map((number) => `[${number}]`).join("")),
    " ",
  );
}

function trace(told) {
  const rows = told.steps.map((step) =>
    h("tr", {}, h("td", {}, step.tool), h("td", {}, step.query), h("td", {}, step.refused || step.evidence), h("td", { class: "number" }, step.fact_ids.length), h("td", { class: "number" }, milliseconds(step.milliseconds))),
  );
  return h(
    "div",
    {},
    h("div", { class: "wide" }, h("table", {}, h("thead", {}, h("tr", {}, ["tool", "asked", "outcome", "facts", "time"].map((name) => h("th", {}, name)))), h("tbody", {}, rows))),
    told.notes.map((text) => h("p", { class: "faint" }, text)),
    told.disposition.map((text) => h("p", { class: "faint" }, text)),
  );
}
