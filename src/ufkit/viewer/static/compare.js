// Two models side by side: the list of what differs, both pictures, and plots of weights that differ.

import { html, useCallback, useMemo, useState } from "./vendor/htm-preact.js";
import { NOTHING, lookOf } from "./address.js";
import { useAnswer } from "./asked.js";
import { Slow } from "./graph.js";
import { LookTools, lookKeys } from "./look.js";
import { Failure, Finding, Waiting, real } from "./parts.js";
import { Picture } from "./picture.js";
import { go } from "./place.js";
import { Plot, bars, histogram, overlaid } from "./plots.js";

const KINDS = { file: "the file", removed: "only in a", added: "only in b", renamed: "renamed", changed: "changed", weights: "weights" };

export function Compare({ place, theme, session }) {
  const { data, error } = useAnswer("pair");
  const { data: joined } = useAnswer("pair/partners", { picture: place.picture });
  const [active, setActive] = useState(0);
  const back = useMemo(() => new Map(joined?.partners.flatMap((b, a) => (b >= 0 ? [[b, a]] : []))), [joined]);
  const partner = (side, item) => (side === 0 ? joined?.partners[item] : back.get(item));
  const change = (side) => (more) => {
    const own = side === 0 ? more : renamed(more);
    const found = more.item === undefined ? undefined : partner(side, more.item);
    const other = found === undefined || found < 0 ? undefined : found;
    const counterpart = { ...NOTHING, item: other };
    go({ ...place, ...own, ...(side === 0 ? renamed(counterpart) : counterpart) });
  };
  const look = (more) => go({ ...place, ...more }); // of both sides
  const toRow = (row, at) => go({ ...place, ...NOTHING, ...renamed(NOTHING), row: at, item: row.a ?? undefined, itemB: row.b ?? undefined });
  if (error) return html`<div class="page"><${Failure} error=${error} /></div>`;
  if (!data) return html`<${Waiting} what="comparing" />`;
  const row = data.rows?.[Number(place.row)];
  return html`<div class="graph compare">
    <aside class="differences" aria-label="what differs">
      ${data.failed ? data.failed.map((found) => html`<${Finding} row=${found} />`) : html`
        <h2>${data.same ? "No difference" : `${data.rows.length.toLocaleString("en")} difference${data.rows.length === 1 ? "" : "s"}`}</h2>
        <p class="quiet">${data.nodes.toLocaleString("en")} nodes in both, ${data.compared.toLocaleString("en")} weights compared</p>
        ${data.notes.map((found) => html`<${Finding} row=${found} />`)}
        <${Rows} rows=${data.rows} chosen=${Number(place.row)} choose=${toRow} />
        ${row?.kind === "weights" && row.distance && html`<${WeightPlots} key=${row.number} row=${row} theme=${theme} />`}`}
    </aside>
    ${[0, 1].map((side) => html`<${Side} key=${side} side=${side} place=${place} file=${session.files[side]} colours=${session.colours[theme]}
      active=${active === side} activate=${() => setActive(side)} change=${change(side)} look=${look} />`)}
  </div>`;
}

/** What a picture of b wants to be otherwise, under the names that the address has for b. */
function renamed(more) {
  return Object.fromEntries(Object.entries(more).map(([name, value]) => [`${name}B`, value]));
}

function Side({ side, place, file, colours, active, activate, change, look }) {
  const suffix = side === 0 ? "" : "B";
  const own = { open: place[`open${suffix}`], item: place[`item${suffix}`], scope: place[`scope${suffix}`], link: place[`link${suffix}`] };
  const picture = Math.min(place.picture, file.pictures.length - 1);
  const { data: scene, error, waiting } = useAnswer(`pair/${side}/pictures/${picture}/scene`, { ...lookOf(place), open: own.open });
  const looks = scene && lookKeys(scene, look);
  return html`<section class="stage side" aria-label=${`${"ab"[side]}: ${file.name}`} onPointerDownCapture=${activate} onFocusCapture=${activate}>
    <h2 class=${active ? "active" : ""}><span class="letter">${"ab"[side]}</span> ${file.name}</h2>
    ${error && html`<div class="page"><${Failure} error=${error} /></div>`}
    ${scene && html`<${Picture} base=${`files/${side}/pictures/${picture}`} scene=${scene} item=${own.item === undefined ? -1 : Number(own.item)}
      scope=${own.scope} link=${own.link} change=${change} colours=${colours} active=${active} keys=${looks}><${LookTools} scene=${scene} keys=${looks} /></${Picture}>`}
    ${waiting && html`<${Slow} />`}
  </section>`;
}

const SHOWN = 400; // rows that are in the page at a time

function Rows({ rows, chosen, choose }) {
  const [kind, setKind] = useState("");
  const [many, setMany] = useState(SHOWN);
  const kinds = [...new Set(rows.map((row) => row.kind))];
  const shown = rows.map((row, at) => [row, at]).filter(([row]) => !kind || row.kind === kind);
  return html`
    ${kinds.length > 1 && html`<p class="filters">${kinds.map((name) => html`<button class="small" aria-pressed=${kind === name}
      onClick=${() => setKind(kind === name ? "" : name)}>${KINDS[name]}: ${rows.filter((row) => row.kind === name).length}</button>`)}</p>`}
    <ol class="differences">${shown.slice(0, many).map(([row, at]) => html`<li class=${row.kind} aria-current=${at === chosen ? "true" : undefined}>
      <button onClick=${() => choose(row, at)}><span class="tag">${KINDS[row.kind]}</span> <span class="key">${row.key}</span>
        ${row.to && html` → <span class="key">${row.to}</span>`}
        ${row.operation && html` <span class="quiet">${row.operation}</span>`}
        ${row.distance && html`<br /><span class="quiet">${row.distance.different.toLocaleString("en")} of ${row.distance.elements.toLocaleString("en")} differ, by ${amount(row.distance.max_abs)} at most (${amount(row.distance.relative)} of the largest)</span>`}
        ${row.kind === "weights" && row.types[0] !== row.types[1] && html`<br /><span class="quiet">${row.types[0]} → ${row.types[1]}</span>`}
        ${row.changes?.map((change) => html`<br /><span class="change"><span class="role">${change.name}</span> <del>${value(change.a)}</del> <ins>${value(change.b)}</ins></span>`)}
      </button></li>`)}</ol>
    ${shown.length > many && html`<button onClick=${() => setMany(many + SHOWN)}>show more</button>`}`;
}

function amount(number) {
  return typeof number === "number" ? real(number) : number;
}

function value(of) {
  if (of === undefined) return "absent";
  return Array.isArray(of) ? of.join(", ") : String(of);
}

function WeightPlots({ row, theme }) {
  const { data, error } = useAnswer("pair/weights", { number: row.number });
  const both = useMemo(() => data && overlaid(data.edges, data.counts), [data]);
  const apart = useMemo(() => data && histogram(data.difference.edges, data.difference.counts, { logarithmic: true }), [data]);
  const channels = useMemo(() => data && bars(data.channels), [data]);
  if (error) return html`<${Failure} error=${error} />`;
  if (!data) return html`<${Waiting} what="reading" />`;
  return html`<h3 class="key">${row.key}</h3>
    <h4>elements of a and b</h4><${Plot} make=${both} theme=${theme} label="histograms of the elements of a and of b" />
    <h4>b − a, largest ${real(data.difference.greatest)}, root mean square ${real(data.difference.root_mean_square)}${data.difference.not_finite > 0 && html`, <span class="bad">${data.difference.not_finite.toLocaleString("en")} not finite left out</span>`}</h4>
    <${Plot} make=${apart} theme=${theme} label="histogram of the differences" />
    ${data.channels.length > 1 && html`<h4>largest difference by output channel</h4><${Plot} make=${channels} theme=${theme} label="largest difference by output channel" />`}`;
}
