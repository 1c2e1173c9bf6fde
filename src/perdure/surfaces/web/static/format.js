// Dates, numbers and words as people read them.

import { asOf } from "./route.js";

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const MOMENT = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZone: "UTC",
});
const COUNT = new Intl.NumberFormat("en-GB");

export const day = (value) => (value ? DAY.format(new Date(value)) : "");
export const moment = (value) => (value ? `${MOMENT.format(new Date(value))} UTC` : "");
export const count = (value) => COUNT.format(value ?? 0);
export const percent = (value) => `${Math.round(100 * (value ?? 0))}%`;
export const milliseconds = (value) => (value >= 100 ? `${Math.round(value)} ms` : `${value.toFixed(1)} ms`);
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** From one day to another, or that day. */
export const span = (first, last) => (day(first) === day(last) ? day(first) : `${day(first)} to ${day(last)}`);

/** When a fact happened, as surely as its words say so; nothing where only a guess is stored. */
export function happened(fact) {
  if (fact.flags.includes("unsure_date")) return "";
  const start = day(fact.occurred_start);
  const end = fact.occurred_end ? day(new Date(new Date(fact.occurred_end) - 1)) : "";
  if (start && end && start !== end) return `${start} to ${end}`;
  if (!start && end) return `by ${end}`;
  return start;
}

/** What a fact was at the time machine's moments, or is now: [sign, word, kind of chip]. As `is_current` of the domain judges it. */
export function standing(fact, moments = asOf()) {
  const time = (value) => (value ? +new Date(value) : null);
  const known = time(moments?.known) ?? Infinity;
  const valid = time(moments?.valid) ?? Math.max(Date.now(), time(fact.recorded_at) ?? 0);
  const told = moments ? "then" : "now";
  if (fact.recorded_at && time(fact.recorded_at) > known) return ["◌", "not known then", "doubt"];
  if (fact.invalidated_at && time(fact.invalidated_at) <= known) return ["✕", "declared wrong", "bad"];
  if (fact.retired_at && time(fact.retired_at) <= known) return ["✕", "taken back", "bad"];
  if (fact.valid_from && time(fact.valid_from) > valid) return ["◌", `not so yet ${told}`, "doubt"];
  const endKnown = !fact.end_recorded_at || time(fact.end_recorded_at) <= known;
  if (endKnown && fact.valid_to && time(fact.valid_to) <= valid) return ["◌", moments ? "no longer so then" : "no longer so", "doubt"];
  return ["●", `so ${told}`, "good"];
}

/** Whether it was so at the time machine's moments, or is now. */
export const holds = (fact) => standing(fact)[2] === "good";
