// Going from place to place, and being told of it.

import { useEffect, useState } from "./vendor/htm-preact.js";
import { href, parse } from "./address.js";

/** Go to a place; `replace` leaves no step for the back button. */
export function go(place, { replace = false } = {}) {
  const target = href(place);
  if (target === location.hash) return;
  if (replace) history.replaceState(null, "", target);
  else history.pushState(null, "", target);
  dispatchEvent(new Event("placechange"));
}

/** The place, and again whenever it changes. */
export function usePlace() {
  const [place, set] = useState(() => parse(location.hash));
  useEffect(() => {
    const update = () => set(parse(location.hash));
    for (const name of ["placechange", "popstate", "hashchange"]) addEventListener(name, update);
    return () => {
      for (const name of ["placechange", "popstate", "hashchange"]) removeEventListener(name, update);
    };
  }, []);
  return place;
}
