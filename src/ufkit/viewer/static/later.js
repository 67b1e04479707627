// Components whose modules are loaded when they are first shown.

import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { lost } from "./api.js";

const Nothing = () => null;

/**
 * A component that `load` gives a promise of; `Wait` is shown until then. Its `ready()` begins to
 * load it, for what is likely to be shown next.
 */
export function later(load, Wait = Nothing) {
  let made;
  let promise;
  const ready = () => {
    promise ??= load().then((component) => { made = component; }).catch(() => {
      promise = undefined; // another try may succeed
      throw lost();
    });
    return promise;
  };
  function Later(props) {
    const [state, set] = useState({});
    useEffect(() => {
      if (!made) ready().then(() => set({}), (error) => set({ error }));
    }, []);
    if (state.error) throw state.error;
    return made ? html`<${made} ...${props} />` : html`<${Wait} ...${props} />`;
  }
  Later.ready = ready;
  return Later;
}
