// One record of a dataset: its picture, its pixels, its boxes, and its neighbours.

import { html, useEffect, useLayoutEffect, useState } from "./vendor/htm-preact.js";
import { href } from "./address.js";
import { Contents } from "./array.js";
import { useAnswer } from "./asked.js";
import { useGrowing } from "./growing.js";
import { useImage } from "./images.js";
import { typing } from "./keys.js";
import { Failure, Finding, Go, Waiting, shape } from "./parts.js";
import { go } from "./place.js";
import { classOf, colourOf } from "./thumb.js";
import { Zoomable } from "./zoomable.js";

const TILE = 32; // rows and columns of one answer with elements
const FEW = 12; // channels that have buttons
const ZOOM = 1.3;

export function Record({ base, filter, place, theme }) {
  const number = Number(place.record);
  const filtered = Object.keys(filter).length > 0;
  const { data: matches } = useGrowing(filtered ? `${base}/found` : null, filter); // a link may come first
  const { data: found, error } = useAnswer(`${base}/one`, { number, ...filter, known: matches?.total });
  const record = found?.number === number ? found : null;
  const step = (to) => to !== null && to !== undefined && go({ ...place, record: to, box: undefined, at: undefined }, { replace: true });
  const back = { ...place, record: undefined, box: undefined, channel: undefined, at: found?.place || place.at || undefined };
  const channel = /^\d+$/.test(place.channel ?? "") ? Number(place.channel) : undefined;
  const setChannel = (to) => go({ ...place, channel: to }, { replace: true });
  const [pixel, setPixel] = useState(null);
  const [wish, setWish] = useState({ at: 0, zoom: 0 });
  const zoom = (factor) => setWish({ at: wish.at + 1, zoom: factor });
  const chosen = /^\d+$/.test(place.box ?? "") ? Number(place.box) : -1;
  const choose = (to) => (to !== chosen || to >= 0) && go({ ...place, box: to < 0 || to === chosen ? undefined : to }, { replace: true });
  useEffect(() => setPixel(null), [number]);

  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const keys = {
    ArrowLeft: () => step(found?.before),
    ArrowRight: () => step(found?.behind),
    Escape: () => go(back),
    "+": () => zoom(ZOOM),
    "=": () => zoom(ZOOM),
    "-": () => zoom(1 / ZOOM),
    0: () => zoom(1),
    f: () => zoom(0),
    c: () => setChannel(channel === undefined ? 0 : channel + 1 < (record?.channels ?? 0) ? channel + 1 : undefined),
    r: () => go({ ...place, rgb: place.rgb ? undefined : 1 }, { replace: true }),
    b: () => go({ ...place, plain: place.plain ? undefined : 1 }, { replace: true }),
  };
  useLayoutEffect(() => { // before the next key can come, so that it is about the record that is seen
    const pressed = (event) => {
      if (typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.shiftKey && event.key in moves && record) {
        const [x, y] = pixel ?? [Math.floor(record.size[0] / 2), Math.floor(record.size[1] / 2)];
        const [dx, dy] = pixel ? moves[event.key] : [0, 0];
        setPixel([limit(x + dx, record.size[0]), limit(y + dy, record.size[1])]);
      } else if (event.key in keys) keys[event.key]();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });

  if (error) return html`<div class="page"><p><${Go} to=${back} href=${href(back)}>all records</${Go}></p><${Failure} error=${error} /></div>`;
  if (!found) return html`<${Waiting} what="reading" />`;
  const boxes = place.plain || !record ? NONE : record.boxes;
  return html`<div class="one-record">
    <div class="bar-of-tools">
      <${Go} class="button" to=${back} href=${href(back)} title="Esc">‹ all records</${Go}>
      <${Step} title="the one before (←)" to=${found.before} place=${place} text="←" /><${Step} title="the next one (→)" to=${found.behind} place=${place} text="→" />
      <span class="count">${found.place === null ? `not among the ${found.total.toLocaleString("en")} matches` : `${(found.place + 1).toLocaleString("en")} of ${found.total.toLocaleString("en")}`}</span>
      <span class="space"></span>
      <${Channels} record=${found} channel=${channel} set=${setChannel} rgb=${place.rgb} />
      ${found.coloured && html`<button class="small" aria-pressed=${Boolean(place.rgb)} title="take the channels to be red, green, blue (r)" onClick=${keys.r}>R G B</button>`}
      ${found.boxed > 0 && html`<button class="small" aria-pressed=${!place.plain} title="draw boxes (b)" onClick=${keys.b}>boxes</button>`}
      <button class="small" title="smaller (−)" aria-label="smaller" onClick=${keys["-"]}>−</button><button class="small" title="larger (+)" aria-label="larger" onClick=${keys["+"]}>+</button>
      <button class="small" title="full size (0)" onClick=${keys[0]}>1:1</button><button class="small" title="fit (f)" onClick=${keys.f}>fit</button>
    </div>
    <div class="halves">
      <div class="stage">${found.problem.length
        ? html`<div class="page">${found.problem.map((row) => html`<${Finding} row=${row} />`)}</div>`
        : html`<${Large} base=${base} record=${found} channel=${channel} rgb=${place.rgb} boxes=${boxes} chosen=${chosen} choose=${choose} pixel=${pixel} point=${setPixel} wish=${wish} theme=${theme} />`}</div>
      <aside class="panel" aria-label="record">
        <h2 class="key">${found.key || `record ${number}`}</h2>
        <${Facts} record=${found} />
        ${!found.problem.length && html`<${Pixel} base=${base} record=${found} pixel=${pixel} rgb=${place.rgb} />`}
        ${found.boxed !== null && html`<${Boxes} record=${found} chosen=${chosen} choose=${choose} />`}
        ${!found.problem.length && html`<${Values} key=${number} base=${base} record=${found} theme=${theme} />`}
      </aside>
    </div></div>`;
}

const NONE = [];

function limit(value, size) {
  return Math.max(0, Math.min(size - 1, value));
}

function Step({ title, to, place, text }) {
  if (to === null) return html`<button class="small" disabled title=${title}>${text}</button>`;
  const there = { ...place, record: to, box: undefined, at: undefined };
  return html`<${Go} class="button small" to=${there} href=${href(there)} title=${title} aria-label=${title}>${text}</${Go}>`;
}

function Large({ base, record, channel, rgb, boxes, chosen, choose, pixel, point, wish, theme }) {
  const { number, size } = record;
  const { url, error } = useImage(`${base}/picture`, { number, channel: channel < record.channels ? channel : undefined, rgb: rgb ? 1 : undefined });
  if (error) return html`<div class="page"><${Failure} error=${error} /></div>`;
  return html`<${Zoomable} key=${size.join()} url=${url} width=${size[0]} height=${size[1]} boxes=${boxes} chosen=${chosen} choose=${choose}
    pixel=${pixel} point=${point} wish=${wish} theme=${theme} label=${`picture of ${record.key}`} />`;
}

/** Names of the channels of a picture, in the order in which they are stored. */
function names(record, rgb) {
  if (record.coloured) return [...(rgb ? "RGB" : "BGR")];
  return Array.from({ length: Math.min(record.channels, FEW) }, (_, at) => String(at));
}

function Channels({ record, channel, set, rgb }) {
  if (record.channels < 2) return null;
  const all = record.coloured && html`<button class="small" aria-pressed=${channel === undefined} title="all channels (c)" onClick=${() => set(undefined)}>colour</button>`;
  if (record.channels > FEW) {
    return html`${all}<label class="field">channel <input type="number" min="0" max=${record.channels - 1} value=${channel ?? 0}
      onInput=${(event) => set(limit(Number(event.target.value) || 0, record.channels))} /> of ${record.channels}</label>`;
  }
  const now = channel ?? (record.coloured ? -1 : 0);
  return html`<span class="group" role="group" aria-label="channel">${all}${names(record, rgb).map((name, at) => html`<button class="small" aria-pressed=${at === now} title=${`channel ${at} alone (c)`} onClick=${() => set(at)}>${name}</button>`)}</span>`;
}

function Facts({ record }) {
  const rows = [
    ["label", record.label === null ? null : classOf(record)],
    ["labels", record.values.length ? record.values.join("  ") : null],
    ["shape", record.dtype && `${record.dtype} ${shape(record.shape)}`],
    ["kept as", record.kept],
    ["size", record.bytes],
    ["number", record.number.toLocaleString("en")],
    ...record.facts,
    ["in", record.file],
  ];
  return html`<dl class="facts">${rows.filter(([, value]) => value !== null && value !== "").map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** The elements of the pixel under the pointer. */
function Pixel({ base, record, pixel, rgb }) {
  const [x, y] = pixel ?? [0, 0];
  const [column, row] = [x - (x % TILE), y - (y % TILE)];
  const { data, fresh } = useAnswer(pixel ? `${base}/values` : null, { number: record.number, row, column });
  const values = fresh && data?.values[y - row]?.[x - column];
  const said = names(record, rgb);
  return html`<section class="pixel"><h3>Pixel</h3>
    ${pixel ? html`<p><span class="quiet">x</span> ${x} <span class="quiet">y</span> ${y}</p>` : html`<p class="quiet">point at the picture, or Shift and an arrow key</p>`}
    <p class="elements" role="status">${pixel && values ? values.slice(0, 64).map((value, at) => html`<span><span class="quiet">${said[at] ?? at}</span> <b>${String(value)}</b></span>`) : html`<span>${" "}</span>`}</p></section>`;
}

function Boxes({ record, chosen, choose }) {
  return html`<h3>${record.boxed.toLocaleString("en")} ${record.boxed === 1 ? "box" : "boxes"}</h3>
    ${record.boxes.length > 0 && html`<table class="rows boxes"><thead><tr><th>class</th><th class="number">x</th><th class="number">y</th></tr></thead>
      <tbody>${record.boxes.map((box, at) => html`<tr key=${at} aria-selected=${at === chosen} onClick=${() => choose(at)}>
        <td><button class="plain" onClick=${(event) => (event.stopPropagation(), choose(at))}><span class="dot" style=${{ background: colourOf(box.label) }}></span> ${classOf(box)}</button>${" "}
          <span class="quiet">${[box.difficult && "difficult", box.score && `score ${box.score}`].filter(Boolean).join(", ")}</span></td>
        <td class="number">${box.words[0]} – ${box.words[2]}</td><td class="number">${box.words[1]} – ${box.words[3]}</td></tr>`)}</tbody></table>`}
    ${record.boxed > record.boxes.length && html`<p class="quiet">The first ${record.boxes.length.toLocaleString("en")} are shown.</p>`}`;
}

function Values({ base, record, theme }) {
  const [open, set] = useState(record.dtype !== "uint8"); // of floats the range is what one asks first
  const array = { shape: [record.channels, record.size[1], record.size[0]] };
  return html`<section class="array values"><button class="fold" aria-expanded=${open} onClick=${() => set(!open)}><span class="role">values</span>
    <span class="quiet">range, histogram, elements</span></button>
    ${open && html`<${Contents} base=${base} params=${{ number: record.number }} array=${array} theme=${theme} channels="channel" />`}</section>`;
}
