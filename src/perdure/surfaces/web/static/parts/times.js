// The times of a fact on one axis: since when and until when it was so, when it happened, was said, was recorded, was taken back.

import { h, pictureWidth, svg } from "../dom.js";
import { day, happened, moment } from "../format.js";
import { asOf } from "../route.js";

const DAY = 86_400_000;
const LINE = 34;
const LETTER = 6.4;

export function times(fact) {
  const rows = spans(fact);
  const marks = Object.entries(asOf() ?? {}).filter(([, value]) => value);
  const points = [...rows.flatMap((row) => [row.from, row.to]), ...marks.map(([, value]) => value)].filter(Boolean).map((one) => +new Date(one));
  if (!points.length) return h("p", { class: "faint" }, "No time of this fact is stored.");
  const [width, label] = [pictureWidth(), 86];
  const first = Math.min(...points) - DAY;
  const last = Math.max(...points, Math.min(...points) + DAY) + DAY;
  const pad = (last - first) * 0.04;
  const x = (value) => label + ((+new Date(value) - first + pad) / (last - first + 2 * pad)) * (width - label - 8);
  const top = marks.length ? 16 : 0;
  const height = top + rows.length * LINE + 24;
  const bars = rows.map((row, place) => drawn(row, top + place * LINE, x, width, label));
  const told = rows.map((row) => `${row.name}: ${row.text}`).join("; ");
  const lines = marks.map(([name, value]) =>
    svg("g", {}, svg("line", { class: "now", x1: x(value), x2: x(value), y1: 14, y2: height - 18 }), svg("text", { class: "soft", x: Math.min(x(value), width - 30), y: 10, "text-anchor": "middle" }, name === "valid" ? "true at" : "known at")),
  );
  return svg(
    "svg",
    { class: "picture times", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Times: ${told}` },
    bars,
    lines,
    svg("line", { class: "edge", x1: label, x2: width - 8, y1: height - 16, y2: height - 16 }),
    svg("text", { class: "soft", x: label, y: height - 3 }, day(first + DAY)),
    svg("text", { class: "soft", x: width - 8, y: height - 3, "text-anchor": "end" }, day(last - DAY)),
  );
}

/** What is known of the fact's times; a guessed date is left out. */
function spans(fact) {
  const rows = [];
  const add = (name, from, to, text, kind) => (from || to) && rows.push({ name, from, to, text, kind });
  add("so", fact.valid_from, fact.valid_to, fact.valid_to ? `${day(fact.valid_from) || "…"} to ${day(fact.valid_to)}` : `since ${day(fact.valid_from)}`, "span");
  if (happened(fact)) add("happened", fact.occurred_start, fact.occurred_end, happened(fact), "stretch");
  add("said", fact.mentioned_at, null, day(fact.mentioned_at), "point");
  add("recorded", fact.recorded_at, null, moment(fact.recorded_at), "point");
  add("end noted", fact.end_recorded_at, null, moment(fact.end_recorded_at), "point");
  add("taken back", fact.retired_at, null, moment(fact.retired_at), "point");
  return rows;
}

function drawn(row, y, x, width, label) {
  const middle = y + 21;
  const start = row.from ? x(row.from) : label;
  const end = row.to ? x(row.to) : row.kind === "point" ? start : width - 8;
  const shape =
    row.kind === "point" || (row.kind === "stretch" && !row.to)
      ? svg("circle", { class: "dot", cx: start, cy: middle, r: 5 })
      : [
          svg("rect", { class: row.kind === "span" ? "bar-fill" : "bar-soft", x: start, y: middle - 5, width: Math.max(3, end - start), height: 10, rx: row.to ? 5 : 0 }),
          !row.to && svg("path", { class: "bar-fill", d: `M ${end - 1} ${middle - 9} l 8 9 l -8 9 z` }),
        ];
  const room = row.text.length * LETTER;
  const above = row.kind !== "point" && Boolean(shape.length);
  const right = (above ? start : end) + room + 12 > width;
  const text = above
    ? svg("text", { class: "soft", x: right ? width - 8 : start, y: middle - 9, "text-anchor": right ? "end" : "start" }, row.text)
    : svg("text", { class: "soft", x: right ? start - 9 : end + 9, y: middle + 4, "text-anchor": right ? "end" : "start" }, row.text);
  return svg("g", {}, svg("text", { x: 0, y: middle + 4 }, row.name), shape, text);
}
