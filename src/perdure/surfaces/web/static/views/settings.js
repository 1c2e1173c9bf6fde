// Settings of the bank: what it is for, how it reasons, and what it keeps.

import { verb } from "../api.js";
import { field, h, select, show } from "../dom.js";
import { failure, toast } from "../parts/notice.js";

const TRAITS = [
  ["skepticism", "Skepticism", 1, 5, 1, "1: believes what it is told; 5: leaves out what has little support"],
  ["literalism", "Literalism", 1, 5, 1, "1: also uses what follows; 5: quotes"],
  ["empathy", "Empathy", 1, 5, 1, "1: keeps to the matter; 5: adds what is felt"],
  ["bias_strength", "Strength", 0, 1, 0.1, "How strongly the three act"],
];
/** Settings by group: name, label, default, and the bounds of a number. */
const SETTINGS = {
  Privacy: [
    ["mask_secrets", "Mask passwords and keys before anything is stored", true],
    ["activity_log", "Record recalls and prompts for Activity (the newest 500)", true],
    ["audit_log_enabled", "Keep an audit log of calls to the server, without texts", false],
  ],
  Consolidation: [
    ["enable_observations", "Write profiles of people and topics", true],
    ["enable_auto_consolidation", "Consolidate automatically", null],
    ["observation_min_facts", "Fewest facts for a profile", 3, 1, 10_000, 1],
    ["observation_max_tokens", "Most tokens of a profile", 80, 16, 10_000, 1],
    ["mental_model_min_refresh_interval_seconds", "Seconds between two refreshes of a mental model", 0, 0, 1_000_000_000, 1],
  ],
  Opinions: [
    ["opinion_alpha", "Support adds this share of the remaining doubt", 0.2, 0, 1, 0.01],
    ["opinion_delta", "Weak evidence takes this share", 0.1, 0, 1, 0.01],
    ["opinion_gamma", "A contradiction leaves this share", 0.5, 0, 1, 0.01],
  ],
};

export async function open(content, { bank }) {
  const stored = (await verb(bank, "banks.find")) ?? { id: bank, name: bank, mission: "", disposition: { skepticism: 3, literalism: 3, empathy: 3, bias_strength: 0.5 }, settings: {} };
  const name = h("input", { value: stored.name, placeholder: bank });
  const mission = h("textarea", { value: stored.mission, placeholder: "What this memory is for" });
  const sliders = TRAITS.map((trait) => slider(trait, stored.disposition[trait[0]]));
  const controls = Object.values(SETTINGS).flat().map((one) => control(one, stored.settings[one[0]]));
  const told = h("div", { "aria-live": "polite" });
  const save = async (event) => {
    event.preventDefault();
    const settings = { ...stored.settings };
    for (const one of controls) {
      if (one.read() === one.otherwise) delete settings[one.name];
      else settings[one.name] = one.read();
    }
    const disposition = Object.fromEntries(sliders.map((one) => [one.name, Number(one.input.value)]));
    try {
      const changed = await verb(bank, "banks.configure", { name: name.value, mission: mission.value, disposition, settings });
      stored.settings = changed.settings;
      show(told);
      toast("Saved.");
    } catch (error) {
      show(told, failure(error));
    }
  };
  const group = ([title, list]) => h("fieldset", {}, h("legend", {}, title), list.map(([own]) => controls.find((one) => one.name === own).box));
  show(
    content,
    h("h1", {}, "Settings"),
    h("p", { class: "faint" }, `Of the bank ${bank}. Keys and the settings of the server stay on its machine.`),
    h(
      "form",
      { class: "stack", on: { submit: save } },
      field("Name", name),
      field("Mission", mission),
      h("fieldset", {}, h("legend", {}, "How it reasons"), h("div", { class: "columns" }, sliders.map((one) => one.box))),
      Object.entries(SETTINGS).map(group),
      told,
      h("div", { class: "row" }, h("button", { class: "main" }, "Save")),
    ),
  );
}

function slider([name, title, min, max, step, hint], value) {
  const input = h("input", { type: "range", min, max, step, name });
  input.value = value;
  const told = h("output", {}, value);
  input.addEventListener("input", () => show(told, input.value));
  return { name, input, box: h("div", { class: "trait" }, field(title, input, hint), told) };
}

function control([name, title, otherwise, min, max, step], stored) {
  const value = stored ?? otherwise;
  if (typeof otherwise === "boolean") {
    const input = h("input", { type: "checkbox", name, checked: value });
    return { name, otherwise, read: () => input.checked, box: h("label", { class: "switch" }, input, h("span", {}, title)) };
  }
  if (otherwise === null) {
    let chosen = value;
    const input = select([["null", "as the server does"], ["true", "yes"], ["false", "no"]], String(value), (text) => (chosen = JSON.parse(text)));
    return { name, otherwise, read: () => chosen, box: field(title, input) };
  }
  const input = h("input", { type: "number", name, min, max, step, value, required: true });
  return { name, otherwise, read: () => Number(input.value), box: field(title, input) };
}
