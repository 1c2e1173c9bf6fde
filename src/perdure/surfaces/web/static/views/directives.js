// Directives: the rules that every reflect follows, the most important first.

import { verb } from "../api.js";
import { button, field, h, show } from "../dom.js";
import { recently } from "../format.js";
import { confirm, sheet, words } from "../parts/dialogs.js";
import { difference } from "../parts/diff.js";
import { chip } from "../parts/fact.js";
import { markdown } from "../parts/markdown.js";
import { empty, failure, toast } from "../parts/notice.js";
import { paged } from "../parts/paging.js";

export async function open(content, route) {
  const { bank } = route;
  const rules = await verb(bank, "directives.list", { active_only: false });
  const told = h("div", { "aria-live": "polite" });
  const act = async (work) => {
    try {
      if (await work()) await open(content, route);
    } catch (error) {
      show(told, failure(error));
    }
  };
  const read = async (offset, limit) => ({ rows: rules.slice(offset, offset + limit), total: rules.length });
  const { element, load } = paged(read, (one) => card(bank, one, act), "No directive yet. A directive tells memory how to answer: “Answer in German.”", "directives");
  show(
    content,
    h("h1", {}, "Directives"),
    h("p", { class: "faint" }, "Rules for every answer that memory gives, highest priority first. A rule with tags holds for questions with one of them."),
    h("div", { class: "row" }, button("New directive", () => act(() => create(bank)), { class: "main", id: "new-directive" })),
    told,
    element,
  );
  await load();
}

function card(bank, rule, act) {
  const change = (changes) => verb(bank, "directives.update", { directive_id: rule.id, ...changes });
  const turn = () => act(async () => (await change({ is_active: !rule.is_active }), toast(rule.is_active ? "Switched off." : "Switched on."), true));
  const edit = () =>
    act(() => {
      const form = ruleForm(rule);
      return sheet(`Edit ${rule.name}`, form.controls, "Save", () => change(form.read()));
    });
  const remove = () =>
    act(async () => {
      if (!(await confirm(`Delete “${rule.name}”?`, h("div", { class: "quote" }, rule.content), "Delete it"))) return false;
      await verb(bank, "directives.delete", { directive_id: rule.id });
      return true;
    });
  return h(
    "article",
    { class: `card directive${rule.is_active ? "" : " off"}`, "aria-label": rule.name },
    h("h2", {}, rule.name),
    markdown(rule.content, 3),
    h(
      "div",
      { class: "chips" },
      rule.is_active ? chip("● on", "good") : chip("○ off"),
      chip(`priority ${rule.priority}`),
      [...rule.tags].map((tag) => chip(`# ${tag}`)),
      rule.updated_at && chip(`changed ${recently(rule.updated_at)}`),
    ),
    h(
      "div",
      { class: "row actions" },
      button(rule.is_active ? "Switch off" : "Switch on", turn, { "aria-label": `${rule.is_active ? "Switch off" : "Switch on"}: ${rule.name}` }),
      button("Edit", edit, { "aria-label": `Edit: ${rule.name}` }),
      button("Delete", remove, { class: "danger", "aria-label": `Delete: ${rule.name}` }),
    ),
    rule.updated_at !== rule.created_at && history(bank, rule),
  );
}

/** What each change put in the place of what, the newest first; read when somebody looks. */
function history(bank, rule) {
  const body = h("div");
  const fill = async () => {
    try {
      const versions = [rule, ...(await verb(bank, "directives.history", { directive_id: rule.id }))];
      const changes = versions.slice(0, -1).map((one, place) => h("section", {}, h("h3", {}, `Changed ${recently(one.updated_at)}`), difference(written(versions[place + 1]), written(one))));
      show(body, changes.length ? changes : empty("No earlier version is kept."));
    } catch (error) {
      show(body, failure(error));
    }
  };
  const box = h("details", { on: { toggle: () => box.open && !body.hasChildNodes() && fill() } }, h("summary", { "aria-label": `History: ${rule.name}` }, "History"), body);
  return box;
}

/** A version as lines, so that two can be compared. */
function written(rule) {
  const tags = [...rule.tags].sort().join(", ");
  return [`Name: ${rule.name}`, rule.content, `Priority ${rule.priority}, switched ${rule.is_active ? "on" : "off"}`, tags && `Tags: ${tags}`].filter(Boolean).join("\n");
}

function create(bank) {
  const form = ruleForm({ name: "", content: "", priority: 0, tags: [], is_active: true });
  return sheet("New directive", form.controls, "Make it", () => verb(bank, "directives.create", form.read()));
}

function ruleForm(rule) {
  const name = h("input", { value: rule.name, required: true });
  const content = h("textarea", { value: rule.content, required: true });
  const priority = h("input", { type: "number", step: 1, value: rule.priority, required: true });
  const tags = h("input", { value: [...rule.tags].join(", ") });
  const active = h("input", { type: "checkbox", checked: rule.is_active });
  return {
    controls: [
      field("Name", name),
      field("Rule", content),
      field("Priority", priority, "The highest comes first."),
      field("Tags", tags, "With commas between; none: for every question."),
      h("label", {}, active, " switched on"),
    ],
    read: () => ({ name: name.value, content: content.value, priority: Number(priority.value), tags: words(tags.value), is_active: active.checked }),
  };
}
