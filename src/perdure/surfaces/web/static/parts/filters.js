// Filters of a list: a change is drawn a moment after the last one.

const WAIT_MS = 250;

/** Handlers by name that note a value, of a field or a choice, in `chosen` and draw soon after. */
export function soon(chosen, draw) {
  let waiting = 0;
  return (name) => (change) => {
    const control = change?.target;
    chosen[name] = control === undefined ? change : control.type === "checkbox" ? (control.checked ? "yes" : "") : control.value;
    clearTimeout(waiting);
    waiting = setTimeout(draw, WAIT_MS);
  };
}
