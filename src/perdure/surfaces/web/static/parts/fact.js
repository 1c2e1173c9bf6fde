// A fact in a list: one line of what was said, one grey line of when, by whom and where, and at most one mark.

import { verb } from "../api.js";
import { h, svg } from "../dom.js";
import { exception, happened, isOver, percent, when } from "../format.js";
import { address } from "../route.js";
import { openDrawer } from "./drawer.js";
import { actions } from "./mending.js";

const IDENTIFIER = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
/** Titles of documents by bank and id: those of one turn of the event loop are asked for together. */
const titles = new Map();
let waiting = new Map();

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

/** The mark of an exception, or nothing. */
export function mark(fact, doubt = null) {
  const found = exception(fact, doubt);
  return found && h("span", { class: `mark ${found[1]}`, title: doubt || null }, found[0]);
}

/** The grey line: date, speaker, conversation. */
function origin(bank, fact) {
  const happening = happened(fact);
  const stated = fact.proof_count > 1 && fact.mentioned_at;
  const parts = [
    stated ? ["last stated on ", when(fact.mentioned_at)] : when(fact.mentioned_at ?? fact.recorded_at),
    happening && `about ${happening}`,
    fact.speaker || (fact.type === "observation" ? "profile" : fact.type === "opinion" ? "opinion" : ""),
    fact.document_id && conversation(bank, fact.document_id),
  ].filter(Boolean);
  return h("p", { class: "origin" }, parts.map((part, place) => [place > 0 && " · ", part]));
}

/** A link to a conversation, or its name alone, under its title, which is read when it is not known. */
export function conversation(bank, id, tag = "a") {
  const link = h(tag, { href: tag === "a" ? address(bank, "documents", id) : null }, IDENTIFIER.test(id) ? "conversation" : id);
  const key = `${bank} ${id}`;
  if (titles.has(key)) link.textContent = titles.get(key) || link.textContent;
  else {
    if (!waiting.size) setTimeout(readTitles);
    waiting.set(key, [...(waiting.get(key) ?? []), link]);
  }
  return link;
}

async function readTitles() {
  const asked = waiting;
  waiting = new Map();
  const keys = [...asked.keys()].map((key) => key.split(/ (.*)/s));
  for (const [bank, own] of Map.groupBy(keys, ([bank]) => bank)) {
    const documents = await verb(bank, "documents.list", { ids: own.map(([, id]) => id) }).catch(() => []);
    for (const { id, title } of documents) {
      titles.set(`${bank} ${id}`, title);
      if (title) for (const link of asked.get(`${bank} ${id}`)) link.textContent = title;
    }
  }
}

/** A fact as a row. `place` stands before it, `doubt` is why it is doubtful, `more` is shown below. */
export function row(bank, fact, { place = null, doubt = null, more = null, fade = false, actionable = true } = {}) {
  const link = h("a", { class: "said", href: address(bank, "fact", fact.id) }, fact.text);
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openDrawer(bank, fact.id);
  });
  return h(
    "article",
    { class: `fact${place === null ? " bare" : ""}${isOver(fact) ? " over" : ""}${fade ? " fade" : ""}`, id: `fact-${fact.id}`, tabindex: 0 },
    place !== null && h("div", { class: "place" }, place),
    h("div", {}, h("div", { class: "line" }, link, mark(fact, doubt)), origin(bank, fact), more),
    actionable && h("div", { class: "acts" }, actions(bank, fact, { compact: true })),
  );
}

/** A text with a part of it marked. */
export function highlighted(text, start, end) {
  if (!(start >= 0 && end > start)) return [text];
  return [text.slice(0, start), h("mark", {}, text.slice(start, end)), text.slice(end)];
}

/** What was said, with the words of the fact marked. */
export function source(chunkText, fact) {
  const words = fact.source_text || "";
  const start = words ? chunkText.indexOf(words) : -1;
  return h("div", { class: "quote", tabindex: 0 }, highlighted(chunkText, start, start + words.length));
}
