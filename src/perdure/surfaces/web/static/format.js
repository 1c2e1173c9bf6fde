// Dates, numbers and words as people read them. A date is shown in the offset it was stored with, never in the browser's zone.

import { h } from "./dom.js";
import { asOf } from "./route.js";

const DAY = 86_400_000;
const RECENT_DAYS = 6;
const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::\d\d(?:\.\d+)?)?)?(Z|[+-]\d\d:?\d\d)?$/;
const formatter = (parts) => new Intl.DateTimeFormat("en-GB", { ...parts, timeZone: "UTC" });
const [SHORT, LONG, MONTH] = [{ day: "numeric", month: "short" }, { day: "numeric", month: "short", year: "numeric" }, { month: "short", year: "numeric" }].map(formatter);
const EXACT = formatter({ weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
const COUNT = new Intl.NumberFormat("en-GB");

export const count = (value) => COUNT.format(value ?? 0);
export const percent = (value) => `${Math.round(100 * (value ?? 0))}%`;
export const milliseconds = (value) => (value >= 100 ? `${Math.round(value)} ms` : `${value.toFixed(1)} ms`);
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** A stored moment as {wall, offset}: the time on a clock of its own offset (as if it were UTC), and that offset in words. */
function stored(value) {
  const [, , , zone = "Z"] = ISO.exec(value) ?? [];
  const sign = zone.startsWith("-") ? -1 : 1;
  const [hours, minutes] = zone === "Z" ? [0, 0] : [zone.slice(1, 3), zone.slice(-2)].map(Number);
  const offset = sign * (hours * 60 + minutes) * 60_000;
  return { wall: +new Date(value) + offset, offset, zone: zone === "Z" ? "UTC" : zone };
}

const date = (wall) => new Date(wall);
const isMidnight = (wall) => wall % DAY === 0;
const thisYear = (wall) => date(wall).getUTCFullYear() === new Date().getFullYear();
const written = (wall) => (thisYear(wall) ? SHORT : LONG).format(wall);

/** "25 Dec", or "25 Dec 2024" where it was not this year. */
export const day = (value) => (value ? written(stored(value).wall) : "");

/** The exact moment with its offset. */
export function exact(value) {
  if (!value) return "";
  const { wall, zone } = stored(value);
  return `${EXACT.format(wall)} ${zone}`;
}

/** "today, 14:05", "yesterday", "3 days ago", else the day. */
export function recently(value) {
  if (!value) return "";
  const { wall, offset } = stored(value);
  const days = Math.floor((Date.now() + offset) / DAY) - Math.floor(wall / DAY);
  if (days < 0 || days > RECENT_DAYS) return written(wall);
  return days === 0 ? `today, ${date(wall).toISOString().slice(11, 16)}` : days === 1 ? "yesterday" : `${days} days ago`;
}

/** A moment as an element: short, with the exact time on hover. */
export const when = (value, text = recently(value)) => (value ? h("time", { datetime: value, title: exact(value) }, text) : null);

/** From one day to another, or that day. */
export const span = (first, last) => (day(first) === day(last) ? day(first) : `${day(first)} to ${day(last)}`);

/** When a fact happened, as surely as its words say so: "25 Dec", "Aug 2026", "2027". Empty where only a guess is stored. */
export function happened(fact) {
  if (fact.flags.includes("unsure_date")) return "";
  const end = fact.occurred_end && stored(fact.occurred_end).wall;
  if (!fact.occurred_start) return end ? `by ${written(end - 1)}` : "";
  const start = stored(fact.occurred_start).wall;
  if (!end || end <= start) return written(start);
  if (end - start < DAY) return isMidnight(start) ? written(start) : `${written(start)}, ${date(start).toISOString().slice(11, 16)}`;
  const [first, last] = [date(start), date(end)];
  const monthsApart = 12 * (last.getUTCFullYear() - first.getUTCFullYear()) + last.getUTCMonth() - first.getUTCMonth();
  if (isMidnight(start) && isMidnight(end) && first.getUTCDate() === 1 && last.getUTCDate() === 1) {
    if (monthsApart === 12 && first.getUTCMonth() === 0) return String(first.getUTCFullYear());
    if (monthsApart === 1) return MONTH.format(start);
  }
  return written(start) === written(end - 1) ? written(start) : `${written(start)} to ${written(end - 1)}`;
}

/** The exception that marks a fact, as [word, kind]; null in the normal case. Judged at the time machine's moments. */
export function exception(fact, doubt = null, moments = asOf()) {
  const time = (value) => (value ? +new Date(value) : null);
  const known = time(moments?.known) ?? Infinity;
  const valid = time(moments?.valid) ?? Math.max(Date.now(), time(fact.recorded_at) ?? 0);
  if (fact.recorded_at && time(fact.recorded_at) > known) return ["not known then", "doubt"];
  if (fact.invalidated_at && time(fact.invalidated_at) <= known) return ["wrong", "bad"];
  if (fact.retired_at && time(fact.retired_at) <= known) return ["taken back", "bad"];
  const endKnown = !fact.end_recorded_at || time(fact.end_recorded_at) <= known;
  if (endKnown && fact.valid_to && time(fact.valid_to) <= valid) return ["superseded", "doubt"];
  if (doubt || fact.flags.includes("instruction")) return ["doubtful", "doubt"];
  if (fact.valid_from && time(fact.valid_from) > valid) return ["not yet", "plan"];
  if (fact.flags.includes("planned") && (time(fact.occurred_end ?? fact.occurred_start) ?? Infinity) > valid) return ["planned", "plan"];
  return null;
}

/** Whether a fact is over, wrong or taken back. */
export const isOver = (fact) => ["wrong", "taken back", "superseded"].includes(exception(fact)?.[0]);
