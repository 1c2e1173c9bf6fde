// Forgetting: first what would go, then the question, then it goes.

import { verb } from "../api.js";
import { h } from "../dom.js";
import { plural } from "../format.js";
import { confirm } from "./dialogs.js";
import { toast } from "./notice.js";

/** Whether it went. `target` is the keyword of forget: {fact_id}, {document_id}, {entity_id} or {everything: true}. */
export function forget(bank, target, title) {
  const keep = new Set();
  const preview = async () => {
    const seen = await verb(bank, "preview_forget", target);
    if (!seen.existed) throw new Error("It is no longer in memory.");
    return whatGoes(seen, keep);
  };
  return confirm(title, preview(), "Forget for good", async () => {
    const gone = await verb(bank, "forget", keep.size > 0 ? { ...target, keep: [...keep] } : target);
    const left = gone.mentions_left === null ? "" : `${plural(gone.mentions_left, "text")} left with the name. `;
    toast(`Forgotten: ${plural(gone.facts, "fact")}. ${left}${gone.traces === "pending" ? "Traces in the files are being cleared." : "No trace is left in the files."}`);
    return true;
  });
}

function whatGoes(preview, keep) {
  const counts = [
    [preview.facts, "fact"],
    [preview.documents, "document"],
    [preview.chunks, "chunk"],
    [preview.entities, "entity", "entities"],
  ].filter(([number]) => number > 0);
  const touched = [
    preview.scrubbed_chunks > 0 && `${plural(preview.scrubbed_chunks, "chunk")} will lose these words.`,
    preview.observations > 0 && `${plural(preview.observations, "observation")} will be rewritten from what is left.`,
    preview.opinions > 0 && `${plural(preview.opinions, "opinion")} will lose evidence, or go if nothing else states them.`,
  ].filter(Boolean);
  return h(
    "div",
    { class: "going" },
    h("p", {}, "This cannot be undone. It erases: ", h("strong", {}, counts.map(([number, one, many]) => plural(number, one, many)).join(", ") || "nothing that was stated"), "."),
    touched.length > 0 && h("ul", {}, touched.map((text) => h("li", {}, text))),
    preview.statements.length > 0 && h("ul", { class: "quote" }, preview.statements.map((one) => statement(one, keep))),
    preview.passages.length > 0 && h("p", {}, "Passages from which no fact was drawn:"),
    preview.passages.length > 0 && h("ul", { class: "quote" }, preview.passages.map((text) => h("li", {}, text))),
    preview.namesakes.map((one) => h("p", {}, keeping(keep, one.entity_id, `keep ${one.name}, who has that name too, with ${plural(one.fact_ids.length, "fact")}`))),
    preview.around.length > 0 && h("p", {}, `These share words with it and stay: ${preview.around.map((one) => `${one.kind} “${one.text}”`).join(", ")}.`),
    preview.statements.length === 0 && preview.texts.length > 0 && h("ul", { class: "quote" }, preview.texts.map((text) => h("li", {}, text))),
    preview.statements.length === 0 && preview.facts > preview.texts.length && h("p", { class: "faint" }, `and ${plural(preview.facts - preview.texts.length, "more fact", "more facts")}`),
  );
}

/** A statement that would go; one that is about others too can be kept without the name. */
function statement(one, keep) {
  if (one.others.length === 0) return h("li", {}, one.text);
  return h("li", {}, one.text, " ", keeping(keep, one.fact_id, `keep without the name (also about ${one.others.join(", ")})`));
}

function keeping(keep, id, label) {
  const change = (event) => (event.target.checked ? keep.add(id) : keep.delete(id));
  return h("label", {}, h("input", { type: "checkbox", on: { change } }), ` ${label}`);
}
