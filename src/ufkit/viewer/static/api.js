// Requests to the server. Every answer is JSON; a refusal carries findings to be shown.

export class Refused extends Error {
  constructor(diagnostics) {
    super(diagnostics.map((finding) => finding.message).join("; "));
    this.diagnostics = diagnostics;
  }
}

/** Address of a route, relative to the page, with the parameters that are not undefined. */
export function address(path, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return `api/${path}${given.length ? `?${query}` : ""}`;
}

const early = new Map(); // answers by address that were asked for before they were wanted

/** Ask for what will be wanted: the first `get` of it has this answer. */
export function ahead(path, params) {
  const url = address(path, params);
  early.set(url, answerOf(url));
  return early.get(url);
}

/** The answer of a route. Throws Refused, with one finding of our own where the server is gone. */
export function get(path, params, signal) {
  const url = address(path, params);
  const answer = early.get(url);
  early.delete(url);
  return answer ?? answerOf(url, { signal });
}

/** Ask for something to be done; the answer is what has become of it. Throws as `get`. */
export function post(path) {
  return answerOf(address(path), { method: "POST" });
}

/** A picture as the browser keeps it. Throws as `get`, also where the answer says why there is none. */
export async function picture(path, params, signal) {
  const answer = await asked(address(path, params), { signal });
  if (answer.ok && answer.headers.get("content-type").startsWith("image/")) return answer.blob();
  throw refused(answer, await bodyOf(answer));
}

async function answerOf(url, options) {
  const answer = await asked(url, options);
  const body = await bodyOf(answer);
  if (answer.ok && body !== null) return body;
  throw refused(answer, body);
}

function asked(url, options) {
  return fetch(url, options).catch((error) => {
    if (isGivenUp(error)) throw error;
    throw lost();
  });
}

/** What an answer holds; null where that is no JSON. */
function bodyOf(answer) {
  return answer.json().catch((error) => {
    if (isGivenUp(error)) throw error;
    return null;
  });
}

function refused(answer, body) {
  return body?.diagnostics ? new Refused(body.diagnostics) : lost(`the viewer answered with ${answer.status}`);
}

/** Whether nobody wants the answer any more. */
function isGivenUp(error) {
  return error.name === "AbortError";
}

/** Ask the server to stop the layout that it makes. */
export function cancel() {
  return post("cancel").catch(() => undefined);
}

/** The error for a server that is gone, or beside itself. */
export function lost(message = "the viewer does not answer: it was ended, or the connection is lost") {
  return new Refused([{ code: "", severity: "error", message, hint: "run ufkit view again", place: "", why: "" }]);
}
