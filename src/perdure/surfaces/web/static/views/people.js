// People and things: the entities of the bank, most mentioned first.

import { verb } from "../api.js";
import { field, h, select, show } from "../dom.js";
import { plural, span } from "../format.js";
import { PAGE, paged } from "../parts/paging.js";
import { address, asOf, note } from "../route.js";

const TYPES = [["", "all"], "person", "place", "organisation", "product", "event", "work", "group", "concept"];
const WAIT = 250;

export async function open(content, { bank, query }) {
  const chosen = { text: query.get("text") || "", type: query.get("type") || "" };
  const results = h("div");
  let waiting = 0;
  const draw = () => {
    if (!results.isConnected) return undefined;
    note(chosen);
    const list = paged((offset, limit) => read(bank, chosen, offset, limit), (entity) => card(bank, entity), "Nobody and nothing is called that.", "entities");
    list.element.querySelector(".rows").classList.add("cards");
    show(results, list.element);
    return list.load();
  };
  const set = (name) => (event) => {
    chosen[name] = event.target.value;
    clearTimeout(waiting);
    waiting = setTimeout(draw, WAIT);
  };
  const kinds = select(TYPES, chosen.type, () => {});
  kinds.addEventListener("change", set("type"));
  show(
    content,
    h("h1", {}, "People and things"),
    h(
      "form",
      { class: "row", role: "search", on: { submit: (event) => event.preventDefault() } },
      h("div", { class: "grow" }, field("Name", h("input", { id: "entity-text", type: "search", value: chosen.text, on: { input: set("text") } }))),
      field("Type", kinds),
    ),
    asOf() && h("p", { class: "faint" }, "This list shows the present; the time machine changes what is told of each."),
    results,
  );
  await draw();
}

async function read(bank, chosen, offset) {
  const rows = await verb(bank, "entities.list", { offset, limit: PAGE, text: chosen.text, ...(chosen.type && { types: [chosen.type] }) });
  return { rows, total: null };
}

function card(bank, entity) {
  const seen = entity.first_seen && entity.last_seen ? span(entity.first_seen, entity.last_seen) : "";
  return h(
    "a",
    { class: "card person", href: address(bank, "entity", entity.id) },
    h("strong", {}, entity.name),
    h("span", { class: "faint" }, `${entity.type}, ${plural(entity.mentions, "mention")}`),
    entity.aliases.length > 0 && h("span", { class: "faint" }, `also ${entity.aliases.slice(0, 4).join(", ")}`),
    seen && h("span", { class: "faint" }, seen),
  );
}
