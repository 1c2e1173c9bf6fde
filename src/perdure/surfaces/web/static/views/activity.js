// Activity: what was recalled, put into prompts and retained, newest first, live; each recall can be replayed in Ask.

import { verb } from "../api.js";
import { button, field, h, select, show } from "../dom.js";
import { milliseconds, plural, when } from "../format.js";
import { conversation, row } from "../parts/fact.js";
import { soon } from "../parts/filters.js";
import { everySecond } from "../parts/follow.js";
import { empty, failure } from "../parts/notice.js";
import { address, note } from "../route.js";

const KINDS = [["", "everything"], ["recall", "recalls"], ["prompt", "prompts"], ["retain", "retains"]];
const PAGE = 50;
const LOOK_EVERY = 3;

export async function open(content, { bank, query }) {
  const chosen = { kind: query.get("kind") || "", text: query.get("text") || "" };
  const list = h("ol", { class: "plain", "aria-label": "Activity" });
  const foot = h("div", {});
  let [written, limit] = ["", PAGE];
  const look = async () => {
    const entries = await verb(bank, "activity.list", { ...(chosen.kind && { kind: chosen.kind }), ...(chosen.text.trim() && { text: chosen.text.trim() }), limit: limit + 1 });
    const ids = JSON.stringify(entries.map((one) => one.id));
    if (ids === written) return;
    written = ids;
    note(chosen);
    show(list, entries.slice(0, limit).map((one) => entry(bank, one)));
    show(
      foot,
      !entries.length && empty(chosen.kind || chosen.text ? "Nothing matches." : "Nothing yet. What agents ask and retain appears here; questions that you ask on this page are not recorded."),
      entries.length > limit && button("More", () => ((limit += PAGE), (written = ""), look())),
    );
  };
  const redraw = () => ((written = ""), look().catch((error) => show(foot, failure(error))));
  const set = soon(chosen, redraw);
  show(
    content,
    h("h1", {}, "Activity"),
    h(
      "form",
      { class: "row", role: "search", on: { submit: (event) => event.preventDefault() } },
      h("div", { class: "grow" }, h("input", { type: "search", "aria-label": "Words in the question", placeholder: "Words in the question", value: chosen.text, on: { input: set("text") } })),
      field("Show", select(KINDS, chosen.kind, set("kind"))),
    ),
    list,
    foot,
  );
  await look();
  let turn = 0;
  everySecond(list, async () => void (++turn % LOOK_EVERY === 0 && !document.hidden && (await look()))).catch((error) => show(foot, failure(error)));
}

function entry(bank, one) {
  const body = h("div");
  const fill = () => opened(bank, one).then((content) => show(body, content), (error) => show(body, failure(error)));
  const toggle = (event) => event.target.open && !body.hasChildNodes() && fill();
  return h(
    "li",
    { class: "entry" },
    h("details", { on: { toggle } }, h("summary", {}, h("span", { class: "kind" }, one.kind), h("span", { class: "asked" }, title(bank, one)), h("span", { class: "origin" }, when(one.at), " · ", outcome(one))), body),
  );
}

const title = (bank, one) => (one.kind === "retain" ? one.document_ids.map((id, place) => [place > 0 && ", ", conversation(bank, id, "span")]) : one.query);

function outcome(one) {
  const took = ` · ${milliseconds(one.milliseconds)}`;
  if (one.kind === "retain") return [`${one.fact_ids.length} made`, one.closed && `${one.closed} superseded`, one.skipped && `${one.skipped} skipped`].filter(Boolean).join(", ") + took;
  if (one.abstained) return `nothing went in: ${one.abstained}${took}`;
  return `${plural(one.fact_ids.length, "statement")}, evidence ${one.evidence}${took}`;
}

/** The facts of an entry: what went in or was made, and what was below the floor. */
async function opened(bank, one) {
  const ids = [...one.fact_ids, ...one.below_ids];
  const facts = new Map((ids.length ? await verb(bank, "facts.get_many", { fact_ids: ids }) : []).map((fact) => [fact.id, fact]));
  const rows = (list) => list.map((id, place) => (facts.has(id) ? row(bank, facts.get(id), { place: place + 1 }) : h("p", { class: "faint" }, "forgotten since")));
  return h(
    "div",
    {},
    rows(one.fact_ids),
    one.below_ids.length > 0 && [h("div", { class: "floor", role: "separator" }, "below the floor"), rows(one.below_ids)],
    one.query && h("p", {}, h("a", { class: "button", href: address(bank, "ask", "", { q: one.query, tab: one.kind === "prompt" ? "prompt" : "" }) }, "Replay in Ask")),
  );
}
