// One mental model: what it says with the facts under each sentence, what it said before, and its settings.

import { verb } from "../api.js";
import { button, field, h, select, show } from "../dom.js";
import { count, recently, plural } from "../format.js";
import { citedFacts, sentence } from "../parts/cited.js";
import { confirm, sheet } from "../parts/dialogs.js";
import { difference } from "../parts/diff.js";
import { chip } from "../parts/fact.js";
import { everySecond, follow } from "../parts/follow.js";
import { inline, markdown } from "../parts/markdown.js";
import { freshness, modelForm } from "../parts/model.js";
import { empty, failure, toast } from "../parts/notice.js";
import { address, asOf, go } from "../route.js";

/** What a model says before it was written for the first time. */
const UNWRITTEN = "Generating content...";

export async function openModel(content, route) {
  const { bank, id } = route;
  const [model, stale, versionsKept] = await Promise.all([
    verb(bank, "models.get", { model_id: id }),
    verb(bank, "models.stale", { model_ids: [id] }),
    verb(bank, "models.history", { model_id: id }),
  ]);
  const history = versionsKept.filter((one) => one.content !== UNWRITTEN);
  const text = asMarkdown(model.sections);
  const ids = [...new Set(model.sections.flatMap((one) => one.sentences.flatMap((line) => line.fact_ids)))];
  const [facts, tokens] = await Promise.all([citedFacts(bank, ids), verb(null, "count_tokens", { text })]);
  const told = h("div", { "aria-live": "polite" });
  const again = () => told.isConnected && openModel(content, route);
  show(
    content,
    h("p", {}, h("a", { href: address(bank, "models") }, "← Mental models")),
    h("h1", {}, model.name),
    h("p", { class: "faint" }, model.source_query),
    h(
      "div",
      { class: "chips" },
      freshness(model, stale.includes(id)),
      chip(`${count(tokens)} of at most ${count(model.max_tokens)} tokens`),
      model.last_refreshed_at && chip(`refreshed ${recently(model.last_refreshed_at)}`),
      chip(model.written_by ? `written by ${model.written_by}` : "composed by rules"),
      model.retracted && chip("sentences went with forgotten facts", "doubt"),
      model.refresh_failures > 0 && chip(`✕ ${plural(model.refresh_failures, "refresh", "refreshes")} failed in a row`, "bad"),
      [...model.tags].map((tag) => chip(`# ${tag}`)),
    ),
    model.refresh_skipped && h("p", { class: "faint" }, `The last refresh wrote nothing: ${model.refresh_skipped}`),
    actions(bank, model, told, again),
    told,
    versions(model, text, history),
    before(model, history) ??
    h("div", { class: "columns" }, written(model, ids, facts), h("section", { "aria-label": "Facts" }, h("h2", {}, `Rests on ${plural(ids.length, "fact")}`), facts)),
  );
  if (!model.generated) await untilWritten(bank, id, told, again);
}

/** A model that was just made is written in the background: show it when it is there. */
async function untilWritten(bank, id, told, again) {
  show(told, h("p", { class: "faint" }, "▶ It is being written …"));
  await everySecond(told, async () => (await verb(bank, "models.get", { model_id: id })).generated);
  await again();
}

function actions(bank, model, told, again) {
  const refresh = (mode) => async () => {
    try {
      const operation = await verb(bank, "models.refresh", { model_id: model.id, mode });
      const ended = await follow(bank, operation.id, told);
      if (!ended) return;
      if (ended.status === "completed") toast(outcome(ended.result?.outcome));
      if (ended.status === "completed") await again();
    } catch (error) {
      show(told, failure(error));
    }
  };
  const edit = async () => {
    const form = modelForm(model);
    if (await sheet(`Settings of ${model.name}`, form.controls, "Save", () => verb(bank, "models.update", { model_id: model.id, ...form.read() }))) await again();
  };
  const preview = async () => {
    try {
      const seen = await verb(bank, "models.preview", { model_id: model.id });
      const after = seen.outcome === "content_written" ? asMarkdown(seen.sections) : asMarkdown(model.sections);
      show(told, h("section", { class: "card", "aria-label": "Preview" }, h("h2", {}, "What a refresh would change"), h("p", { class: "faint" }, outcome(seen.outcome)), difference(readable(asMarkdown(model.sections)), readable(after))));
    } catch (error) {
      show(told, failure(error));
    }
  };
  const remove = async () => {
    const goes = h("p", {}, "The document goes with all of its earlier versions, and the page of the knowledge base that shows it. The facts stay.");
    if (!(await confirm(`Delete “${model.name}”?`, goes, "Delete it"))) return;
    try {
      await verb(bank, "models.delete", { model_id: model.id });
      go(bank, "models");
    } catch (error) {
      show(told, failure(error));
    }
  };
  return h(
    "div",
    { class: "row actions" },
    button("Refresh", refresh(null), { class: "main", id: "refresh" }),
    button("Refresh in full", refresh("full"), { id: "refresh-full" }),
    button("Preview a refresh", preview, { id: "preview" }),
    button("Edit", edit, { id: "edit" }),
    button("Delete", remove, { class: "danger", id: "delete" }),
  );
}

const OUTCOMES = {
  content_written: "The document is written anew.",
  content_unchanged: "The document stays as it is.",
  content_preserved_no_new_facts: "Nothing new in memory: the document stays as it is.",
};
const outcome = (name) => OUTCOMES[name] ?? `The document stays as it is (${String(name ?? "unknown").replaceAll("_", " ")}).`;

/** What the document said at the moment that the time machine is set to; null in the present. */
function before(model, history) {
  const known = asOf()?.known;
  if (!known) return null;
  const at = new Date(known);
  if (new Date(model.created_at) > at) return empty(`There was no such model at ${recently(known)}.`);
  const version = history.findLast((one) => new Date(one.changed_at) > at);
  return version ? h("section", { class: "card", "aria-label": "The document" }, h("p", { class: "faint" }, `As it stood at ${recently(known)}`), markdown(version.content, 2)) : null;
}

function written(model, ids, facts) {
  if (!model.generated) return empty("Not written yet.");
  if (!ids.length && !model.sections.length) return empty("Memory holds nothing for this question.");
  const numbers = new Map(ids.map((one, place) => [one, place + 1]));
  return h(
    "section",
    { class: "card prose", "aria-label": "The document" },
    model.sections.map((section) => [
      section.heading && h("h2", {}, inline(section.heading)),
      h("ul", {}, section.sentences.map((one) => sentence("li", inline(one.text), one.fact_ids, numbers, facts, { class: one.ended ? "over" : "" }))),
    ]),
    model.structured_output && [h("h2", {}, "As an object"), h("pre", { class: "quote", tabindex: 0 }, JSON.stringify(model.structured_output, null, 2))],
  );
}

/** Any two versions beside each other. */
function versions(model, text, history) {
  if (!history.length) return h("details", {}, h("summary", {}, "History"), empty("This is the first version."));
  const all = [{ content: text, changed_at: null, written_by: model.written_by }, ...history];
  const label = (one, place) => [String(place), one.changed_at ? `until ${recently(one.changed_at)}` : "now"];
  const chosen = { from: "1", to: "0" };
  const shown = h("div");
  const draw = () => show(shown, difference(readable(all[chosen.from].content), readable(all[chosen.to].content)), h("details", {}, h("summary", {}, "The earlier one in full"), markdown(all[chosen.from].content, 3)));
  draw();
  return h(
    "details",
    { id: "history" },
    h("summary", {}, `History: ${plural(history.length, "earlier version")}`),
    h(
      "div",
      { class: "row" },
      field("From", select(all.map(label), chosen.from, (value) => ((chosen.from = value), draw()))),
      field("To", select(all.map(label), chosen.to, (value) => ((chosen.to = value), draw()))),
    ),
    shown,
  );
}

/** Markdown with bullets, so that a dash is only ever the sign of a line that went. */
const readable = (text) => text.replace(/^- /gm, "• ").replace(/^#+ /gm, "");

/** As the engine writes it: a heading per section, a list item per sentence. */
function asMarkdown(sections) {
  return sections
    .map((one) => [...(one.heading ? [`## ${one.heading}`, ""] : []), ...one.sentences.map((line) => `- ${line.text}`)].join("\n"))
    .join("\n\n");
}
