// The page of a dataset's records: the filter, the grid, and one record of it in full.

import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { useAnswer } from "./asked.js";
import { Grid } from "./grid.js";
import { useGrowing } from "./growing.js";
import { typing } from "./keys.js";
import { Failure, Finding, Waiting } from "./parts.js";
import { go } from "./place.js";
import { Record } from "./record.js";

const SIDES = { small: 96, medium: 150, large: 240 };
const FIELDS = ["key", "label", "width", "height", "damaged"];

export function Records({ file, place, theme }) {
  const base = `files/${file.number}/records`;
  const { data: about, error } = useAnswer(base);
  if (error) return html`<div class="page"><${Failure} error=${error} /></div>`;
  if (!about) return html`<${Waiting} what="opening" />`;
  const filter = Object.fromEntries(FIELDS.filter((name) => place[name]).map((name) => [name, place[name]]));
  if (/^\d+$/.test(place.record ?? "")) return html`<${Record} base=${base} filter=${filter} place=${place} theme=${theme} />`;
  return html`<${Browse} base=${base} about=${about} filter=${filter} place=${place} />`;
}

function Browse({ base, about, filter, place }) {
  const found = useGrowing(`${base}/found`, filter);
  const filtered = Object.keys(filter).length > 0;
  const total = found.data?.total ?? (filtered ? 0 : about.records);
  const side = SIDES[place.side] ?? SIDES.medium;
  const at = Math.min(/^\d+$/.test(place.at ?? "") ? Number(place.at) : 0, Math.max(0, total - 1));
  const first = useRef(null);
  useEffect(() => {
    const pressed = (event) => {
      if (event.key !== "/" || typing(event)) return;
      event.preventDefault();
      first.current.querySelector("input").select();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  const change = (more) => go({ ...place, ...more }, { replace: true });
  return html`<div class="browse">
    <div class="bar-of-tools" role="search" ref=${first}>
      <${Field} name="key" label="key" hint="part of a key" value=${place.key} change=${change} wide />
      <${LabelField} classes=${about.classes} value=${place.label} change=${change} />
      <${Field} name="width" label="width" hint="10-200" value=${place.width} change=${change} valid=${isRange} />
      <${Field} name="height" label="height" hint="10-200" value=${place.height} change=${change} valid=${isRange} />
      <label class="check"><input type="checkbox" checked=${Boolean(place.damaged)} onChange=${(event) => change({ damaged: event.target.checked ? 1 : undefined, at: undefined })} />damaged</label>
      ${filtered && html`<button class="small" onClick=${() => change(Object.fromEntries([...FIELDS, "at"].map((name) => [name, undefined])))}>clear</button>`}
      <span class="space"></span>
      <${Progress} found=${found} filtered=${filtered} total=${total} all=${about.records} />
      <button class="small" aria-pressed=${!place.plain} title="draw boxes" onClick=${() => change({ plain: place.plain ? undefined : 1 })}>boxes</button>
      <button class="small" aria-pressed=${Boolean(place.rgb)} title="take three channels to be red, green, blue" onClick=${() => change({ rgb: place.rgb ? undefined : 1 })}>R G B</button>
      <select aria-label="size of the pictures" value=${place.side in SIDES ? place.side : "medium"} onChange=${(event) => change({ side: event.target.value })}>
        ${Object.keys(SIDES).map((name) => html`<option value=${name}>${name}</option>`)}</select>
    </div>
    ${found.error && html`<div class="page"><${Failure} error=${found.error} /></div>`}
    ${found.data?.broken.map((row) => html`<${Finding} row=${row} />`)}
    ${!found.error && total === 0 && !found.stopped && !found.data?.complete && html`<${Waiting} what="none so far, reading on" />`}
    ${!found.error && total === 0 && found.data?.complete && html`<div class="page"><p>${filtered ? "No record fits the filter." : "There is no record in it."}</p></div>`}
    ${!found.error && total > 0 && html`<${Grid} base=${base} filter=${filter} total=${total} side=${side} rgb=${Boolean(place.rgb)} boxes=${!place.plain}
      at=${at} move=${(to) => change({ at: to || undefined })} open=${(record, chosen) => go({ ...place, at: chosen || undefined, record })} />`}
  </div>`;
}

/** How many there are, how far the dataset was read, and the way to stop that. */
function Progress({ found, filtered, total, all }) {
  const { data, stopped, stop, resume } = found;
  const many = (number) => number.toLocaleString("en");
  if (!filtered) return html`<span class="count">${many(all)} record${all === 1 ? "" : "s"}</span>`;
  return html`<span class="count" role="status">${many(total)} of ${many(all)}${data && !data.complete && html` <span class="quiet">(${Math.floor((100 * data.read) / data.of)} % read)</span>`}</span>
    ${data && !data.complete && html`<button class="small" onClick=${stopped ? resume : stop}>${stopped ? "read on" : "stop"}</button>`}`;
}

/** A text that is taken over a moment after the last key. */
function Field({ name, label, hint, value = "", change, valid = () => true, wide, list, meaning = (text) => text }) {
  const [text, setText] = useState(value);
  const [from, setFrom] = useState(value);
  if (from !== value) {
    setFrom(value); // it was changed elsewhere: by the back button, by `clear`
    if (meaning(text) !== value) setText(value);
  }
  useEffect(() => {
    const meant = meaning(text.trim());
    if (meant === value || !(text.trim() === "" || valid(text.trim()))) return undefined;
    const timer = setTimeout(() => change({ [name]: meant || undefined, at: undefined }), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<label class="field ${wide ? "wide" : ""}">${label}
    <input value=${text} placeholder=${hint} spellcheck="false" autocomplete="off" list=${list}
      aria-invalid=${text.trim() !== "" && !valid(text.trim())} onInput=${(event) => setText(event.target.value)} /></label>`;
}

/** Takes a number, a name, or `none`. */
function LabelField({ classes, value, change }) {
  const number = (text) => {
    if (/^-?\d{1,18}$/.test(text) || text === "none" || text === "") return text;
    const named = classes.find((row) => row.name.toLowerCase() === text.toLowerCase());
    return named ? String(named.label) : "";
  };
  return html`<${Field} name="label" label="label" hint="number or name" value=${value} change=${change} valid=${(text) => number(text) !== ""} meaning=${number} list="classes" />
    <datalist id="classes">${classes.slice(0, 1000).map((row) => html`<option value=${row.name}>${row.label}</option>`)}</datalist>`;
}

function isRange(text) {
  return /^(\d{1,9}|\d{1,9}-\d{0,9}|-\d{1,9})$/.test(text);
}
