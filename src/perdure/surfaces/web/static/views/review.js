// Review: what only a person can decide. Contradictions first, each with one key; then doubts and names that may be one person.

import { verb } from "../api.js";
import { button, h, show } from "../dom.js";
import { day, percent, plural } from "../format.js";
import { meter, row } from "../parts/fact.js";
import { merge } from "../parts/identity.js";
import { redraw } from "../parts/mending.js";
import { empty, failure, toast } from "../parts/notice.js";
import { address, go } from "../route.js";

const NEWEST = 200;
const UNSURE = 0.5;
const SHOWN = 20;
const CHECKED = 1000;
const PEOPLE = 300;

export async function open(content, { bank, query }) {
  const answered = query.get("answered") === "yes";
  const questions = await verb(bank, "questions.list", { answered });
  const [same, doubtful] = [h("div"), h("div")];
  show(
    content,
    h("h1", {}, "Review"),
    h("div", { class: "row spread" }, h("h2", {}, "Contradictions"), button(answered ? "Open ones only" : "Show decided ones", () => go(bank, "review", "", { answered: answered ? "" : "yes" }))),
    questions.length ? questions.map((one, place) => card(bank, one, place === 0)) : empty("Nothing contradicts itself. When two statements do and neither counts more, you decide here."),
    same,
    doubtful,
  );
  const fill = (body, answer) => answer.then((shown) => show(body, shown), (error) => show(body, failure(error)));
  await Promise.all([fill(same, duplicates(bank)), fill(doubtful, doubts(bank))]);
}

/** A contradiction; the first open one is decided by the keys 1, 2, 3 ... */
function card(bank, question, isFirst) {
  const decided = question.answer !== null;
  const key = (number) => (isFirst && !decided ? number : null);
  const label = (number, text) => [key(number) && h("kbd", {}, number), h("span", {}, text)];
  const option = (one, place) =>
    h(
      "div",
      { class: "option" },
      h("p", {}, h("a", { class: "said", href: address(bank, "fact", one.fact_id) }, one.text)),
      h("p", { class: "origin" }, [one.said_at && day(one.said_at), one.speaker].filter(Boolean).join(" · ")),
      decided ? question.answer === one.fact_id && h("p", {}, h("strong", {}, "✓ chosen")) : button(label(place + 1, `It is ${one.value}`), () => decide(bank, question, one), { class: "main iconed", "data-key": key(place + 1) }),
    );
  const both = question.options.length + 1;
  return h(
    "section",
    { class: "card question", "aria-label": `${question.subject}, ${question.relation.replaceAll("_", " ")}` },
    h("h3", {}, `${question.subject}: ${question.relation.replaceAll("_", " ")}?`),
    decided && h("p", { class: "origin" }, `decided on ${day(question.answered_at)}${question.answer === "both" ? ": both are true" : ""}`),
    h("div", { class: "columns" }, question.options.map(option)),
    !decided && button(label(both, "Both are true"), () => decide(bank, question, null), { class: "iconed", "data-key": key(both) }),
  );
}

/** Decide at once; the statements that it takes back can be restored by the undo of the note that says so. */
async function decide(bank, question, option) {
  const others = option ? question.options.filter((one) => one.fact_id !== option.fact_id && one.value !== option.value) : [];
  try {
    await verb(bank, "questions.answer", { question_id: question.id, answer: option ? option.fact_id : "both" });
    const undo = () => Promise.all(others.map((one) => verb(bank, "facts.restore", { fact_id: one.fact_id }))).then(redraw);
    toast(option ? `Decided: ${option.value}.` : "Decided: both are true.", others.length ? undo : null);
    redraw();
  } catch (error) {
    toast(error.message);
  }
}

/** People whose name is the beginning of another's: perhaps the same. */
async function duplicates(bank) {
  const people = await verb(bank, "entities.list", { types: ["person"], limit: PEOPLE });
  const pairs = people.flatMap((short) => people.filter((long) => long.name.toLowerCase().startsWith(`${short.name.toLowerCase()} `)).map((long) => [long, short]));
  if (!pairs.length) return null;
  const line = ([long, short]) =>
    h("li", { class: "row spread" }, h("span", {}, h("a", { href: address(bank, "entity", short.id) }, short.name), " and ", h("a", { href: address(bank, "entity", long.id) }, long.name)), button("Merge", () => merge(bank, long, short), { "aria-label": `Merge ${short.name} into ${long.name}` }));
  return [h("h2", {}, "Perhaps the same person"), h("ul", { class: "plain" }, pairs.slice(0, SHOWN).map(line))];
}

/** Weak opinions, profiles of which a source has changed, marked facts among the newest, and what nobody mentioned for long. */
async function doubts(bank) {
  const stats = await verb(bank, "banks.stats");
  const few = (type) => (stats.facts_by_type[type] ?? 0) <= CHECKED;
  const [opinions, observations, page, work, unmentioned] = await Promise.all([
    few("opinion") ? verb(bank, "opinions.list") : [],
    few("observation") ? verb(bank, "observations.list", { stale: true }) : [],
    verb(bank, "facts.list", { limit: NEWEST }),
    verb(bank, "observations.status"),
    verb(bank, "questions.stale", { limit: SHOWN }),
  ]);
  const weak = opinions.filter((one) => one.confidence < UNSURE).slice(0, SHOWN);
  const stale = observations.filter((one) => one.stale).slice(0, SHOWN);
  const orders = page.facts.filter((fact) => fact.flags.includes("instruction")).slice(0, SHOWN);
  const unsure = page.facts.filter((fact) => fact.flags.includes("unsure_date")).slice(0, SHOWN);
  const failed = work.failed.length;
  if (!weak.length && !stale.length && !orders.length && !unsure.length && !unmentioned.length && !failed) return [h("h2", {}, "Doubts"), empty("Nothing is doubtful.")];
  const part = (title, rows) => rows.length > 0 && [h("h3", {}, title), rows];
  const item = (href, text, ...more) => h("article", { class: "fact bare", tabindex: 0 }, h("div", {}, h("a", { class: "said", href }, text), h("p", { class: "origin" }, more)));
  return [
    h("h2", {}, "Doubts"),
    part("Statements that read like instructions", orders.map((fact) => row(bank, fact))),
    part("Statements with an uncertain date", unsure.map((fact) => row(bank, fact))),
    part("Not mentioned for long: ask again", unmentioned.map((one) => item(address(bank, "fact", one.fact.id), one.fact.text, `last mentioned ${day(one.last_mentioned_at)}`))),
    part("Weak opinions", weak.map((one) => item(address(bank, "opinions", one.id), one.statement, meter(one.confidence, "confidence"), ` ${percent(one.confidence)}`))),
    part("Profiles whose sources have changed", stale.map((one) => item(address(bank, "fact", one.id), one.text, "the next consolidation writes it anew"))),
    failed > 0 && h("p", {}, `Consolidation set ${plural(failed, "fact")} aside.`),
  ];
}
