// A list that is read page by page: the first now, the next when asked for.

import { button, h, show } from "../dom.js";
import { count, plural } from "../format.js";
import { empty, failure } from "./notice.js";

export const PAGE = 50;

/**
 * A list under its count. `read(offset, limit)` gives {rows, total}, where total may be null if only the rows tell whether there are more;
 * `draw(row)` gives an element for `list`. `nothing` is said, or shown, where there are none.
 */
export function paged(read, draw, nothing, noun = "facts", list = h("div", { class: "rows" })) {
  const told = h("p", { class: "faint", role: "status" });
  const more = button("More", () => load(), { class: "more", hidden: true });
  let shown = 0;
  const load = async () => {
    more.disabled = true;
    try {
      const { rows, total } = await read(shown, PAGE);
      list.append(...rows.map(draw));
      shown += rows.length;
      const left = total === null ? rows.length === PAGE : shown < total;
      more.hidden = !left;
      if (!shown) list.replaceWith(nothing instanceof Node ? nothing : empty(nothing));
      show(told, shown ? counted(shown, total, left, noun) : "");
    } catch (error) {
      show(told, failure(error));
    }
    more.disabled = false;
  };
  return { element: h("div", {}, told, list, more), load };
}

const singular = (noun) => noun.replace(/ies$/, "y").replace(/s$/, "");

function counted(shown, total, left, noun) {
  if (left) return total === null ? `${count(shown)} ${noun}, more below` : `${count(shown)} of ${count(total)} ${noun}`;
  return plural(shown, singular(noun), noun);
}
