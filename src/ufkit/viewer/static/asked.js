// Answers of the server as state of a component.

import { useEffect, useState } from "./vendor/htm-preact.js";
import { get } from "./api.js";

/**
 * What a route answers: { data, error, waiting }. The last answer stays until the next is there;
 * a request that is no longer wanted is given up. Without a path nothing is asked.
 */
export function useAnswer(path, params = {}) {
  const key = path === null ? null : JSON.stringify([path, params]);
  const [state, set] = useState({ key: undefined, data: null, error: null });
  useEffect(() => {
    if (key === null) {
      set({ key, data: null, error: null });
      return undefined;
    }
    const abort = new AbortController();
    get(path, params, abort.signal).then(
      (data) => set({ key, data, error: null }),
      (error) => {
        if (error.name !== "AbortError") set({ key, data: null, error });
      },
    );
    return () => abort.abort();
  }, [key]);
  return { data: state.data, error: state.error, waiting: state.key !== key, fresh: state.key === key };
}
