// The page of findings: what `ufkit check` says, each a way to the node that it is about.

import { html, useState } from "./vendor/htm-preact.js";
import { href } from "./address.js";
import { useAnswer } from "./asked.js";
import { Failure, Finding, Go, Waiting } from "./parts.js";

const SEVERITIES = ["error", "warning", "note"];

export function Checks({ file, place }) {
  const { data, error } = useAnswer(`files/${file.number}/findings`);
  const [hidden, setHidden] = useState([]);
  if (error) return html`<${Failure} error=${error} />`;
  if (!data) return html`<${Waiting} what="checking" />`;
  const toggle = (name) => setHidden(hidden.includes(name) ? hidden.filter((other) => other !== name) : [...hidden, name]);
  const shown = data.rows.filter((row) => !hidden.includes(row.severity));
  return html`<div class="page checks">
    <h1>${data.total === 0 ? "No findings" : `${data.total.toLocaleString("en")} ${data.total === 1 ? "finding" : "findings"}`}</h1>
    ${data.total > 0 && html`<p class="filters">${SEVERITIES.map((name) => {
      const many = data.rows.filter((row) => row.severity === name).length;
      return many > 0 && html`<button aria-pressed=${!hidden.includes(name)} class="small ${name}" onClick=${() => toggle(name)}>${many} ${name}${many === 1 ? "" : "s"}</button>`;
    })}</p>`}
    ${data.extent ? html`<p class="quiet">${data.extent}</p>` : data.total === 0 && html`<p>Nothing in this file gives reason for doubt.</p>`}
    ${shown.map((row) => html`<${Finding} row=${row}>
      ${row.at && html`<p><${ToNode} file=${file} at=${row.at} place=${place} /></p>`}
      ${row.why && html`<details><summary>${row.title}</summary><p>${row.why}</p></details>`}
    </${Finding}>`)}
    ${data.total > data.rows.length && html`<p class="quiet">The first ${data.rows.length.toLocaleString("en")} are shown; ufkit check prints all.</p>`}
  </div>`;
}

function ToNode({ file, at: [picture, item] }) {
  const to = { file: file.number, page: "graph", picture, item };
  return html`<${Go} to=${to} href=${href(to)}>show it in the graph</${Go}>`;
}
