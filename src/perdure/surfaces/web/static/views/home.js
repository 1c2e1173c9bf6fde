// Home: what memory holds, what changed last, what needs a decision, and questions to start with. An empty bank: how to fill it.

import { rest, verb } from "../api.js";
import { button, field, h, show } from "../dom.js";
import { count, day, plural } from "../format.js";
import { notice, sheet } from "../parts/dialogs.js";
import { row } from "../parts/fact.js";
import { follow } from "../parts/follow.js";
import { failure } from "../parts/notice.js";
import { redraw } from "../parts/mending.js";
import { address, go } from "../route.js";

const NEWEST = 5;
const QUESTIONS = 4;
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" });
const DEMO = new URL("../demo.json", import.meta.url);

export async function open(content, { bank }) {
  const stored = await verb(bank, "banks.find");
  const stats = stored ? await verb(bank, "banks.stats") : { facts: 0, documents: 0 };
  const banks = h("section", { "aria-label": "Banks" });
  const listed = listBanks(banks, bank);
  if (!stats.facts) show(content, h("h1", {}, stored?.name || bank), h("p", {}, "This memory is empty. Fill it in one of four ways:"), ways(bank), banks);
  else {
    const [newest, people, questions, dated] = await Promise.all([
      verb(bank, "facts.list", { limit: NEWEST, types: ["world", "experience"] }),
      verb(bank, "entities.list", { types: ["person"], limit: QUESTIONS }),
      verb(bank, "questions.list"),
      verb(bank, "facts.list", { order: "latest_dated", limit: 1, types: ["world", "experience"] }),
    ]);
    const heard = newest.facts.map((one) => one.mentioned_at ?? one.recorded_at).sort((one, other) => new Date(one) - new Date(other)).at(-1);
    show(
      content,
      h("h1", {}, stored.name || bank),
      h("p", { class: "lead" }, `${plural(stats.facts, "statement")} from ${plural(stats.documents, "conversation")}`, heard && `, last heard on ${day(heard)}`, "."),
      search(bank),
      h("div", { class: "suggestions" }, examples(people, dated.facts[0]).map((text) => h("a", { class: "button", href: address(bank, "ask", "", { q: text }) }, text))),
      questions.length > 0 && h("p", { class: "card decide" }, `${plural(questions.length, "contradiction")} ${questions.length === 1 ? "needs" : "need"} your decision. `, h("a", { href: address(bank, "review") }, "Decide")),
      h("section", { "aria-label": "What changed last" }, h("h2", {}, "What changed last"), newest.facts.map((fact) => row(bank, fact)), h("p", {}, h("a", { href: address(bank, "activity") }, "All activity"))),
      h("details", { class: "card" }, h("summary", {}, "Add to this memory"), ways(bank)),
      banks,
    );
  }
  await listed;
}

function search(bank) {
  const box = h("input", { id: "question", type: "search", placeholder: "Ask this memory", "aria-label": "Question", required: true });
  const ask = (event) => {
    event.preventDefault();
    go(bank, "ask", "", { q: box.value });
  };
  return h("form", { class: "row asking", role: "search", on: { submit: ask } }, h("div", { class: "grow" }, box), h("button", { class: "main" }, "Ask"));
}

/** Questions that this bank can probably answer, from whom and when it tells. */
function examples(people, latest) {
  const [first, second] = people.map((one) => one.name);
  const at = latest?.occurred_start ?? latest?.mentioned_at;
  const month = at && MONTH.format(new Date(`${at.slice(0, 7)}-01`));
  return [
    first && `What is new with ${first}?`,
    first && second && `What do ${first} and ${second} have in common?`,
    month && `What happened in ${month}?`,
    "What is planned?",
    second && `What does ${second} like?`,
  ].filter(Boolean).slice(0, QUESTIONS);
}

/** The four ways to fill a bank. */
function ways(bank) {
  const told = h("div", { "aria-live": "polite" });
  const way = (title, text, label, act, props = {}) => h("section", { class: "card way" }, h("h2", {}, title), h("p", { class: "faint" }, text), button(label, act, props));
  const safely = (work) => async () => {
    try {
      if (await work(bank, told)) redraw();
    } catch (error) {
      show(told, failure(error));
    }
  };
  return [
    h(
      "div",
      { class: "ways" },
      way("Paste a chat", "Any conversation as text, one message per line.", "Paste a chat", safely(paste), { class: "main" }),
      way("Import", "An export of ChatGPT or Claude, notes, mail.", "Import", () => importing(bank)),
      way("Connect an assistant", "Claude Code, Codex and others remember here.", "Connect", () => connecting(bank)),
      way("Load the demo", "A year of two people and their assistant.", "Load the demo", safely(demo)),
    ),
    told,
  ];
}

async function paste(bank, told) {
  const text = h("textarea", { required: true, rows: 10, placeholder: "Ann: I moved to Lisbon in May.\nBen: How is it?" });
  const title = h("input", {});
  const send = () => verb(bank, "retain_later", { content: text.value, ...(title.value.trim() && { title: title.value.trim() }) });
  const operation = await sheet("Paste a chat", [field("Chat", text, "“Name: message”, one per line."), field("Title", title)], "Remember", send);
  return operation && (await follow(bank, operation.id, told))?.status === "completed";
}

async function demo(bank, told) {
  show(told, h("p", { class: "faint" }, "Reading the demo …"));
  const { turns } = await rest(DEMO.pathname);
  const items = turns.map((one) => ({ content: one.text, speaker: one.speaker, role: one.speaker === "assistant" ? "assistant" : "user", timestamp: one.date, document_id: `chat of ${one.date.slice(0, 10)}` }));
  const operation = await verb(bank, "retain_later", { content: items });
  return (await follow(bank, operation.id, told))?.status === "completed";
}

const command = (text) => h("pre", { class: "quote", tabindex: 0 }, text);

function importing(bank) {
  notice(
    "Import",
    h("p", {}, "Exports are read where they are stored. On the machine of this memory:"),
    command(`perdure import chatgpt conversations.zip --bank ${bank}\nperdure import claude data.zip --bank ${bank}\nperdure import PATH --bank ${bank}    # finds out what it is`),
    h("p", {}, "Single files (text, PDF, DOCX, mail) are added under ", h("a", { href: address(bank, "documents"), on: { click: (event) => event.target.closest("dialog").close() } }, "Conversations"), ", an exported bank under ", h("a", { href: address(bank, "transfer"), on: { click: (event) => event.target.closest("dialog").close() } }, "Import and export"), "."),
  );
}

function connecting(bank) {
  const mcp = JSON.stringify({ mcpServers: { perdure: { type: "http", url: `${location.origin}/mcp/${encodeURIComponent(bank)}/` } } }, null, 2);
  notice("Connect an assistant", h("p", {}, "A coding assistant, with hooks that recall and retain by themselves:"), command("perdure install claude-code"), h("p", {}, "Any assistant that speaks MCP:"), command(mcp));
}

async function listBanks(place, bank) {
  try {
    const banks = await verb(null, "banks.list");
    const one = (other) => h("li", {}, h("a", { href: address(other.id, "home"), "aria-current": other.id === bank ? "true" : null }, h("strong", {}, other.name || other.id), other.name && other.name !== other.id && h("span", { class: "faint" }, ` ${other.id}`), other.mission && h("p", { class: "origin" }, other.mission)));
    show(place, h("div", { class: "row spread" }, h("h2", {}, banks.length ? `${count(banks.length)} ${banks.length === 1 ? "bank" : "banks"}` : "No banks yet"), button("New bank", create)), h("ul", { class: "list" }, banks.map(one)));
  } catch (error) {
    show(place, failure(error));
  }
}

async function create() {
  const id = h("input", { required: true, maxlength: 128 });
  const name = h("input", {});
  const send = async () => {
    await verb(id.value.trim(), "banks.configure", { name: name.value.trim() || id.value.trim() });
    return id.value.trim();
  };
  const made = await sheet("New bank", [field("Id", id, "Used in addresses and programs."), field("Name", name)], "Create", send);
  if (made) go(made, "home");
}
