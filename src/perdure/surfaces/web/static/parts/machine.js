// The time machine: what was true on one day, as memory knew it on another. Both are in the address and hold for every view.

import { button, h } from "../dom.js";
import { day } from "../format.js";
import { address, current } from "../route.js";

const AXES = [
  ["true_at", "True on", "What was true in the world on this day"],
  ["known_at", "Known on", "What memory knew by this day"],
];

export function machine() {
  const { query } = current();
  const moved = AXES.filter(([name]) => query.get(name));
  const label = moved.map(([name, title]) => `${title.toLowerCase()} ${day(query.get(name))}`).join(", ");
  const input = ([name, title, hint]) => {
    const change = (event) => jump({ [name]: event.target.value && `${event.target.value}T00:00:00Z` });
    return h("label", { title: hint }, title, h("input", { type: "date", name, value: (query.get(name) || "").slice(0, 10), on: { change } }));
  };
  return h(
    "details",
    { class: "machine", open: moved.length > 0 },
    h("summary", {}, label ? `As of: ${label}` : "As of now"),
    h("div", { class: "row" }, AXES.map(input), moved.length > 0 && button("Back to now", () => jump({ true_at: "", known_at: "" }))),
  );
}

function jump(chosen) {
  const { bank, view, id, query } = current();
  location.hash = address(bank, view, id, { ...Object.fromEntries(query), ...chosen });
}
