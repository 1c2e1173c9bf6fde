// A small chart of bars: one per day, with the number in words for who cannot see it.

import { svg } from "../dom.js";

const [HEIGHT, FOOT, LEFT] = [140, 18, 52];
const [NARROW, WIDE] = [340, 640];

/** `points` are [label, value] in order; `told` writes a value. */
export function bars(points, title, told) {
  const width = innerWidth < 2 * NARROW ? NARROW : WIDE;
  const top = Math.max(...points.map(([, value]) => value), 0) || 1;
  const step = (width - LEFT) / Math.max(1, points.length);
  const height = HEIGHT - FOOT - 8;
  const every = Math.ceil((points.length * 75) / width);
  const y = (value) => 8 + height * (1 - value / top);
  return svg(
    "svg",
    { class: "picture", viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `${title}: ${points.map(([label, value]) => `${label} ${told(value)}`).join(", ")}` },
    [0, 0.5, 1].map((share) => [
      svg("line", { class: "grid", x1: LEFT, x2: width, y1: y(top * share), y2: y(top * share) }),
      svg("text", { class: "soft", x: LEFT - 6, y: y(top * share) + 4, "text-anchor": "end" }, told(top * share)),
    ]),
    points.map(([label, value], place) => [
      svg("rect", { class: "bar-fill", x: LEFT + place * step + step * 0.15, y: y(value), width: Math.min(step * 0.7, 48), height: Math.max(value ? 1 : 0, 8 + height - y(value)), rx: 2 }, svg("title", {}, `${label}: ${told(value)}`)),
      place % every === 0 && svg("text", { class: "soft", x: LEFT + place * step + step * 0.15, y: HEIGHT - 4 }, label),
    ]),
  );
}
