// The frame around the views: which bank, which view, which moment, and who is asking.

import { key, rest, verb } from "./api.js";
import { button, field, h, select, show } from "./dom.js";
import { icon } from "./icons.js";
import { listen } from "./keyboard.js";
import { closeDrawer } from "./parts/drawer.js";
import { machine } from "./parts/machine.js";
import { failure } from "./parts/notice.js";
import { address, current, go } from "./route.js";
import { ENTRIES, tabsOf, VIEWS } from "./views.js";

const app = document.getElementById("app");
const BANK = "perdure-bank";
const LIGHT = "perdure-light";
const NEW_BANK = "default";
const ICON = new URL("./icon.svg", import.meta.url).href;
/** Views that the time machine changes. */
const TIMED = ["ask", "facts", "timeline", "documents", "opinions", "models", "fact", "entity"];
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
  closeDrawer();
  const content = frame(route, view);
  if (turn > 1) document.getElementById("main").focus({ preventScroll: true });
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
    if (!isLeft()) show(content, h("h1", {}, view.title), failure(error));
  }
  return listed;
}

/** List the banks and offer them; return whether they came in time. */
async function list(route, content, isLeft) {
  try {
    const every = await verb(null, "banks.list");
    if (isLeft()) return false;
    banks = every;
    document.getElementById("bank")?.replaceWith(chooser(route));
    return true;
  } catch (error) {
    if (!isLeft() && error.status !== 401) show(content, failure(error));
    content.classList.remove("busy");
    return false;
  }
}

/** The server has another version of the page, or is gone. */
function outdated() {
  throw new Error("This part of the page could not be loaded. Reload the page: the server may have a newer version of it.");
}

/** The navigation, the tabs and room for the view, which is returned. */
function frame(route, view) {
  const content = h("div", { id: "content", class: "busy" });
  const tabs = tabsOf(view.group);
  const link = (one) => h("a", { href: address(route.bank, one.name), "aria-current": one === view ? "page" : null }, one.title);
  const above = h(
    "div",
    { class: "above" },
    tabs.length > 0 && h("nav", { class: "tabs", "aria-label": `Views of ${view.group}` }, tabs.map(link)),
    route.bank && TIMED.includes(view.name) && machine(),
  );
  show(app, h("div", { class: "frame" }, side(route, view), h("main", { id: "main", tabindex: -1 }, above, content)));
  return content;
}

function enter() {
  const last = localStorage.getItem(BANK);
  const bank = banks.find((one) => one.id === last) || banks[0];
  go(bank?.id ?? NEW_BANK, "home");
}

function side(route, view) {
  const entry = (one) => h("a", { href: address(route.bank, one.name), "aria-current": one.group === view.group ? "page" : null }, icon(one.name), h("span", {}, one.title));
  return h(
    "header",
    { class: "side" },
    h("a", { class: "brand", href: address(route.bank, "home"), "aria-label": "Perdure, home" }, h("img", { src: ICON, alt: "" }), h("span", {}, "Perdure")),
    chooser(route),
    h("nav", { class: "entries", "aria-label": "Main" }, ENTRIES.map(entry)),
    h(
      "div",
      { class: "foot" },
      button([icon("light"), h("span", {}, "Light")], turnLight, { title: "Switch between the system's light, light and dark", "aria-label": "Light" }),
      key.get() && button([icon("out"), h("span", {}, "Log out")], () => (key.set(""), location.reload()), { "aria-label": "Log out" }),
    ),
  );
}

/** The choice of the bank: of the one that is open until the others are listed. */
function chooser(route) {
  const isThere = banks.some((one) => one.id === route.bank);
  const others = banks.map((one) => [one.id, one.name || one.id]);
  const options = isThere ? others : [[route.bank, route.bank], ...others];
  const view = VIEWS.find((one) => one.name === route.view);
  const chosen = select(options, route.bank, (bank) => go(bank, view?.one ? view.group : route.view));
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

/** Ask for a key, which is kept for this tab alone. */
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
      h("p", {}, "This memory is protected by keys. Create one with ", h("code", {}, "perdure keys create"), "."),
      h("form", { class: "row", on: { submit: enterKey } }, field("Key", input), h("button", { class: "main" }, "Enter")),
      told,
    ),
  );
  input.focus();
  return undefined;
}

start();
