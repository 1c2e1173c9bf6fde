// The time machine: what was so at one moment, as memory knew it at another. Both moments are in the address and hold for every view.

import { verb } from "../api.js";
import { button, h, show } from "../dom.js";
import { day } from "../format.js";
import { address, current } from "../route.js";

const DAY = 86_400_000;
const AXES = [
  ["true_at", "True at"],
  ["known_at", "Known at"],
];

export function machine() {
  const { query } = current();
  const moved = AXES.filter(([name]) => query.get(name));
  const label = moved.length ? moved.map(([name, title]) => `${title.toLowerCase()} ${day(query.get(name))}`).join(", ") : "now";
  const body = h("div", { class: "machine" });
  const box = h(
    "details",
    { on: { toggle: () => box.open && fill(body) } },
    h("summary", { class: moved.length ? "on" : null }, `◷ Time machine: ${label}`),
    body,
  );
  return box;
}

/** Two sliders over the days that the bank knows of. */
async function fill(body) {
  const { bank, query } = current();
  const last = Date.now();
  const first = (await oldest(bank)) ?? last - 365 * DAY;
  const days = Math.ceil((last - first) / DAY);
  const sliders = AXES.map(([name, title]) => {
    const chosen = query.get(name) ? Math.round((new Date(query.get(name)) - first) / DAY) : days;
    const told = h("output", {}, query.get(name) ? day(query.get(name)) : "now");
    const slider = h("input", { type: "range", min: 0, max: days, "aria-label": title });
    slider.value = chosen;
    const moment = () => (Number(slider.value) >= days ? "" : new Date(first + slider.value * DAY).toISOString());
    slider.addEventListener("input", () => show(told, moment() ? day(moment()) : "now"));
    slider.addEventListener("change", () => jump({ [name]: moment() }));
    return h("label", {}, `${title}: `, told, slider);
  });
  show(body, sliders, button("Back to now", () => jump({ true_at: "", known_at: "" })));
}

/** The day before the first fact was said or recorded; null for an empty bank. */
async function oldest(bank) {
  const page = await verb(bank, "facts", { order: "earliest_dated", limit: 1 });
  const fact = page.facts[0];
  const times = [fact?.mentioned_at, fact?.recorded_at, fact?.occurred_start].filter(Boolean).map((one) => +new Date(one));
  return times.length ? Math.min(...times) - DAY : null;
}

function jump(moments) {
  const { bank, view, id, query } = current();
  location.hash = address(bank, view, id, { ...Object.fromEntries(query), ...moments });
}
