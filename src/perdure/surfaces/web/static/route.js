// Where the page is: `#/BANK/VIEW/ID?name=value`. Everything that a view shows is in its address, so that it can be sent to somebody.

export function current() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [bank = "", view = "", ...rest] = path.split("/").map(decodeURIComponent);
  return { bank, view: view || "home", id: rest.join("/"), query: new URLSearchParams(query) };
}

/** The address of a view; the time machine's moments go along. */
export function address(bank, view, id = "", query = {}) {
  const parts = [bank, view, id].filter((part) => part !== "").map(encodeURIComponent);
  const values = new URLSearchParams();
  const here = current().query;
  for (const name of ["true_at", "known_at"]) if (here.get(name)) values.set(name, here.get(name));
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") values.delete(name);
    else values.set(name, value);
  }
  const shown = values.toString();
  return `#/${parts.join("/")}${shown ? `?${shown}` : ""}`;
}

export function go(bank, view, id = "", query = {}) {
  location.hash = address(bank, view, id, query);
}

/** Change values in the address without a new entry in the history. */
export function note(query) {
  const { bank, view, id, query: here } = current();
  const merged = { ...Object.fromEntries(here), ...query };
  history.replaceState(null, "", address(bank, view, id, merged));
}

/** The two moments as the verbs take them, null for the present. */
export function asOf() {
  const { query } = current();
  const [valid, known] = [query.get("true_at"), query.get("known_at")];
  if (!valid && !known) return null;
  return { valid: valid || null, known: known || null };
}
