// Why a fact stands where it stands: which channel found it at which place, and how long each stage took.

import { h, pictureWidth, svg } from "../dom.js";
import { milliseconds } from "../format.js";

/** Facts by channels: the place that each channel gave. */
export function matrix(result) {
  const rows = result.recollections.filter((one) => one.candidate).slice(0, 20);
  const channels = [...new Set(rows.flatMap((one) => one.candidate.ranks.map(([channel]) => channel)))];
  if (!rows.length) return h("p", { class: "faint" }, "No channels were asked.");
  return h(
    "div",
    { class: "wide" },
    h(
      "table",
      { class: "matrix" },
      h("caption", { class: "unseen" }, "The place that each channel gave a fact; 1 is best"),
      h("thead", {}, h("tr", {}, h("td", {}), channels.map((name) => h("th", { scope: "col" }, name)), h("th", { scope: "col" }, "cross-encoder"), h("th", { scope: "col" }, "score"))),
      h(
        "tbody",
        {},
        rows.map((one) => {
          const places = new Map(one.candidate.ranks.map(([channel, rank]) => [channel, rank]));
          return h(
            "tr",
            {},
            h("th", { scope: "row" }, `[${one.citation}]`),
            channels.map((name) => h("td", { title: name }, places.get(name) ?? "·")),
            h("td", {}, one.candidate.rerank === null ? "·" : one.candidate.rerank.toFixed(2)),
            h("td", {}, one.score.toFixed(3)),
          );
        }),
      ),
    ),
  );
}

/** The stages of a recall as bars, one below the other; parts of a stage begin where it begins, as some run at the same time. */
export function waterfall(timings, halved = false) {
  const stages = timings.filter((one) => one.stage !== "total" && !one.stage.includes("."));
  const parts = (stage) => timings.filter((one) => one.stage.startsWith(`${stage}.`)).map((one) => ({ ...one, part: true }));
  const total = timings.find((one) => one.stage === "total")?.milliseconds ?? stages.reduce((sum, one) => sum + one.milliseconds, 0);
  const [label, width, line] = [150, pictureWidth(halved), 20];
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
