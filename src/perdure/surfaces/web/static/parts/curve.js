// How sure memory was of an opinion over time, and what moved it.

import { pictureWidth, svg } from "../dom.js";
import { day, percent } from "../format.js";

const HEIGHT = 210;
export const SIGNS = { supporting: "▲", weak: "▽", contradicting: "▼" };

/** `points`: [{at, confidence, piece}] in time order; a point's sign says what its evidence did. `until`: the moment that is asked about. */
export function curve(points, until) {
  const width = pictureWidth();
  const [left, right, top, bottom] = [44, 16, 14, 40];
  const times = points.map((one) => +new Date(one.at));
  const [first, last] = [Math.min(...times), Math.max(...times, +new Date(until), Math.min(...times) + 1)];
  const x = (at) => left + 14 + ((+new Date(at) - first) / (last - first)) * (width - left - right - 14);
  const y = (c) => top + (1 - c) * (HEIGHT - top - bottom);
  const steps = points.map((one, n) => (n ? `H ${x(one.at)} V ${y(one.confidence)}` : `M ${x(one.at)} ${y(one.confidence)}`)).join(" ");
  const grid = [0, 0.25, 0.5, 0.75, 1].map((c) => [
    svg("line", { class: "grid", x1: left, x2: width - right, y1: y(c), y2: y(c) }),
    svg("text", { class: "soft", x: left - 6, y: y(c) + 4, "text-anchor": "end" }, percent(c)),
  ]);
  const dots = points.map((one, n) =>
    svg("g", {}, svg("circle", { class: `dot ${one.piece.label}`, cx: x(one.at), cy: y(one.confidence), r: 6 }), svg("text", { class: "soft", x: x(one.at), y: y(one.confidence) + (one.piece.label === "supporting" ? -10 : 20), "text-anchor": "middle" }, `${SIGNS[one.piece.label] ?? ""}${n + 1}`), svg("title", {}, `${day(one.at)}: ${one.piece.label}, then ${percent(one.confidence)}`)),
  );
  const told = points.map((one) => `${day(one.at)} ${one.piece.label} ${percent(one.confidence)}`).join("; ");
  return svg(
    "svg",
    { class: "picture curve", viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `Confidence over time: ${told}` },
    grid,
    svg("path", { class: "line", d: `${steps} H ${x(last)}` }),
    dots,
    svg("text", { class: "soft", x: left, y: HEIGHT - 12 }, day(first)),
    svg("text", { class: "soft", x: width - right, y: HEIGHT - 12, "text-anchor": "end" }, day(last)),
  );
}
