// Small pieces that several pages are made of.

import { html } from "./vendor/htm-preact.js";
import { go } from "./place.js";

const UNITS = ["", " k", " M", " G", " T", " P"];

/** A count as people say it: 1,234 or 3.1 M. */
export function count(value) {
  if (value < 100_000) return value.toLocaleString("en");
  let unit = 0;
  let shown = value;
  while (shown >= 999.5 && unit < UNITS.length - 1) {
    shown /= 1000;
    unit += 1;
  }
  return `${shown.toPrecision(3)}${UNITS[unit]}`;
}

export function bytes(value) {
  if (value < 1024) return `${value} B`;
  let shown = value;
  let unit = "B";
  for (unit of ["KiB", "MiB", "GiB", "TiB"]) {
    shown /= 1024;
    if (shown < 1024) break;
  }
  return `${shown.toFixed(1)} ${unit}`;
}

/** A number of a tensor: at most six digits. */
export function real(value) {
  if (value === null || value === undefined) return "none";
  return Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value) : value.toPrecision(6).replace(/\.0+(?=e|$)|(\.\d*[1-9])0+(?=e|$)/, "$1");
}

export function shape(sizes) {
  if (sizes === null || sizes === undefined) return "?";
  return sizes.length ? sizes.join(" × ") : "scalar";
}

/** A link to another place in the viewer: a real one, so that it opens in a new tab too. */
export function Go({ to, href, children, ...rest }) {
  const follow = (event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
  };
  return html`<a href=${href} onClick=${follow} ...${rest}>${children}</a>`;
}

/** What came instead of an answer. */
export function Failure({ error }) {
  const rows = error.diagnostics ?? [{ severity: "error", code: "", message: String(error), hint: "", place: "" }];
  return html`<div class="failure" role="alert">${rows.map((row) => html`<${Finding} row=${row} />`)}</div>`;
}

/** One finding: severity, code, message, place, hint. */
export function Finding({ row, children }) {
  return html`<div class="finding ${row.severity}">
    <p><span class="severity">${row.severity}</span> ${row.code && html`<code>${row.code}</code>`} ${row.message}</p>
    ${row.place && html`<p class="quiet">at ${row.place}</p>`}
    ${row.hint && html`<p class="hint">${row.hint}</p>`}
    ${children}
  </div>`;
}

export function Waiting({ what = "loading" }) {
  return html`<p class="waiting" role="status">${what}…</p>`;
}

/** The colour of a category of operations. */
export function Dot({ category }) {
  return html`<span class="dot" style=${{ background: `var(--category-${category})` }}></span>`;
}

/** A bar whose length is a share of the greatest of its column. */
export function Bar({ value, most }) {
  const width = most > 0 ? Math.max(value > 0 ? 1 : 0, Math.round((100 * value) / most)) : 0;
  return html`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width=${width} height="8" rx="1"></rect></svg>`;
}
