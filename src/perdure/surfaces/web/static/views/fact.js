// One fact, in the drawer or as a page: what was said, by whom and when, what it replaced, what rests on it; and correcting it.

import { verb } from "../api.js";
import { h, show } from "../dom.js";
import { day, exact, exception, happened, percent, plural } from "../format.js";
import { conversation, mark, meter, row, source } from "../parts/fact.js";
import { actions } from "../parts/mending.js";
import { empty, failure } from "../parts/notice.js";
import { address, asOf } from "../route.js";

const LINKED = 6;
const VALUES = 50;
const SOURCES = 50;
const EVERY = { include_closed: true, include_expired: true };

export async function open(content, { bank, id }) {
  if (!id) return show(content, h("h1", {}, "Fact"), empty("Choose a fact in the ", h("a", { href: address(bank, "facts") }, "list of facts"), "."));
  return fill(content, bank, id, "h1");
}

/** Draw a fact under a heading of the given level. */
export async function fill(place, bank, id, level = "h2") {
  const fact = await verb(bank, "facts.get", { fact_id: id });
  const moments = asOf();
  const below = level === "h1" ? "h2" : "h3";
  const part = (title, read) => section(below, title, read(bank, fact));
  show(
    place,
    h(level, { class: "statement" }, fact.text),
    h("p", { class: "origin" }, stated(fact), " ", mark(fact)),
    moments && h("p", { class: "faint", role: "status" }, `At the chosen moment this fact was ${exception(fact)?.[0] ?? "true"}.`),
    fact.invalid_reason && fact.invalidated_at && h("p", { class: "card wrong" }, `Declared wrong: ${fact.invalid_reason}`),
    actions(bank, fact),
    part("What was said", said),
    part("History", history),
    part("Stated in", proofs),
    part("Opinions that rest on it", opinions),
    part("Linked facts", links),
    section(below, "Details", details(bank, fact)),
  );
}

function stated(fact) {
  const at = day(fact.mentioned_at ?? fact.recorded_at);
  const who = fact.speaker ? ` by ${fact.speaker}` : "";
  const about = happened(fact);
  return `Last stated on ${at}${who}.${about ? ` About ${about}.` : ""}`;
}

/** A part that is filled when its answer comes, and left out when there is nothing to tell. */
function section(level, title, answer) {
  const body = h("section", { "aria-label": title });
  Promise.resolve(answer).then(
    (content) => (content ? show(body, h(level, {}, title), content) : body.remove()),
    (error) => show(body, failure(error)),
  );
  return body;
}

async function said(bank, fact) {
  if (!fact.chunk_id) return fact.source_text && fact.source_text !== fact.text ? source(fact.source_text, fact) : null;
  const [chunk] = await verb(bank, "documents.chunks", { ids: [fact.chunk_id] });
  return h("div", {}, source(chunk ? chunk.text : fact.source_text, fact), h("p", { class: "origin" }, "from ", conversation(bank, fact.document_id)));
}

function details(bank, fact) {
  const pairs = [
    ["kind", fact.type],
    ["true", fact.valid_from && (fact.valid_to ? `${day(fact.valid_from)} to ${day(fact.valid_to)}` : `since ${day(fact.valid_from)}`)],
    ["relation", fact.relation && `${fact.subject} · ${fact.relation.replaceAll("_", " ")} · ${fact.object}`],
    ["about", fact.entity_ids.length > 0 && fact.entity_ids.map((id, place) => [place ? ", " : "", h("a", { href: address(bank, "entity", id) }, fact.entities[place] ?? id)])],
    ["tags", [...fact.tags].sort().join(", ")],
    ["topic", fact.topic],
    ["context", fact.context],
    ["trust", `${fact.trust} of 3`],
    ["recalled", fact.recall_count > 0 && `${plural(fact.recall_count, "time")}, last ${exact(fact.last_recalled_at)}`],
    ["recorded", exact(fact.recorded_at)],
    ["expires", exact(fact.expires_at)],
    ["flags", fact.flags.join(", ").replaceAll("_", " ")],
    ["metadata", Object.entries(fact.metadata).map(([name, value]) => `${name}: ${value}`).join(", ")],
    ["id", h("code", {}, fact.id)],
  ];
  return h("dl", { class: "pairs" }, pairs.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

/** What it replaced, what replaced it, and other values of the same relation. */
async function history(bank, fact) {
  if (fact.type === "observation") return versions(bank, fact);
  const [{ facts: slot }, after, housed] = await Promise.all([
    fact.subject && fact.relation ? verb(bank, "facts.list", { subject: fact.subject, relation: fact.relation, where: EVERY, limit: VALUES }) : { facts: [] },
    fact.superseded_by ? verb(bank, "facts.get_many", { fact_ids: [fact.superseded_by] }) : [],
    fact.document_id ? verb(bank, "facts.list", { where: { ...EVERY, document_ids: [fact.document_id] }, limit: 200 }) : { facts: [] },
  ]);
  const unique = (facts) => [...new Map(facts.map((one) => [one.id, one])).values()].filter((one) => one.id !== fact.id);
  const old = unique([...slot, ...housed.facts].filter((one) => one.superseded_by === fact.id));
  const others = unique(slot).filter((one) => one.superseded_by !== fact.id && one.id !== fact.superseded_by);
  if (!old.length && !after.length && !others.length) return null;
  const part = (title, facts) => facts.length > 0 && [h("p", { class: "faint" }, title), facts.map((one) => row(bank, one))];
  return h("div", {}, part("It replaced", old), part("Replaced by", after), part("Other values", others));
}

/** The profile as it was written before. */
async function versions(bank, fact) {
  const every = await verb(bank, "observations.versions", { observation_id: fact.id });
  const facts = await verb(bank, "facts.get_many", { fact_ids: every.map((one) => one.id).filter((id) => id !== fact.id) });
  return facts.length ? h("div", {}, facts.reverse().map((one) => row(bank, one))) : null;
}

async function opinions(bank, fact) {
  const moments = asOf();
  const subjects = [...new Set([fact.subject, fact.speaker, fact.entities[0]].filter(Boolean))];
  const lists = await Promise.all(subjects.map((subject) => verb(bank, "opinions.list", { subject, ...(moments && { as_of: moments }) })));
  const unique = [...new Map(lists.flat().map((one) => [one.id, one])).values()];
  const resting = unique.filter((one) => one.evidence.some((piece) => piece.fact_id === fact.id));
  if (!resting.length) return null;
  return h("ul", { class: "plain" }, resting.map((one) => h("li", {}, h("a", { href: address(bank, "opinions", one.id) }, one.statement), " ", meter(one.confidence, "confidence"), ` ${percent(one.confidence)}`)));
}

/** The later documents that state it again, and the facts that it was concluded from. */
async function proofs(bank, fact) {
  const [again, sources] = await Promise.all([
    verb(bank, "facts.proofs", { fact_ids: [fact.id] }),
    fact.source_fact_ids.length ? verb(bank, "facts.get_many", { fact_ids: fact.source_fact_ids.slice(0, SOURCES) }) : [],
  ]);
  if (!again.length && !sources.length) return null;
  const place = (one) => h("li", {}, one.document_id ? conversation(bank, one.document_id) : "no conversation", ` · ${day(one.seen_at)}`);
  return h(
    "div",
    {},
    again.length > 0 && h("ul", { class: "plain" }, again.map(place)),
    sources.length > 0 && [h("p", { class: "faint" }, `Concluded from ${plural(fact.source_fact_ids.length, "fact")}:`), sources.map((one) => row(bank, one))],
  );
}

async function links(bank, fact) {
  const every = await verb(bank, "facts.links", { fact_ids: [fact.id] });
  const far = (link) => (link.source === fact.id ? link.target : link.source);
  const joined = Map.groupBy(every.sort((one, other) => other.weight - one.weight), far);
  const facts = await verb(bank, "facts.get_many", { fact_ids: [...joined.keys()].slice(0, LINKED) });
  if (!facts.length) return null;
  const why = (link) => (link.kind === "causal" ? (link.source === fact.id ? "leads to" : "because of") : link.kind);
  return h("div", {}, facts.map((one) => row(bank, one, { more: h("p", { class: "origin" }, joined.get(one.id).map((link) => `${why(link)} ${link.weight.toFixed(2)}`).join(", ")) })));
}
