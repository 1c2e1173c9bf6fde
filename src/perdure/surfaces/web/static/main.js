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
const ICON = new URL("./icon.svg", import.meta.url).href;
/** The banks as they were listed last: the frame is drawn before they are asked for anew. */
let banks = [];
let drawn = 0;

async function start() {
  addEventListener("hashchange", draw);
  addEventListener("perdure-locked", (event) => lock(event.detail.message));
  listen();
  await draw();
}

/** Draw the frame and the view of the address while the banks are listed; a view that was left meanwhile is not drawn. */
async function draw() {
  const turn = ++drawn;
  const isLeft = () => turn !== drawn;
  const route = current();
  const view = VIEWS.find((one) => one.name === route.view) || VIEWS[0];
  const content = frame(route, view);
  if (turn > 1) content.focus({ preventScroll: true });
  const listed = list(route, content, isLeft);
  if (!route.bank) return (await listed) && enter();
  localStorage.setItem(BANK, route.bank);
  document.title = `${view.title} · ${route.bank} · Perdure`;
  try {
    const { open } = await view.load().catch(outdated);
    if (isLeft()) return undefined;
    content.classList.remove("busy");
    await open(content, route);
  } catch (error) {
    if (!isLeft()) show(content, failure(error));
  }
  return listed;
}

/** Ask which banks there are and offer them in the bar; whether they came in time. */
async function list(route, content, isLeft) {
  try {
    const every = await verb(null, "banks.list");
    if (isLeft()) return false;
    banks = every;
    document.getElementById("bank").replaceChildren(...chooser(route).children);
    return true;
  } catch (error) {
    if (!isLeft() && error.status !== 401) show(content, failure(error));
    content.classList.remove("busy");
    return false;
  }
}

/** The server has another version of the page, or is gone. */
function outdated() {
  throw new Error("This part of the page could not be loaded. Load the page anew: the server may have another version of it by now.");
}

/** The list of views, the bar and room for the view, which is returned. */
function frame(route, view) {
  const content = h("main", { id: "content", tabindex: -1, class: "busy" });
  show(app, h("div", { class: "frame" }, side(route, view), h("div", {}, bar(route), content)));
  return content;
}

function enter() {
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
    h("a", { class: "brand", href: address(route.bank, "ask") }, h("img", { src: ICON, alt: "" }), "Perdure"),
    h("nav", { "aria-label": "Views" }, groups.map((group) => [h("h2", {}, group), VIEWS.filter((one) => one.group === group).map(link)])),
  );
}

function bar(route) {
  const open = (event) => {
    const isOpen = document.getElementById("side").classList.toggle("open");
    event.currentTarget.setAttribute("aria-expanded", isOpen);
  };
  return h(
    "header",
    { class: "bar" },
    button("☰ Views", open, { class: "menu", "aria-expanded": "false", "aria-controls": "side" }),
    chooser(route),
    machine(),
    h("span", { class: "push" }),
    button("◐ Light", turnLight, { title: "As the system has it, light, or dark" }),
    key.get() && button("Log out", () => (key.set(""), location.reload())),
  );
}

/** The choice of the bank: of the one that is open until the others are listed. */
function chooser(route) {
  const isThere = !banks.length || banks.some((one) => one.id === route.bank);
  const others = banks.map((one) => [one.id, one.name || one.id]);
  const options = !banks.length ? [[route.bank, route.bank]] : isThere ? others : [[route.bank, `${route.bank} (not there)`], ...others];
  const chosen = select(options, route.bank, (bank) => go(bank, route.view));
  chosen.setAttribute("aria-label", "Bank");
  chosen.id = "bank";
  return chosen;
}

function turnLight() {
  const order = ["", "light", "dark"];
  const next = order[(order.indexOf(document.documentElement.dataset.light || "") + 1) % order.length];
  localStorage.setItem(LIGHT, next);
  if (next) document.documentElement.dataset.light = next;
  else delete document.documentElement.dataset.light;
}

/** Ask for a key: it is kept for this tab alone. */
function lock(message) {
  drawn += 1;
  const shown = app.querySelector(".lock [role=alert]");
  if (shown) return show(shown, key.get() ? message : "");
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
      { id: "content", class: "lock" },
      h("h1", {}, "Perdure"),
      h("p", {}, "This memory is served with keys. A key comes from ", h("code", {}, "perdure keys create"), "."),
      h("form", { class: "row", on: { submit: enterKey } }, field("Key", input), h("button", { class: "main" }, "Enter")),
      told,
    ),
  );
  input.focus();
  return undefined;
}

start();
