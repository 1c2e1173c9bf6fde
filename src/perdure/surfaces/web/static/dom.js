// Elements from data. Text is only ever text: nothing that memory holds can become markup or run.

const SVG = "http://www.w3.org/2000/svg";
const LINKS = /^(#|\/page\/|\/openapi\.json$|\/v1\/perdure\/openapi\.json$|https?:\/\/)/;

/** An element: `h("p", {class: "note", on: {click: f}}, "text", child, [more])`. null and false children are left out. */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for pictures. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, f] of Object.entries(value)) element.addEventListener(event, f);
    else if (name === "value" || name === "checked" || name === "selected") element[name] = value;
    else if (name === "href" && !LINKS.test(value)) element.setAttribute("title", value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}

/** Put children in the place of what an element holds. */
export function show(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** A button; its content is a text or elements. */
export function button(text, click, props = {}) {
  return h("button", { type: "button", ...props, on: { click } }, text);
}

/** A field with its label above it. */
export function field(label, control, hint = "") {
  const id = control.id || `f${Math.random().toString(36).slice(2, 9)}`;
  control.id = id;
  return h("div", { class: "field" }, h("label", { for: id }, label), control, hint && h("small", {}, hint));
}

/** A choice among a few: pairs of [value, text], or texts. */
export function select(options, chosen, change) {
  return h(
    "select",
    { on: { change: (event) => change(event.target.value) } },
    options.map((one) => {
      const [value, text] = Array.isArray(one) ? one : [one, one];
      return h("option", { value, selected: value === chosen }, text);
    }),
  );
}

/** How wide to draw a picture, so that its letters keep their size. */
export function pictureWidth() {
  const room = (document.getElementById("content")?.clientWidth ?? 900) - 40;
  return Math.round(Math.max(280, Math.min(1000, room)));
}
