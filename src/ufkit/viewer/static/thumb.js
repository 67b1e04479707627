// A record as a small picture: its boxes over it, or what is wrong with it.

import { html } from "./vendor/htm-preact.js";
import { useImage } from "./images.js";

const GOLDEN = 0.61803398875; // a turn of it leads away from all colours before
const FEW = 6; // boxes whose names have room on a small picture

/** The colour of a class, the same everywhere, dark enough for white text. */
export function colourOf(label) {
  const turn = (((label * GOLDEN) % 1) + 1) % 1;
  return `hsl(${Math.round(turn * 360)} 85% 38%)`;
}

/** The name of a class and of its number. */
export function classOf({ label, name }) {
  return name ? `${label} ${name}` : String(label);
}

/** Width and height of a picture that fills a square, its proportions kept. */
function fit([width, height], side) {
  const factor = side / Math.max(width, height, 1);
  return [Math.max(2, Math.round(width * factor)), Math.max(2, Math.round(height * factor))];
}

/** A picture within a square of `side` pixels; `row` is what the server said of the record. */
export function Thumb({ base, row, side, rgb, boxes }) {
  if (row.problem.length) return html`<${Damaged} finding=${row.problem[0]} />`;
  return html`<${Image} base=${base} row=${row} side=${side} rgb=${rgb} boxes=${boxes} />`;
}

function Image({ base, row, side, rgb, boxes }) {
  const pixels = Math.min(1024, Math.ceil((side * (devicePixelRatio || 1)) / 80) * 80); // few different ones
  const { url, error } = useImage(`${base}/thumbnail`, { number: row.number, side: pixels, rgb: rgb ? 1 : undefined });
  if (error) return html`<${Damaged} finding=${error.diagnostics[0]} />`;
  const [width, height] = fit(row.size, side);
  const style = { width: `${width}px`, height: `${height}px` };
  return html`<span class="thumb ${url ? "" : "coming"}" style=${style}>
    ${url && html`<img src=${url} alt="" width=${width} height=${height} class=${Math.max(...row.size) < side ? "enlarged" : ""} draggable="false" />`}
    ${url && boxes && row.boxes.length > 0 && html`<${Boxes} rows=${row.boxes} named=${row.boxes.length <= FEW && side >= 140} />`}
  </span>`;
}

function Boxes({ rows, named }) {
  const shown = rows.filter((row) => row.corners);
  return html`<svg class="boxes" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
    ${shown.map(({ corners: [left, top, right, bottom], label, difficult }) => html`<rect x=${Math.min(left, right)} y=${Math.min(top, bottom)}
      width=${Math.abs(right - left)} height=${Math.abs(bottom - top)} stroke=${colourOf(label)} class=${difficult ? "thin" : ""} />`)}
  </svg>${named && shown.map((row) => html`<span class="class" style=${{ left: share(row.corners[0]), top: share(row.corners[1]), background: colourOf(row.label) }}>${row.name || row.label}</span>`)}`;
}

function share(part) {
  return `${Math.max(0, Math.min(0.9, part)) * 100}%`;
}

function Damaged({ finding }) {
  return html`<span class="damaged"><b>${finding?.code ?? ""}</b> ${finding?.message ?? "it cannot be read"}</span>`;
}
