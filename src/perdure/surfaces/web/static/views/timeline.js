// Timeline: what happened, month by month, of the bank or of one person or thing.

import { verb } from "../api.js";
import { field, h, show } from "../dom.js";
import { row } from "../parts/fact.js";
import { soon } from "../parts/filters.js";
import { paged } from "../parts/paging.js";
import { asOf, note } from "../route.js";

const MONTH = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" });

export async function open(content, { bank, query }) {
  const chosen = { text: query.get("text") || "" };
  const results = h("div");
  const draw = () => {
    if (!results.isConnected) return undefined;
    note(chosen);
    const list = timeline(bank, { text: chosen.text });
    show(results, list.element);
    return list.load();
  };
  const words = h("input", { type: "search", value: chosen.text, on: { input: soon(chosen, draw)("text") } });
  show(content, h("h1", {}, "Timeline"), h("form", { role: "search", on: { submit: (event) => event.preventDefault() } }, field("About", words)), results);
  await draw();
}

/** Dated facts, latest first, under the months in which they happened or were said. */
export function timeline(bank, conditions, nothing = "Nothing here has a date.") {
  const moments = asOf();
  let shown = "";
  const read = async (offset, limit) => {
    const page = await verb(bank, "facts.list", { ...conditions, types: ["world", "experience"], order: "latest_dated", offset, limit, ...(moments && { where: { as_of: moments } }) });
    return { rows: page.facts, total: page.total };
  };
  const draw = (fact) => {
    const at = (!fact.flags.includes("unsure_date") && (fact.occurred_start ?? fact.occurred_end)) || fact.mentioned_at;
    const month = at ? MONTH.format(new Date(`${at.slice(0, 7)}-01`)) : "";
    const isNew = month !== shown;
    shown = month;
    return h("div", {}, isNew && h("h2", { class: "month" }, month), row(bank, fact));
  };
  return paged(read, draw, nothing);
}
