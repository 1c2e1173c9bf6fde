// Questions: conflicts that nothing decides, for a person to decide; and what else is doubtful.

import { verb } from "../api.js";
import { button, h, show } from "../dom.js";
import { day, percent, plural } from "../format.js";
import { confirm } from "../parts/dialogs.js";
import { chip, meter, row } from "../parts/fact.js";
import { empty, failure, toast } from "../parts/notice.js";
import { address, asOf, go } from "../route.js";

const NEWEST = 200;
const UNSURE = 0.5;
const SHOWN = 50;
const CHECKED = 1000;

export async function open(content, { bank, query }) {
  const answered = query.get("answered") === "yes";
  const questions = await verb(bank, "questions.list", { answered });
  const doubtful = h("div", {}, h("p", { class: "faint" }, "…"));
  show(
    content,
    h("h1", {}, "Questions"),
    h("p", { class: "faint" }, "Two statements contradict each other, and neither counts more. What you decide closes the other one."),
    asOf() && h("p", { class: "card then", role: "status" }, "Questions are of the present: the time machine does not change this page."),
    h("p", {}, button(answered ? "Only open ones" : "Answered ones too", () => go(bank, "questions", "", { answered: answered ? "" : "yes" }), { "aria-pressed": String(answered) })),
    questions.length ? questions.slice(0, SHOWN).map((question) => conflict(bank, question)) : empty("There is nothing to decide."),
    questions.length > SHOWN && h("p", { class: "faint" }, `The oldest ${SHOWN} of ${questions.length}; the others come as these are decided.`),
    h("h2", {}, "What is doubtful"),
    doubtful,
  );
  try {
    show(doubtful, await doubts(bank));
  } catch (error) {
    show(doubtful, failure(error));
  }
}

function conflict(bank, question) {
  const decided = question.answer !== null;
  const chosen = (option) => question.answer === option.fact_id;
  return h(
    "section",
    { class: "card question", "aria-label": `${question.subject}, ${question.relation.replaceAll("_", " ")}` },
    h("h2", {}, `${question.subject}: ${question.relation.replaceAll("_", " ")}?`),
    decided && h("p", {}, chip(question.answer === "both" ? "● answered: both" : "● answered", "good"), ` ${day(question.answered_at)}`),
    h(
      "div",
      { class: "columns" },
      question.options.map((option) =>
        h(
          "div",
          { class: "option" },
          h("p", {}, h("strong", {}, option.value), chosen(option) && chip("● chosen", "good")),
          h("p", {}, h("a", { href: address(bank, "fact", option.fact_id) }, option.text)),
          h("p", { class: "faint" }, [option.speaker && `by ${option.speaker}`, option.said_at && `said ${day(option.said_at)}`].filter(Boolean).join(", ")),
          !decided && button(`It is ${option.value}`, () => decide(bank, question, option), { class: "main" }),
        ),
      ),
    ),
    !decided && button("Both are so", () => decide(bank, question, null)),
  );
}

async function decide(bank, question, option) {
  const others = option ? question.options.filter((one) => one.fact_id !== option.fact_id && one.value !== option.value) : [];
  const told = option ? h("div", {}, h("p", {}, "This takes back:"), h("ul", {}, others.map((one) => h("li", {}, one.text)))) : h("p", {}, "All of these statements stay; the question is not asked again.");
  if (!(await confirm(option ? `${question.subject}: ${option.value}?` : "Both are so?", told, "Decide"))) return;
  try {
    await verb(bank, "questions.answer", { question_id: question.id, answer: option ? option.fact_id : "both" });
    toast("Decided.");
    dispatchEvent(new HashChangeEvent("hashchange"));
  } catch (error) {
    toast(error.message);
  }
}

/** Weak opinions, profiles of which a source has changed, and marked facts among the newest. */
async function doubts(bank) {
  const stats = await verb(bank, "banks.stats", {});
  const few = (type) => (stats.facts_by_type[type] ?? 0) <= CHECKED;
  const [opinions, observations, page, work] = await Promise.all([
    few("opinion") ? verb(bank, "opinions.list", {}) : [],
    few("observation") ? verb(bank, "observations.list", { stale: true }) : [],
    verb(bank, "facts.list", { limit: NEWEST }),
    verb(bank, "observations.status", {}),
  ]);
  const unread = ["opinion", "observation"].filter((type) => !few(type));
  const weak = opinions.filter((one) => one.confidence < UNSURE).slice(0, SHOWN);
  const stale = observations.filter((one) => one.stale).slice(0, SHOWN);
  const marked = page.facts.filter((fact) => fact.flags.includes("instruction") || fact.flags.includes("unsure_date")).slice(0, SHOWN);
  const part = (title, rows) => rows.length > 0 && [h("h3", {}, title), rows];
  const why = (fact) => (fact.flags.includes("unsure_date") ? [chip("⚠ date not sure", "doubt")] : []);
  const failed = work.failed.length;
  if (!unread.length && !weak.length && !stale.length && !marked.length && !failed) return empty("Nothing is marked as doubtful.");
  return h(
    "div",
    {},
    part("Opinions held with reservations", weak.map((one) => h("article", { class: "fact bare", tabindex: 0 }, h("div", {}, h("a", { class: "said", href: address(bank, "opinions", one.id) }, one.statement), h("div", { class: "chips" }, h("span", { class: "chip" }, meter(one.confidence, "confidence"), ` ${percent(one.confidence)}`)))))),
    part("Profiles of which a source has changed", stale.map((one) => h("article", { class: "fact bare", tabindex: 0 }, h("div", {}, h("a", { class: "said", href: address(bank, "fact", one.id) }, one.text), h("div", { class: "chips" }, chip("⚠ waits for consolidation", "doubt")))))),
    part(`Marked facts among the newest ${Math.min(NEWEST, page.total)}`, marked.map((fact) => row(bank, fact, why(fact)))),
    unread.map((type) => h("p", { class: "faint" }, `The bank has more than ${CHECKED} ${type}s: they are not looked through here.`)),
    failed > 0 && h("p", {}, `Consolidation set aside ${plural(failed, "fact")}.`),
  );
}
