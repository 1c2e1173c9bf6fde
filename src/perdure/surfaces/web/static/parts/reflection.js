// An answer in sentences whose citations highlight their facts, and how it was made.

import { h } from "../dom.js";
import { count, milliseconds, plural } from "../format.js";
import { address } from "../route.js";
import { row as factRow } from "./fact.js";

/** `recalled`: the rank of each fact that is listed below the answer; other facts that it rests on are listed with it. */
export function reflection(bank, result, recalled = new Map()) {
  const others = result.based_on.filter((one) => !recalled.has(one.fact.id));
  const places = new Map([...recalled, ...others.map((one, place) => [one.fact.id, recalled.size + place + 1])]);
  const told = result.trace;
  const facts = [`evidence ${result.evidence}`, `read by ${told.reader || "rules"}`, told.model, result.usage.input_tokens > 0 && `${count(result.usage.input_tokens)} tokens in, ${count(result.usage.output_tokens)} out`];
  return h(
    "section",
    { class: "card", "aria-label": "Answer" },
    result.answer && h("p", {}, h("strong", {}, result.answer)),
    result.sentences.length ? h("p", { class: "answer" }, result.sentences.map((one) => sentence(one, places))) : h("p", {}, result.text),
    others.length > 0 && h("details", {}, h("summary", {}, `Also rests on ${plural(others.length, "fact")}`), others.map((one) => factRow(bank, one.fact, { place: places.get(one.fact.id) }))),
    result.mental_models.length > 0 && h("p", { class: "faint" }, "Mental models read: ", result.mental_models.map((one, place) => [place ? ", " : "", h("a", { href: address(bank, "models", one.id) }, one.name)])),
    result.opinions.length > 0 && h("details", {}, h("summary", {}, `Related opinions: ${result.opinions.length}`), result.opinions.map((one) => factRow(bank, one.fact))),
    h("details", {}, h("summary", {}, "How this answer was made"), h("p", { class: "faint" }, facts.filter(Boolean).join(" · ")), told.degraded.map((one) => h("p", { class: "faint" }, `${one.part} could not help: ${one.reason}`)), trace(told)),
  );
}

function sentence(one, places) {
  const rows = () => one.fact_ids.flatMap((id) => [...document.querySelectorAll(`#content #${CSS.escape(`fact-${id}`)}`)]);
  const lit = (on) => () => rows().forEach((row) => row.classList.toggle("lit", on));
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
    h("div", { class: "wide" }, h("table", {}, h("caption", { class: "unseen" }, "Searches, in order"), h("thead", {}, h("tr", {}, head.map(([name, kind]) => h("th", { class: kind ?? null }, name)))), h("tbody", {}, told.steps.map(row)))),
    part("Left out, inferred", told.notes),
    part("Disposition", told.disposition),
    part("Directives", told.directives.map((one) => `${one.name}: ${one.applied || "not applied without a language model"}`)),
  );
}
