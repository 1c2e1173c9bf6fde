// Opinions: what the bank believes, how sure it is, and the evidence that moved it.

import { verb } from "../api.js";
import { field, h, select, show } from "../dom.js";
import { percent, plural } from "../format.js";
import { curve, SIGNS } from "../parts/curve.js";
import { chip, meter, row } from "../parts/fact.js";
import { empty } from "../parts/notice.js";
import { paged } from "../parts/paging.js";
import { address, asOf, note } from "../route.js";

const SURE = [["", "any"], ["0.25", "at least 25%"], ["0.5", "at least 50%"], ["0.75", "at least 75%"]];
const WAIT = 250;

export function open(content, route) {
  return route.id ? one(content, route) : list(content, route);
}

async function list(content, { bank, query }) {
  const chosen = { subject: query.get("subject") || "", sure: query.get("sure") || "" };
  const moments = asOf();
  const results = h("div");
  let waiting = 0;
  const draw = async () => {
    if (!results.isConnected) return undefined;
    note(chosen);
    const every = await verb(bank, "opinions.list", {
      ...(chosen.subject.trim() && { subject: chosen.subject.trim() }),
      ...(chosen.sure && { min_confidence: Number(chosen.sure) }),
      ...(moments && { as_of: moments }),
    });
    const pages = paged(
      async (offset, limit) => ({ rows: every.slice(offset, offset + limit), total: every.length }),
      (opinion) => line(bank, opinion),
      moments ? "Nothing was believed at these moments." : "No opinion was formed yet.",
      "opinions",
    );
    show(results, pages.element);
    return pages.load();
  };
  const soon = (name) => (event) => {
    chosen[name] = event.target.value;
    clearTimeout(waiting);
    waiting = setTimeout(draw, WAIT);
  };
  const sure = select(SURE, chosen.sure, () => {});
  sure.addEventListener("change", soon("sure"));
  show(
    content,
    h("h1", {}, "Opinions"),
    h("form", { class: "row", role: "search", on: { submit: (event) => event.preventDefault() } }, h("div", { class: "grow" }, field("Of whom", h("input", { id: "opinion-subject", type: "search", value: chosen.subject, on: { input: soon("subject") } }))), field("How sure", sure)),
    results,
  );
  await draw();
}

function line(bank, opinion) {
  return h(
    "article",
    { class: "fact bare", tabindex: 0 },
    h(
      "div",
      {},
      h("a", { class: "said", href: address(bank, "opinions", opinion.id) }, opinion.statement),
      h("div", { class: "chips" }, h("span", { class: "chip" }, meter(opinion.confidence, "confidence"), ` ${percent(opinion.confidence)}`), chip(opinion.subject), chip(plural(opinion.evidence.length, "piece of evidence", "pieces of evidence")), opinion.left_out.length > 0 && chip(`${opinion.left_out.length} left out`, "doubt")),
    ),
  );
}

async function one(content, { bank, id }) {
  const moments = asOf();
  const args = { opinion_id: id, ...(moments && { as_of: moments }) };
  let opinion;
  try {
    opinion = await verb(bank, "opinions.get", args);
  } catch (error) {
    if (error.status !== 404) throw error;
    return show(content, back(bank), empty(moments ? "Memory did not hold this opinion at these moments." : "Memory does not hold this opinion."));
  }
  const pieces = [...opinion.evidence, ...opinion.left_out];
  const [points, facts] = await Promise.all([verb(bank, "opinions.curve", args), verb(bank, "facts.get_many", { fact_ids: [...new Set(pieces.map((piece) => piece.fact_id))] })]);
  const factOf = new Map(facts.map((fact) => [fact.id, fact]));
  const before = opinion.evidence.length - points.length;
  const steps = points.map(([at, confidence], n) => ({ at, confidence, piece: opinion.evidence[before + n] }));
  return show(
    content,
    back(bank),
    h("h1", { class: "statement" }, opinion.statement),
    h("div", { class: "chips" }, h("span", { class: "chip" }, meter(opinion.confidence, "confidence"), ` ${percent(opinion.confidence)} sure`), opinion.entity_id ? h("a", { class: "chip", href: address(bank, "entity", opinion.entity_id) }, opinion.subject) : chip(opinion.subject), chip(opinion.polarity)),
    moments && h("p", { class: "card then", role: "status" }, "As memory believed it at the moments of the time machine."),
    h("h2", {}, "Confidence"),
    h("div", { class: "card" }, curve(steps, moments?.valid ?? moments?.known ?? new Date())),
    h("h2", {}, "Evidence"),
    h("ol", { class: "plain evidence" }, opinion.evidence.map((piece, n) => evidence(bank, piece, factOf.get(piece.fact_id), n < before ? null : [n - before + 1, steps[n - before].confidence]))),
    opinion.left_out.length > 0 && [h("h2", {}, "Does not count"), h("p", { class: "faint" }, moments ? "What is over, was taken back, or came later." : "What is over or was taken back."), h("ol", { class: "plain evidence" }, opinion.left_out.map((piece) => evidence(bank, piece, factOf.get(piece.fact_id), null)))],
  );
}

const back = (bank) => h("p", {}, h("a", { href: address(bank, "opinions") }, "← Opinions"));

function evidence(bank, piece, fact, point) {
  const kind = { supporting: "good", contradicting: "bad" }[piece.label] ?? "doubt";
  const chips = [chip(`${SIGNS[piece.label] ?? ""} ${piece.label}`, kind), point && chip(`then ${percent(point[1])}`), chip(piece.labelled_by ? `read by ${piece.labelled_by}` : "read by rules")];
  return h("li", {}, h("span", { class: "number" }, point ? point[0] : "·"), fact ? row(bank, fact, chips) : h("p", { class: "faint" }, "Its fact is gone."));
}
