// Settings of the bank: what it is for, how it reasons, and what its recall and consolidation do.

import { outline, rest, verb } from "../api.js";
import { button, field, h, select, show } from "../dom.js";
import { reflection } from "../parts/reflection.js";
import { failure, toast } from "../parts/notice.js";
import { asOf } from "../route.js";

const TRAITS = [
  ["skepticism", "Skepticism", "believes what it is told", "hedges or leaves out what little supports"],
  ["literalism", "Literalism", "adds what follows over links", "quotes, and leaves out what is only worked out"],
  ["empathy", "Empathy", "keeps to the matter", "adds what is felt"],
];
/** Options that act, by group: name, what it does, kind of control, and its bounds. */
const OPTIONS = {
  Recall: [
    ["recall_max_tokens", "Most tokens of a recall", "number", 0, 1_000_000, 1],
    ["recall_include_chunks", "Put the source text beside the facts", "switch"],
    ["recall_chunks_max_tokens", "Most tokens of source text", "number", 0, 1_000_000, 1],
    ["recall_prefer_observations", "Prefer observations over the facts they rest on", "switch"],
    ["enable_text_search", "Search by words", "switch"],
    ["enable_temporal_retrieval", "Search by time", "switch"],
    ["enable_graph_retrieval", "Search along links", "switch"],
    ["enable_reranking", "Rank by the reader", "switch"],
  ],
  Consolidation: [
    ["enable_observations", "Form observations", "switch"],
    ["enable_auto_consolidation", "Consolidate by itself", "choice"],
    ["observation_min_facts", "Fewest facts for an observation", "number", 1, 10_000, 1],
    ["observation_max_tokens", "Most tokens of an observation", "number", 16, 10_000, 1],
    ["mental_model_min_refresh_interval_seconds", "Seconds between two refreshes of a mental model", "number", 0, 1_000_000_000, 1],
  ],
  Opinions: [
    ["opinion_alpha", "What support adds (a share of the doubt left)", "number", 0, 1, 0.01],
    ["opinion_delta", "What weak evidence takes (a share)", "number", 0, 1, 0.01],
    ["opinion_gamma", "What a contradiction leaves (a share)", "number", 0, 1, 0.01],
  ],
  Audit: [["audit_log_enabled", "Keep a log of what is done with the bank", "switch"]],
};

export async function open(content, route) {
  const { bank } = route;
  const path = `/v1/default/banks/${encodeURIComponent(bank)}/config`;
  const [present, config] = await Promise.all([verb(bank, "banks.get"), rest(path)]);
  show(content, h("h1", {}, "Settings"), h("p", { class: "faint" }, `Of the bank ${present.id}. Keys and the server's own settings stay on its machine.`), character(bank, present), options(path, config, () => open(content, route)));
}

/** Name, mission and disposition; what another disposition would change can be seen before it is saved. */
function character(bank, present) {
  const name = h("input", { value: present.name, placeholder: present.id });
  const mission = h("textarea", { value: present.mission, placeholder: "What this memory is for" });
  const sliders = TRAITS.map(([trait, title, low, high]) => slider(trait, title, present.disposition[trait], 1, 5, 1, `1: ${low}; 5: ${high}`));
  const bias = slider("bias_strength", "Strength of its bias", present.disposition.bias_strength, 0, 1, 0.1, "0: the traits change least; 1: they change most");
  const disposition = () => Object.fromEntries([...sliders, bias].map((one) => [one.name, Number(one.input.value)]));
  const told = h("div", { "aria-live": "polite" });
  const save = async (event) => {
    event.preventDefault();
    try {
      await verb(bank, "banks.configure", { name: name.value, mission: mission.value, disposition: disposition() });
      present.disposition = disposition();
      show(told);
      toast("Saved.");
    } catch (error) {
      show(told, failure(error));
    }
  };
  return h(
    "form",
    { class: "card stack", id: "character", on: { submit: save } },
    field("Name", name),
    field("Mission", mission),
    h("h2", {}, "Disposition"),
    h("div", { class: "traits" }, [...sliders, bias].map((one) => one.box)),
    h("div", { class: "row" }, h("button", { class: "main" }, "Save")),
    told,
    preview(bank, () => present.disposition, disposition),
  );
}

function slider(name, title, value, min, max, step, hint) {
  const input = h("input", { type: "range", min, max, step, name });
  input.value = value;
  const told = h("output", {}, value);
  input.addEventListener("input", () => show(told, input.value));
  return { name, input, box: h("div", { class: "trait" }, field(title, input, hint), told) };
}

/** The answer to a question as memory reasons now, and as it would. */
function preview(bank, before, after) {
  const question = h("input", { id: "preview-question", placeholder: "Where does Ann live, and will she stay?" });
  const answers = h("div", { "aria-live": "polite" });
  const reflect = (disposition) => outline(bank, "reflect", { query: question.value.trim(), disposition, ...(asOf() ? { as_of: asOf() } : {}) });
  const side = (title, disposition, result) => h("div", { class: "side-by-side" }, h("p", {}, h("strong", {}, title)), h("p", { class: "faint" }, TRAITS.map(([name, text]) => `${text} ${disposition[name]}`).join(", "), `, bias ${disposition.bias_strength}`), reflection(bank, result));
  const compare = async () => {
    if (!question.value.trim()) return question.focus();
    answers.classList.add("busy");
    const [now, then] = [before(), after()];
    try {
      const [one, other] = await Promise.all([reflect(now), reflect(then)]);
      const same = one.text === other.text;
      show(answers, h("p", {}, same ? "＝ Both answer the same." : "≠ The answers differ."), h("div", { class: "columns" }, side("As it is", now, one), side("As it would be", then, other)));
    } catch (error) {
      show(answers, failure(error));
    } finally {
      answers.classList.remove("busy");
    }
    return undefined;
  };
  question.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    compare();
  });
  return h("section", { "aria-label": "Preview" }, h("h2", {}, "What it would change"), h("div", { class: "row" }, h("div", { class: "grow" }, field("Try a question", question)), button("Compare", compare, { id: "compare" })), answers);
}

/** The options that act; one that the bank has of its own can be given back to the default. */
function options(path, { config, overrides }, again) {
  const told = h("div", { "aria-live": "polite" });
  const controls = Object.values(OPTIONS).flat().filter(([name]) => name in config).map((one) => control(one, config[one[0]], one[0] in overrides));
  const send = async (updates) => {
    try {
      await rest(path, { method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ updates }) });
      toast("Saved.");
      await again();
    } catch (error) {
      show(told, failure(error));
    }
  };
  const save = (event) => {
    event.preventDefault();
    const changed = controls.filter((one) => one.read() !== config[one.name]);
    if (!changed.length) return toast("Nothing was changed.");
    return send(Object.fromEntries(changed.map((one) => [one.name, one.read()])));
  };
  const group = ([title, list]) => {
    const own = list.map(([name]) => controls.find((one) => one.name === name)).filter(Boolean);
    return own.length > 0 && h("fieldset", {}, h("legend", {}, title), h("div", { class: "options" }, own.map((one) => h("div", { class: "row option" }, one.box, one.isOwn && button("Default", () => send({ [one.name]: null }), { "aria-label": `Back to the default: ${one.title}` })))));
  };
  return h("form", { class: "card stack", id: "options", on: { submit: save } }, h("h2", {}, "Options"), Object.entries(OPTIONS).map(group), h("div", { class: "row" }, h("button", { class: "main" }, "Save options")), told);
}

function control([name, title, kind, min, max, step], value, isOwn) {
  if (kind === "switch") {
    const input = h("input", { type: "checkbox", name, checked: value === true });
    return { name, title, isOwn, read: () => input.checked, box: h("label", { class: "switch" }, input, h("span", {}, title)) };
  }
  if (kind === "choice") {
    let chosen = value;
    const input = select([["null", "as the server does"], ["true", "yes"], ["false", "no"]], String(value), (text) => (chosen = JSON.parse(text)));
    return { name, title, isOwn, read: () => chosen, box: field(title, input) };
  }
  const input = h("input", { type: "number", name, min, max, step, value, required: true });
  return { name, title, isOwn, read: () => Number(input.value), box: field(title, input) };
}
