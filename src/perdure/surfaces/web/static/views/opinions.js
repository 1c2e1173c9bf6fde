// Opinions: what the bank believes, how sure it is, and the evidence that moved it.

import { verb } from "../api.js";
import { field, h, select, show } from "../dom.js";
import { percent, plural } from "../format.js";
import { curve, SIGNS } from "../parts/curve.js";
import { meter, row } from "../parts/fact.js";
import { soon } from "../parts/filters.js";
import { empty } from "../parts/notice.js";
import { paged } from "../parts/paging.js";
import { address, asOf, note } from "../route.js";

const SURE = [["", "any"], ["0.25", "at least 25%"], ["0.5", "at least 50%"], ["0.75", "at least 75%"]];

export function open(content, route) {
  return route.id ? one(content, route) : list(content, route);
}

async function list(content, { bank, query }) {
  const chosen = { subject: query.get("subject") || "", sure: query.get("sure") || "" };
  const moments = asOf();
  const results = h("div");
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
      moments ? "No opinion was held on these days." : "No opinions yet. They form from statements of taste and belief.",
      "opinions",
    );
    show(results, pages.element);
    return pages.load();
  };
  const set = soon(chosen, draw);
  show(
    content,
    h("h1", {}, "Opinions"),
    h("form", { class: "row", role: "search", on: { submit: (event) => event.preventDefault() } }, h("div", { class: "grow" }, field("Of whom", h("input", { id: "opinion-subject", type: "search", value: chosen.subject, on: { input: set("subject") } }))), field("How sure", select(SURE, chosen.sure, set("sure")))),
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
      h("p", { class: "origin" }, meter(opinion.confidence, "confidence"), ` ${percent(opinion.confidence)} sure · ${opinion.subject} · ${plural(opinion.evidence.length, "piece of evidence", "pieces of evidence")}`),
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
    h("p", { class: "origin" }, meter(opinion.confidence, "confidence"), ` ${percent(opinion.confidence)} sure · `, opinion.entity_id ? h("a", { href: address(bank, "entity", opinion.entity_id) }, opinion.subject) : opinion.subject, ` · ${opinion.polarity}`),
    moments && h("p", { class: "faint", role: "status" }, "As memory believed it on the chosen day."),
    h("h2", {}, "Confidence"),
    h("div", { class: "card" }, curve(steps, moments?.valid ?? moments?.known ?? new Date())),
    h("h2", {}, "Evidence"),
    h("ol", { class: "plain evidence" }, opinion.evidence.map((piece, n) => evidence(bank, piece, factOf.get(piece.fact_id), n < before ? null : [n - before + 1, steps[n - before].confidence]))),
    opinion.left_out.length > 0 && [h("h2", {}, "Not counted"), h("p", { class: "faint" }, moments ? "Superseded, taken back, or stated later." : "Superseded or taken back."), h("ol", { class: "plain evidence" }, opinion.left_out.map((piece) => evidence(bank, piece, factOf.get(piece.fact_id), null)))],
  );
}

const back = (bank) => h("p", {}, h("a", { href: address(bank, "opinions") }, "← Opinions"));

function evidence(bank, piece, fact, point) {
  const told = [`${SIGNS[piece.label] ?? ""} ${piece.label}`, point && `then ${percent(point[1])}`, `read by ${piece.labelled_by || "rules"}`].filter(Boolean).join(" · ");
  return h("li", {}, h("span", { class: "number" }, point ? point[0] : "·"), fact ? row(bank, fact, { more: h("p", { class: "origin" }, told) }) : h("p", { class: "faint" }, "Its fact was forgotten."));
}
