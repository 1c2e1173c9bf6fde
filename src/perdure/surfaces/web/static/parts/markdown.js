// Markdown as people write it in notes and documents: headings, lists, bold, emphasis, code, links. Only text nodes and elements
// that this file names are made; whatever else a text holds, tags among it, stands there as its own letters.

import { h } from "../dom.js";

const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^\s*([-*+]|\d{1,9}[.)])\s+(.*)$/;
const INLINE = /(\*\*[^*]+\*\*|__[^_]+__|\*[^*\s][^*]*\*|`[^`]+`|\[[^\]]+\]\([^()\s]+\))/;
const COMMENT = /<!--[^]*?-->/g;

/** A text as elements; its headings begin below level `under`, so that the page's own order holds. */
export function markdown(text, under = 2) {
  const blocks = [];
  let list = null;
  let lines = [];
  const close = () => {
    if (lines.length) blocks.push(h("p", {}, inline(lines.join(" "))));
    lines = [];
  };
  for (const line of text.replace(COMMENT, "").split("\n")) {
    const [heading, item] = [HEADING.exec(line), ITEM.exec(line)];
    if (heading || item || !line.trim()) close();
    if (!item) list = null;
    if (heading) blocks.push(h(`h${Math.min(6, under + heading[1].length - 1)}`, {}, inline(heading[2])));
    else if (item) {
      if (!list) blocks.push((list = h(/\d/.test(item[1]) ? "ol" : "ul")));
      list.append(h("li", {}, inline(item[2])));
    } else if (line.trim()) lines.push(line.trim());
  }
  close();
  return h("div", { class: "prose" }, blocks);
}

/** The marks within a line. */
export function inline(text) {
  return text.split(INLINE).map((part) => {
    if (/^(\*\*|__).+\1$/.test(part)) return h("strong", {}, part.slice(2, -2));
    if (/^`.+`$/.test(part)) return h("code", {}, part.slice(1, -1));
    if (/^\*.+\*$/.test(part)) return h("em", {}, part.slice(1, -1));
    const link = /^\[(.+)\]\((.+)\)$/.exec(part);
    if (link) return h("a", { href: link[2], rel: "noreferrer noopener", target: "_blank" }, link[1]);
    return part;
  });
}
