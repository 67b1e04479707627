// The counts of a dataset: records by label and size, boxes by class.

import { html, useMemo, useState } from "./vendor/htm-preact.js";
import { href } from "./address.js";
import { useGrowing } from "./growing.js";
import { Bar, Failure, Finding, Go, Waiting } from "./parts.js";
import { Plot, histogram } from "./plots.js";
import { colourOf } from "./thumb.js";

const SHOWN = 60; // rows of a table until all are wanted

export function Counts({ file, place, theme }) {
  const { data, error, stopped, stop, resume } = useGrowing(`files/${file.number}/records/counts`);
  if (error) return html`<div class="page"><${Failure} error=${error} /></div>`;
  if (!data) return html`<${Waiting} what="counting" />`;
  const many = (value) => value.toLocaleString("en");
  const to = (filter) => ({ file: place.file, page: "records", picture: 0, ...filter });
  return html`<div class="page counts">
    <h1>${file.name}</h1>
    <dl class="tiles">
      <div><dt>records</dt><dd>${many(data.of)}</dd></div>
      <div><dt>kind</dt><dd class="word">${file.description}</dd></div>
      ${file.bytes && html`<div><dt>size</dt><dd>${file.bytes}</dd></div>`}
      ${data.damaged > 0 && html`<div><dt>damaged</dt><dd><${Go} to=${to({ damaged: 1 })} href=${href(to({ damaged: 1 }))} class="bad">${many(data.damaged)}</${Go}></dd></div>`}
    </dl>
    ${!data.complete && html`<p role="status"><progress max=${data.of} value=${data.read}></progress> ${many(data.read)} of ${many(data.of)} read
      <button class="small" onClick=${stopped ? resume : stop}>${stopped ? "read on" : "stop"}</button></p>`}
    ${data.broken.map((row) => html`<${Finding} row=${row} />`)}
    <${Labels} title="Records by label" rows=${data.labels} of=${data.different.labels} what="records" to=${to} theme=${theme} />
    <${Labels} title="Boxes by class" rows=${data.classes} of=${data.different.classes} what="boxes" to=${to} theme=${theme} />
    <${Sizes} data=${data} to=${to} theme=${theme} />
  </div>`;
}

/** How many there are of each label: a plot where there are many, and a table. */
function Labels({ title, rows, of, what, to, theme }) {
  const [all, showAll] = useState(false);
  const bars = useMemo(() => rows.length > 12 && byRank(rows), [rows]);
  if (!rows.length || (rows.length === 1 && rows[0].label === null)) return null;
  return html`<h2>${title}</h2>
    ${bars && html`<${Plot} make=${bars} theme=${theme} label=${`${title}, the most common first`} /><p class="quiet">the most common first</p>`}
    <table class="rows"><thead><tr><th class="number">label</th><th>name</th><th class="number">${what}</th><th></th></tr></thead>
    <tbody>${rows.slice(0, all ? rows.length : SHOWN).map((row) => {
      const there = to({ label: row.label ?? "none" });
      return html`<tr><td class="number">${row.label === null ? "" : row.label}</td>
        <td><span class="dot" style=${{ background: row.label === null ? "transparent" : colourOf(row.label) }}></span> <${Go} class="key" to=${there} href=${href(there)}>${row.label === null ? "none" : row.name || `label ${row.label}`}</${Go}></td>
        <td class="number">${row.records.toLocaleString("en")}</td><td><${Bar} value=${row.records} most=${rows[0].records} /></td></tr>`;
    })}</tbody></table>
    ${rows.length > SHOWN && !all && html`<button onClick=${() => showAll(true)}>show all ${rows.length.toLocaleString("en")}</button>`}
    ${of > rows.length && html`<p class="quiet">${(of - rows.length).toLocaleString("en")} more labels are rarer.</p>`}`;
}

function byRank(rows) {
  return histogram([...rows.map((_, at) => at), rows.length], rows.map((row) => row.records));
}

function Sizes({ data, to, theme }) {
  const widths = useMemo(() => data.widths.counts.length > 0 && histogram(data.widths.edges, data.widths.counts), [data]);
  const heights = useMemo(() => data.heights.counts.length > 0 && histogram(data.heights.edges, data.heights.counts), [data]);
  if (!data.sizes.length) return null;
  return html`<h2>Sizes</h2>
    <div class="plots">${widths && html`<div><h4>width, pixels</h4><${Plot} make=${widths} theme=${theme} label="histogram of the widths" /></div>`}
    ${heights && html`<div><h4>height, pixels</h4><${Plot} make=${heights} theme=${theme} label="histogram of the heights" /></div>`}</div>
    <table class="rows"><thead><tr><th>width × height</th><th class="number">records</th><th></th></tr></thead>
    <tbody>${data.sizes.slice(0, 20).map(({ size: [width, height], records }) => {
      const there = to({ width, height });
      return html`<tr><td><${Go} to=${there} href=${href(there)}>${width} × ${height}</${Go}></td><td class="number">${records.toLocaleString("en")}</td>
        <td><${Bar} value=${records} most=${data.sizes[0].records} /></td></tr>`;
    })}</tbody></table>
    ${data.different.sizes > 20 && html`<p class="quiet">${(data.different.sizes - 20).toLocaleString("en")} more sizes are rarer.</p>`}`;
}
