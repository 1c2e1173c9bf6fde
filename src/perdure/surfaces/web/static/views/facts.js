// Facts: browse what memory holds.

import { verb } from "../api.js";
import { field, h, select, show } from "../dom.js";
import { row } from "../parts/fact.js";
import { paged } from "../parts/paging.js";
import { asOf, note } from "../route.js";

const TYPES = [["", "all"], "world", "experience", "opinion", "observation"];
const ORDERS = [
  ["newest_recorded", "recorded last first"],
  ["oldest_recorded", "recorded first first"],
  ["latest_dated", "latest date first"],
  ["earliest_dated", "earliest date first"],
];
const WAIT = 250;

export async function open(content, { bank, query }) {
  const chosen = Object.fromEntries(["text", "type", "speaker", "tags", "order", "closed"].map((name) => [name, query.get(name) || ""]));
  const results = h("div");
  let waiting = 0;
  const draw = () => {
    if (!results.isConnected) return undefined;
    note(chosen);
    const list = paged((offset, limit) => read(bank, chosen, offset, limit), (fact) => row(bank, fact), "No fact is like that.");
    show(results, list.element);
    return list.load();
  };
  const set = (name) => (event) => {
    chosen[name] = event.target.type === "checkbox" ? (event.target.checked ? "yes" : "") : event.target.value;
    clearTimeout(waiting);
    waiting = setTimeout(draw, WAIT);
  };
  const typed = (name, props = {}) => h("input", { type: "search", value: chosen[name], ...props, on: { input: set(name) } });
  const pick = (name, options) => {
    const control = select(options, chosen[name], () => {});
    control.addEventListener("change", set(name));
    return control;
  };
  const closed = h("input", { id: "closed", type: "checkbox", checked: chosen.closed === "yes", on: { change: set("closed") } });
  show(
    content,
    h("h1", {}, "Facts"),
    h(
      "form",
      { class: "row", role: "search", on: { submit: (event) => event.preventDefault() } },
      h("div", { class: "grow" }, field("Words in the fact", typed("text", { id: "fact-text" }))),
      field("Type", pick("type", TYPES)),
      field("Speaker", typed("speaker", { size: 10 })),
      field("Tags", typed("tags", { size: 12, placeholder: "travel, work" })),
      field("Order", pick("order", ORDERS)),
      h("div", { class: "tick" }, closed, h("label", { for: "closed" }, "also what is over or wrong")),
    ),
    chosen.closed && asOf() && h("p", { class: "faint" }, "With what is over, every time is listed: the time machine marks the facts, and leaves none out."),
    results,
  );
  await draw();
}

async function read(bank, chosen, offset, limit) {
  const tags = chosen.tags.split(",").map((one) => one.trim()).filter(Boolean);
  const moments = asOf();
  const where = chosen.closed ? { include_closed: true, include_expired: true } : moments && { as_of: moments };
  const page = await verb(bank, "facts.list", {
    offset,
    limit,
    text: chosen.text,
    ...(chosen.order && { order: chosen.order }),
    ...(chosen.type && { types: [chosen.type] }),
    ...(chosen.speaker.trim() && { speaker: chosen.speaker.trim() }),
    ...(tags.length && { tags }),
    ...(where && { where }),
  });
  return { rows: page.facts, total: page.total };
}
