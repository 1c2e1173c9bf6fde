// How sure memory was of an opinion over time, and what moved it.

import { pictureWidth, svg } from "../dom.js";
import { day, percent } from "../format.js";

const HEIGHT = 240;
const NEAR = 26;
const LABEL = 62;
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "short", year: "2-digit", timeZone: "UTC" });
export const SIGNS = { supporting: "▲", weak: "▽", contradicting: "▼" };

/** `points`: [{at, confidence, piece}] in time order; a point's sign says what its evidence did. `until`: the moment that is asked about. */
export function curve(points, until) {
  const width = pictureWidth();
  const [left, right, top, bottom] = [44, 48, 20, 30];
  const times = points.map((one) => +new Date(one.at));
  const [first, last] = [Math.min(...times), Math.max(...times, +new Date(until), Math.min(...times) + 1)];
  const x = (at) => left + 14 + ((+new Date(at) - first) / (last - first)) * (width - left - right - 14);
  const y = (c) => top + (1 - c) * (HEIGHT - top - bottom);
  const [end, floor, sure] = [x(last), y(0), points.at(-1)?.confidence ?? 0];
  const steps = points.map((one, n) => (n ? `H ${x(one.at)} V ${y(one.confidence)}` : `M ${x(one.at)} ${y(one.confidence)}`)).join(" ");
  const grid = [0, 0.25, 0.5, 0.75, 1].map((c) => [
    svg("line", { class: c ? "grid" : "edge", x1: left, x2: width - right, y1: y(c), y2: y(c) }),
    svg("text", { class: "soft", x: left - 8, y: y(c) + 4, "text-anchor": "end" }, percent(c)),
  ]);
  const dots = points.map((one) => svg("g", {}, svg("circle", { class: `dot ${one.piece.label}`, cx: x(one.at), cy: y(one.confidence), r: 6 }), svg("title", {}, `${day(one.at)}: ${one.piece.label}, then ${percent(one.confidence)}`)));
  const told = points.map((one) => `${day(one.at)} ${one.piece.label} ${percent(one.confidence)}`).join("; ");
  return svg(
    "svg",
    { class: "picture curve", viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `Confidence over time: ${told}` },
    months(first, last, Math.floor((width - left - right) / LABEL)).map((at) => [svg("line", { class: "edge", x1: x(at), x2: x(at), y1: floor, y2: floor + 5 }), svg("text", { class: "soft", x: x(at), y: HEIGHT - 10, "text-anchor": "middle" }, MONTH.format(at))]),
    grid,
    points.length > 0 && [svg("path", { class: "area", d: `${steps} H ${end} V ${floor} H ${x(times[0])} Z` }), svg("path", { class: "line", d: `${steps} H ${end}` })],
    dots,
    labels(points, x, y),
    svg("text", { class: "sure", x: end + 8, y: y(sure) + 4 }, percent(sure)),
  );
}

/** The sign and number of each point; those that stand too near to one another share a place. */
function labels(points, x, y) {
  const groups = [];
  points.forEach((one, n) => {
    const text = `${SIGNS[one.piece.label] ?? ""}${n + 1}`;
    const before = groups.at(-1);
    if (before && x(one.at) - before.x < NEAR) {
      before.texts.push(text);
      before.top = Math.min(before.top, y(one.confidence));
    } else groups.push({ x: x(one.at), top: y(one.confidence), texts: [text], isFall: one.piece.label !== "supporting" && n > 0 });
  });
  return groups.map((one) => svg("text", { class: "soft", x: one.x, y: one.isFall && one.texts.length === 1 ? one.top + 22 : one.top - 12, "text-anchor": "middle" }, one.texts.join(" ")));
}

/** The first days of months between two moments, evenly, no more than there is room for. */
function months(first, last, most) {
  const start = new Date(first);
  const every = [];
  for (let n = 1; ; n += 1) {
    const at = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + n, 1);
    if (at > last) break;
    every.push(at);
  }
  const step = Math.ceil(every.length / Math.max(1, most));
  return every.filter((_, n) => n % step === 0);
}
