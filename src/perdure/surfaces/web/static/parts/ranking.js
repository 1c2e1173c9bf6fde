// Why a fact stands where it stands: which channel found it at which place, and how long each stage took.

import { h, svg } from "../dom.js";
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

/** The stages of a recall as bars, one below the other. */
export function waterfall(timings) {
  const stages = timings.filter((one) => one.stage !== "total");
  const total = timings.find((one) => one.stage === "total")?.milliseconds ?? stages.reduce((sum, one) => sum + one.milliseconds, 0);
  const [label, width, line] = [150, 640, 20];
  let before = 0;
  const bars = stages.map((one, place) => {
    const scale = (width - label - 70) / Math.max(total, 0.001);
    const [x, w, y] = [label + before * scale, Math.max(1, one.milliseconds * scale), place * line];
    before += one.milliseconds;
    return svg(
      "g",
      {},
      svg("text", { x: 0, y: y + 13 }, one.stage),
      svg("rect", { class: "bar-fill", x, y: y + 3, width: w, height: line - 7, rx: 3 }),
      svg("text", { class: "soft", x: Math.min(x + w + 5, width - 60), y: y + 13 }, milliseconds(one.milliseconds)),
    );
  });
  const told = `${milliseconds(total)} in all: ${stages.map((one) => `${one.stage} ${milliseconds(one.milliseconds)}`).join(", ")}`;
  return svg("svg", { class: "picture", viewBox: `0 0 ${width} ${Math.max(1, stages.length) * line}`, role: "img", "aria-label": told }, bars);
}
