// The keys, by page.

import { html, useEffect, useRef } from "./vendor/htm-preact.js";

const EVERYWHERE = [
  ["?", "this list"],
  ["d", "dark or light"],
  ["Esc", "close what is open, or choose nothing"],
];
const KEYS = {
  graph: [
    ["/ or Ctrl+K", "search names, operations, fields (name=value)"],
    ["↑ ↓", "to what the chosen node takes, or what takes it; across: ← →"],
    ["← →", "to its neighbours; across: ↑ ↓"],
    ["Enter", "open or close the chosen scope"],
    ["Backspace", "close the scope around the chosen node"],
    ["g", "group by scopes, or show every node"],
    ["l", "from left to right (across), or from the top down"],
    ["n e w", "names, fields, weights in the boxes, or not"],
    ["a", "highlight what the chosen node depends on, and what depends on it"],
    ["p", "shortest path: then choose where to"],
    ["+ − 0 f", "zoom in, out, to full size, fit"],
    ["Shift+arrows", "move the picture"],
    ["t", "the graph as a table"],
    ["a press", "on a node or a link: all about it; twice on a closed scope, or on the title of an open one: it opens or closes"],
  ],
  records: [
    ["/", "filter by a part of the key"],
    ["arrows, Page, Home, End", "to another record in the grid"],
    ["Enter", "open the record"],
    ["← →", "an open record: the one before, the next one"],
    ["Esc", "back to the grid"],
    ["+ − 0 f", "zoom in, out, to full size, fit"],
    ["Shift+arrows", "to another pixel"],
    ["c", "each channel alone"],
    ["r", "channels as red, green, blue"],
    ["b", "draw boxes, or not"],
  ],
};

export function Help({ page, close }) {
  return html`<${Dialog} label="keys" close=${close}>
    <h2>Keys</h2>
    <table class="keys"><tbody>${[...(KEYS[page] ?? []), ...EVERYWHERE].map(([key, what]) => html`<tr><th scope="row"><kbd>${key}</kbd></th><td>${what}</td></tr>`)}</tbody></table>
  </${Dialog}>`;
}

/** A dialog in front of the page; the keyboard stays in it until it is closed. */
export function Dialog({ label, close, children }) {
  const place = useRef(null);
  useEffect(() => {
    place.current.showModal();
  }, []);
  const outside = (event) => event.target === place.current && close();
  return html`<dialog ref=${place} aria-label=${label} onClick=${outside} onClose=${close}>${children}</dialog>`;
}
