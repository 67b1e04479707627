// Where the user is: kept in the address, so that back, forward and copied links work.
//
//   #/0/graph/0?item=12&open=3,5   file 0, its picture 0, item 12 chosen, scopes 3 and 5 open

import { useEffect, useState } from "./vendor/htm-preact.js";

export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [file, page, picture] = path.split("/");
  const params = Object.fromEntries(new URLSearchParams(query));
  return { file: whole(file), page: page || "", picture: whole(picture), ...params };
}

export function href({ file, page, picture = 0, ...params }) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return `#/${file}/${page}/${picture}${given.length ? `?${query}` : ""}`;
}

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

function whole(text) {
  return /^\d{1,6}$/.test(text ?? "") ? Number(text) : 0;
}
