// Ask: what memory recalls, why, what fell below the floor, where the time went; and what it concludes.

import { outline, verb } from "../api.js";
import { button, field, h, select, show } from "../dom.js";
import { milliseconds, percent, plural } from "../format.js";
import { chip, recollection, row, source, validityRange } from "../parts/fact.js";
import { empty, failure } from "../parts/notice.js";
import { matrix, waterfall } from "../parts/ranking.js";
import { reflection } from "../parts/reflection.js";
import { address, asOf, current, note } from "../route.js";

const RECIPES = ["default", "fast", "tempr", "memoria", "abmind"];
const BELOW = 5;
const PAGE = 50;
const BUDGETS = ["low", "mid", "high"];

export async function open(content, { bank, query }) {
  const chosen = {
    budget: query.get("budget") || "mid",
    recipe: query.get("recipe") || "default",
    beside: query.get("beside") || "",
  };
  const question = h("input", { id: "question", type: "search", placeholder: "What do you want to know?", value: query.get("q") || "", required: true });
  const asker = h("input", { value: query.get("asker") || "", placeholder: "the bank's user", size: 12 });
  const answers = h("div", { "aria-live": "polite" });
  const ask = (event) => {
    event?.preventDefault();
    note({ q: question.value, asker: asker.value, ...chosen });
    return answer(answers, bank, question.value.trim(), asker.value.trim(), chosen);
  };
  const think = () => {
    note({ q: question.value, asker: asker.value, ...chosen });
    return conclude(answers, bank, question.value.trim(), asker.value.trim(), chosen);
  };
  show(
    content,
    h("h1", {}, "Ask"),
    h(
      "form",
      { on: { submit: ask } },
      h("div", { class: "row asking" }, h("div", { class: "grow" }, field("Question", question)), h("button", { class: "main" }, "Recall"), button("Reflect", think)),
      h(
        "div",
        { class: "row" },
        field("Asker", asker),
        field("Budget", select(BUDGETS, chosen.budget, (value) => (chosen.budget = value))),
        field("Recipe", select(RECIPES, chosen.recipe, (value) => (chosen.recipe = value))),
        field("Side by side with", select([["", "nothing"], ...RECIPES.map((one) => [one, one])], chosen.beside, (value) => (chosen.beside = value))),
      ),
    ),
    answers,
  );
  if (question.value) await ask();
  else question.focus();
}

function options(asker, recipe, budget) {
  const moment = asOf();
  return { budget, recipe, explain: true, track: false, ...(asker ? { asker } : {}), ...(moment ? { as_of: moment } : {}) };
}

async function answer(answers, bank, question, asker, { budget, recipe, beside }) {
  if (!question) return;
  answers.classList.add("busy");
  const recipes = [recipe, ...(beside && beside !== recipe ? [beside] : [])];
  try {
    const results = await Promise.all(recipes.map((one) => outline(bank, "recall", { query: question, ...options(asker, one, budget) })));
    if (current().view !== "ask") return;
    show(answers, h("div", { class: results.length > 1 ? "columns" : "" }, results.map((result) => recalled(bank, result, results.length > 1))));
  } catch (error) {
    show(answers, failure(error));
  } finally {
    answers.classList.remove("busy");
  }
}

async function conclude(answers, bank, question, asker, { budget, recipe }) {
  if (!question) return;
  answers.classList.add("busy");
  try {
    const { explain, track, ...rest } = options(asker, recipe, budget);
    show(answers, reflection(bank, await outline(bank, "reflect", { query: question, ...rest })));
  } catch (error) {
    show(answers, failure(error));
  } finally {
    answers.classList.remove("busy");
  }
}

function recalled(bank, result, halved) {
  const total = result.timings.find((one) => one.stage === "total")?.milliseconds ?? 0;
  const number = result.recollections.length + result.others.length;
  const marks = [
    chip(plural(number, "fact")),
    chip(`evidence ${result.evidence} ${percent(result.confidence)}`, result.evidence === "strong" ? "good" : ""),
    chip(plural(result.tokens, "token")),
    chip(milliseconds(total)),
  ];
  const notes = [...result.notes, ...result.degraded.map((one) => `${one.part} could not help: ${one.reason}`)];
  return h(
    "section",
    { "aria-label": `Recalled by ${result.recipe}` },
    h("h2", {}, `Recalled by ${result.recipe}`),
    h("div", { class: "chips" }, marks),
    result.abstained_because && h("p", {}, `Nothing would be put into a prompt: ${result.abstained_because}`),
    notes.map((text) => h("p", { class: "faint" }, text)),
    h("div", { class: "ranking" }, number ? withFloor(bank, result) : empty("Memory holds nothing for this question.")),
    result.observations.length > 0 && h("details", {}, h("summary", {}, `Profiles near to it: ${result.observations.length}`), result.observations.map((one) => row(bank, one.fact))),
    h("details", {}, h("summary", {}, "Why: channels"), matrix(result)),
    h("details", {}, h("summary", {}, "Where the time went"), waterfall(result.timings, halved)),
    result.cut_count > 0 && leftOut(bank, result),
  );
}

/** The facts, with the line below which nothing would go into a prompt, and the first of what fell below it. */
function withFloor(bank, result) {
  const range = validityRange(result.recollections.map((one) => one.fact));
  const draw = (one) => recollection(bank, one, opened(bank, one.fact), range);
  const every = [...result.recollections, ...result.others];
  const above = every.filter((one) => one.evidence !== "none");
  const below = every.filter((one) => one.evidence === "none");
  const whole = above.filter((one) => one.fact).length;
  return [
    rows(bank, above, whole, draw, "above the floor"),
    h("div", { class: "floor", role: "separator" }, below.length ? "floor: below this nothing is likely enough to help" : "floor: nothing fell below it"),
    rows(bank, below, Math.min(BELOW, below.filter((one) => one.fact).length), draw, "below the floor"),
  ];
}

/** The first of some facts, and a button for the next: those that did not come with the answer are read then. */
function rows(bank, every, first, draw, where) {
  const list = h("div", {}, every.slice(0, first).map(draw));
  let shown = first;
  const next = () => Math.min(PAGE, every.length - shown);
  const label = () => `Show ${next() === every.length - shown ? next() : `${next()} of ${every.length - shown}`} more ${where}`;
  const load = async () => {
    more.disabled = true;
    try {
      list.append(...(await withFacts(bank, every.slice(shown, shown + PAGE))).map(draw));
      shown += next();
      if (shown < every.length) show(more, label());
      else more.remove();
    } catch (error) {
      more.after(failure(error));
    }
    more.disabled = false;
  };
  const more = button(label(), load, { class: "more" });
  return [list, every.length > first && more];
}

/** Recollections with their facts; those that were forgotten meanwhile are left out. */
async function withFacts(bank, places) {
  const missing = places.filter((one) => !one.fact).map((one) => one.fact_id);
  const facts = missing.length ? await verb(bank, "facts.get_many", { fact_ids: missing }) : [];
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  return places.map((one) => ({ ...one, fact: one.fact ?? byId.get(one.fact_id) })).filter((one) => one.fact);
}

/** The source on click. */
function opened(bank, fact) {
  if (!fact.chunk_id) return null;
  const body = h("div");
  const box = h("details", { on: { toggle: () => box.open && !body.hasChildNodes() && read(body, bank, fact) } }, h("summary", {}, "what was said"), body);
  return box;
}

async function read(body, bank, fact) {
  try {
    const [chunk] = await verb(bank, "documents.chunks", { ids: [fact.chunk_id] });
    show(body, source(chunk ? chunk.text : fact.source_text, fact));
  } catch (error) {
    show(body, failure(error));
  }
}

/** What was considered and left out, its texts when somebody looks. */
function leftOut(bank, { cut, cut_count: number }) {
  const body = h("div");
  const fill = async () => {
    try {
      const facts = await verb(bank, "facts.get_many", { fact_ids: cut.filter((one) => one.text === null).map((one) => one.fact_id) });
      const texts = new Map(facts.map((fact) => [fact.id, fact.text]));
      const line = (one) => h("tr", {}, h("td", {}, h("a", { href: address(bank, "fact", one.fact_id) }, one.text ?? texts.get(one.fact_id) ?? "no longer in memory")), h("td", { class: "number" }, one.score.toFixed(3)), h("td", {}, one.cut ?? ""));
      show(
        body,
        number > cut.length && h("p", { class: "faint" }, `The best ${cut.length} of ${number}.`),
        h("div", { class: "wide" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "fact"), h("th", { class: "number" }, "score"), h("th", {}, "why"))), h("tbody", {}, cut.map(line)))),
      );
    } catch (error) {
      show(body, failure(error));
    }
  };
  const box = h("details", { on: { toggle: () => box.open && !body.hasChildNodes() && fill() } }, h("summary", {}, `Left out: ${number}`), body);
  return box;
}
