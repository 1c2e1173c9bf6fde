// The time machine: what was so at one moment, as memory knew it at another. Both moments are in the address and hold for every view.

import { verb } from "../api.js";
import { button, h, show } from "../dom.js";
import { day, moment } from "../format.js";
import { address, current } from "../route.js";
import { failure } from "./notice.js";

const STEPS = 500;
const DAY = 86_400_000;
const FINE = 20 * DAY;
const EVERY = { include_closed: true, include_expired: true };
/** Whether the box was left open: it stays so when a moment is chosen. */
let kept = false;
const AXES = [
  ["true_at", "True at", "in the world"],
  ["known_at", "Known at", "to memory"],
];

/** A moment as finely as it was chosen: days, or minutes where it is no midnight. */
const told = (value) => (new Date(value) % DAY ? moment(value) : day(value));

export function machine() {
  const { query } = current();
  const moved = AXES.filter(([name]) => query.get(name));
  const label = moved.length ? moved.map(([name, title]) => `${title.toLowerCase()} ${told(query.get(name))}`).join(", ") : "now";
  const body = h("div", { class: "machine" });
  const box = h(
    "details",
    { open: kept, on: { toggle: () => ((kept = box.open), kept && fill(body).catch((error) => show(body, failure(error)))) } },
    h("summary", { class: moved.length ? "on" : null }, `◷ Time machine: ${label}`),
    body,
  );
  return box;
}

/** A slider for each axis, over the time that the bank's facts span on it. */
async function fill(body) {
  const { bank, query } = current();
  const ranges = await span(bank);
  if (!ranges) return show(body, h("p", { class: "faint" }, "The bank is empty: there is no other time to go to."));
  const sliders = AXES.map(([name, title, hint]) => slider(name, title, hint, query.get(name), ranges[name]));
  return show(body, sliders, h("p", {}, button("Back to now", () => jump({ true_at: "", known_at: "" }))));
}

function slider(name, title, hint, chosen, [first, last]) {
  const steps = last - first > FINE ? Math.min(STEPS, Math.ceil((last - first) / DAY)) : STEPS;
  const size = (last - first) / steps;
  const at = (step) => {
    const value = first + step * size;
    return new Date(last - first > FINE ? Math.floor(value / DAY) * DAY : value);
  };
  const output = h("output", {}, chosen ? told(chosen) : "now");
  const input = h("input", { type: "range", min: 0, max: steps, "aria-label": title, name });
  input.value = chosen ? Math.max(0, Math.min(steps - 1, Math.ceil((new Date(chosen) - first) / size))) : steps;
  const value = () => (Number(input.value) >= steps ? "" : at(Number(input.value)).toISOString());
  input.addEventListener("input", () => show(output, value() ? told(value()) : "now"));
  input.addEventListener("change", () => jump({ [name]: value() }));
  const exact = h("input", { type: "date", "aria-label": `${title}, as a date`, value: (chosen || "").slice(0, 10), on: { change: () => jump({ [name]: exact.value && `${exact.value}T00:00:00Z` }) } });
  return h("div", { class: "axis" }, h("div", {}, h("strong", {}, title), ` (${hint}): `, output), h("div", { class: "axis-controls" }, input, exact));
}

/** [first, last] of each axis: from before the first fact until now, or until the last date that lies ahead. */
async function span(bank) {
  const one = async (order) => (await verb(bank, "facts.list", { order, limit: 1, where: EVERY })).facts[0];
  const [earliest, latest, oldest] = await Promise.all(["earliest_dated", "latest_dated", "oldest_recorded"].map(one));
  if (!oldest) return null;
  const now = Date.now();
  const times = (fact, ...names) => names.map((name) => fact?.[name]).filter(Boolean).map((value) => +new Date(value));
  const recorded = Math.min(...times(oldest, "recorded_at"), now);
  const first = Math.min(...times(earliest, "mentioned_at", "occurred_start", "valid_from"), recorded);
  const last = Math.max(...times(latest, "mentioned_at", "occurred_start", "valid_to"), now);
  const before = (start, end) => start - Math.max(60_000, Math.min(DAY, (end - start) / 50));
  return { true_at: [first - DAY, last + DAY], known_at: [before(recorded, now), now] };
}

function jump(chosen) {
  const { bank, view, id, query } = current();
  location.hash = address(bank, view, id, { ...Object.fromEntries(query), ...chosen });
}
