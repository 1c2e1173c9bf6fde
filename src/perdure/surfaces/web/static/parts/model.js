// What the list of mental models and the page of one share: whether it is up to date, and its settings as fields.

import { field, h, select } from "../dom.js";
import { words } from "./dialogs.js";
import { chip } from "./fact.js";

const LEAST_TOKENS = 256;
const MOST_TOKENS = 8192;

export function freshness(model, isStale) {
  if (!model.generated) return chip("◌ not written yet", "doubt");
  return isStale ? chip("◌ out of date", "doubt", "memory holds something new, or no longer holds what it says") : chip("● up to date", "good");
}

/** The settings of a model as fields, and what was entered as the verbs take it. */
export function modelForm(model) {
  const name = h("input", { value: model.name, required: true });
  const question = h("textarea", { value: model.source_query, required: true });
  const tokens = h("input", { type: "number", min: LEAST_TOKENS, max: MOST_TOKENS, value: model.max_tokens, required: true });
  const tags = h("input", { value: [...model.tags].join(", ") });
  const chosen = { mode: model.trigger.mode ?? "full", when: model.trigger.refresh_cron ? "cron" : model.trigger.refresh_after_consolidation ? "consolidation" : "" };
  const cron = h("input", { value: model.trigger.refresh_cron ?? "", placeholder: "0 6 * * *" });
  const trigger = () => ({
    ...model.trigger,
    mode: chosen.mode,
    refresh_after_consolidation: chosen.when === "consolidation",
    refresh_cron: chosen.when === "cron" ? cron.value.trim() : null,
  });
  return {
    controls: [
      field("Name", name),
      field("Question", question, "What the document answers."),
      field("Most tokens", tokens, `${LEAST_TOKENS} to ${MOST_TOKENS}`),
      field("Tags", tags, "With commas between; only facts with all of them are read."),
      field("Refresh by itself", select([["", "never"], ["consolidation", "after each consolidation"], ["cron", "by a schedule"]], chosen.when, (value) => (chosen.when = value))),
      field("Schedule", cron, "Five fields of cron in UTC; counts where a schedule is chosen."),
      field("A refresh writes", select([["full", "everything anew"], ["delta", "only what changed"]], chosen.mode, (value) => (chosen.mode = value))),
    ],
    read: () => ({ name: name.value, source_query: question.value, max_tokens: Number(tokens.value), tags: words(tags.value), trigger: trigger() }),
  };
}
