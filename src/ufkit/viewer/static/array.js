// An array of the file: statistics, histogram, ranges by channel, a slice, and the way to keep it.

import { html, useMemo, useState } from "./vendor/htm-preact.js";
import { address } from "./api.js";
import { useAnswer } from "./asked.js";
import { Failure, Waiting, real, shape } from "./parts.js";
import { Plot, histogram, ranges } from "./plots.js";

const SIDE = 16; // rows and columns of the slice that are shown at a time

/** One array of an item; it is read when it is opened. */
export function ArrayRow({ base, item, number, array, theme, open: begin = false }) {
  const [open, set] = useState(begin);
  const params = { item, array: number };
  return html`<section class="array">
    <button class="fold" aria-expanded=${open} onClick=${() => set(!open)}>
      <span class="role">${array.role}</span>
      <span class="shape">${array.dtype} ${shape(array.shape)}</span>
      <span class="quiet">${array.bytes}</span>
    </button>
    ${open && html`<dl class="facts">
      ${array.name && html`<dt>name</dt><dd class="key">${array.name}</dd>`}
      ${array.axes && html`<dt>axis order</dt><dd>${array.axes}</dd>`}
      ${array.place && html`<dt>in the file</dt><dd>${array.place}</dd>`}
    </dl>`}
    ${open && array.note && html`<p class="hint">${array.note}</p>`}
    ${open && !array.note && html`<${Contents} base=${base} params=${params} array=${array} theme=${theme} />`}
  </section>`;
}

/** What is in an array; `base` has the routes array, piece and array.npy, `params` say of which. */
export function Contents({ base, params, array, theme, channels = "output channel" }) {
  const { data, error } = useAnswer(`${base}/array`, params);
  const [logarithmic, setLogarithmic] = useState(false);
  const stats = data?.statistics;
  const bars = useMemo(() => stats && histogram(stats.edges, stats.counts, { logarithmic }), [stats, logarithmic]);
  const bands = useMemo(() => stats && ranges(stats.lows, stats.highs), [stats]);
  if (error) return html`<${Failure} error=${error} />`;
  if (!stats) return html`<${Waiting} what="reading" />`;
  return html`
    <dl class="facts numbers">
      <dt>elements</dt><dd>${stats.elements.toLocaleString("en")}</dd>
      <dt>range</dt><dd>${real(stats.least)} … ${real(stats.greatest)}</dd>
      <dt>mean</dt><dd>${real(stats.mean)}</dd>
      <dt>deviation</dt><dd>${real(stats.deviation)}</dd>
      <dt>zeros</dt><dd>${stats.zeros.toLocaleString("en")}</dd>
      ${stats.not_finite > 0 && html`<dt class="bad">not finite</dt><dd class="bad">${stats.not_finite.toLocaleString("en")}</dd>`}
    </dl>
    ${stats.counts.length > 0 && html`
      <h4>histogram <button class="small" aria-pressed=${logarithmic} onClick=${() => setLogarithmic(!logarithmic)}>log</button></h4>
      <${Plot} make=${bars} theme=${theme} label="histogram of the elements" />`}
    ${stats.lows.length > 0 && html`
      <h4>range by ${channels}</h4>
      <${Plot} make=${bands} theme=${theme} label=${`least and greatest element of each ${channels}`} />`}
    ${stats.elements > 0 && html`<${Slice} base=${base} params=${params} sizes=${array.shape} />`}
    <p><a class="button" href=${address(`${base}/array.npy`, params)} download>save as .npy</a></p>`;
}

/** A matrix of the array: the last two axes, at an index along those before. */
function Slice({ base, params, sizes }) {
  const before = sizes.slice(0, Math.max(0, sizes.length - 2));
  const [index, setIndex] = useState(() => before.map(() => 0));
  const [corner, setCorner] = useState([0, 0]);
  const [row, column] = corner;
  const { data, error } = useAnswer(`${base}/piece`, { ...params, index: index.join(","), row, column });
  if (error) return html`<${Failure} error=${error} />`;
  if (!data) return html`<${Waiting} what="reading" />`;
  const along = (axis, value) => setIndex(index.map((old, at) => (at === axis ? value : old)));
  const step = (down, right) =>
    setCorner([limit(row + down * SIDE, data.rows), limit(column + right * SIDE, data.columns)]);
  return html`
    <h4>elements</h4>
    ${before.length > 0 && html`<p class="index">
      ${before.map((size, axis) => html`<label>axis ${axis}
        <input type="number" min="0" max=${size - 1} value=${index[axis]}
          onInput=${(event) => along(axis, limit(Number(event.target.value) || 0, size))} /></label>`)}
    </p>`}
    <div class="slice"><table>
      <tbody>${data.values.slice(0, SIDE).map((line, y) => html`<tr>
        <th>${data.row + y}</th>
        ${line.slice(0, SIDE).map((value, x) => html`<td class=${shade(data.shades[y][x])}>${value}</td>`)}
      </tr>`)}</tbody>
    </table></div>
    ${(data.rows > SIDE || data.columns > SIDE) && html`<p class="steps">
      <button class="small" disabled=${row === 0} onClick=${() => step(-1, 0)}>up</button>
      <button class="small" disabled=${row + SIDE >= data.rows} onClick=${() => step(1, 0)}>down</button>
      <button class="small" disabled=${column === 0} onClick=${() => step(0, -1)}>left</button>
      <button class="small" disabled=${column + SIDE >= data.columns} onClick=${() => step(0, 1)}>right</button>
      <span class="quiet">rows ${row} to ${Math.min(row + SIDE, data.rows) - 1} of ${data.rows}, columns ${column} to ${Math.min(column + SIDE, data.columns) - 1} of ${data.columns}</span>
    </p>`}`;
}

function limit(value, size) {
  return Math.max(0, Math.min(size - 1, value));
}

/** A class for how large an element is among those shown: p0 to p4, n0 to n4. */
function shade(value) {
  return `${value < 0 ? "n" : "p"}${Math.round(Math.abs(value) / 25)}`;
}
