// Facts: what memory holds, by words, kind, speaker, tags and date.

import { verb } from "../api.js";
import { field, h, select, show } from "../dom.js";
import { row } from "../parts/fact.js";
import { soon } from "../parts/filters.js";
import { paged } from "../parts/paging.js";
import { asOf, note } from "../route.js";

const TYPES = [["", "statements"], ["experience", "what agents did"], ["opinion", "opinions"], ["observation", "profiles"], ["all", "everything"]];
/** What is listed where no other kind is chosen. */
const STATEMENTS = ["world", "experience"];
const ORDERS = [["newest_recorded", "newest first"], ["oldest_recorded", "oldest first"], ["latest_dated", "latest date first"], ["earliest_dated", "earliest date first"]];

export async function open(content, { bank, query }) {
  const chosen = Object.fromEntries(["text", "type", "speaker", "tags", "order", "closed"].map((name) => [name, query.get(name) || ""]));
  const results = h("div");
  const draw = () => {
    if (!results.isConnected) return undefined;
    note(chosen);
    const nothing = Object.values(chosen).some(Boolean) ? "No fact matches." : "No facts yet. Paste a chat or load the demo on Home.";
    const list = paged((offset, limit) => read(bank, chosen, offset, limit), (fact) => row(bank, fact), nothing);
    show(results, list.element);
    return list.load();
  };
  const set = soon(chosen, draw);
  const typed = (name, props = {}) => h("input", { type: "search", value: chosen[name], ...props, on: { input: set(name) } });
  const closed = h("input", { id: "closed", type: "checkbox", checked: chosen.closed === "yes", on: { change: set("closed") } });
  show(
    content,
    h("h1", {}, "Facts"),
    h(
      "form",
      { role: "search", on: { submit: (event) => event.preventDefault() } },
      h("div", { class: "row" }, h("div", { class: "grow" }, typed("text", { id: "fact-text", placeholder: "Words in the fact", "aria-label": "Words in the fact" }))),
      h(
        "details",
        { open: ["type", "speaker", "tags", "order", "closed"].some((name) => chosen[name]) },
        h("summary", {}, "Filters"),
        h(
          "div",
          { class: "row" },
          field("Show", select(TYPES, chosen.type, set("type"))),
          field("Said by", typed("speaker", { size: 10 })),
          field("Tags", typed("tags", { size: 12, placeholder: "travel, work" })),
          field("Order", select(ORDERS, chosen.order, set("order"))),
          h("div", { class: "tick" }, closed, h("label", { for: "closed" }, "also superseded and wrong ones")),
        ),
      ),
    ),
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
    ...(chosen.type !== "all" && { types: chosen.type ? [chosen.type] : STATEMENTS }),
    ...(chosen.speaker.trim() && { speaker: chosen.speaker.trim() }),
    ...(tags.length && { tags }),
    ...(where && { where }),
  });
  return { rows: page.facts, total: page.total };
}
