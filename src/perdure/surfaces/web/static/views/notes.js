// Notes: what happened in a day, a week or a quarter, as pages whose lines lead to their facts.

import { verb } from "../api.js";
import { h, show } from "../dom.js";
import { plural } from "../format.js";
import { citedFacts, sentence } from "../parts/cited.js";
import { inline } from "../parts/markdown.js";
import { empty } from "../parts/notice.js";
import { paged } from "../parts/paging.js";
import { address, asOf } from "../route.js";

const PERIODS = [["daily", "Days"], ["weekly", "Weeks"], ["quarterly", "Quarters"]];

export async function open(content, { bank, id, query }) {
  if (id) return openNote(content, bank, id);
  const period = query.get("period") || "daily";
  const names = await verb(bank, "notes.list", { period });
  const list = h("ol", { class: "list", "aria-label": "Notes" });
  const row = (name) => h("li", {}, h("a", { href: address(bank, "notes", name) }, titled(name)));
  const read = async (offset, limit) => ({ rows: names.slice(offset, offset + limit), total: names.length });
  const nothing = h("div", {}, empty("No notes of this kind."), h("p", { class: "faint" }, "Consolidation writes notes where the setting ", h("code", {}, "notes_folder"), " names a folder."));
  const { element, load } = paged(read, row, nothing, "notes", list);
  show(
    content,
    h("h1", {}, "Notes"),
    h("p", { class: "faint" }, "Pages that consolidation writes from memory.", asOf() && " They are of the present: the time machine does not change them."),
    h("nav", { class: "row", "aria-label": "Period" }, PERIODS.map(([name, title]) => h("a", { class: "button", href: address(bank, "notes", "", { period: name }), "aria-current": name === period ? "page" : null }, title))),
    element,
  );
  await load();
  return undefined;
}

const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** The time of a note in words: "daily/2026-06-10", "weekly/2026-W24", "quarterly/2026-Q2". */
function titled(name) {
  const time = name.split("/")[1];
  const [year, part = ""] = time.split("-");
  if (part.startsWith("W")) return `Week ${Number(part.slice(1))} of ${year}`;
  if (part.startsWith("Q")) return `Quarter ${part.slice(1)} of ${year}`;
  const date = new Date(time);
  return Number.isNaN(+date) ? time : WEEKDAY.format(date);
}

async function openNote(content, bank, name) {
  const note = await verb(bank, "notes.get", { name });
  const lines = note.sections.flatMap(([, told]) => told);
  const ids = [...new Set(lines.flatMap((line) => line.fact_ids))];
  const facts = await citedFacts(bank, ids);
  const numbers = new Map(ids.map((one, place) => [one, place + 1]));
  const [period] = name.split("/");
  show(
    content,
    h("p", {}, h("a", { href: address(bank, "notes", "", { period }) }, "← Notes")),
    h("h1", {}, titled(name)),
    lines.length ? null : empty("Nothing is left of this note: its facts are gone."),
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        {},
        note.sections.map(([heading, told]) =>
          h("section", { class: "card prose", "aria-label": heading }, h("h2", {}, heading), h("ul", {}, told.map((line) => sentence("li", inline(line.text), line.fact_ids, numbers, facts)))),
        ),
      ),
      h("section", { "aria-label": "Facts" }, h("h2", {}, `Rests on ${plural(ids.length, "fact")}`), facts),
    ),
  );
}
