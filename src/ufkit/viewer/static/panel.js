// The side panel: everything about the chosen item.

import { html } from "./vendor/htm-preact.js";
import { ArrayRow } from "./array.js";
import { useAnswer } from "./asked.js";
import { Dot, Finding, count } from "./parts.js";
import { Choose, SidePanel, ToItem } from "./sidepanel.js";

export function Panel({ base, place, item, theme, close }) {
  const { data, error } = useAnswer(`${base}/item`, { item });
  return html`<${SidePanel} label="the chosen node" close=${close} data=${data} error=${error}>
    <${Item} key=${data?.item} data=${data} base=${base} place=${place} theme=${theme} />
  </${SidePanel}>`;
}

function Item({ data, base, place, theme }) {
  return html`
    <h2><${Dot} category=${data.category} />${data.title}</h2>
    <p class="key name">${data.key}</p>
    ${data.doc && html`<p class="doc">${marked(data.doc)}</p>`}
    ${data.findings.map((row) => html`<${Finding} row=${row} />`)}
    <dl class="facts">
      ${data.value && html`<dt>value</dt><dd>${data.value}</dd>`}
      ${data.macs !== null && html`<dt>work</dt><dd>${count(data.macs)} multiply-accumulates</dd>`}
      ${data.facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}
      ${data.place && html`<dt>in the file</dt><dd>${data.place}</dd>`}
    </dl>
    ${data.fields.length > 0 && html`<h3>Fields</h3>
      <table class="fields"><tbody>
        ${data.fields.map((row) => html`<tr class=${row.given ? "" : "default"}>
          <th scope="row" title=${row.place}>${row.name}<br /><span class="kind">${row.kind}</span></th>
          <td><span class="value">${String(row.value) || "–"}</span>${!row.given && html` <span class="quiet">default</span>`}
            ${row.doc && html`<br /><span class="quiet">${marked(row.doc)}</span>`}</td>
        </tr>`)}
      </tbody></table>`}
    ${data.arrays.length > 0 && html`<h3>Arrays</h3>
      ${data.arrays.map((array, number) => html`<${ArrayRow} base=${base} item=${data.item} number=${number} array=${array} theme=${theme} open=${data.arrays.length === 1} />`)}`}
    ${data.inputs.length > 0 && html`<h3>Inputs</h3>
      <ol class="ends" start="0">${data.inputs.map((row) => html`<li value=${row.slot}>
        ${row.role && html`<span class="role">${row.role}</span> `}<${ToItem} place=${place} row=${row} />
        ${row.label && html`<br /><${Choose} place=${place} choice=${{ link: `${row.item}-${data.item}` }} class="shape" title="the value">${row.label}</${Choose}>`}</li>`)}</ol>`}
    ${data.takers.length > 0 && html`<h3>Taken by</h3>
      <ul class="ends">${data.takers.map((row) => html`<li><${ToItem} place=${place} row=${row} /></li>`)}
        ${data.more > 0 && html`<li class="quiet">and ${data.more.toLocaleString("en")} more</li>`}</ul>`}`;
}

/** Text in which what stands in backticks is code. */
function marked(text) {
  return text.split("`").map((part, at) => (at % 2 ? html`<code>${part}</code>` : part));
}
