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

/** The answer of a route. Throws Refused, with one finding of our own where the server is gone. */
export function get(path, params, signal) {
  return answerOf(address(path, params), { signal });
}

/** Ask for something to be done; the answer is what has become of it. Throws as `get`. */
export function post(path) {
  return answerOf(address(path), { method: "POST" });
}

async function answerOf(url, options) {
  let answer;
  try {
    answer = await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused([lost("the viewer does not answer: it was ended, or the connection is lost")]);
  }
  const body = await answer.json().catch(() => null);
  if (answer.ok && body !== null) return body;
  throw new Refused(body?.diagnostics ?? [lost(`the viewer answered with ${answer.status}`)]);
}

/** Ask the server to stop the layout that it makes. */
export function cancel() {
  return fetch("api/cancel", { method: "POST" }).catch(() => undefined);
}

function lost(message) {
  return { code: "", severity: "error", message, hint: "run ufkit view again", place: "", why: "" };
}
