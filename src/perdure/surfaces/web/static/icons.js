// Icons as strokes on a grid of 24: they take the colour and the size of the text around them.

import { svg } from "./dom.js";

const PATHS = {
  home: "M4 11 12 4l8 7v9h-5v-6H9v6H4z",
  ask: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5",
  activity: "M3 12h4l3-8 4 16 3-8h4",
  facts: "M5 5h14M5 10h14M5 15h14M5 20h8",
  people: "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21c0-4 3-6 7-6s7 2 7 6M16 3.5a4 4 0 0 1 0 7M18 15.5c2.5.7 4 2.6 4 5.5",
  review: "M4 4h16v12H9l-5 4zM9 10l2 2 4-4",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  light: "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16",
  out: "M14 4h5v16h-5M4 12h10M10 8l-4 4 4 4",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  wrong: "M6 6l12 12M18 6 6 18",
  forget: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
  restore: "M4 9h10a5 5 0 0 1 0 10H8M8 5 4 9l4 4",
  close: "M6 6l12 12M18 6 6 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
};

export function icon(name) {
  return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: PATHS[name] }));
}
