// Dates, numbers and words as people read them.

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

/** When a fact happened, as surely as its words say so; nothing where only a guess is stored. */
export function happened(fact) {
  if (fact.flags.includes("unsure_date")) return "";
  const start = day(fact.occurred_start);
  const end = fact.occurred_end ? day(new Date(new Date(fact.occurred_end) - 1)) : "";
  if (start && end && start !== end) return `${start} to ${end}`;
  if (!start && end) return `by ${end}`;
  return start;
}

/** What became of a fact: [sign, word, kind of chip]. */
export function standing(fact) {
  if (fact.invalidated_at) return ["✕", "declared wrong", "bad"];
  if (fact.retired_at) return ["✕", "taken back", "bad"];
  if (fact.end_recorded_at || (fact.valid_to && new Date(fact.valid_to) < new Date())) return ["◌", "no longer so", "doubt"];
  return ["●", "so now", "good"];
}
