// Keys: / to ask, j and k through a list, Enter opens, Escape leaves.

import { current, go } from "./route.js";

const ROWS = ".fact[tabindex], .cards > a, .list > li > a, .list > li > button";

export function listen() {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = document.activeElement;
    const typing = at?.matches("input, textarea, select");
    if (event.key === "Escape") {
      if (typing) at.blur();
      if (document.getElementById("side")?.classList.contains("open")) document.querySelector(".menu").click();
    } else if (typing) return;
    else if (event.key === "/") ask(event);
    else if (event.key === "j") move(event, 1);
    else if (event.key === "k") move(event, -1);
    else if (event.key === "Enter" && at?.matches(".fact")) at.querySelector("a")?.click();
  });
}

function ask(event) {
  event.preventDefault();
  const box = document.getElementById("question");
  if (box) box.focus();
  else go(current().bank, "ask");
}

function move(event, by) {
  const rows = [...document.querySelectorAll(ROWS)];
  if (!rows.length) return;
  event.preventDefault();
  const place = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, place + by))].focus();
}
