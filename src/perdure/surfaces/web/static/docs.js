// The REST reference at /docs, drawn from the OpenAPI documents of this server: every call with its arguments.

import { rest } from "./api.js";
import { h, show } from "./dom.js";
import { failure } from "./parts/notice.js";

const DOCUMENTS = [
  ["Verbs of Perdure", "/v1/perdure/openapi.json"],
  ["Other routes of this server", "/openapi.json"],
];

function resolved(schema, document) {
  const path = schema?.$ref?.split("/").slice(1);
  return path ? path.reduce((value, key) => value[key], document) : (schema ?? {});
}

/** A schema in a few words: "string or null", "array of number", "low, mid or high". */
function kind(schema, document) {
  const one = resolved(schema, document);
  if (one.enum) return one.enum.map(String).join(", ");
  const choices = one.anyOf ?? one.oneOf;
  if (choices) return [...new Set(choices.map((choice) => kind(choice, document)))].join(" or ");
  if (one.type === "array") return `array of ${kind(one.items, document)}`;
  return one.title && one.properties ? one.title : [one.type ?? "any"].flat().join(" or ");
}

function argument([name, schema, place, isRequired], document) {
  const one = resolved(schema, document);
  const otherwise = schema.default === undefined ? "" : ` Default: ${JSON.stringify(schema.default)}.`;
  return h("tr", {}, h("td", {}, h("code", {}, name), isRequired && " required"), h("td", {}, place), h("td", {}, kind(schema, document)), h("td", {}, `${schema.description ?? one.description ?? ""}${otherwise}`));
}

function operation(path, method, told, document) {
  const [media, content] = Object.entries(told.requestBody?.content ?? {})[0] ?? [];
  const body = resolved(content?.schema, document);
  const parameters = (told.parameters ?? []).map((one) => [one.name, { description: one.description, ...one.schema }, one.in, one.required]);
  const fields = Object.entries(body.properties ?? {}).map(([name, schema]) => [name, schema, media === "application/json" ? "body" : media, body.required?.includes(name)]);
  const rows = [...parameters, ...fields].map((one) => argument(one, document));
  const head = h("thead", {}, h("tr", {}, ["name", "in", "type", "meaning"].map((name) => h("th", {}, name))));
  return h(
    "details",
    { class: "entry" },
    h("summary", {}, h("span", { class: "kind" }, method.toUpperCase()), h("code", { class: "asked" }, path), h("span", { class: "origin" }, told.summary ?? "")),
    told.description && h("p", {}, told.description),
    rows.length > 0 && h("div", { class: "wide" }, h("table", {}, head, h("tbody", {}, rows))),
  );
}

function section([title, address], document) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, told]) => operation(path, method, told, document)));
  return h("section", { "aria-label": title }, h("h2", {}, title), h("p", { class: "faint" }, "As OpenAPI: ", h("a", { href: address }, address)), operations);
}

async function start() {
  const place = document.getElementById("content");
  const parts = DOCUMENTS.map(async (one) => section(one, await rest(one[1])));
  show(place, await Promise.all(parts.map((part) => part.catch(failure))));
  place.classList.remove("busy");
}

start();
