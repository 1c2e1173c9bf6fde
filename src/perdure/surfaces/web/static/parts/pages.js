// A list in pages: the first fifty, and more when asked for.

import { button, h, show } from "../dom.js";
import { count } from "../format.js";
import { empty, failure } from "./notice.js";

export const PAGE = 50;

/** `read(offset, limit)` gives {rows, total} with rows as elements for `list`; `nothing` is said of an empty list. */
export function pages(list, read, nothing) {
  const foot = h("div", { class: "row" });
  const box = h("div", {}, list, foot);
  let offset = 0;
  const more = async () => {
    try {
      const { rows, total } = await read(offset, PAGE);
      offset += rows.length;
      list.append(...rows);
      if (!total) show(box, typeof nothing === "string" ? empty(nothing) : nothing);
      else show(foot, h("span", { class: "faint" }, `${count(Math.min(offset, total))} of ${count(total)}`), rows.length > 0 && offset < total && button("More", more));
    } catch (error) {
      show(foot, failure(error));
    }
  };
  return { box, more };
}
