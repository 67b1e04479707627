// Pictures of records: asked for when they come into sight, given up when they leave it.

import { useEffect, useState } from "./vendor/htm-preact.js";
import { Refused, address, get } from "./api.js";

const KEPT = 400; // pictures that can be shown again without asking

const kept = new Map(); // by address: { url } or { error }

function keep(key, found) {
  kept.set(key, found);
  if (kept.size <= KEPT) return;
  const [oldest, { url }] = kept.entries().next().value;
  kept.delete(oldest);
  if (url) URL.revokeObjectURL(url); // what shows it has read it already
}

/** A picture of the server: { url }, { error } with what is wrong with the record, or {} meanwhile. */
export function useImage(path, params) {
  const key = address(path, params);
  const [, redraw] = useState(null);
  useEffect(() => {
    if (kept.has(key)) return undefined;
    const abort = new AbortController();
    load(path, params, abort.signal).then(
      (found) => {
        keep(key, found);
        redraw(key);
      },
      () => undefined, // nobody wants it any more
    );
    return () => abort.abort();
  }, [key]);
  return kept.get(key) ?? {};
}

async function load(path, params, signal) {
  const answer = await fetch(address(path, params), { signal }).catch((error) => {
    if (error.name === "AbortError") throw error;
    return null;
  });
  if (answer?.ok && answer.headers.get("content-type").startsWith("image/")) {
    return { url: URL.createObjectURL(await answer.blob()) };
  }
  const body = await answer?.json().catch(() => null);
  if (body?.diagnostics) return { error: new Refused(body.diagnostics) };
  return get(path, params, signal).then(() => ({}), (error) => ({ error }));
}
