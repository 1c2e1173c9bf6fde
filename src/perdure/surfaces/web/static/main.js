// The frame around the views: which bank, which view, which moment, and who is asking.

import { key, rest, verb } from "./api.js";
import { button, field, h, select, show } from "./dom.js";
import { listen } from "./keyboard.js";
import { machine } from "./parts/machine.js";
import { failure } from "./parts/notice.js";
import { address, current, go } from "./route.js";
import { VIEWS } from "./views.js";

const app = document.getElementById("app");
const BANK = "perdure-bank";
const LIGHT = "perdure-light";
let drawn = 0;

async function start() {
  paint(localStorage.getItem(LIGHT) || "");
  addEventListener("hashchange", draw);
  addEventListener("perdure-locked", (event) => lock(event.detail.message));
  listen();
  await draw();
}

/** Draw the frame and the view of the address; a view that was left meanwhile is not drawn. */
async function draw() {
  const turn = ++drawn;
  const route = current();
  let banks;
  try {
    banks = await verb(null, "banks");
  } catch (error) {
    if (error.status === 401) return;
    show(app, h("main", { id: "content" }, failure(error)));
    return;
  }
  if (turn !== drawn) return;
  if (!route.bank) return enter(banks);
  localStorage.setItem(BANK, route.bank);
  const view = VIEWS.find((one) => one.name === route.view) || VIEWS[0];
  document.title = `${view.title} · ${route.bank} · Perdure`;
  const content = h("main", { id: "content", tabindex: -1 });
  show(app, h("div", { class: "frame" }, side(route, view), h("div", {}, bar(banks, route), content)));
  await view.open(content, route).catch((error) => turn === drawn && show(content, failure(error)));
}

function enter(banks) {
  const last = localStorage.getItem(BANK);
  const bank = banks.find((one) => one.id === last) || banks[0];
  if (bank) return go(bank.id, "ask");
  const text = h("p", {}, "Nothing was retained yet. Retain something first: ", h("code", {}, 'perdure retain "I moved to Lisbon in May."'));
  show(app, h("main", { id: "content" }, h("h1", {}, "An empty memory"), text));
  return undefined;
}

function side(route, view) {
  const groups = [...new Set(VIEWS.filter((one) => one.group).map((one) => one.group))];
  const link = (one) =>
    h("a", { href: address(route.bank, one.name), "aria-current": one === view ? "page" : null }, h("span", { "aria-hidden": "true" }, one.sign), one.title);
  return h(
    "aside",
    { class: "side", id: "side" },
    h("a", { class: "brand", href: address(route.bank, "ask") }, h("img", { src: "/page/icon.svg", alt: "" }), "Perdure"),
    h("nav", { "aria-label": "Views" }, groups.map((group) => [h("h2", {}, group), VIEWS.filter((one) => one.group === group).map(link)])),
  );
}

function bar(banks, route) {
  const isThere = banks.some((one) => one.id === route.bank);
  const options = [...(isThere ? [] : [[route.bank, `${route.bank} (not there)`]]), ...banks.map((one) => [one.id, one.name || one.id])];
  const chosen = select(options, route.bank, (bank) => go(bank, route.view));
  chosen.setAttribute("aria-label", "Bank");
  const open = (event) => {
    const isOpen = document.getElementById("side").classList.toggle("open");
    event.currentTarget.setAttribute("aria-expanded", isOpen);
  };
  return h(
    "header",
    { class: "bar" },
    button("☰ Views", open, { class: "menu", "aria-expanded": "false", "aria-controls": "side" }),
    chosen,
    machine(),
    h("span", { class: "push" }),
    button("◐ Light", turnLight, { title: "As the system has it, light, or dark" }),
    key.get() && button("Log out", () => (key.set(""), location.reload())),
  );
}

function turnLight() {
  const order = ["", "light", "dark"];
  const next = order[(order.indexOf(document.documentElement.dataset.light || "") + 1) % order.length];
  localStorage.setItem(LIGHT, next);
  paint(next);
}

function paint(light) {
  if (light) document.documentElement.dataset.light = light;
  else delete document.documentElement.dataset.light;
}

/** Ask for a key: it is kept for this tab alone. */
function lock(message) {
  drawn += 1;
  const input = h("input", { type: "password", autocomplete: "off", required: true, size: 40 });
  const told = h("p", { class: "faint", role: "alert" }, key.get() ? message : "");
  const enterKey = async (event) => {
    event.preventDefault();
    key.set(input.value.trim());
    try {
      await rest("/v1/perdure");
      await draw();
    } catch (error) {
      show(told, error.message);
    }
  };
  show(
    app,
    h(
      "main",
      { id: "content" },
      h("h1", {}, "Perdure"),
      h("p", {}, "This memory is served with keys. A key comes from ", h("code", {}, "perdure keys create"), "."),
      h("form", { class: "row", on: { submit: enterKey } }, field("Key", input), h("button", { class: "main" }, "Enter")),
      told,
    ),
  );
  input.focus();
}

start();
