// A heat map: a row of cells for each layer, one for each channel, the worse the warmer.

import { html, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";

const ROW = 15; // pixels, with a gap of one
const STEPS = 64;
const NO_SIGNAL = -300; // of what is zero and comes out as something else

/** From a colour of the page through its background to another: for the worst to the best. */
function ramp(canvas) {
  const probe = getComputedStyle(canvas);
  const [bad, page, good] = ["--shade-minus", "--page", "--shade"].map((name) => channels(probe.getPropertyValue(name)));
  return Array.from({ length: STEPS }, (_, k) => {
    const t = (2 * k) / (STEPS - 1) - 1;
    const far = t < 0 ? bad : good;
    return `rgb(${page.map((c, i) => Math.round(c + (far[i] - c) * Math.abs(t)))})`;
  });
}

function channels(text) {
  const hex = /^#(..)(..)(..)$/.exec(text.trim());
  return hex ? hex.slice(1).map((part) => parseInt(part, 16)) : text.match(/\d+/g).slice(0, 3).map(Number);
}

/** A signal over noise in words. */
export function told(value, unit = "") {
  if (value === null) return "exact";
  return value <= NO_SIGNAL ? "no signal" : `${value.toFixed(1)} ${unit}`.trim();
}

/** `rows` are { name, values }: numbers, or null where there is no noise. */
export function HeatMap({ rows, chosen, choose, theme, unit }) {
  const canvas = useRef(null);
  const [width, setWidth] = useState(0);
  const [over, setOver] = useState("");
  const [low, high] = useMemo(() => {
    const all = rows.flatMap((row) => row.values).filter((value) => value !== null && value > NO_SIGNAL);
    const sorted = Float64Array.from(all).sort();
    const at = (share) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
    return [at(0.01), at(0.99)];
  }, [rows]);
  useEffect(() => {
    const watch = new ResizeObserver(() => setWidth(canvas.current.parentNode.clientWidth));
    watch.observe(canvas.current.parentNode);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    if (!width) return;
    const ratio = devicePixelRatio || 1;
    const node = canvas.current;
    node.width = width * ratio;
    node.height = rows.length * ROW * ratio;
    const context = node.getContext("2d");
    context.scale(ratio, ratio);
    const colours = ramp(node);
    rows.forEach(({ values }, y) => {
      const step = width / Math.max(values.length, 1);
      for (let x = 0; x < width; x = step >= 1 ? x + step : x + 1) {
        const worst = least(values, Math.floor(x / step + 1e-6), Math.max(1, Math.ceil(1 / step)));
        const t = worst === null ? 1 : (worst - low) / (high - low || 1);
        context.fillStyle = colours[Math.max(0, Math.min(STEPS - 1, Math.round(t * (STEPS - 1))))];
        context.fillRect(x, y * ROW, Math.max(1, step - (step > 4 ? 1 : 0)), ROW - 1);
      }
    });
  }, [rows, width, low, high, theme]);
  const place = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const y = Math.floor((event.clientY - box.top) / ROW);
    const row = rows[y];
    return row && { row, y, channel: Math.min(row.values.length - 1, Math.floor(((event.clientX - box.left) / box.width) * row.values.length)) };
  };
  const tell = (event) => {
    const at = place(event);
    setOver(at ? `${at.row.name}, channel ${at.channel}: ${told(at.row.values[at.channel], unit)}` : "");
  };
  return html`<div class="heat">
    <ol aria-hidden="true">${rows.map((row) => html`<li class=${row.at === chosen ? "key chosen" : "key"} title=${row.name}>${row.name}</li>`)}</ol>
    <div class="cells"><canvas ref=${canvas} style=${{ height: `${rows.length * ROW}px` }} role="img" aria-label=${`heat map of ${rows.length} layers by channel; the table has the worst channel of each`}
      onPointerMove=${tell} onPointerLeave=${() => setOver("")} onClick=${(event) => { const at = place(event); if (at) choose(at.row.at); }}></canvas></div>
    <p class="legend quiet">${low.toFixed(1)} ${unit} <span class="ramp"></span> ${high.toFixed(1)} ${unit} <span class="over">${over}</span></p>
  </div>`;
}

function least(values, from, count) {
  let found = null;
  for (let at = from; at < Math.min(values.length, from + count); at += 1) {
    if (values[at] !== null && (found === null || values[at] < found)) found = values[at];
  }
  return found;
}
