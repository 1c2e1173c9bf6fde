// Mental models: standing questions and the documents that answer them from memory.

import { verb } from "../api.js";
import { button, h, show } from "../dom.js";
import { recently } from "../format.js";
import { sheet } from "../parts/dialogs.js";
import { chip } from "../parts/fact.js";
import { follow } from "../parts/follow.js";
import { freshness, modelForm } from "../parts/model.js";
import { failure } from "../parts/notice.js";
import { paged } from "../parts/paging.js";
import { address, go } from "../route.js";
import { openModel } from "./model.js";

export async function open(content, route) {
  if (route.id) return openModel(content, route);
  const { bank } = route;
  const told = h("div", { "aria-live": "polite" });
  const [models, stale] = await Promise.all([verb(bank, "models.list"), verb(bank, "models.stale")]);
  const outdated = new Set(stale);
  const list = h("ol", { class: "list", "aria-label": "Mental models" });
  const read = async (offset, limit) => ({ rows: models.slice(offset, offset + limit), total: models.length });
  const nothing = "No mental model yet. Make one: a question that memory should always have an answer to.";
  const { element, load } = paged(read, (one) => row(bank, one, outdated.has(one.id)), nothing, "models", list);
  const refreshAll = async () => {
    try {
      for (const id of stale) await follow(bank, (await verb(bank, "models.refresh", { model_id: id })).id, told);
      if (told.isConnected) await open(content, route);
    } catch (error) {
      show(told, failure(error));
    }
  };
  show(
    content,
    h("h1", {}, "Mental models"),
    h("p", { class: "faint" }, "Documents that memory keeps up to date, each the answer to a standing question."),
    h("div", { class: "row" }, button("New mental model", () => create(bank), { class: "main", id: "new-model" }), stale.length > 0 && button(`Refresh those out of date (${stale.length})`, refreshAll, { id: "refresh-stale" })),
    told,
    element,
  );
  await load();
}

function row(bank, model, isStale) {
  const sentences = model.sections.reduce((sum, one) => sum + one.sentences.length, 0);
  return h(
    "li",
    {},
    h(
      "a",
      { href: address(bank, "models", model.id) },
      h("strong", {}, model.name),
      h("div", { class: "faint" }, model.source_query),
      h(
        "div",
        { class: "chips" },
        freshness(model, isStale),
        chip(`${sentences} sentences`),
        chip(`at most ${model.max_tokens} tokens`),
        model.last_refreshed_at && chip(`refreshed ${recently(model.last_refreshed_at)}`),
        [...model.tags].map((tag) => chip(`# ${tag}`)),
      ),
    ),
  );
}

async function create(bank) {
  const form = modelForm({ name: "", source_query: "", max_tokens: 2048, tags: [], trigger: {} });
  const created = await sheet("New mental model", form.controls, "Make it", () => verb(bank, "models.create", form.read()));
  if (created) go(bank, "models", created[0].id);
}
