// One person or thing: the profile with its proofs, the facts in order, whom it is mentioned with; merge and split.

import { verb } from "../api.js";
import { h, show } from "../dom.js";
import { moment, plural, span } from "../format.js";
import { chip, row } from "../parts/fact.js";
import { graph, MOST, neighbours } from "../parts/graph.js";
import { identity } from "../parts/identity.js";
import { empty, failure } from "../parts/notice.js";
import { paged } from "../parts/paging.js";
import { address, asOf } from "../route.js";

export async function open(content, { bank, id }) {
  const [entity] = id ? await verb(bank, "entities.list", { ids: [id] }) : [];
  if (!entity) return show(content, empty("No such person or thing is in this bank."));
  const moments = asOf();
  const read = async (offset, limit, order = "latest_dated") => {
    const page = await verb(bank, "facts.list", { entity_id: id, order, offset, limit, ...(moments && { where: { as_of: moments } }) });
    return { rows: page.facts, total: page.total };
  };
  const timeline = paged(read, (fact) => row(bank, fact), moments ? "Nothing was known of it at these moments." : "No fact mentions it any longer.");
  const profileBody = h("div", {}, h("p", { class: "faint" }, "…"));
  const relations = h("div", {}, h("p", { class: "faint" }, "…"));
  show(
    content,
    h("p", {}, h("a", { href: address(bank, "people") }, "← People and things")),
    h("h1", {}, entity.name),
    h("div", { class: "chips" }, chip(entity.type), chip(plural(entity.mentions, "mention")), entity.aliases.map((name) => chip(`also ${name}`)), entity.first_seen && chip(span(entity.first_seen, entity.last_seen))),
    identity(bank, entity),
    h(
      "div",
      { class: "columns" },
      h("section", { "aria-label": "Profile" }, h("h2", {}, "Profile"), profileBody),
      h("section", { "aria-label": "Mentioned with" }, h("h2", {}, "Mentioned with"), relations),
    ),
    h("section", { "aria-label": "Timeline" }, h("h2", {}, "Timeline"), timeline.element),
  );
  const fill = (body, answer) => answer.then((shown) => show(body, shown), (error) => show(body, failure(error)));
  await Promise.all([
    timeline.load(),
    fill(profileBody, profile(bank, entity, moments)),
    fill(relations, read(0, MOST).then(({ rows, total }) => around(bank, entity, rows, total, read))),
  ]);
  return undefined;
}

/** The graph of the newest facts; older ones when asked for. */
function around(bank, entity, facts, total, read) {
  const others = neighbours(entity, facts);
  if (!others.length) return empty("It is mentioned with nobody else.");
  const body = h("div", {}, graph(bank, entity, others));
  if (total > facts.length) {
    const more = async () => {
      const next = await read(facts.length, MOST);
      show(body.parentElement, around(bank, entity, [...facts, ...next.rows], total, read));
    };
    body.append(h("p", { class: "faint" }, `From the newest ${plural(facts.length, "fact")} of ${total}. `, h("button", { type: "button", class: "plain", on: { click: more } }, "Read older ones too")));
  }
  return body;
}

/** The observation in force, or the one that was in force at the known moment. */
async function profile(bank, entity, moments) {
  const every = await verb(bank, "observations.list", { name: entity.name, stale: true });
  const own = every.filter((one) => one.subject.key === entity.id);
  const parts = await Promise.all(own.map((one) => versioned(bank, one, moments)));
  const shown = parts.filter(Boolean);
  if (!shown.length) return empty(moments?.known ? "No profile was written by then." : "No profile was written yet: consolidation writes it.");
  return h(
    "div",
    {},
    moments?.valid && h("p", { class: "faint" }, "A profile tells what held when it was written; the moment of truth does not change it."),
    shown.map((one) => observation(bank, one)),
  );
}

async function versioned(bank, one, moments) {
  if (!moments?.known) return one;
  const known = new Date(moments.known);
  const versions = await verb(bank, "observations.versions", { observation_id: one.id });
  return versions.findLast((version) => new Date(version.recorded_at) <= known && (!version.closed_at || new Date(version.closed_at) > known));
}

function observation(bank, one) {
  const proof = (id, place) => h("a", { href: address(bank, "fact", id), "aria-label": `proof ${place + 1}` }, `[${place + 1}]`);
  return h(
    "div",
    { class: "card observation" },
    h("div", { class: "chips" }, [...one.tags].map((tag) => chip(`# ${tag}`)), one.stale && chip("⚠ a source has changed since", "doubt"), chip(`written ${moment(one.recorded_at)}`), chip(plural(one.proof_count, "proof"))),
    h("ul", {}, one.clauses.map((clause) => h("li", {}, clause.text, " ", h("span", { class: "cite" }, clause.fact_ids.map(proof))))),
    h("a", { href: address(bank, "fact", one.id) }, "history of this profile"),
  );
}
