// The drawer next to a list: one fact in full, without leaving the list.

import { button, h, show } from "../dom.js";
import { icon } from "../icons.js";
import { failure } from "./notice.js";

let opener = null;

export async function openDrawer(bank, id) {
  const isOpen = document.querySelector(".drawer");
  if (!isOpen) opener = document.activeElement;
  closeDrawer(false);
  const body = h("div", { class: "busy" });
  const close = button(icon("close"), () => closeDrawer(), { class: "close", "aria-label": "Close the drawer" });
  document.body.append(h("aside", { class: "drawer", "aria-label": "Fact" }, close, body));
  document.body.classList.add("with-drawer");
  for (const chosen of document.querySelectorAll(".fact.chosen")) chosen.classList.remove("chosen");
  document.getElementById(`fact-${id}`)?.classList.add("chosen");
  try {
    const { fill } = await import("../views/fact.js");
    await fill(body, bank, id);
  } catch (error) {
    show(body, failure(error));
  }
  body.classList.remove("busy");
}

export function closeDrawer(back = true) {
  const drawer = document.querySelector(".drawer");
  if (!drawer) return;
  drawer.remove();
  document.body.classList.remove("with-drawer");
  if (back) opener?.focus();
}
