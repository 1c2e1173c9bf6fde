// Background work, followed as it goes on.

import { verb } from "../api.js";
import { button, field, h, select, show } from "../dom.js";
import { count, recently } from "../format.js";
import { confirm } from "../parts/dialogs.js";
import { ENDED, everySecond, progress, state } from "../parts/follow.js";
import { empty, failure } from "../parts/notice.js";
import { address, note } from "../route.js";

const PAGE = 50;
const STATES = [["", "all"], ["pending", "waiting"], ["processing", "running"], ["completed", "done"], ["failed", "failed"], ["cancelled", "cancelled"]];

export async function open(content, { bank, query }) {
  const told = h("div", { "aria-live": "polite" });
  const list = h("ol", { class: "list", "aria-label": "Operations" });
  const foot = h("div", { class: "row" });
  const live = h("p", { class: "faint", role: "status" });
  const rows = new Map();
  let [wanted, status, turn] = [1, query.get("status") || "", 0];
  /** Show what there is; true when nothing is left to wait for. */
  const look = async () => {
    const found = (await verb(bank, "operations.list")).filter((one) => !status || one.status === status).reverse();
    const [every, total] = [found.slice(0, wanted * PAGE), found.length];
    update(list, rows, every, (one) => row(bank, one, act));
    const running = every.filter((one) => !isOver(one)).length;
    show(live, running ? `${running} running or waiting, updated every second` : "Nothing is running.");
    const more = button("More", () => ((wanted += 1), watch()), { class: "more" });
    show(foot, total ? h("span", { class: "faint" }, `${count(every.length)} of ${count(total)}`) : empty(status ? "No operation is in this state." : "Nothing yet. Files, consolidation and mental models are worked on in the background."), total > wanted * PAGE && more);
    return !running;
  };
  /** One watch at a time: an older one ends when a newer began. */
  const watch = async () => {
    const mine = ++turn;
    try {
      await everySecond(list, async () => mine !== turn || (await look()));
    } catch (error) {
      show(told, failure(error));
    }
  };
  const act = async (work) => {
    try {
      show(told);
      if (!(await work())) return;
      await watch();
    } catch (error) {
      show(told, failure(error));
    }
  };
  const choose = (value) => {
    [status, wanted] = [value, 1];
    note({ status });
    return watch();
  };
  show(
    content,
    h("h1", {}, "Background work"),
    h("div", { class: "row" }, field("Which", select(STATES, status, choose)), button("Refresh", watch, { id: "look" })), live,
    told,
    list,
    foot,
  );
  await watch();
}

const isOver = (one) => ENDED.includes(one.status);

/** Bring the list in step: a row that did not change stays as it is, with its focus. */
function update(list, rows, operations, draw) {
  const before = new Map(rows);
  rows.clear();
  const elements = operations.map((one) => {
    const written = JSON.stringify(one);
    const old = before.get(one.id);
    const entry = old?.written === written ? old : { written, element: draw(one) };
    rows.set(one.id, entry);
    return entry.element;
  });
  if (elements.length !== list.children.length || elements.some((one, place) => one !== list.children[place])) list.replaceChildren(...elements);
}

function row(bank, one, act) {
  const name = one.kind.replaceAll("_", " ");
  const run = (verbName) => () => act(() => verb(bank, verbName, { operation_id: one.id }));
  const remove = () =>
    act(async () => {
      if (!(await confirm("Delete the record?", h("p", {}, `The record of this work (${name}, ${recently(one.created_at)}) is deleted. What the work did stays.`), "Delete it"))) return false;
      await verb(bank, "operations.delete", { operation_id: one.id });
      return true;
    });
  const labelled = (text, click, kind = "") => button(text, click, { class: kind || null, "aria-label": `${text}: ${name}, ${recently(one.created_at)}` });
  return h(
    "li",
    { class: "operation", "data-status": one.status, "data-id": one.id },
    h(
      "div",
      { class: "row spread" },
      h("div", {}, h("strong", {}, name), " ", state(one.status), " ", progress(one.done, one.total)),
      h(
        "div",
        { class: "row" },
        !isOver(one) && labelled("Cancel", run("operations.cancel")),
        ["failed", "cancelled"].includes(one.status) && labelled("Try again", run("operations.retry")),
        isOver(one) && labelled("Delete", remove),
      ),
    ),
    one.error && h("p", { class: "wrong-text" }, one.error),
    h(
      "p",
      { class: "origin" },
      `started ${recently(one.created_at)}, last change ${recently(one.updated_at)}`,
      one.next_retry_at && `, next try ${recently(one.next_retry_at)}`,
      one.document_id && [", ", h("a", { href: address(bank, "documents", one.document_id) }, one.document_id)],
    ),
  );
}
