// Why a fact ranks where it ranks: which channel found it at which rank, how long each stage took, and what was left out.

import { verb } from "../api.js";
import { h, pictureWidth, svg } from "../dom.js";
import { count, milliseconds } from "../format.js";
import { address } from "../route.js";

const SHOWN = 20;

/** One sentence: why the first fact came first. */
export function reason(result) {
  const [first] = result.recollections;
  const ranks = Object.entries(first.ranks ?? {}).sort(([, one], [, other]) => one - other);
  const channels = ranks.slice(0, 3).map(([name, rank]) => `${name} (rank ${rank})`).join(", ");
  const reader = typeof first.rerank === "number" ? `, and the reranker gave it ${first.rerank.toFixed(2)}` : "";
  return `“${first.fact.text}” came first: it was found by ${channels || "its time alone"}${reader}.`;
}

/** What was considered and left out, with the reason. */
export async function leftOut(bank, { cut, cut_count: number }) {
  const facts = await verb(bank, "facts.get_many", { fact_ids: cut.filter((one) => one.text === null).map((one) => one.fact_id) });
  const texts = new Map(facts.map((fact) => [fact.id, fact.text]));
  const line = (one, place) => h("tr", {}, h("td", {}, h("a", { href: address(bank, "fact", one.fact_id) }, one.text ?? texts.get(one.fact_id) ?? "no longer in memory")), h("td", { class: "number" }, one.score.toFixed(3)), h("td", {}, one.cut ?? ""));
  const head = h("thead", {}, h("tr", {}, h("th", {}, "fact"), h("th", { class: "number" }, "score"), h("th", {}, "reason")));
  return [number > cut.length && h("p", { class: "faint" }, `The best ${cut.length} of ${count(number)}.`), h("div", { class: "wide" }, h("table", {}, head, h("tbody", {}, cut.map(line))))];
}

/** Facts by channels: the rank that each channel gave. */
export function matrix(result) {
  const rows = result.recollections.filter((one) => one.ranks).slice(0, SHOWN);
  const channels = [...new Set(rows.flatMap((one) => Object.keys(one.ranks)))];
  if (!rows.length) return h("p", { class: "faint" }, "No channels were asked.");
  const number = (value, digits) => (typeof value === "number" ? value.toFixed(digits) : "·");
  const line = (one, place) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", title: one.fact.text }, `${place + 1} `, h("span", {}, one.fact.text)),
      channels.map((name) => h("td", { class: one.ranks[name] === 1 ? "best" : null, title: name }, one.ranks[name] ?? "·")),
      h("td", {}, number(one.rerank, 2)),
      h("td", {}, number(one.score, 3)),
    );
  const head = (name) => h("th", { scope: "col" }, name);
  return h(
    "div",
    {},
    h("p", { class: "faint" }, "The rank that each channel gave a fact, 1 being the best; a dot where it did not find it."),
    h(
      "div",
      { class: "wide" },
      h(
        "table",
        { class: "matrix" },
        h("caption", { class: "unseen" }, "The rank that each channel gave a fact"),
        h("thead", {}, h("tr", {}, h("td", {}), channels.map(head), head("reranker"), head("score"))),
        h("tbody", {}, rows.map(line)),
      ),
    ),
  );
}

/** The stages of a recall as bars, one below the other; parts of a stage begin where it begins, as some run at the same time. */
export function waterfall(timings) {
  const stages = timings.filter((one) => one.stage !== "total" && !one.stage.includes("."));
  const parts = (stage) => timings.filter((one) => one.stage.startsWith(`${stage}.`)).map((one) => ({ ...one, part: true }));
  const total = timings.find((one) => one.stage === "total")?.milliseconds ?? stages.reduce((sum, one) => sum + one.milliseconds, 0);
  const [label, width, line] = [150, pictureWidth(), 20];
  const scale = (width - label - 70) / Math.max(total, stages.reduce((sum, one) => sum + one.milliseconds, 0), 0.001);
  let before = 0;
  const rows = stages.flatMap((one) => {
    const start = before;
    before += one.milliseconds;
    return [one, ...parts(one.stage)].map((row) => ({ ...row, start }));
  });
  const bars = rows.map((row, place) => {
    const [x, w, y] = [label + row.start * scale, Math.max(1, row.milliseconds * scale), place * line];
    return svg(
      "g",
      {},
      svg("text", { class: row.part ? "soft" : null, x: row.part ? 12 : 0, y: y + 13 }, row.stage),
      svg("rect", { class: row.part ? "bar-soft" : "bar-fill", x, y: y + 3, width: w, height: line - 7, rx: 3 }),
      svg("text", { class: "soft", x: x + w + 5, y: y + 13 }, milliseconds(row.milliseconds)),
    );
  });
  const told = `${milliseconds(total)} in all: ${rows.map((row) => `${row.stage} ${milliseconds(row.milliseconds)}`).join(", ")}`;
  return svg("svg", { class: "picture", viewBox: `0 0 ${width} ${Math.max(1, rows.length) * line}`, role: "img", "aria-label": told }, bars);
}
