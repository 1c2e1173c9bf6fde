// Costs: what calls of language models came to, by day, operation and model.

import { verb } from "../api.js";
import { field, h, select, show } from "../dom.js";
import { count, day } from "../format.js";
import { empty, failure } from "../parts/notice.js";
import { note } from "../route.js";

const DAY = 86_400_000;
const SPANS = [["7", "7 days"], ["30", "30 days"], ["90", "90 days"], ["", "all days"]];
const OPERATIONS = ["retain", "refine", "consolidate", "reflect", "mental_model"];
const price = (value) => (value === null ? "not known" : `$${value.toFixed(value < 0.1 ? 4 : 2)}`);
export async function open(content, { bank, query }) {
  const chosen = { days: query.get("days") ?? "30", of: query.get("of") || "bank" };
  const place = h("div");
  const draw = async (changes = {}) => {
    Object.assign(chosen, changes);
    note(chosen);
    const since = chosen.days ? { since: new Date(Date.now() - (chosen.days - 1) * DAY).toISOString().slice(0, 10) } : {};
    const costs = await verb(chosen.of === "bank" ? bank : null, "llm.costs", since);
    show(place, costs.length ? [summary(costs), byOperation(costs), table(costs)] : await nothing());
  };
  const redraw = (changes) => draw(changes).catch((error) => show(place, failure(error)));
  show(
    content,
    h("h1", {}, "Costs"),
    h("p", { class: "faint" }, "Calls of language models. Recall makes none."),
    h(
      "div",
      { class: "row" },
      field("Days", select(SPANS, chosen.days, (days) => redraw({ days }))),
      field("Of", select([["bank", "this bank"], ["all", "all banks"]], chosen.of, (of) => redraw({ of }))),
    ),
    place,
  );
  await redraw();
}

async function nothing() {
  const models = await Promise.all(OPERATIONS.map((operation) => verb(null, "llm.models", { operation })));
  if (models.some((one) => one.length)) return empty("No calls in these days.");
  return empty("No language model is set, so nothing costs anything.");
}

function total(costs) {
  const sum = (read) => costs.reduce((before, one) => before + read(one), 0);
  const priced = costs.filter((one) => one.price !== null);
  return {
    calls: sum((one) => one.calls),
    failed: sum((one) => one.failed),
    input_tokens: sum((one) => one.input_tokens),
    output_tokens: sum((one) => one.output_tokens),
    seconds: sum((one) => one.seconds),
    price: priced.length ? priced.reduce((before, one) => before + one.price, 0) : null,
    partly: priced.length > 0 && priced.length < costs.length,
  };
}

function summary(costs) {
  const all = total(costs);
  const figure = (name, value, more = "") => h("div", { class: "card figure" }, h("div", { class: "faint" }, name), h("strong", {}, value), more && h("div", { class: "faint" }, more));
  return h(
    "div",
    { class: "figures" },
    figure("Calls", count(all.calls), all.failed ? `${count(all.failed)} failed` : ""),
    figure("Tokens", count(all.input_tokens + all.output_tokens), `${count(all.input_tokens)} in, ${count(all.output_tokens)} out`),
    figure("Seconds", count(Math.round(all.seconds))),
    figure("Price", price(all.price), all.partly ? "of the models whose price is known" : ""),
  );
}

const HEADS = ["calls", "failed", "tokens in", "tokens out", "seconds", "price"];

function numbers(one) {
  const values = [count(one.calls), one.failed ? count(one.failed) : "·", count(one.input_tokens), count(one.output_tokens), one.seconds.toFixed(1), price(one.price)];
  return values.map((value) => h("td", { class: "number" }, value));
}

function byOperation(costs) {
  const groups = Map.groupBy(costs, (one) => one.operation);
  const rows = [...groups].map(([name, of]) => h("tr", {}, h("th", { scope: "row" }, name.replaceAll("_", " ")), numbers(total(of))));
  return [h("h2", {}, "By operation"), sheetOf("What each operation came to", ["operation"], rows)];
}

function table(costs) {
  const rows = costs
    .toReversed()
    .slice(0, 400)
    .map((one) => h("tr", {}, h("td", {}, day(one.day)), h("td", {}, one.operation.replaceAll("_", " ")), h("td", {}, one.model), numbers(one)));
  return h("details", {}, h("summary", {}, "Every day, operation and model"), sheetOf("Calls by day, newest first", ["day", "operation", "model"], rows));
}

function sheetOf(caption, firsts, rows) {
  return h(
    "div",
    { class: "wide" },
    h("table", {}, h("caption", { class: "unseen" }, caption), h("thead", {}, h("tr", {}, firsts.map((name) => h("th", {}, name)), HEADS.map((name) => h("th", { class: "number" }, name)))), h("tbody", {}, rows)),
  );
}
