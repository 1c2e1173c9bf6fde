// What memory concludes: sentences whose citations light up their facts, and how they came about.

import { h } from "../dom.js";
import { count, milliseconds, plural } from "../format.js";
import { address } from "../route.js";
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
    h("div", { class: "chips" }, chip(`evidence ${result.evidence}`, result.evidence === "strong" ? "good" : ""), chip(`read by ${result.trace.reader || "rules"}`), result.trace.model && chip(result.trace.model), result.usage.input_tokens > 0 && chip(`${count(result.usage.input_tokens)} tokens in, ${count(result.usage.output_tokens)} out`)),
    result.trace.degraded.map((one) => h("p", { class: "faint" }, `${one.part} could not help: ${one.reason}`)),
    result.mental_models.length > 0 && h("p", { class: "faint" }, "Mental models read: ", result.mental_models.map((one, place) => [place ? ", " : "", h("a", { href: address(bank, "models", one.id) }, one.name)])),
    result.based_on.length > 0 && [h("h3", {}, `Rests on ${plural(result.based_on.length, "fact")}`), facts],
    result.opinions.length > 0 && h("details", {}, h("summary", {}, `Opinions near to it: ${result.opinions.length}`), result.opinions.map((one) => recollection(bank, { ...one, citation: "" }))),
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

/** The tools that were used in order, and what the disposition, directives and checks changed. */
function trace(told) {
  const tokens = told.steps.some((step) => step.input_tokens || step.output_tokens);
  const figure = (value) => h("td", { class: "number" }, value);
  const row = (step) => h("tr", {}, h("td", {}, step.tool.replaceAll("_", " ")), h("td", {}, step.query), h("td", {}, step.refused || `evidence ${step.evidence}`), figure(step.facts), tokens && [figure(count(step.input_tokens)), figure(count(step.output_tokens))], figure(milliseconds(step.milliseconds)));
  const head = [["tool"], ["asked"], ["outcome"], ["facts", "number"], ...(tokens ? [["tokens in", "number"], ["tokens out", "number"]] : []), ["time", "number"]];
  const part = (title, lines) => lines.length > 0 && [h("h3", {}, title), h("ul", { class: "plain faint" }, lines.map((text) => h("li", {}, text)))];
  return h(
    "div",
    {},
    h("div", { class: "wide" }, h("table", {}, h("caption", { class: "unseen" }, "What was asked of memory, in order"), h("thead", {}, h("tr", {}, head.map(([name, kind]) => h("th", { class: kind ?? null }, name)))), h("tbody", {}, told.steps.map(row)))),
    part("Left out, worked out", told.notes),
    part("Disposition", told.disposition),
    part("Directives", told.directives.map((one) => `${one.name}: ${one.applied || "not applied without a language model"}`)),
  );
}
