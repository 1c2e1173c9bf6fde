// Health: whether the server answers, what the bank takes, which models are asked, and whether what is stored is sound.

import { rest, verb } from "../api.js";
import { button, h, show } from "../dom.js";
import { count, plural } from "../format.js";
import { confirm } from "../parts/dialogs.js";
import { chip } from "../parts/fact.js";
import { failure } from "../parts/notice.js";

const OPERATIONS = ["retain", "refine", "consolidate", "reflect", "mental_model"];

export async function open(content, { bank }) {
  const asked = OPERATIONS.map((operation) => verb(null, "llm.models", { operation }));
  const [ready, live, greeting, present, stats, evictions, pending, ...models] = await Promise.all([
    rest("/health/ready"),
    rest("/health/live"),
    rest("/v1/perdure"),
    verb(bank, "banks.get"),
    verb(bank, "banks.stats"),
    verb(null, "database.evictions"),
    verb(null, "database.erasure_pending"),
    ...asked,
  ]);
  show(
    content,
    h("h1", {}, "Health"),
    h(
      "div",
      { class: "columns" },
      card("Server", [
        ["State", ready.status === "ready" ? chip("● ready", "good") : chip(`◌ ${ready.status}`, "doubt")],
        ["Version", greeting.version],
        ["Up for", uptime(live.uptime_seconds)],
        ["Database", ready.database === "connected" ? chip("● answers", "good") : chip(`✕ ${ready.database}`, "bad")],
        ["Indexes that left memory", evictions ? chip(`◌ ${count(evictions)}: more memory would help`, "doubt") : "none"],
        ["Erasure", pending ? chip("◌ traces in the files are still to be cleared", "doubt") : chip("● nothing pending", "good")],
        ["Tokens counted by", greeting.tokens],
      ]),
      card(`Bank ${bank}`, [
        ["Facts", `${count(stats.facts)}, of which ${count(stats.current_facts)} are so now`],
        ["By type", Object.entries(stats.facts_by_type).map(([name, number]) => `${name} ${count(number)}`).join(", ") || "none"],
        ["Documents", `${count(stats.documents)} in ${plural(stats.chunks, "chunk")}`],
        ["People and things", count(stats.entities)],
        ["Links", Object.entries(stats.links_by_kind).map(([name, number]) => `${name} ${count(number)}`).join(", ") || "none"],
        ["On disk", stats.bytes_on_disk === null ? "not known" : size(stats.bytes_on_disk)],
        ["Vectors by", present.model ? `${present.model.name}, ${present.model.dimensions} dimensions` : "none yet"],
      ]),
    ),
    languageModels(bank, models),
    verification(),
  );
}

function card(title, pairs) {
  return h("section", { class: "card", "aria-label": title }, h("h2", {}, title), h("dl", { class: "pairs" }, pairs.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
}

function languageModels(bank, models) {
  const isSet = models.some((one) => one.length);
  const told = h("div", { "aria-live": "polite" });
  const check = async () => {
    show(told, h("p", { class: "faint" }, "Asking each for one word …"));
    try {
      show(told, (await verb(bank, "llm.health")).map(answer));
    } catch (error) {
      show(told, failure(error));
    }
  };
  return h(
    "section",
    { class: "card", "aria-label": "Language models" },
    h("h2", {}, "Language models"),
    isSet
      ? [h("dl", { class: "pairs" }, OPERATIONS.map((name, place) => [h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, models[place].join(", then ") || "none: by rules")])), button("Ask whether they answer", check, { id: "ask-models" })]
      : h("p", { class: "faint" }, "None is set: memory works by its own rules and models on this machine."),
    told,
  );
}

function answer(one) {
  const good = one.status === "connected";
  return h("p", {}, `${one.operation}: `, chip(`${good ? "●" : "✕"} ${one.status.replaceAll("_", " ")}`, good ? "good" : "bad"), one.seconds !== null && ` ${one.seconds.toFixed(1)} s`, one.reason && ` ${one.reason}`);
}

function verification() {
  const told = h("div", { "aria-live": "polite" });
  const check = (quick) => async () => {
    if (!quick && !(await confirm("Check everything?", h("p", {}, "Every row of every bank is read, which takes minutes in a large memory. Nothing is changed."), "Check"))) return;
    show(told, h("p", { class: "faint" }, "Checking …"));
    try {
      show(told, report(await verb(null, "database.verify", { quick })));
    } catch (error) {
      show(told, failure(error));
    }
  };
  return h(
    "section",
    { class: "card", "aria-label": "What is stored" },
    h("h2", {}, "What is stored"),
    h("p", { class: "faint" }, "For admins: the files against their structure, or everything against its checksums."),
    h("div", { class: "row" }, button("Check quickly", check(true), { id: "verify-quick" }), button("Check everything", check(false), { id: "verify" })),
    told,
  );
}

function report(verification) {
  const left = verification.damage.filter((one) => !one.repaired);
  const checked = Object.entries(verification.checked).map(([kind, number]) => `${kind} ${count(number)}`).join(", ");
  return [
    h("p", {}, left.length ? chip(`✕ ${plural(left.length, "damaged part")}`, "bad") : chip("● sound", "good"), ` Looked at: ${checked}.`),
    left.length > 0 && h("ul", {}, left.slice(0, 100).map((one) => h("li", {}, `${one.kind} ${one.name}${one.bank ? ` of bank ${one.bank}` : ""}: ${one.problem}. ${one.repair || "Only a backup helps."}`))),
  ];
}

function uptime(seconds) {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return hours ? `${plural(hours, "hour")} ${minutes} min` : minutes ? `${minutes} min` : `${Math.round(seconds)} s`;
}

function size(bytes) {
  const steps = ["bytes", "kB", "MB", "GB", "TB"];
  const step = Math.min(steps.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** step).toFixed(step ? 1 : 0)} ${steps[step]}`;
}
