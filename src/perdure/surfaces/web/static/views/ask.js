// Ask: what memory recalls, why, what fell below the floor, where the time went; and what it concludes.

import { verb } from "../api.js";
import { button, field, h, select, show } from "../dom.js";
import { milliseconds, percent, plural } from "../format.js";
import { chip, recollection, source, validityRange } from "../parts/fact.js";
import { empty, failure } from "../parts/notice.js";
import { matrix, waterfall } from "../parts/ranking.js";
import { reflection } from "../parts/reflection.js";
import { asOf, current, note } from "../route.js";

const RECIPES = ["default", "fast", "tempr", "memoria", "abmind"];
const BELOW = 5;
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
      h("div", { class: "row" }, h("div", { class: "grow" }, field("Question", question)), h("button", { class: "main" }, "Recall"), button("Reflect", think)),
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
    const results = await Promise.all(recipes.map((one) => verb(bank, "recall", { query: question, ...options(asker, one, budget) })));
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
    show(answers, reflection(bank, await verb(bank, "reflect", { query: question, ...rest })));
  } catch (error) {
    show(answers, failure(error));
  } finally {
    answers.classList.remove("busy");
  }
}

function recalled(bank, result, halved) {
  const total = result.timings.find((one) => one.stage === "total")?.milliseconds ?? 0;
  const marks = [
    chip(plural(result.recollections.length, "fact")),
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
    h("div", {}, result.recollections.length ? withFloor(bank, result) : empty("Memory holds nothing for this question.")),
    h("details", {}, h("summary", {}, "Why: channels"), matrix(result)),
    h("details", {}, h("summary", {}, "Where the time went"), waterfall(result.timings, halved)),
    result.cut.length > 0 && h("details", {}, h("summary", {}, `Left out: ${result.cut.length}`), leftOut(result.cut)),
  );
}

/** The facts, with the line below which nothing would go into a prompt, and the first of what fell below it. */
function withFloor(bank, result) {
  const range = validityRange(result.recollections.map((one) => one.fact));
  const draw = (one) => recollection(bank, one, opened(bank, one.fact), range);
  const above = result.recollections.filter((one) => one.evidence !== "none");
  const below = result.recollections.filter((one) => one.evidence === "none");
  const rest = h("div");
  const more = button(`Show ${below.length - BELOW} more below the floor`, () => rest.replaceChildren(...below.slice(BELOW).map(draw)), { class: "more" });
  if (below.length > BELOW) rest.append(more);
  return [
    above.map(draw),
    h("div", { class: "floor", role: "separator" }, below.length ? "floor: below this nothing is likely enough to help" : "floor: nothing fell below it"),
    below.slice(0, BELOW).map(draw),
    rest,
  ];
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
    const chunks = await verb(bank, "chunks", { document_id: fact.document_id });
    const chunk = chunks.find((one) => one.id === fact.chunk_id);
    show(body, source(chunk ? chunk.text : fact.source_text, fact));
  } catch (error) {
    show(body, failure(error));
  }
}

function leftOut(cut) {
  return h(
    "div",
    { class: "wide" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ["fact", "score", "why"].map((name) => h("th", {}, name)))),
      h("tbody", {}, cut.slice(0, 50).map((one) => h("tr", {}, h("td", {}, one.fact?.text ?? one.fact_id), h("td", { class: "number" }, one.score.toFixed(3)), h("td", {}, one.cut ?? "")))),
    ),
  );
}
