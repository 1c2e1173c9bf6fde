// What changed between two texts: by lines, and within a changed line by words.

import { h } from "../dom.js";

/** Longest sequence of parts that stays, as steps ["=" | "-" | "+", part] (Hunt and McIlroy's table of lengths). */
export function steps(before, after) {
  const [rows, columns] = [before.length, after.length];
  const lengths = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1));
  for (let i = rows - 1; i >= 0; i--)
    for (let j = columns - 1; j >= 0; j--)
      lengths[i][j] = before[i] === after[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  const path = [];
  let [i, j] = [0, 0];
  while (i < rows || j < columns) {
    if (i < rows && j < columns && before[i] === after[j]) {
      path.push(["=", before[i]]);
      i++;
      j++;
    } else if (j >= columns || (i < rows && lengths[i + 1][j] >= lengths[i][j + 1])) path.push(["-", before[i++]]);
    else path.push(["+", after[j++]]);
  }
  return path;
}

/** The two texts as one list of lines: each says by a sign what became of it. */
export function difference(before, after) {
  const path = steps(before.split("\n"), after.split("\n"));
  const changed = path.filter(([sign]) => sign !== "=").length;
  if (!changed) return h("p", { class: "faint" }, "The two say the same.");
  const rows = [];
  for (let place = 0; place < path.length; place++) {
    if (path[place][0] === "=") {
      rows.push(line(" ", "", path[place][1]));
      continue;
    }
    const [gone, come] = [[], []];
    for (; place < path.length && path[place][0] !== "="; place++) (path[place][0] === "-" ? gone : come).push(path[place][1]);
    place--;
    rows.push(...block(gone, come));
  }
  return h("div", { class: "diff", role: "group", "aria-label": "What changed" }, rows);
}

/** Lines that went and lines that came in their place; those that share half of their words, word by word. */
function block(gone, come) {
  const whole = (out, into) => [...out.map((text) => line("−", "diff-out", text)), ...into.map((text) => line("+", "diff-in", text))];
  if (gone.length !== come.length) return whole(gone, come);
  return gone.flatMap((text, place) => {
    const words = steps(text.split(/(\s+)/), come[place].split(/(\s+)/));
    const kept = words.filter(([sign, word]) => sign === "=" && word.trim()).length;
    if (2 * kept < words.filter(([, word]) => word.trim()).length - kept) return whole([text], [come[place]]);
    const side = (other, kind) => words.filter(([sign]) => sign !== other).map(([sign, word]) => (sign === "=" ? word : h("span", { class: kind }, word)));
    return [line("−", "", side("+", "diff-out")), line("+", "", side("-", "diff-in"))];
  });
}

function line(sign, kind, text) {
  const word = { "−": "taken out: ", "+": "put in: " }[sign];
  return h("div", { class: "diff-line" }, h("span", { class: "diff-sign", "aria-hidden": "true" }, sign), word && h("span", { class: "unseen" }, word), h("span", { class: kind || null }, text));
}
