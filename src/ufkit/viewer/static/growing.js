// Answers that grow: the server reads on in a dataset for as long as somebody asks.

import { useEffect, useState } from "./vendor/htm-preact.js";
import { get } from "./api.js";

/**
 * What a route answers, asked again until it is complete: { data, error, stopped, stop, resume }.
 * What came so far is there meanwhile. `stop` asks no more until `resume`. Without a path nothing
 * is asked.
 */
export function useGrowing(path, params = {}) {
  const key = JSON.stringify([path, params]);
  const [state, set] = useState({ key, data: null, error: null });
  const [stopped, setStopped] = useState(null);
  const asking = path !== null && stopped !== key;
  useEffect(() => {
    if (!asking) return undefined;
    const abort = new AbortController();
    const ask = async () => {
      try {
        for (let complete = false; !complete && !abort.signal.aborted; ) {
          const data = await get(path, params, abort.signal);
          complete = data.complete;
          set({ key, data, error: null });
        }
      } catch (error) {
        if (error.name !== "AbortError") set({ key, data: null, error });
      }
    };
    ask();
    return () => abort.abort();
  }, [key, asking]);
  const own = state.key === key;
  return {
    data: own ? state.data : null,
    error: own ? state.error : null,
    stopped: stopped === key,
    stop: () => setStopped(key),
    resume: () => setStopped(null),
  };
}
