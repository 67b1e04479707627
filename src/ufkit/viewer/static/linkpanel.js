// The side panel of a link: the value that it stands for, or the values.

import { html } from "./vendor/htm-preact.js";
import { endsOf } from "./address.js";
import { useAnswer } from "./asked.js";
import { SidePanel, ToItem } from "./sidepanel.js";

export function LinkPanel({ base, place, close }) {
  const { data, error } = useAnswer(`${base}/links`, endsOf(place.link));
  const { rows = [], total = 0 } = data ?? {};
  const values = [...byGiver(rows)];
  return html`<${SidePanel} label="the chosen link" close=${close} data=${data} error=${error}>
    <h2>${values.length === 1 ? "Value" : `${total.toLocaleString("en")} links`}</h2>
    ${values.map(([name, own]) => html`<${Value} key=${name} place=${place} rows=${own} />`)}
    ${total > rows.length && html`<p class="quiet">the first ${rows.length} are shown</p>`}
  </${SidePanel}>`;
}

/** The rows of each value: those of one name and one giver, as layers that compute in place give new values old names. */
function byGiver(rows) {
  const found = new Map();
  for (const row of rows) {
    const name = `${row.from.item} ${row.value}`;
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(row);
  }
  return found;
}

function Value({ place, rows }) {
  const [{ value, label, from }] = rows;
  return html`<section class="value-of">
    <p class="key name">${value}</p>
    <dl class="facts"><dt>shape</dt><dd>${label || "not known"}</dd></dl>
    <h3>From</h3>
    <ul class="ends"><li><${ToItem} place=${place} row=${from} /></li></ul>
    <h3>To</h3>
    <ul class="ends">${rows.map((row) => html`<li>
      <span class="role">${row.role && row.role !== value ? row.role : `input ${row.slot}`}</span> <${ToItem} place=${place} row=${row.to} /></li>`)}</ul>
  </section>`;
}
