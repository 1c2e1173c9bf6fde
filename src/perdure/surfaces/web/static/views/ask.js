// Ask: the answer, the exact prompt, why it was recalled, and the same call as code.

import { outline, verb } from "../api.js";
import { button, field, h, select, show } from "../dom.js";
import { icon } from "../icons.js";
import { count, milliseconds, percent, plural } from "../format.js";
import { row } from "../parts/fact.js";
import { empty, failure, toast } from "../parts/notice.js";
import { leftOut, matrix, reason, waterfall } from "../parts/ranking.js";
import { reflection } from "../parts/reflection.js";
import { address, asOf, go } from "../route.js";

const RECIPES = ["default", "fast", "tempr", "memoria", "abmind"];
const BUDGETS = ["low", "mid", "high"];
const BELOW = 5;
const PAGE = 50;
const [LEAST_TOKENS, MOST_TOKENS, STEP] = [128, 8192, 128];
const TABS = [["answer", "Answer", answerTab], ["prompt", "Prompt", promptTab], ["why", "Why", whyTab], ["code", "Code", codeTab]];
/** The last recall, so that a tab does not ask again: [what was asked as text, what came]. */
let last = ["", null];

export async function open(content, { bank, query }) {
  const chosen = Object.fromEntries([["q", ""], ["asker", ""], ["budget", "mid"], ["recipe", "default"], ["tokens", "4096"], ["tab", "answer"]].map(([name, otherwise]) => [name, query.get(name) || otherwise]));
  const question = h("input", { id: "question", type: "search", placeholder: "What do you want to know?", "aria-label": "Question", value: chosen.q, required: true });
  const asker = h("input", { value: chosen.asker, placeholder: "the bank's user", size: 12 });
  const ask = (event) => {
    event.preventDefault();
    last = ["", null];
    const before = location.hash;
    go(bank, "ask", "", { ...shown(chosen), q: question.value.trim(), asker: asker.value.trim() });
    if (location.hash === before) dispatchEvent(new HashChangeEvent("hashchange"));
  };
  const body = h("div", { class: "busy", "aria-live": "polite" });
  show(
    content,
    h("h1", {}, "Ask"),
    h(
      "form",
      { role: "search", on: { submit: ask } },
      h("div", { class: "row asking" }, h("div", { class: "grow" }, question), h("button", { class: "main" }, "Ask")),
      h(
        "details",
        { open: Boolean(chosen.asker || chosen.budget !== "mid" || chosen.recipe !== "default") },
        h("summary", {}, "Options"),
        h(
          "div",
          { class: "row" },
          field("Asked by", asker),
          field("Search depth", select(BUDGETS, chosen.budget, (value) => (chosen.budget = value))),
          field("Ranking", select(RECIPES, chosen.recipe, (value) => (chosen.recipe = value))),
        ),
      ),
    ),
    chosen.q && h("nav", { class: "tabs inner", "aria-label": "Parts of the answer" }, TABS.map(([name, title]) => h("a", { href: address(bank, "ask", "", shown({ ...chosen, tab: name })), "aria-current": name === chosen.tab ? "page" : null }, title))),
    body,
  );
  body.classList.remove("busy");
  if (!chosen.q) {
    question.focus();
    return;
  }
  const [, , draw] = TABS.find(([name]) => name === chosen.tab) ?? TABS[0];
  try {
    await draw(body, bank, chosen);
  } catch (error) {
    show(body, failure(error));
  }
}

/** What of the choices stands in the address. */
const shown = (chosen) => ({ q: chosen.q, asker: chosen.asker, budget: chosen.budget === "mid" ? "" : chosen.budget, recipe: chosen.recipe === "default" ? "" : chosen.recipe, tab: chosen.tab === "answer" ? "" : chosen.tab, tokens: chosen.tokens === "4096" ? "" : chosen.tokens });

function options({ asker, budget, recipe }) {
  const moment = asOf();
  return { ...(budget !== "mid" && { budget }), ...(recipe !== "default" && { recipe }), ...(asker && { asker }), ...(moment && { as_of: moment }) };
}

async function recalled(body, bank, chosen) {
  const args = { query: chosen.q, ...options(chosen), explain: true, track: false };
  const asked = JSON.stringify([bank, args]);
  if (last[0] !== asked) {
    body.classList.add("busy");
    show(body, h("p", { class: "faint" }, "Searching …"));
    try {
      last = [asked, await outline(bank, "recall", args)];
    } finally {
      body.classList.remove("busy");
    }
  }
  return last[1];
}

// Answer

async function answerTab(body, bank, chosen) {
  const result = await recalled(body, bank, chosen);
  const number = result.recollections.length + result.others.length;
  if (!number) return show(body, empty("Memory holds nothing for this question."));
  const isKnown = result.evidence !== "none";
  const told = h("div", { "aria-live": "polite" });
  const places = new Map(inOrder(result).map((one) => [one.fact_id, one.place]));
  const reflect = async () => {
    show(told, h("p", { class: "faint" }, "Reading …"));
    try {
      show(told, reflection(bank, await outline(bank, "reflect", { query: chosen.q, ...options(chosen) }), places));
    } catch (error) {
      show(told, failure(error));
    }
  };
  const total = result.timings.find((one) => one.stage === "total")?.milliseconds ?? 0;
  show(
    body,
    isKnown
      ? h("p", { class: "verdict" }, `${result.evidence === "strong" ? "Memory probably knows this" : "Memory may know this"} (${percent(result.confidence)}).`)
      : h("p", { class: "verdict" }, "Nothing here is likely to answer the question. The nearest statements:"),
    told,
    result.notes.map((text) => h("p", { class: "faint" }, text)),
    result.degraded.length > 0 && h("p", { class: "faint" }, `Without ${result.degraded.map((one) => one.part).join(", ")}: ${result.degraded.map((one) => one.reason).join("; ")}.`),
    h("section", { class: "ranking", "aria-label": "Statements" }, withFloor(bank, result)),
    result.observations.length > 0 && h("details", {}, h("summary", {}, plural(result.observations.length, "profile")), result.observations.map((one) => row(bank, one.fact))),
    h("p", { class: "faint" }, `${plural(number, "statement")}, ${plural(result.tokens, "token")}, ${milliseconds(total)}`),
  );
  if (!isKnown) return undefined;
  const models = await verb(null, "llm.models", { operation: "reflect" });
  if (models.length) show(told, button(`Answer in sentences, by ${models[0]}`, reflect));
  else await reflect();
  return undefined;
}

/** What was recalled with its places: what is above the floor comes first. */
function inOrder(result) {
  const every = [...result.recollections, ...result.others];
  const isBelow = (one) => one.evidence === "none";
  return [...every.filter((one) => !isBelow(one)), ...every.filter(isBelow)].map((one, place) => ({ ...one, place: place + 1 }));
}

/** The facts in their order, with the line below which nothing would go into a prompt. */
function withFloor(bank, result) {
  const draw = (one) => row(bank, one.fact, { place: one.place, doubt: doubtOf(one) });
  const every = inOrder(result);
  const above = every.filter((one) => one.evidence !== "none");
  const below = every.filter((one) => one.evidence === "none");
  const whole = (list) => list.filter((one) => one.fact).length;
  return [
    rows(bank, above, whole(above), draw, "above the floor"),
    h("div", { class: "floor", role: "separator" }, below.length ? "below this line nothing goes into a prompt" : "everything above may go into a prompt"),
    rows(bank, below, Math.min(BELOW, whole(below)), draw, "below the floor"),
  ];
}

const doubtOf = (one) => one.notes?.find((note) => /doubt|contradict|conflict/i.test(note)) ?? null;

/** The first of some facts, and a button for the next: those that did not come with the answer are read then. */
function rows(bank, every, first, draw, where) {
  const list = h("div", {}, every.slice(0, first).map(draw));
  let place = first;
  const label = () => `Show ${Math.min(PAGE, every.length - place)} more ${where}`;
  const load = async () => {
    more.disabled = true;
    try {
      list.append(...(await withFacts(bank, every.slice(place, place + PAGE))).map(draw));
      place += PAGE;
      if (place < every.length) show(more, label());
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

// Prompt

/** The exact text that an agent would get, within a budget. */
async function promptTab(body, bank, chosen) {
  const text = h("pre", { class: "quote prompt", tabindex: 0, "aria-label": "The prompt" });
  const size = h("output", {});
  const budget = h("input", { type: "range", min: LEAST_TOKENS, max: MOST_TOKENS, step: STEP, "aria-label": "Most tokens" });
  budget.value = chosen.tokens;
  const draw = async () => {
    chosen.tokens = budget.value;
    const prompt = await verb(bank, "prompt", { query: chosen.q, ...options(chosen), max_tokens: Number(budget.value), track: false });
    const tokens = await verb(null, "count_tokens", { text: prompt });
    show(text, prompt || "Empty: nothing is likely enough to help, so nothing goes into the prompt.");
    show(size, `${count(tokens)} of at most ${count(Number(budget.value))} tokens`);
  };
  const redraw = () => draw().catch((error) => show(size, error.message));
  budget.addEventListener("change", redraw);
  budget.addEventListener("input", () => show(size, `at most ${count(Number(budget.value))} tokens`));
  show(body, h("div", { class: "row" }, h("div", { class: "grow" }, field("Token budget", budget)), size, button([icon("copy"), h("span", {}, "Copy")], () => copy(text.textContent), { class: "iconed" })), text);
  await redraw();
}

const copy = (text) => navigator.clipboard.writeText(text).then(() => toast("Copied."), () => toast("The browser does not allow copying here."));

// Why

async function whyTab(body, bank, chosen) {
  const result = await recalled(body, bank, chosen);
  if (!result.recollections.length) return show(body, empty("Nothing was recalled, so there is nothing to explain."));
  const body2 = h("div");
  const fill = () => leftOut(bank, result).then((content) => show(body2, content), (error) => show(body2, failure(error)));
  return show(
    body,
    h("p", {}, reason(result)),
    h("h2", {}, "Channels"),
    matrix(result),
    h("h2", {}, "Time"),
    waterfall(result.timings),
    result.cut_count > 0 && h("details", { on: { toggle: (event) => event.target.open && !body2.hasChildNodes() && fill() } }, h("summary", {}, `Considered and left out: ${count(result.cut_count)}`), body2),
  );
}

// Code

function codeTab(body, bank, chosen) {
  const given = options(chosen);
  const quoted = JSON.stringify(chosen.q);
  const python = Object.entries(given).map(([name, value]) => `, ${name}=${name === "as_of" ? asOfPython(value) : JSON.stringify(value)}`).join("");
  const shell = (value) => `'${String(value).replaceAll("'", "'\\''")}'`;
  const flags = Object.entries(given).filter(([name]) => name !== "as_of").map(([name, value]) => ` --${name} ${shell(value)}`).join("");
  const json = JSON.stringify({ query: chosen.q, ...given });
  const code = {
    Python: `from perdure import connect\n\nmemory = connect("${location.origin}")\nprint(memory.prompt(${JSON.stringify(bank)}, ${quoted}${python}))`,
    curl: `curl ${location.origin}/v1/perdure/banks/${encodeURIComponent(bank)}/prompt \\\n  -H 'Content-Type: application/json' \\\n  -d ${shell(json)}`,
    "Command line": `perdure context ${shell(chosen.q)} --bank ${shell(bank)}${flags}`,
  };
  show(body, Object.entries(code).map(([name, text]) => h("section", { "aria-label": name }, h("div", { class: "row spread" }, h("h2", {}, name), button([icon("copy"), h("span", {}, "Copy")], () => copy(text), { class: "iconed", "aria-label": `Copy: ${name}` })), h("pre", { class: "quote", tabindex: 0 }, text))));
}

const asOfPython = ({ valid, known }) => `AsOf(${[valid && `valid=${JSON.stringify(valid)}`, known && `known=${JSON.stringify(known)}`].filter(Boolean).join(", ")})`;
