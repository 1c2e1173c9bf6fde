// Import and export: the bank as a file of JSON lines, and such a file as a new bank.

import { send, verb } from "../api.js";
import { button, field, h, show } from "../dom.js";
import { count, plural } from "../format.js";
import { failure } from "../parts/notice.js";
import { address } from "../route.js";

const END = '{"perdure_lines":';

export async function open(content, { bank }) {
  show(content, h("h1", {}, "Import and export"), h("div", { class: "columns" }, h("div", {}, exporting(bank), copying(bank)), importing()));
}

function exporting(bank) {
  const told = h("div", { "aria-live": "polite" });
  const start = async () => {
    show(told, h("p", { class: "faint" }, "Reading …"));
    try {
      const { parts, lines } = await exported(bank, (number) => show(told, h("p", { class: "faint" }, `${plural(number, "line")} read …`)));
      save(new Blob(parts, { type: "application/x-ndjson" }), `${bank}.jsonl`);
      show(told, h("p", {}, `✓ ${plural(lines, "line")} saved as ${bank}.jsonl.`));
    } catch (error) {
      show(told, failure(error));
    }
  };
  return h("section", { class: "card", "aria-label": "Export" }, h("h2", {}, "Export"), h("p", {}, `Everything that the bank ${bank} holds, as a file of JSON lines. Keys and webhooks are not in it.`), button("Export", start, { class: "main", id: "export" }), told);
}

/** The lines of an export as they come; the last line of the stream counts the others and is not part of the file. */
async function exported(bank, told) {
  const answer = await send(`/v1/perdure/banks/${encodeURIComponent(bank)}/banks.export`, { method: "POST" });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  const parts = [];
  let [rest, lines, end] = ["", 0, ""];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const whole = (rest + value).split("\n");
    rest = whole.pop();
    if (whole.at(-1)?.startsWith(END)) end = whole.pop();
    lines += whole.length;
    if (whole.length) parts.push(`${whole.join("\n")}\n`);
    told(lines);
  }
  if (!end || JSON.parse(end).perdure_lines !== lines) throw new Error("The export broke off before its end.");
  return { parts, lines };
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function importing() {
  const file = h("input", { type: "file", accept: ".jsonl,.ndjson,application/x-ndjson", required: true, id: "import-file" });
  const target = h("input", { required: true, id: "import-bank", maxlength: 128 });
  const told = h("div", { "aria-live": "polite" });
  const main = h("button", { class: "main" }, "Import");
  const start = async (event) => {
    event.preventDefault();
    const name = target.value.trim();
    main.disabled = true;
    show(told, h("p", { class: "faint" }, "Reading …"));
    try {
      const answer = await send(`/v1/perdure/banks/${encodeURIComponent(name)}/banks.restore`, { method: "POST", headers: { "Content-Type": "application/x-ndjson" }, body: file.files[0] });
      show(told, h("p", {}, `✓ ${count(await answer.json())} facts came. `, h("a", { href: address(name, "ask") }, `Open ${name}`)));
    } catch (error) {
      show(told, failure(error));
    } finally {
      main.disabled = false;
    }
  };
  return h("section", { class: "card", "aria-label": "Import" }, h("h2", {}, "Import"), h("p", {}, "An exported file, into a new bank."), h("form", { class: "stack", on: { submit: start } }, field("File", file), field("New bank", target, "An id that no bank has."), h("div", { class: "row" }, main)), told);
}

function copying(bank) {
  const target = h("input", { required: true, id: "copy-bank", maxlength: 128 });
  const told = h("div", { "aria-live": "polite" });
  const main = h("button", {}, "Copy");
  const start = async (event) => {
    event.preventDefault();
    main.disabled = true;
    try {
      const facts = await verb(bank, "banks.clone", { target: target.value.trim() });
      show(told, h("p", {}, `✓ ${count(facts)} facts copied. `, h("a", { href: address(target.value.trim(), "ask") }, `Open ${target.value.trim()}`)));
    } catch (error) {
      show(told, failure(error));
    } finally {
      main.disabled = false;
    }
  };
  return h("section", { class: "card", "aria-label": "Copy" }, h("h2", {}, "Copy"), h("p", {}, `The bank ${bank} under another id, to try something out.`), h("form", { class: "stack", on: { submit: start } }, field("New bank", target, "An id that no bank has."), h("div", { class: "row" }, main)), told);
}
