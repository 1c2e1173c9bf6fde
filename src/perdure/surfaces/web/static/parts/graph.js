// An entity and those it is mentioned with, around it; a click makes another one the centre.

import { button, h, show, svg } from "../dom.js";
import { plural } from "../format.js";
import { address } from "../route.js";
import { pictureWidth } from "./picture.js";

const FIRST = 16;
export const MOST = 150;
const ROW = 72;

/** Neighbours of an entity in its facts: [{id, name, count, relations}], most often together first. */
export function neighbours(entity, facts) {
  const others = new Map();
  for (const fact of facts) {
    fact.entity_ids.forEach((id, place) => {
      if (id === entity.id || fact.entity_ids.indexOf(id) !== place) return;
      const one = others.get(id) ?? { id, name: fact.entities[place] ?? id, count: 0, relations: new Set() };
      one.count += 1;
      if (fact.relation && [fact.subject, fact.object].includes(one.name)) one.relations.add(fact.relation.replaceAll("_", " "));
      others.set(id, one);
    });
  }
  return [...others.values()].sort((one, other) => other.count - one.count || one.name.localeCompare(other.name));
}

export function graph(bank, entity, others) {
  const place = h("div");
  const draw = (number) => {
    const shown = others.slice(0, number);
    const left = others.length - shown.length;
    const next = Math.min(others.length, number < MOST ? MOST : number + MOST);
    show(place, picture(bank, entity, shown), left > 0 && button(`Show ${next - number} more of ${plural(left, "edge")}`, () => draw(next), { class: "more" }));
  };
  draw(FIRST);
  return place;
}

/** Rings of nodes around the centre: each ring holds what fits beside one another. */
function picture(bank, entity, others) {
  const width = pictureWidth(true);
  const spots = [];
  const step = Math.min(120, (width - 110) / 2);
  for (let ring = 1, left = others.length; left > 0; ring += 1) {
    const holds = Math.max(5, Math.floor((Math.PI * (ring * step * 0.5 + ring * ROW)) / 62));
    const number = Math.min(left, holds);
    for (let n = 0; n < number; n += 1) spots.push([ring, (2 * Math.PI * (n + (ring % 2) / 2)) / number - Math.PI / 2]);
    left -= number;
  }
  const rings = spots.at(-1)?.[0] ?? 0;
  const across = rings ? (width / 2 - 52) / rings : 0;
  const height = Math.max(120, rings * ROW * 2 + 90);
  const [cx, cy] = [width / 2, height / 2];
  const at = ([ring, angle]) => [cx + Math.cos(angle) * across * ring, cy + Math.sin(angle) * ROW * ring];
  const heaviest = Math.max(1, ...others.map((one) => one.count));
  const edges = others.map((one, n) => {
    const [x, y] = at(spots[n]);
    const word = [...one.relations][0] ?? "";
    return svg("g", {}, svg("line", { class: "edge", x1: cx, y1: cy, x2: x, y2: y, "stroke-width": 1 + (3 * one.count) / heaviest }), word && spots[n][0] === 1 && svg("text", { class: "soft relation", x: cx + (x - cx) * 0.56, y: cy + (y - cy) * 0.56, "text-anchor": "middle" }, word));
  });
  const nodes = others.map((one, n) => node(bank, one, ...at(spots[n]), 9));
  const told = `${entity.name} is mentioned with ${others.slice(0, MOST).map((one) => `${one.name} (${one.count})`).join(", ") || "nobody"}`;
  return svg(
    "svg",
    { class: "picture graph", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": told },
    edges,
    nodes,
    svg("circle", { class: "bar-fill", cx, cy, r: 15 }),
    label(entity.name, cx, cy + 29, "centre"),
  );
}

function node(bank, one, x, y, r) {
  const why = [plural(one.count, "fact"), ...one.relations].join(", ");
  return svg("a", { href: address(bank, "entity", one.id), "aria-label": `${one.name}: ${why}` }, svg("circle", { class: "node", cx: x, cy: y, r }), label(one.name, x, y + 22), svg("title", {}, `${one.name}: ${why}`));
}

function label(name, x, y, kind = "") {
  return svg("text", { class: `name ${kind}`, x, y, "text-anchor": "middle" }, name.length > 17 ? `${name.slice(0, 16)}…` : name);
}
