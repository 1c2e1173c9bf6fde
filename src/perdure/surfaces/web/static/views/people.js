// People first, then places, organisations and things; what was mentioned once is left out until asked for.

import { verb } from "../api.js";
import { h, show } from "../dom.js";
import { plural, span } from "../format.js";
import { soon } from "../parts/filters.js";
import { empty } from "../parts/notice.js";
import { paged } from "../parts/paging.js";
import { address, note } from "../route.js";

const KINDS = [["person", "People"], ["place", "Places"], ["organisation,group", "Organisations"], ["product,work,event,concept", "Things"], ["all", "Everything"]];

export async function open(content, { bank, query }) {
  const chosen = { text: query.get("text") || "", type: query.get("type") || "person", once: query.get("once") || "" };
  const results = h("div");
  const draw = () => {
    if (!results.isConnected) return undefined;
    note(chosen);
    const list = paged((offset, limit) => read(bank, chosen, offset, limit), (entity) => card(bank, entity), nothing(chosen), "names", h("div", { class: "cards" }));
    show(results, list.element);
    return list.load();
  };
  const set = soon(chosen, draw);
  const once = h("input", { id: "once", type: "checkbox", checked: chosen.once === "yes", on: { change: set("once") } });
  const kind = ([name, title]) => h("a", { href: address(bank, "people", "", { type: name, once: chosen.once }), "aria-current": name === chosen.type ? "true" : null }, title);
  show(
    content,
    h("h1", {}, "People"),
    h("nav", { class: "tabs inner", "aria-label": "Kinds" }, KINDS.map(kind)),
    h(
      "form",
      { class: "row", role: "search", on: { submit: (event) => event.preventDefault() } },
      h("div", { class: "grow" }, h("input", { id: "entity-text", type: "search", placeholder: "Name", "aria-label": "Name", value: chosen.text, on: { input: set("text") } })),
      h("div", { class: "tick" }, once, h("label", { for: "once" }, "also those mentioned once")),
    ),
    results,
  );
  await draw();
}

const nothing = (chosen) => empty(chosen.text ? "Nobody and nothing has this name." : chosen.once ? "Nobody is known yet." : "Nobody was mentioned more than once. Tick the box to see all names.");

/** A page of names; the list is sorted by mentions, so that those mentioned once are at its end. */
async function read(bank, chosen, offset, limit) {
  const every = await verb(bank, "entities.list", { offset, limit, text: chosen.text, ...(chosen.type !== "all" && { types: chosen.type.split(",") }) });
  const rows = chosen.once || chosen.text ? every : every.filter((one) => one.mentions > 1);
  return { rows, total: rows.length < limit ? offset + rows.length : null };
}

function card(bank, entity) {
  const seen = entity.first_seen && entity.last_seen ? span(entity.first_seen, entity.last_seen) : "";
  return h(
    "a",
    { class: "card person", href: address(bank, "entity", entity.id) },
    h("strong", {}, entity.name),
    h("span", { class: "origin" }, [entity.type, plural(entity.mentions, "mention"), seen].filter(Boolean).join(" · ")),
    entity.aliases.length > 0 && h("span", { class: "origin" }, `also ${entity.aliases.slice(0, 4).join(", ")}`),
  );
}
