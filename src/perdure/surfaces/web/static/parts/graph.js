// An entity and those it is mentioned with, around it; a click makes another one the centre.

import { button, h, pictureWidth, show, svg } from "../dom.js";
import { plural } from "../format.js";
import { address } from "../route.js";

const FIRST = 16;
export const MOST = 150;
const ROW = 72;
const ALONE = 9;
const WIDE = 24;

/** Neighbours of an entity in its facts: [{id, name, count, relations}], most often together first. */
export function neighbours(entity, facts) {
  const others = new Map();
  const names = [entity.name, ...entity.aliases];
  for (const fact of facts) {
    fact.entity_ids.forEach((id, place) => {
      if (id === entity.id || fact.entity_ids.indexOf(id) !== place) return;
      const one = others.get(id) ?? { id, name: fact.entities[place] ?? id, count: 0, relations: new Set() };
      one.count += 1;
      if (joins(fact, names, one.name)) one.relations.add(fact.relation.replaceAll("_", " "));
      others.set(id, one);
    });
  }
  return [...others.values()].sort((one, other) => other.count - one.count || one.name.localeCompare(other.name));
}

/** Whether a fact's relation is between the two, and not only told by one of them. */
function joins(fact, names, other) {
  return Boolean(fact.relation) && ((names.includes(fact.subject) && fact.object === other) || (names.includes(fact.object) && fact.subject === other));
}

export function graph(bank, entity, others) {
  const place = h("div");
  const draw = (number) => {
    const shown = others.slice(0, number);
    const left = others.length - shown.length;
    const next = Math.min(others.length, number < MOST ? MOST : number + MOST);
    place.closest("section")?.classList.toggle("across", shown.length > WIDE);
    show(place, picture(bank, entity, shown), left > 0 && button(`Show ${next - number} more of ${plural(left, "edge")}`, () => draw(next), { class: "more" }));
  };
  draw(FIRST);
  return place;
}

/** Rings of nodes around the centre: each ring holds what fits beside one another. */
function picture(bank, entity, others) {
  const width = pictureWidth(others.length <= WIDE);
  const narrow = width < 400;
  const spots = [];
  for (let ring = 1, left = others.length; left > 0; ring += 1) {
    const number = others.length <= ALONE ? left : Math.min(left, 6 * ring);
    for (let n = 0; n < number; n += 1) spots.push([ring, (2 * Math.PI * (n + (ring % 2 ? 0 : 0.5))) / number - Math.PI / 2]);
    left -= number;
  }
  const rings = spots.at(-1)?.[0] ?? 0;
  const across = rings ? (width / 2 - 52) / rings : 0;
  const up = rings === 1 || narrow ? 1.8 * ROW : ROW;
  const height = Math.max(120, rings * up * 2 + 70);
  const [cx, cy] = [width / 2, height / 2 - 6];
  const at = ([ring, angle]) => [cx + Math.cos(angle) * across * ring, cy + Math.sin(angle) * up * ring];
  const heaviest = Math.max(1, ...others.map((one) => one.count));
  const edges = others.map((one, n) => {
    const [x, y] = at(spots[n]);
    const word = narrow || rings > 1 ? "" : ([...one.relations][0] ?? "");
    return svg("g", {}, svg("line", { class: "edge", x1: cx, y1: cy, x2: x, y2: y, "stroke-width": 1 + (3 * one.count) / heaviest }), word && svg("text", { class: "soft relation", x: cx + (x - cx) * 0.5, y: cy + (y - cy) * 0.5, "text-anchor": "middle" }, word));
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
  return svg("text", { class: `name ${kind}`, x, y, "text-anchor": "middle" }, name.length > 14 ? `${name.slice(0, 13)}…` : name);
}
