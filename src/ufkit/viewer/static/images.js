// Pictures of records: asked for when they come into sight, given up when they leave it.

import { useEffect, useState } from "./vendor/htm-preact.js";
import { address, picture } from "./api.js";

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
    const found = (what) => {
      keep(key, what);
      redraw(key);
    };
    picture(path, params, abort.signal).then(
      (blob) => found({ url: URL.createObjectURL(blob) }),
      (error) => error.name !== "AbortError" && found({ error }),
    );
    return () => abort.abort();
  }, [key]);
  return kept.get(key) ?? {};
}
