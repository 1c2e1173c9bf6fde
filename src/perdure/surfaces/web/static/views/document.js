// One document: its text, and next to each part the facts that were drawn from it. A fact highlights its words.

import { verb } from "../api.js";
import { button, field, h, show } from "../dom.js";
import { count, isOver, plural, recently } from "../format.js";
import { sheet, words } from "../parts/dialogs.js";
import { openDrawer } from "../parts/drawer.js";
import { highlighted, mark as exceptionMark } from "../parts/fact.js";
import { follow } from "../parts/follow.js";
import { forget as erase } from "../parts/forgetting.js";
import { actions as factActions } from "../parts/mending.js";
import { empty, failure, toast } from "../parts/notice.js";
import { address, asOf, go } from "../route.js";

const CHUNKS = 10;
const FACTS = 500;

export async function openDocument(content, route) {
  const { bank, id } = route;
  const [documents, chunks, history] = await Promise.all([
    verb(bank, "documents.list", { ids: [id] }),
    verb(bank, "documents.chunks", { document_id: id }),
    verb(bank, "documents.history", { document_id: id }),
  ]);
  if (!documents.length) return show(content, h("h1", {}, "Conversation"), empty("There is no such conversation. Perhaps it was forgotten."));
  const [document] = documents;
  const told = h("div", { "aria-live": "polite" });
  const again = () => told.isConnected && openDocument(content, route);
  const text = await reader(bank, id, chunks);
  show(
    content,
    h("p", {}, h("a", { href: address(bank, "documents") }, "← Conversations")),
    h("h1", {}, document.title || document.id),
    h(
      "div",
      { class: "origin" },
      [document.title && document.id, `${count(document.characters)} characters`, plural(text.total, "fact"), `since ${recently(document.created_at)}`, ...document.tags.map((tag) => `#${tag}`), ...Object.entries(document.metadata).map(([name, value]) => `${name}: ${value}`)].filter(Boolean).join(" · "),
    ),
    document.context && h("p", { class: "faint" }, document.context),
    actions(bank, document, told, again),
    told,
    events(bank, history),
    h("h2", {}, "Text and facts"),
    text.box,
  );
  return undefined;
}

function actions(bank, document, told, again) {
  const safely = (work) => async () => {
    try {
      await work();
    } catch (error) {
      show(told, failure(error));
    }
  };
  const reprocess = safely(async () => {
    const operation = await verb(bank, "documents.reprocess", { document_id: document.id });
    const ended = await follow(bank, operation.id, told);
    if (ended?.status === "completed") toast("Read again: facts that were found again stay, the others are retired."), await again();
  });
  const retag = safely(async () => {
    const tags = h("input", { value: document.tags.join(", ") });
    const send = () => verb(bank, "documents.retag", { document_id: document.id, tags: words(tags.value) });
    if (await sheet("Tags", [field("Tags", tags, "With commas between; the facts drawn from the document get them too.")], "Save", send)) await again();
  });
  const forget = safely(async () => {
    if (await erase(bank, { document_id: document.id }, `Forget “${document.title || document.id}”?`)) go(bank, "documents");
  });
  return h(
    "div",
    { class: "row actions" },
    button("Read again", reprocess, { id: "reprocess" }),
    button("Tags", retag, { id: "retag" }),
    button("Forget", forget, { class: "danger", id: "forget" }),
  );
}

/** The text in its chunks; facts, closed ones too unless the time machine is set, are shown next to the chunk that they were drawn from. */
async function reader(bank, documentId, chunks) {
  const moments = asOf();
  const where = { document_ids: [documentId], include_expired: true, ...(moments ? { as_of: moments } : { include_closed: true }) };
  const byChunk = new Map(chunks.map((chunk) => [chunk.id, { chunk, facts: [], side: h("div", { class: "drawn" }), text: h("div", { class: "quote", tabindex: 0 }) }]));
  const [list, foot] = [h("div"), h("div", { class: "row" })];
  let [shown, read, total] = [0, 0, 0];
  const readFacts = async () => {
    const page = await verb(bank, "facts.list", { where, order: "oldest_recorded", offset: read, limit: FACTS });
    [read, total] = [read + page.facts.length, page.total];
    const parts = new Set(page.facts.map((fact) => byChunk.get(fact.chunk_id)).filter(Boolean));
    for (const fact of page.facts) byChunk.get(fact.chunk_id)?.facts.push(fact);
    for (const part of parts) beside(bank, part);
  };
  const draw = () => {
    const next = chunks.slice(shown, shown + CHUNKS);
    shown += next.length;
    list.append(...next.map((chunk) => pair(byChunk.get(chunk.id))));
    refoot();
  };
  const refoot = () =>
    show(
      foot,
      h("span", { class: "faint" }, `${shown} of ${plural(chunks.length, "part")}, ${count(read)} of ${plural(total, "fact")}`),
      shown < chunks.length && button("More text", draw),
      read < total && button("More facts", () => readFacts().then(refoot, (error) => show(foot, failure(error)))),
    );
  await readFacts();
  draw();
  return { box: h("div", {}, list, foot), total };
}

function pair(part) {
  show(part.text, part.chunk.text);
  if (!part.side.hasChildNodes()) show(part.side, h("p", { class: "faint" }, "No facts were drawn from this part."));
  return h("section", { class: "beside", "aria-label": `Part ${part.chunk.ordinal + 1}` }, part.text, part.side);
}

function beside(bank, part) {
  const facts = part.facts.toSorted((a, b) => a.ordinal - b.ordinal);
  const mark = (fact) => () => {
    const [start, end] = position(part.chunk, fact);
    show(part.text, highlighted(part.chunk.text, start, end));
    part.text.querySelector("mark")?.scrollIntoView({ block: "nearest" });
  };
  const clear = () => show(part.text, part.chunk.text);
  const row = (fact) =>
    h(
      "article",
      { class: `fact drawn-fact${isOver(fact) ? " over" : ""}`, tabindex: 0, on: { mouseenter: mark(fact), mouseleave: clear, focus: mark(fact), blur: clear } },
      h("div", { class: "line" }, link(bank, fact, mark(fact)), exceptionMark(fact)),
      h("div", { class: "acts" }, factActions(bank, fact, { compact: true })),
    );
  show(part.side, facts.map(row));
}

/** A link that opens the drawer. */
function link(bank, fact, focus) {
  const open = (event) => (event.preventDefault(), openDrawer(bank, fact.id));
  return h("a", { class: "said", href: address(bank, "fact", fact.id), on: { focus, click: open } }, fact.text);
}

/** Where a fact's words are: in a turn of who said it, else anywhere; [-1, -1] where they are not to be found as they are. */
function position(chunk, fact) {
  const said = fact.source_text;
  if (!said) return [-1, -1];
  const own = chunk.spans.find((span) => span.speaker === fact.speaker && chunk.text.slice(span.start, span.end).includes(said));
  const start = chunk.text.indexOf(said, own?.start ?? 0);
  return start < 0 ? [-1, -1] : [start, start + said.length];
}

const EVENTS = { retain: "retained", append: "added to", fact_invalidated: "a fact was declared wrong", consolidation: "consolidated" };

function events(bank, history) {
  const row = (one) =>
    h(
      "tr",
      {},
      h("td", {}, recently(one.at)),
      h("td", {}, one.fact_id ? h("a", { href: address(bank, "fact", one.fact_id) }, EVENTS[one.kind]) : EVENTS[one.kind] ?? one.kind),
      [one.facts_added, one.facts_removed, one.observations_created.length, one.observations_removed.length].map((number) => h("td", { class: "number" }, number || "·")),
    );
  const names = ["facts added", "facts taken back", "observations formed", "observations taken back"];
  return h(
    "details",
    { id: "history" },
    h("summary", {}, `History: ${plural(history.length, "change")}`),
    h(
      "div",
      { class: "wide" },
      h(
        "table",
        {},
        h("caption", { class: "unseen" }, "What happened to the document, newest first"),
        h("thead", {}, h("tr", {}, h("th", {}, "when"), h("th", {}, "what"), names.map((name) => h("th", { class: "number" }, name)))),
        h("tbody", {}, history.slice(0, 200).map(row)),
      ),
    ),
  );
}
