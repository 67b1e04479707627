// How pictures are looked at, whichever page they are on: direction, and what boxes say. Kept in the address.

import { html } from "./vendor/htm-preact.js";

const SAID = { names: "n", fields: "e", weights: "w" }; // what boxes can say, and the key for it

/** The keys that change how `scene` is looked at; `change` is told what the address is to say. */
export function lookKeys(scene, change) {
  const says = Object.entries(SAID).map(([what, key]) => [key, () => change({ show: toggled(scene.said, what) })]);
  return { l: () => change({ across: scene.across ? undefined : 1 }), ...Object.fromEntries(says) };
}

function toggled(said, what) {
  return (said.includes(what) ? said.filter((one) => one !== what) : [...said, what]).join(",");
}

/** The same as buttons. */
export function LookTools({ scene, keys }) {
  return html`
    <button aria-pressed=${scene.across} onClick=${keys.l} title="from left to right, or from the top down (l)">across</button>
    <span class="joined" role="group" aria-label="boxes say">${Object.entries(SAID).map(([what, key]) => html`
      <button aria-pressed=${scene.said.includes(what)} onClick=${keys[key]} title=${`${what} in the boxes (${key})`}>${what}</button>`)}</span>`;
}
