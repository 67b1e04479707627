// What quantisation costs: each layer in a table, channels as a heat map, the numbers of one layer.

import { html, useEffect, useMemo, useState } from "./vendor/htm-preact.js";
import { href } from "./address.js";
import { get } from "./api.js";
import { useAnswer } from "./asked.js";
import { HeatMap, told } from "./heat.js";
import { Bar, Failure, Finding, Go, Waiting, real } from "./parts.js";
import { go } from "./place.js";
import { Plot, bars, overlaid } from "./plots.js";

const MANY = 2000; // numbers from which a histogram is better read with a logarithmic axis
const PARTS = ["weights", "bias"];
const percent = (share) => (share === 0 ? "–" : `${Number((100 * share).toPrecision(2))} %`);
const few = (value) => (value === null ? "" : value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(2) : value.toPrecision(3));

// name, title, how it is shown, whether small numbers are the bad ones
const COLUMNS = [
  ["numbers", "numbers", (value) => value.toLocaleString("en")],
  ["shift", "shift", (value) => value ?? ""],
  ["max_abs", "max error", few],
  ["mse", "mean square", few],
  ["sqnr", "SQNR dB", (value) => told(value), true],
  ["cosine", "cosine", (value) => value.toFixed(6), true],
  ["saturated", "saturated", percent],
  ["worst", "worst channel", (value) => (value === null ? "" : told(value)), true],
];

export function Quantisation({ place, theme, session }) {
  const setting = { profile: place.profile, channels: place.channels };
  const { data, error } = useAnswer("quant", setting);
  const rows = useRows(data, setting);
  const part = PARTS.includes(place.part) ? place.part : "weights";
  const chosen = place.layer === undefined ? -1 : Number(place.layer);
  const to = (more) => go({ ...place, ...more });
  const shown = useMemo(() => (data ? data.layers.map((layer, at) => flat(layer, at, rows[at], part)) : []), [data, rows, part]);
  const heat = useMemo(() => shown.filter((row) => row.channels).map(({ name, at, channels }) => ({ name, at, values: channels.sqnr })), [shown]);
  if (error) return html`<div class="page"><${Failure} error=${error} /></div>`;
  if (!data) return html`<${Waiting} />`;
  const [floats, other] = [data.floats, data.other].map((number) => session.files[number]);
  const done = rows.filter(Boolean).length;
  return html`<div class="quant">
    <div class="sheet">
      <h1>${data.table ? "What these thresholds would cost" : "What quantisation cost"}</h1>
      <p class="quiet">floats of <span class="key">${floats.name}</span>, ${data.table ? "thresholds" : "integers"} of <span class="key">${other.name}</span></p>
      <p class="filters">
        ${PARTS.map((name) => html`<button class="small" aria-pressed=${name === part} onClick=${() => to({ part: name === "weights" ? undefined : name })}>${name}</button>`)}
        ${data.table && html`<span class="gap"></span>${data.profiles.map((name, at) => html`<button class="small" aria-pressed=${at === data.profile} onClick=${() => to({ profile: at, channels: undefined })}>${name}</button>`)}
          <button class="small" aria-pressed=${data.per_channel} disabled=${!data.can_per_channel} onClick=${() => to({ profile: data.profile, channels: data.per_channel ? undefined : 1 })}>a shift for each channel</button>`}
        ${done < data.layers.length && html`<span class="quiet" role="status">${done} of ${data.layers.length} layers…</span>`}
      </p>
      ${data.layers.length === 0 && html`<p>No layer of the float net has its integers here.</p>`}
      <${Layers} rows=${shown} chosen=${chosen} choose=${(at) => to({ layer: at === chosen ? undefined : at })} place=${place} />
      ${heat.length > 0 && html`<h2>SQNR by output channel</h2><${HeatMap} rows=${heat} chosen=${chosen} choose=${(at) => to({ layer: at })} theme=${theme} unit="dB" />`}
    </div>
    ${shown[chosen] && html`<${Layer} key=${`${chosen} ${part}`} row=${shown[chosen]} raw=${rows[chosen]} part=${part} setting=${setting} floats=${data.floats} theme=${theme} close=${() => to({ layer: undefined })} />`}
  </div>`;
}

/** The rows of all layers, asked for one after the other. */
function useRows(data, setting) {
  const [rows, set] = useState([]);
  const key = data ? JSON.stringify([setting, data.layers.length]) : null;
  useEffect(() => {
    set([]);
    if (key === null) return undefined;
    const abort = new AbortController();
    const ask = async () => {
      for (let at = 0; at < data.layers.length; at += 1) {
        const row = await get("quant/layer", { ...setting, layer: at }, abort.signal).catch((error) => ({ failed: error.diagnostics ?? [], ended: error.name === "AbortError" }));
        if (row.ended) return;
        set((old) => [...old.slice(0, at), row]);
      }
    };
    ask();
    return () => abort.abort();
  }, [key]);
  return rows;
}

/** One row of the table; numbers are undefined while they are computed or where there are none. */
function flat(layer, at, row, part) {
  const found = row?.parts?.[part];
  const base = { ...layer, place: layer.at, at, failed: row?.failed, missing: Boolean(row?.parts) && !found };
  if (!found) return base;
  const { shift } = row;
  const { channels } = found;
  const low = shift === null ? null : shift.length === 1 ? shift[0] : Math.min(...shift);
  const high = shift === null || shift.length === 1 ? low : Math.max(...shift);
  return { ...base, ...found, channels, shift: low, shifts: low === high ? low : `${low}–${high}`, worst: channels.worst === null ? null : channels.sqnr[channels.worst] ?? null };
}

function Layers({ rows, chosen, choose, place }) {
  const [by, descending] = [place.by ?? "", place.down === "1"];
  const sort = (name, low) => go({ ...place, by: name, down: (by === name ? !descending : !low) ? "1" : undefined });
  const sorted = useMemo(() => (by ? [...rows].sort((a, b) => order(a[by], b[by], descending)) : rows), [rows, by, descending]);
  const noise = Math.max(...rows.map((row) => (typeof row.sqnr === "number" ? row.sqnr : 0)));
  return html`<table class="rows layers"><thead><tr><th>layer</th>
    ${COLUMNS.map(([name, title, , low]) => html`<th class="number" aria-sort=${by === name ? (descending ? "descending" : "ascending") : "none"}>
      <button class="sort" onClick=${() => sort(name, low)}>${title}</button></th>${name === "sqnr" && html`<th><span class="sr">SQNR as a bar</span></th>`}`)}</tr></thead>
  <tbody>${sorted.map((row) => html`<tr key=${row.at} aria-current=${row.at === chosen ? "true" : undefined}>
    <td><button class="plain" aria-expanded=${row.at === chosen} onClick=${() => choose(row.at)}><span class="key">${row.name}</span><br /><span class="quiet">${row.type}</span></button></td>
    ${row.numbers === undefined
      ? html`<td colspan=${COLUMNS.length + 1} class=${row.failed ? "bad" : "quiet"}>${row.failed ? row.failed.map((finding) => finding.message).join("; ") : row.missing ? "none in integers" : "…"}</td>`
      : COLUMNS.map(([name, , show]) => html`<td class="number">${name === "shift" ? row.shifts ?? "" : show(row[name])}${name === "worst" && row.worst !== null && html` <span class="quiet">(${row.channels.worst})</span>`}</td>
        ${name === "sqnr" && html`<td><${Bar} value=${row.sqnr ?? noise} most=${noise} /></td>`}`)}
  </tr>`)}</tbody></table>`;
}

/** Nothing known comes last; exact numbers, which are null, are better than all others. */
function order(a, b, descending) {
  if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
  const [x, y] = [a ?? Infinity, b ?? Infinity];
  if (x === y) return 0;
  return (x < y ? -1 : 1) * (descending ? -1 : 1);
}

/** The panel of one layer. */
function Layer({ row, raw, part, setting, floats, theme, close }) {
  const to = row.place && { file: floats, page: "graph", picture: row.place[0], item: row.place[1] };
  return html`<aside class="panel" aria-label="the chosen layer">
    <button class="close" onClick=${close} aria-label="close" title="close">✕</button>
    <h2>${row.type}</h2>
    <p class="key name">${row.name}</p>
    ${to && html`<p><${Go} to=${to} href=${href(to)}>show it in the graph</${Go}></p>`}
    ${raw?.failed?.map((finding) => html`<${Finding} row=${finding} />`)}
    ${raw?.notes?.map((finding) => html`<${Finding} row=${finding} />`)}
    ${raw?.parts && html`<dl class="facts">
      ${raw.thresholds && html`<dt>takes up to</dt><dd>${real(raw.thresholds[0])}</dd><dt>makes up to</dt><dd>${real(raw.thresholds[1])}</dd>`}
      ${row.shifts !== undefined && row.shifts !== null && html`<dt>shift</dt><dd>${row.shifts} bits</dd>`}
      ${row.scale && html`<dt>the integer 1 is</dt><dd>${few(row.scale[0])}${row.scale[1] !== row.scale[0] && html` to ${few(row.scale[1])}, by channel`}</dd>
        <dt>saturated</dt><dd>${percent(row.saturated)}</dd>`}
    </dl>`}
    ${row.numbers !== undefined && html`<${Numbers} at=${row.at} part=${part} setting=${setting} row=${row} theme=${theme} />`}
    ${row.missing && html`<p>Its ${part === "bias" ? "biases are" : "weights are"} not in integers.</p>`}
  </aside>`;
}

function Numbers({ at, part, setting, row, theme }) {
  const [logarithmic, setLogarithmic] = useState(row.numbers > MANY);
  const params = { ...setting, layer: at, part: PARTS.indexOf(part) };
  const values = useAnswer("quant/histogram", { ...params, grid: 0 });
  const integers = useAnswer("quant/histogram", { ...params, grid: 1 });
  const plot = (data, lines) => data && overlaid(data.edges, data.counts, { logarithmic, lines });
  const along = useMemo(() => plot(values.data, values.data && ends(values.data.limits)), [values.data, logarithmic]);
  const codes = useMemo(() => plot(integers.data, integers.data && integers.data.limits.map((limit) => ({ at: limit, colour: "error" }))), [integers.data, logarithmic]);
  const noise = useMemo(() => bars(row.channels.sqnr), [row]);
  const largest = useMemo(() => bars(row.channels.max_abs), [row]);
  const failed = values.error ?? integers.error;
  if (failed) return html`<${Failure} error=${failed} />`;
  if (!along || !codes) return html`<${Waiting} what="counting" />`;
  const { low, high } = span(values.data.limits);
  return html`
    <p class="keys-of"><span class="mark meant"></span> floats <span class="mark got"></span> what the integers give <span class="mark limit"></span> limits
      <button class="small" aria-pressed=${logarithmic} onClick=${() => setLogarithmic(!logarithmic)}>log</button></p>
    <h4>by value; ${values.data.bits} bits reach ±${low}${low !== high && ` to ±${high}, by channel`}</h4>
    <${Plot} make=${along} theme=${theme} label=${`histogram of the ${part}, before and after`} />
    <h4>by integer, on the grid of each channel</h4>
    <${Plot} make=${codes} theme=${theme} label=${`histogram of the ${part} in units of the integer 1, before and after`} />
    ${row.channels.sqnr.length > 1 && html`<h4>SQNR by output channel, dB</h4><${Plot} make=${noise} theme=${theme} label="signal over noise of each output channel" />
      <h4>largest error by output channel</h4><${Plot} make=${largest} theme=${theme} label="largest error of each output channel" />`}
    ${row.channels.total > row.channels.sqnr.length && html`<p class="quiet">the first ${row.channels.sqnr.length.toLocaleString("en")} of ${row.channels.total.toLocaleString("en")} channels</p>`}`;
}

function ends([low, high]) {
  return [...new Set([-high, -low, low, high])].map((limit) => ({ at: limit, colour: "error" }));
}

function span([low, high]) {
  return { low: few(low), high: few(high) };
}
