// Conversations and other texts that memory was drawn from, and a way to add more.

import { rest, verb } from "../api.js";
import { button, field, h, show } from "../dom.js";
import { count, recently } from "../format.js";
import { sheet, words } from "../parts/dialogs.js";
import { follow } from "../parts/follow.js";
import { failure } from "../parts/notice.js";
import { paged } from "../parts/paging.js";
import { address, note } from "../route.js";
import { openDocument } from "./document.js";

export async function open(content, route) {
  if (route.id) return openDocument(content, route);
  const { bank, query } = route;
  let every = await verb(bank, "documents.list");
  const told = h("div", { "aria-live": "polite" });
  const place = h("div");
  const search = h("input", { type: "search", value: query.get("q") || "" });
  const draw = () => {
    const part = search.value.trim().toLowerCase();
    const found = every.filter((one) => `${one.title} ${one.id}`.toLowerCase().includes(part));
    const read = async (offset, limit) => ({ rows: found.slice(offset, offset + limit), total: found.length });
    const nothing = part ? "No conversation has this in its title or id." : "No conversations yet. Add a file or a text.";
    const { element, load } = paged(read, (one) => row(bank, one), nothing, "conversations", h("ol", { class: "list", "aria-label": "Conversations" }));
    show(place, element);
    return load();
  };
  const find = (event) => {
    event.preventDefault();
    note({ q: search.value.trim() });
    return draw();
  };
  const add = (ask) => async () => {
    const operations = await ask(bank);
    if (!operations) return;
    try {
      show(told, operations.map(() => h("div")));
      await Promise.all(operations.map((id, index) => follow(bank, id, told.children[index])));
      every = await verb(bank, "documents.list");
      if (told.isConnected) await draw();
    } catch (error) {
      show(told, failure(error));
    }
  };
  show(
    content,
    h("h1", {}, "Conversations"),
    h("div", { class: "row" }, button("Add a file", add(askFiles), { class: "main", id: "add-file" }), button("Add a text", add(askText), { id: "add-text" })),
    told,
    h("form", { class: "row", role: "search", on: { submit: find } }, h("div", { class: "grow" }, field("Title or id", search)), h("button", {}, "Find")),
    place,
  );
  await draw();
  return undefined;
}

function row(bank, document) {
  return h(
    "li",
    {},
    h(
      "a",
      { href: address(bank, "documents", document.id) },
      h("strong", {}, document.title || document.id),
      h(
        "div",
        { class: "origin" },
        [recently(document.updated_at), `${count(document.characters)} characters`, document.title && document.id, ...document.tags.map((tag) => `#${tag}`)].filter(Boolean).join(" · "),
      ),
    ),
  );
}

/** Ask for files; resolves to the operations that read them. */
function askFiles(bank) {
  const files = h("input", { type: "file", multiple: true, required: true });
  const tags = h("input", {});
  const send = async () => {
    const upload = (file) => rest(`/v1/perdure/banks/${encodeURIComponent(bank)}/files/${encodeURIComponent(file.name)}?${new URLSearchParams(words(tags.value).map((tag) => ["tag", tag]))}`, { method: "POST", body: file });
    return (await Promise.all([...files.files].map(upload))).map((operation) => operation.id);
  };
  return sheet("Add files", [field("Files", files, "Text, HTML, PDF, DOCX, mail, CSV, SVG, source code."), field("Tags", tags, "With commas between.")], "Add", send);
}

/** Ask for a text; resolves to the operation that reads it. */
function askText(bank) {
  const text = h("textarea", { required: true, rows: 10 });
  const title = h("input", {});
  const id = h("input", {});
  const speaker = h("input", {});
  const tags = h("input", {});
  const send = async () => {
    const said = { title: title.value, document_id: id.value.trim(), speaker: speaker.value.trim() };
    const fields = Object.fromEntries(Object.entries(said).filter(([, value]) => value));
    const operation = await verb(bank, "retain_later", { content: text.value, tags: words(tags.value), ...fields });
    return [operation.id];
  };
  const controls = [
    field("Text", text),
    field("Title", title),
    field("Id", id, "A text of the same id takes the place of the one before."),
    field("Who says it", speaker),
    field("Tags", tags, "With commas between."),
  ];
  return sheet("Add a text", controls, "Add", send);
}
