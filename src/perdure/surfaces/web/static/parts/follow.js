// Work in the background: how far it is, asked once a second as long as somebody looks.

import { verb } from "../api.js";
import { h, show, svg } from "../dom.js";
import { count } from "../format.js";

export const ENDED = ["completed", "failed", "cancelled"];
const SECOND = 1000;
const SIGNS = { pending: ["◌", ""], processing: ["▶", "doubt"], completed: ["✓", "good"], failed: ["✕", "bad"], cancelled: ["■", ""] };
const WORDS = { pending: "waiting", processing: "running", completed: "done", failed: "failed", cancelled: "cancelled" };

/** Call `look` every second until it returns true or `element` left the page. */
export async function everySecond(element, look) {
  for (;;) {
    if (!element.isConnected || (await look())) return;
    await new Promise((resolve) => setTimeout(resolve, SECOND));
  }
}

export function state(status) {
  const [sign, kind] = SIGNS[status] ?? ["·", ""];
  return h("span", { class: `chip ${kind}` }, `${sign} ${WORDS[status] ?? status}`);
}

/** Steps done of all, as a bar with the numbers beside it. */
export function progress(done, total) {
  const share = total ? Math.min(1, done / total) : 0;
  return h(
    "span",
    { class: "progress" },
    h("span", { class: "meter", role: "progressbar", "aria-label": "Progress", "aria-valuemin": 0, "aria-valuemax": total, "aria-valuenow": done }, svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "bar-fill", width: share * 100, height: 10 }))),
    ` ${count(done)} of ${count(total)}`,
  );
}

/** Show an operation in `told` until it ended; resolves to it, or to null where the view was left before. */
export async function follow(bank, operationId, told) {
  let operation = null;
  await everySecond(told, async () => {
    operation = await verb(bank, "operations.get", { operation_id: operationId });
    show(told, h("div", { class: "chips" }, h("span", {}, operation.kind.replaceAll("_", " ")), state(operation.status), progress(operation.done, operation.total)), operation.error && h("p", { class: "wrong" }, operation.error));
    return ENDED.includes(operation.status);
  });
  return operation && ENDED.includes(operation.status) ? operation : null;
}
