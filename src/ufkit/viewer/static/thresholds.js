// The page of a table of thresholds.

import { html, useState } from "./vendor/htm-preact.js";
import { useAnswer } from "./asked.js";
import { Bar, Failure, Waiting, real } from "./parts.js";

const COLUMNS = [["threshold", "threshold"], ["shift", "shift"], ["multiplier", "multiplier"]];

export function Thresholds({ file }) {
  const { data, error } = useAnswer(`files/${file.number}/table`);
  const [by, setBy] = useState("");
  if (error) return html`<div class="page"><${Failure} error=${error} /></div>`;
  if (!data) return html`<${Waiting} what="reading" />`;
  const most = Math.max(...data.rows.map((row) => row.threshold ?? 0));
  const rows = by ? [...data.rows].sort((a, b) => (b[by] ?? -1) - (a[by] ?? -1)) : data.rows;
  const columns = COLUMNS.filter(([name]) => data.rows.some((row) => row[name] !== null));
  return html`<div class="page">
    <h1>${file.name}</h1>
    <p class="quiet">The largest number that each array between layers has to hold. Beside its net, the page Quantisation says what it costs.</p>
    <table class="rows"><thead><tr><th>array</th>
      ${columns.map(([name, label]) => html`<th class="number" aria-sort=${by === name ? "descending" : "none"}>
        <button class="sort" onClick=${() => setBy(by === name ? "" : name)}>${label}</button></th>`)}<th></th></tr></thead>
    <tbody>${rows.map((row) => html`<tr><td class="key">${row.name}</td>
      ${columns.map(([name]) => html`<td class="number">${row[name] === null ? "" : real(row[name])}</td>`)}
      <td><${Bar} value=${row.threshold ?? 0} most=${most} /></td></tr>`)}</tbody></table>
  </div>`;
}
