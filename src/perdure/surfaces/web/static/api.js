// The server's verbs: the same paths, keys and lanes as any other client. The key is sent as a header, never kept as a cookie, so that
// no other page can use it.

const KEY = "perdure-key";

export class Refusal extends Error {
  constructor(status, code, message, retryAfter) {
    super(message);
    Object.assign(this, { status, code, retryAfter });
  }
}

export const key = {
  get: () => sessionStorage.getItem(KEY) || "",
  set: (value) => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY)),
};

/** What a verb of a bank returns: `verb("b", "recall", {query})`; without a bank, a verb of the whole memory. */
export function verb(bank, name, args = {}) {
  const place = bank === null ? "" : `banks/${encodeURIComponent(bank)}/`;
  return rest(`/v1/perdure/${place}${name}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(args) });
}

/** A recall or a reflection without what no view shows: a tenth of its bytes. */
export const outline = (bank, name, args) => verb(bank, `${name}?form=outline`, args);

/** A path of the REST surface, for what has no verb: health, uploads. */
export async function rest(path, options = {}) {
  const answer = await send(path, options);
  return answer.headers.get("Content-Type")?.includes("json") ? answer.json() : answer.text();
}

/** The answer itself, for what is read as it comes; a refusal is raised. */
export async function send(path, options = {}) {
  const headers = { ...options.headers };
  if (key.get()) headers.Authorization = `Bearer ${key.get()}`;
  let answer;
  try {
    answer = await fetch(path, { ...options, headers, credentials: "omit" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, "unreachable", "The server does not answer.");
  }
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  const told = body.error?.message || body.detail || answer.statusText;
  const refusal = new Refusal(answer.status, body.error?.code || "", String(told), answer.headers.get("Retry-After"));
  if (answer.status === 401) dispatchEvent(new CustomEvent("perdure-locked", { detail: refusal }));
  throw refusal;
}
