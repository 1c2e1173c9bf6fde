// A fact: what was said, by whom and when, since when it is so, what it replaced, what rests on it; and putting it right.

import { verb } from "../api.js";
import { h, show } from "../dom.js";
import { moment, percent, plural, standing } from "../format.js";
import { marks, meter, row, source } from "../parts/fact.js";
import { mending } from "../parts/mending.js";
import { empty, failure } from "../parts/notice.js";
import { times } from "../parts/times.js";
import { address, asOf } from "../route.js";

const LINKED = 10;
const VALUES = 50;
const EVERY = { include_closed: true, include_expired: true };

export async function open(content, { bank, id }) {
  if (!id) return show(content, empty("Choose a fact in the list of facts."));
  const fact = await verb(bank, "facts.get", { fact_id: id });
  const later = (title, read) => section(title, read(bank, fact));
  const moments = asOf();
  show(
    content,
    h("p", {}, h("a", { href: address(bank, "facts") }, "← Facts")),
    h("h1", { class: "statement" }, fact.text),
    marks(fact, [...fact.tags].sort().map((tag) => h("span", { class: "chip" }, `# ${tag}`))),
    moments && h("p", { class: "card then", role: "status" }, `At the moments of the time machine this fact was: ${standing(fact)[1]}.`),
    fact.invalid_reason && h("p", { class: "card wrong" }, `Declared wrong: ${fact.invalid_reason}`),
    mending(bank, fact),
    h("h2", {}, "Times"),
    h("div", { class: "card" }, times(fact)),
    h(
      "div",
      { class: "columns" },
      h("div", {}, later("What was said", said), later("What came before and after", history), later("Stated in", proofs)),
      h("div", {}, later("Known of it", details), later("Opinions that rest on it", opinions), later("Linked facts", links)),
    ),
  );
  return undefined;
}

/** A part of the page that is filled when its answer comes. */
function section(title, answer) {
  const body = h("div", {}, h("p", { class: "faint" }, "…"));
  Promise.resolve(answer).then(
    (content) => show(body, content),
    (error) => show(body, failure(error)),
  );
  return h("section", { "aria-label": title }, h("h2", {}, title), body);
}

async function said(bank, fact) {
  if (!fact.chunk_id) return fact.source_text ? source(fact.source_text, fact) : empty("Memory concluded it; nobody said it in these words.");
  const [chunk] = await verb(bank, "documents.chunks", { ids: [fact.chunk_id] });
  return h("div", {}, source(chunk ? chunk.text : fact.source_text, fact), h("p", {}, h("a", { href: address(bank, "documents", fact.document_id) }, `Document ${fact.document_id}`)));
}

function details(bank, fact) {
  const pairs = [
    ["by", fact.speaker],
    ["says", fact.relation && `${fact.subject} · ${fact.relation.replaceAll("_", " ")} · ${fact.object}`],
    ["about", fact.entity_ids.length > 0 && fact.entity_ids.map((id, place) => [place ? ", " : "", h("a", { href: address(bank, "entity", id) }, fact.entities[place] ?? id)])],
    ["topic", fact.topic],
    ["context", fact.context],
    ["tier", fact.tier],
    ["trust", `${fact.trust} of 3`],
    ["recalled", fact.recall_count > 0 && `${plural(fact.recall_count, "time")}, last ${moment(fact.last_recalled_at)}`],
    ["recorded", moment(fact.recorded_at)],
    ["expires", moment(fact.expires_at)],
    ["marks", fact.flags.join(", ")],
    ["metadata", Object.entries(fact.metadata).map(([name, value]) => `${name}: ${value}`).join(", ")],
    ["id", h("code", {}, fact.id)],
  ];
  return h("dl", { class: "pairs" }, pairs.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

/** The last values of the same relation, what it replaced and what replaced it. */
async function history(bank, fact) {
  if (fact.type === "observation") return versions(bank, fact);
  const [{ facts: slot }, after, housed] = await Promise.all([
    fact.subject && fact.relation ? verb(bank, "facts.list", { subject: fact.subject, relation: fact.relation, where: EVERY, limit: VALUES }) : { facts: [] },
    fact.superseded_by ? verb(bank, "facts.get_many", { fact_ids: [fact.superseded_by] }) : [],
    fact.document_id ? verb(bank, "facts.list", { where: { ...EVERY, document_ids: [fact.document_id] }, limit: 200 }) : { facts: [] },
  ]);
  const before = [...slot, ...housed.facts].filter((one) => one.superseded_by === fact.id);
  const unique = (facts) => [...new Map(facts.map((one) => [one.id, one])).values()].filter((one) => one.id !== fact.id);
  const [old, others] = [unique(before), unique(slot).filter((one) => one.superseded_by !== fact.id && one.id !== fact.superseded_by)];
  if (!old.length && !after.length && !others.length) return empty("Nothing replaced it, and it replaced nothing.");
  const part = (title, facts) => facts.length > 0 && [h("h3", {}, title), facts.map((one) => row(bank, one))];
  return h("div", {}, part("It replaced", old), part("It was replaced by", after), part(`Other values of ${fact.subject}, ${(fact.relation ?? "").replaceAll("_", " ")}`, others));
}

/** The profile as it was written before and after. */
async function versions(bank, fact) {
  const every = await verb(bank, "observations.versions", { observation_id: fact.id });
  const facts = await verb(bank, "facts.get_many", { fact_ids: every.map((one) => one.id).filter((id) => id !== fact.id) });
  return facts.length ? facts.reverse().map((one) => row(bank, one, [h("span", { class: "chip" }, `written ${moment(one.recorded_at)}`)])) : empty("This profile was written once.");
}

async function opinions(bank, fact) {
  const moments = asOf();
  const subjects = [...new Set([fact.subject, fact.speaker, fact.entities[0]].filter(Boolean))];
  const asked = subjects.length ? subjects.map((subject) => ({ subject })) : [{}];
  const lists = await Promise.all(asked.map((args) => verb(bank, "opinions.list", { ...args, ...(moments && { as_of: moments }) })));
  const unique = [...new Map(lists.flat().map((one) => [one.id, one])).values()];
  const resting = unique.flatMap((one) => {
    const counted = one.evidence.find((piece) => piece.fact_id === fact.id);
    const left = one.left_out.find((piece) => piece.fact_id === fact.id);
    return counted || left ? [[one, counted ?? left, Boolean(counted)]] : [];
  });
  if (!resting.length) return empty(moments ? "No opinion rested on it then." : "No opinion rests on it.");
  return h(
    "ul",
    { class: "list" },
    resting.map(([one, piece, counts]) =>
      h("li", {}, h("a", { href: address(bank, "opinions", one.id) }, one.statement, h("div", { class: "chips" }, h("span", { class: "chip" }, meter(one.confidence, "confidence"), ` ${percent(one.confidence)}`), h("span", { class: "chip" }, piece.label), !counts && h("span", { class: "chip doubt" }, "does not count")))),
    ),
  );
}

/** Its sources: the later documents that state it again, and the facts that it was concluded from. */
async function proofs(bank, fact) {
  const [again, sources] = await Promise.all([
    verb(bank, "facts.proofs", { fact_ids: [fact.id] }),
    fact.source_fact_ids.length ? verb(bank, "facts.get_many", { fact_ids: fact.source_fact_ids.slice(0, 50) }) : [],
  ]);
  const place = (id, when) => h("li", {}, id ? h("a", { href: address(bank, "documents", id) }, `Document ${id}`) : h("span", {}, "no document"), when && h("span", { class: "faint" }, ` seen ${moment(when)}`));
  return h(
    "div",
    {},
    h("p", {}, `Stated ${plural(fact.proof_count, "time")}.`),
    h("ul", { class: "plain" }, fact.document_id && place(fact.document_id, fact.mentioned_at), again.map((one) => place(one.document_id, one.seen_at))),
    sources.length > 0 && [h("h3", {}, `Concluded from ${plural(fact.source_fact_ids.length, "fact")}`), sources.map((one) => row(bank, one))],
  );
}

async function links(bank, fact) {
  const every = await verb(bank, "facts.links", { fact_ids: [fact.id] });
  const far = (link) => (link.source === fact.id ? link.target : link.source);
  const joined = Map.groupBy(every.sort((one, other) => other.weight - one.weight), far);
  const strongest = [...joined.keys()].slice(0, LINKED);
  const facts = await verb(bank, "facts.get_many", { fact_ids: strongest });
  if (!facts.length) return empty("No fact is linked to it.");
  const why = (link) => (link.kind === "causal" ? (link.source === fact.id ? "leads to" : "because of") : link.kind);
  return h(
    "div",
    {},
    joined.size > facts.length && h("p", { class: "faint" }, `The strongest ${facts.length} of ${joined.size}.`),
    facts.map((one) => row(bank, one, joined.get(one.id).map((link) => h("span", { class: "chip" }, `${why(link)} ${link.weight.toFixed(2)}`)))),
  );
}
