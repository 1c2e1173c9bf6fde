// One person or thing: the profile with its sources, whom it is mentioned with, its timeline; merge, split, forget.

import { verb } from "../api.js";
import { h, show } from "../dom.js";
import { plural, span, when } from "../format.js";
import { identity } from "../parts/identity.js";
import { mark, row } from "../parts/fact.js";
import { empty, failure } from "../parts/notice.js";
import { address, asOf } from "../route.js";
import { timeline } from "./timeline.js";

const READ = 150;
const NAMES = 12;

export async function open(content, { bank, id }) {
  const [entity] = id ? await verb(bank, "entities.list", { ids: [id] }) : [];
  if (!entity) return show(content, h("h1", {}, "Person or thing"), empty("Nobody and nothing in this bank has this id."));
  const list = timeline(bank, { entity: id }, "Nothing mentions it any longer.");
  const [profileBody, others] = [h("div"), h("div")];
  show(
    content,
    h("h1", {}, entity.name),
    h("p", { class: "origin" }, [entity.type, plural(entity.mentions, "mention"), entity.first_seen && span(entity.first_seen, entity.last_seen), entity.aliases.length > 0 && `also ${entity.aliases.join(", ")}`].filter(Boolean).join(" · ")),
    identity(bank, entity),
    h("section", { "aria-label": "Profile" }, h("h2", {}, "Profile"), profileBody),
    h("section", { "aria-label": "Mentioned with" }, h("h2", {}, "Mentioned with"), others),
    h("section", { "aria-label": "Timeline" }, h("h2", {}, "Timeline"), list.element),
  );
  const fill = (body, answer) => answer.then((shown) => show(body, shown), (error) => show(body, failure(error)));
  await Promise.all([list.load(), fill(profileBody, profile(bank, entity, asOf())), fill(others, mentionedWith(bank, entity))]);
  return undefined;
}

/** Names in the newest facts of an entity, those most often together first. */
async function mentionedWith(bank, entity) {
  const { facts } = await verb(bank, "facts.list", { entity: entity.id, order: "latest_dated", limit: READ });
  const together = new Map();
  for (const fact of facts)
    for (const [id, name] of new Map(fact.entity_ids.map((id, place) => [id, fact.entities[place] ?? id])))
      if (id !== entity.id) together.set(id, { id, name, count: (together.get(id)?.count ?? 0) + 1 });
  const names = [...together.values()].sort((one, other) => other.count - one.count || one.name.localeCompare(other.name)).slice(0, NAMES);
  if (!names.length) return empty("It is mentioned with nobody else.");
  return h("p", { class: "suggestions" }, names.map((one) => h("a", { class: "button", href: address(bank, "entity", one.id) }, `${one.name} ${one.count}`)));
}

/** The observation in force, or the one that was in force at the known moment. */
async function profile(bank, entity, moments) {
  const every = await verb(bank, "observations.list", { name: entity.name, stale: true });
  const own = every.filter((one) => one.subject.key === entity.id);
  const parts = (await Promise.all(own.map((one) => versioned(bank, one, moments)))).filter(Boolean);
  if (!parts.length) return empty(moments?.known ? "No profile was written by then." : "No profile yet: consolidation writes it from a few facts.");
  return parts.map((one) => observation(bank, one));
}

async function versioned(bank, one, moments) {
  if (!moments?.known) return one;
  const known = new Date(moments.known);
  const versions = await verb(bank, "observations.versions", { observation_id: one.id });
  return versions.findLast((version) => new Date(version.recorded_at) <= known && (!version.closed_at || new Date(version.closed_at) > known));
}

/** A profile sentence by sentence; each opens its sources, where it is corrected. */
function observation(bank, one) {
  const clause = ({ text, fact_ids: ids }) => {
    const body = h("div");
    const fill = async () => show(body, (await verb(bank, "facts.get_many", { fact_ids: ids })).map((fact) => row(bank, fact)));
    const toggle = (event) => event.target.open && !body.hasChildNodes() && fill().catch((error) => show(body, failure(error)));
    return h("li", {}, h("details", { on: { toggle } }, h("summary", {}, text, h("span", { class: "cite" }, ` ${plural(ids.length, "source")}`)), body));
  };
  const note = one.stale && mark({ flags: ["instruction"] }, "A source has changed since it was written");
  return h("div", { class: "card" }, h("p", { class: "origin" }, "written ", when(one.recorded_at), " ", note), h("ul", { class: "plain" }, one.clauses.map(clause)));
}
