// The summary: where the parameters, the bytes and the work of a graph are.

import { html, useState } from "./vendor/htm-preact.js";
import { href } from "./address.js";
import { useAnswer } from "./asked.js";
import { Bar, Failure, Go, Waiting, bytes, count, shape } from "./parts.js";

const COLUMNS = [
  ["items", "nodes", (value) => value.toLocaleString("en")],
  ["parameters", "parameters", count],
  ["bytes", "bytes", bytes],
  ["macs", "multiply-accumulates", count],
];

export function Summary({ file, place }) {
  const { data, error } = useAnswer(`files/${file.number}/pictures/${place.picture}/summary`);
  if (error) return html`<${Failure} error=${error} />`;
  if (!data) return html`<${Waiting} what="counting" />`;
  const { whole } = data;
  const tile = (name, show) => (name === "macs" && !whole.macs && data.unknown ? "not known" : show(whole[name]));
  return html`<div class="page summary">
    <h1>${whole.name || file.name}</h1>
    <dl class="tiles">
      ${COLUMNS.map(([name, title, show]) => html`<div><dt>${title}</dt><dd title=${whole[name].toLocaleString("en")}>${tile(name, show)}</dd></div>`)}
    </dl>
    <dl class="facts">${data.facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
    ${whole.macs + data.unknown > 0 && html`<p class="quiet">Work is that of one run, for one sample where the batch is open${data.unknown > 0 ? `; of ${data.unknown} ${data.unknown === 1 ? "layer" : "layers"} it is not known` : ""}.</p>`}
    ${data.ends.length > 0 && html`<h2>Inputs and outputs</h2>
      <table class="rows ends-of"><tbody>${data.ends.map((row) => {
        const to = { file: file.number, page: "graph", picture: place.picture, item: row.item };
        return html`<tr><td>${row.kind}</td><td><${Go} to=${to} href=${href(to)} class="key">${row.key}</${Go}></td><td>${row.value || "shape not known"}</td></tr>`;
      })}</tbody></table>`}
    <${Totals} title="By operation" rows=${data.operations} />
    ${data.scopes.length > 1 && html`<${Totals} title="By scope" rows=${data.scopes.map((row) => ({ ...row, name: row.name || "(no scope)" }))} />`}
    ${data.types.length > 0 && html`<${Totals} title="By element type" rows=${data.types} />`}
    ${data.largest.length > 0 && html`<h2>Largest arrays</h2>
      <table class="rows"><thead><tr><th>name</th><th>type</th><th>shape</th><th class="number">bytes</th><th></th></tr></thead>
      <tbody>${data.largest.map((row) => {
        const to = { file: file.number, page: "graph", picture: place.picture, item: row.item };
        return html`<tr>
          <td><${Go} to=${to} href=${href(to)} class="key">${row.name}</${Go}> <span class="quiet">${row.role}</span></td>
          <td>${row.dtype}</td><td>${shape(row.shape)}</td><td class="number">${bytes(row.bytes)}</td>
          <td><${Bar} value=${row.bytes} most=${data.largest[0].bytes} /></td></tr>`;
      })}</tbody></table>`}
  </div>`;
}

/** A table that any column sorts, with bars for the one it is sorted by. */
function Totals({ title, rows }) {
  const [by, setBy] = useState("items");
  if (rows.length === 0) return null;
  const most = Math.max(...rows.map((row) => row[by]));
  const sorted = [...rows].sort((a, b) => b[by] - a[by]);
  const columns = COLUMNS.filter(([name]) => rows.some((row) => row[name] > 0));
  return html`<h2>${title}</h2>
    <table class="rows"><thead><tr><th>name</th>
      ${columns.map(([name, label]) => html`<th class="number" aria-sort=${by === name ? "descending" : "none"}>
        <button class="sort" onClick=${() => setBy(name)}>${label}</button></th>`)}<th></th></tr></thead>
    <tbody>${sorted.map((row) => html`<tr><td class="key">${row.name}</td>
      ${columns.map(([name, , show]) => html`<td class="number">${show(row[name])}</td>`)}
      <td><${Bar} value=${row[by]} most=${most} /></td></tr>`)}</tbody></table>`;
}
