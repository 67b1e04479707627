// The graph as a table: what a screen reader reads, and a quick way through long graphs.

import { html, useRef, useState } from "./vendor/htm-preact.js";
import { useAnswer } from "./asked.js";
import { Failure } from "./parts.js";

const ROW = 26; // pixels, as style.css has it
const AHEAD = 60; // rows asked for beyond those seen

/** All nodes in the file's order; rows are asked for as they come into sight. */
export function NodeTable({ base, chosen, choose, total }) {
  const [top, setTop] = useState(0);
  const place = useRef(null);
  const first = Math.max(0, Math.floor(top / ROW) - AHEAD);
  const from = first - (first % AHEAD);
  const { data, error } = useAnswer(`${base}/items`, { from, count: 4 * AHEAD });
  if (error) return html`<${Failure} error=${error} />`;
  const rows = data?.rows ?? [];
  const step = (event, index) => {
    const to = { ArrowDown: index + 1, ArrowUp: index - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    place.current.querySelector(`[data-row="${to}"] button`)?.focus();
  };
  return html`<div class="table" ref=${place} onScroll=${(event) => setTop(event.target.scrollTop)}>
    <div role="table" aria-label="nodes of the graph" aria-rowcount=${total + 1} style=${{ height: `${(total + 1) * ROW}px` }}>
      <div role="row" aria-rowindex="1" class="head">
        <span role="columnheader">name</span><span role="columnheader">operation</span><span role="columnheader">value</span></div>
      ${rows.map((row, at) => html`<div role="row" key=${row.item} data-row=${from + at} aria-rowindex=${from + at + 2}
        aria-current=${row.item === chosen ? "true" : undefined} style=${{ top: `${(from + at + 1) * ROW}px` }}>
        <span role="cell"><button onClick=${() => choose(row.item)} onKeyDown=${(event) => step(event, from + at)}>${row.key}</button></span>
        <span role="cell">${row.title}</span><span role="cell">${row.value}</span></div>`)}
    </div></div>`;
}
