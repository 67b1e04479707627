// The page of a graph: the picture, the panel, the table.

import { html, useCallback, useEffect, useState } from "./vendor/htm-preact.js";
import { NOTHING, href, lookOf, pictureAt } from "./address.js";
import { address, cancel } from "./api.js";
import { useAnswer } from "./asked.js";
import { later } from "./later.js";
import { LookTools, lookKeys } from "./look.js";
import { Failure, Go } from "./parts.js";
import { Picture } from "./picture.js";
import { go } from "./place.js";

const Panel = later(async () => (await import("./panel.js")).Panel);
const LinkPanel = later(async () => (await import("./linkpanel.js")).LinkPanel);
const NodeTable = later(async () => (await import("./table.js")).NodeTable);

export function Graph({ file, place, theme, session }) {
  const base = pictureAt(place);
  const look = lookOf(place);
  const { data: scene, error, waiting } = useAnswer(`${base}/scene`, look);
  const { data: marks } = useAnswer(scene ? `${base}/marks` : null);
  const [table, setTable] = useState(false);
  const item = place.item === undefined ? -1 : Number(place.item);
  const change = useCallback((more) => go({ ...place, ...more }), [place]);
  const toggleTable = () => setTable(!table);
  const drawing = (form) => address(`${base}/drawing.${form}`, { ...look, theme });
  const looks = scene && lookKeys(scene, change);
  useEffect(() => {
    if (scene) Panel.ready().catch(() => undefined); // so that the first click need not wait
  }, [scene]);
  const whole = { file: place.file, page: "graph", picture: place.picture };
  if (error) return html`<div class="page"><${Failure} error=${error} /><p><${Go} to=${whole} href=${href(whole)}>the graph as it opens</${Go}></p></div>`;
  return html`<div class="graph">
    <div class="stage">
      ${scene && html`<${Picture} key=${base} base=${base} scene=${scene} marks=${marks} item=${item} scope=${place.scope} link=${place.link} change=${change}
        colours=${session.colours[theme]} active=${true} keys=${{ t: toggleTable, ...looks }}>
        <${LookTools} scene=${scene} keys=${looks} />
        <button aria-pressed=${table} onClick=${toggleTable} title="the graph as a table (t)">table</button>
        <a class="button" href=${drawing("svg")} download title="save the drawing">SVG</a>
        <a class="button" href=${drawing("png")} download title="save the drawing">PNG</a>
      </${Picture}>`}
      ${scene?.boxes.length === 0 && html`<p class="slow" role="status">this graph has no nodes</p>`}
      ${waiting && html`<${Slow} />`}
      ${table && html`<${NodeTable} base=${base} chosen=${item} choose=${(next) => change({ ...NOTHING, item: next })} total=${file.pictures[place.picture].items} />`}
    </div>
    ${item >= 0 && html`<${Panel} base=${base} place=${place} item=${item} theme=${theme} close=${() => change(NOTHING)} />`}
    ${item < 0 && place.link && html`<${LinkPanel} base=${base} place=${place} close=${() => change(NOTHING)} />`}
  </div>`;
}

/** Says so when an answer takes long, with a way out. */
export function Slow() {
  const [late, set] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => set(true), 700);
    return () => clearTimeout(timer);
  }, []);
  return late && html`<p class="slow" role="status">laying out… <button class="small" onClick=${cancel}>stop</button></p>`;
}
