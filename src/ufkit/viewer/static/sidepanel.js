// The frame of what stands beside a picture about what is chosen in it.

import { html } from "./vendor/htm-preact.js";
import { NOTHING, href } from "./address.js";
import { Failure, Go, Waiting } from "./parts.js";

/** A panel of an answer: `error` in its place, or nothing yet. */
export function SidePanel({ label, close, data, error, children }) {
  return html`<aside class="panel" aria-label=${label}>
    <button class="close" onClick=${close} aria-label="close" title="close (Esc)">✕</button>
    ${error && html`<${Failure} error=${error} />`}
    ${!data && !error && html`<${Waiting} />`}
    ${data && children}
  </aside>`;
}

/** Choose something else in the picture at a place: { item } or { link }. */
export function Choose({ place, choice, children, ...rest }) {
  const to = { ...place, ...NOTHING, ...choice };
  return html`<${Go} to=${to} href=${href(to)} ...${rest}>${children}</${Go}>`;
}

/** Choose an item, by what it is called. */
export function ToItem({ place, row }) {
  return html`<${Choose} place=${place} choice=${{ item: row.item }}><span class="key">${row.key}</span> <span class="quiet">${row.title}</span></${Choose}>`;
}
