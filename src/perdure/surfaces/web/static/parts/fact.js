// A fact in a list: its text, when, who, how surely it helps, and whether it is still so.

import { h, svg } from "../dom.js";
import { day, happened, holds, percent, standing } from "../format.js";
import { address } from "../route.js";

export function meter(share, label) {
  const width = Math.max(0, Math.min(1, share)) * 100;
  return h(
    "span",
    { class: "meter", role: "img", "aria-label": `${label} ${percent(share)}` },
    svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none" }, svg("rect", { class: "bar-fill", width, height: 10 })),
  );
}

export function chip(text, kind = "", title = "") {
  return h("span", { class: `chip ${kind}`, title: title || null }, text);
}

/** The marks under a fact's text. */
export function marks(fact, extra = []) {
  const [sign, word, kind] = standing(fact);
  const when = happened(fact);
  const planned = fact.flags.includes("planned");
  return h(
    "div",
    { class: "chips" },
    chip(`${sign} ${word}`, kind),
    when && chip(`${planned ? "planned for" : "happened"} ${when}`),
    fact.mentioned_at && chip(`said ${day(fact.mentioned_at)}`),
    fact.speaker && chip(`by ${fact.speaker}`),
    fact.type !== "world" && chip(fact.type),
    planned && !when && chip("planned"),
    fact.flags.includes("instruction") && chip("⚠ reads like an order", "doubt"),
    fact.proof_count > 1 && chip(`${fact.proof_count} proofs`),
    extra,
  );
}

/** [first, last] of the times at which facts were so, with now. */
export function validityRange(facts) {
  const times = facts.flatMap((fact) => [fact.valid_from, fact.valid_to]).filter(Boolean).map((value) => +new Date(value));
  return [Math.min(...times, Date.now()), Math.max(...times, Date.now())];
}

/** When a fact was so, as a bar within the range. */
function validity(fact, [first, last]) {
  if (!fact.valid_from || last <= first) return null;
  const place = (value, otherwise) => (value ? (100 * (+new Date(value) - first)) / (last - first) : otherwise);
  const [start, end] = [place(fact.valid_from, 0), place(fact.valid_to, 100)];
  const told = fact.valid_to ? `so from ${day(fact.valid_from)} to ${day(fact.valid_to)}` : `so since ${day(fact.valid_from)}`;
  return h(
    "span",
    { class: "chip", title: `${told}; the bar runs from ${day(first)} to ${day(last)}` },
    "so ",
    h("span", { class: "meter", role: "img", "aria-label": told }, svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none" }, svg("rect", { class: "bar-fill", x: Math.min(start, 96), width: Math.max(3, end - start), height: 10 }))),
    fact.valid_to ? ` until ${day(fact.valid_to)}` : "",
  );
}

/** One recollection: the place, the text, the marks; `more` stands below. `range`: over which its validity is drawn. */
export function recollection(bank, one, more = null, range = null) {
  const { fact } = one;
  return h(
    "article",
    { class: `fact${holds(fact) ? "" : " over"}`, id: `fact-${fact.id}`, tabindex: 0 },
    h("div", { class: "place" }, one.citation ?? ""),
    h(
      "div",
      {},
      h("a", { class: "said", href: address(bank, "fact", fact.id) }, fact.text),
      marks(fact, [
        h("span", { class: "chip" }, "helps ", meter(one.relevance, "relevance"), ` ${percent(one.relevance)}`),
        range && validity(fact, range),
        one.evidence && chip(`evidence ${one.evidence}`, one.evidence === "strong" ? "good" : ""),
      ]),
      one.notes?.map((note) => h("p", { class: "faint" }, note)),
      more,
    ),
  );
}

/** A fact in a list; `extra` are chips behind the others. */
export function row(bank, fact, extra = [], more = null) {
  return h(
    "article",
    { class: `fact bare${holds(fact) ? "" : " over"}`, id: `fact-${fact.id}`, tabindex: 0 },
    h("div", {}, h("a", { class: "said", href: address(bank, "fact", fact.id) }, fact.text), marks(fact, extra), more),
  );
}

/** A text with a part of it marked. */
export function highlighted(text, start, end) {
  if (!(start >= 0 && end > start)) return [text];
  return [text.slice(0, start), h("mark", {}, text.slice(start, end)), text.slice(end)];
}

/** What was said, with the words that the fact was drawn from marked. */
export function source(chunkText, fact) {
  const words = fact.source_text || "";
  const start = words ? chunkText.indexOf(words) : -1;
  return h("div", { class: "quote", tabindex: 0 }, highlighted(chunkText, start, start + words.length));
}
