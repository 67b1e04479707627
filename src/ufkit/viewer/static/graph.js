// The page of the graph: the picture, the panel, and the keys that move in it.

import { html, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";
import { address, cancel } from "./api.js";
import { useAnswer } from "./asked.js";
import { centred, fitted, moved, opening, showing, zoomed } from "./camera.js";
import { Prepared, hit, hitFrame, paint } from "./canvas.js";
import { Overview } from "./overview.js";
import { Panel } from "./panel.js";
import { Failure } from "./parts.js";
import { go } from "./place.js";
import { neighbour } from "./steps.js";
import { NodeTable } from "./table.js";

const READABLE = 0.6; // the scale at which a picture opens, if it does not fit
const STEP = 60; // pixels that an arrow key moves

export function Graph({ file, place, theme, session }) {
  const base = `files/${file.number}/pictures/${place.picture}`;
  const { data: scene, error, waiting } = useAnswer(`${base}/scene`, { open: place.open });
  const [table, setTable] = useState(false);
  const item = place.item === undefined ? -1 : Number(place.item);
  const choose = useCallback((next, more = {}) => go({ ...place, item: next < 0 ? undefined : next, ...more }), [place]);
  if (error) return html`<div class="page"><${Failure} error=${error} /></div>`;
  return html`<div class="graph">
    <div class="stage">
      ${scene && scene.boxes.length > 0 && html`<${Picture} key=${base} base=${base} scene=${scene} place=${place} item=${item} choose=${choose}
        colours=${session.colours[theme]} table=${table} toggleTable=${() => setTable(!table)} theme=${theme} />`}
      ${scene && scene.boxes.length === 0 && html`<div class="page"><p>The graph has no nodes.</p></div>`}
      ${waiting && html`<${Slow} />`}
      ${table && html`<${NodeTable} base=${base} chosen=${item} choose=${choose} total=${file.pictures[place.picture].items} />`}
    </div>
    ${item >= 0 && html`<${Panel} base=${base} place=${place} item=${item} theme=${theme} close=${() => choose(-1)} />`}
  </div>`;
}

/** Says so when an answer takes long, with a way out. */
function Slow() {
  const [late, set] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => set(true), 700);
    return () => clearTimeout(timer);
  }, []);
  return late && html`<p class="slow" role="status">laying out… <button class="small" onClick=${cancel}>stop</button></p>`;
}

function Picture({ base, scene, place, item, choose, colours, table, toggleTable, theme }) {
  const canvas = useRef(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [camera, setCamera] = useState(null);
  const [over, setOver] = useState(-1);
  const [lit, setLit] = useState(null); // items that stay bright
  const [pathFrom, setPathFrom] = useState(-1);
  const [said, say] = useState("");
  const prepared = useMemo(() => new Prepared(scene), [scene]);
  const boxOf = useMemo(() => new Map(scene.boxes.flatMap((box, at) => box.items.map((one) => [one, at]))), [scene]);
  const scopeAt = place.scope === undefined ? -1 : scene.boxes.findIndex((box) => box.scope === Number(place.scope));
  const chosen = scopeAt >= 0 ? scopeAt : boxOf.get(item) ?? boxOf.get(scene.folded[item]) ?? -1;
  const bright = useMemo(() => lit && new Set(lit.map((one) => boxOf.get(one)).filter((at) => at !== undefined)), [lit, boxOf]);

  useLayoutEffect(() => {
    const measure = () => setSize({ width: canvas.current.clientWidth, height: canvas.current.clientHeight });
    const watch = new ResizeObserver(measure);
    watch.observe(canvas.current);
    measure();
    return () => watch.disconnect();
  }, []);

  // A new scene opens whole, or about the box that was chosen; a choice made elsewhere comes into sight.
  const last = useRef({ scene: null, chosen: -1 });
  useLayoutEffect(() => {
    if (!size.width) return;
    const before = last.current;
    last.current = { scene, chosen };
    if (chosen >= 0 && (before.scene !== scene || before.chosen !== chosen)) {
      const start = camera ?? opening(scene, size.width, size.height, READABLE);
      setCamera(showing(start, scene.boxes[chosen], size.width, size.height, READABLE));
    } else if (before.scene !== scene) {
      setCamera(opening(scene, size.width, size.height, READABLE));
    }
  }, [scene, chosen, size]);

  useLayoutEffect(() => {
    if (!camera) return;
    paint(canvas.current, prepared, camera, colours, { chosen, over, lit: bright });
    if (!performance.getEntriesByName("ufkit-painted").length) performance.mark("ufkit-painted");
  }, [prepared, camera, colours, chosen, over, bright, size]);

  useEffect(() => {
    if (chosen >= 0) say(scene.boxes[chosen].spoken);
  }, [chosen, scene]);

  const setOpen = (open, more = {}) => go({ ...place, open, ...more });
  const toggle = (scope) => {
    const open = new Set(scene.open);
    if (open.has(scope)) open.delete(scope);
    else open.add(scope);
    setOpen([...open].join(","), { scope: open.has(scope) ? undefined : scope, item: undefined });
  };
  const highlight = async () => {
    if (lit) {
      setLit(null);
      return;
    }
    if (item < 0) return;
    const found = await fetch(address(`${base}/trace`, { item })).then((answer) => answer.json());
    setLit([item, ...found.before, ...found.behind]);
    say(`${found.before.length} before, ${found.behind.length} behind`);
  };
  const path = async (to) => {
    const found = await fetch(address(`${base}/trace`, { item: pathFrom, to })).then((answer) => answer.json());
    setPathFrom(-1);
    setLit(found.items.length ? found.items : null);
    say(found.items.length ? `a path of ${found.items.length} nodes` : "neither leads to the other");
  };
  const select = (at) => {
    if (at < 0) {
      setLit(null);
      choose(-1, { scope: undefined });
      return;
    }
    const box = scene.boxes[at];
    if (pathFrom >= 0 && box.items.length) path(box.items[0]);
    else if (box.scope !== null) choose(-1, { scope: box.scope });
    else choose(box.items[0], { scope: undefined });
  };
  const pixel = (event) => {
    const at = canvas.current.getBoundingClientRect();
    return [event.clientX - at.left, event.clientY - at.top];
  };
  const point = (event) => {
    const [x, y] = pixel(event);
    return [camera.x + x / camera.scale, camera.y + y / camera.scale];
  };

  const drag = useRef(null);
  const pointers = {
    onPointerDown: (event) => {
      if (event.button > 1) return;
      drag.current = { x: event.clientX, y: event.clientY, far: false };
      canvas.current.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event) => {
      const from = drag.current;
      if (!from) {
        if (camera) setOver(hit(scene, ...point(event)));
        return;
      }
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      if (!from.far && Math.hypot(dx, dy) < 4) return;
      drag.current = { x: event.clientX, y: event.clientY, far: true };
      setCamera((old) => moved(old, dx, dy));
    },
    onPointerUp: (event) => {
      const from = drag.current;
      drag.current = null;
      if (!from || from.far) return;
      const at = hit(scene, ...point(event));
      const frame = at < 0 ? hitFrame(scene, ...point(event)) : -1;
      if (frame >= 0) toggle(scene.frames[frame].scope);
      else select(at);
    },
    onPointerCancel: () => { drag.current = null; },
    onDblClick: (event) => {
      const box = scene.boxes[hit(scene, ...point(event))];
      if (box?.scope !== null && box !== undefined) toggle(box.scope);
    },
  };
  useEffect(() => {
    const wheel = (event) => {
      event.preventDefault();
      const zooming = event.ctrlKey || event.metaKey;
      const unit = event.deltaMode === 1 ? 16 : 1;
      setCamera((old) => old && (zooming
        ? zoomed(old, Math.exp(-event.deltaY * unit * 0.01), ...pixel(event))
        : moved(old, -event.deltaX * unit, -event.deltaY * unit)));
    };
    const node = canvas.current;
    node.addEventListener("wheel", wheel, { passive: false });
    return () => node.removeEventListener("wheel", wheel);
  }, []);

  const zoom = (factor) => setCamera((old) => zoomed(old, factor, size.width / 2, size.height / 2));
  const group = () => setOpen(scene.flat ? undefined : "flat");
  const closeAround = () => {
    const scope = chosen >= 0 ? scene.boxes[chosen].around : null;
    if (scope !== null) toggle(scope);
  };
  const startPath = () => {
    if (item < 0) return;
    setPathFrom(item);
    say("shortest path: choose where to");
  };
  const actions = {
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8),
    0: () => setCamera((old) => zoomed(old, 1 / old.scale, size.width / 2, size.height / 2)),
    f: () => setCamera(fitted(scene, size.width, size.height)),
    g: group, a: highlight, p: startPath, t: toggleTable, Backspace: closeAround,
    Enter: () => chosen >= 0 && scene.boxes[chosen].scope !== null && toggle(scene.boxes[chosen].scope),
    Escape: () => { setPathFrom(-1); select(-1); },
  };
  useEffect(() => {
    const pressed = (event) => {
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || document.querySelector("dialog[open]")) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const arrow = event.key.startsWith("Arrow") && event.key.slice(5).toLowerCase();
      if (arrow && event.shiftKey) {
        const [dx, dy] = { left: [STEP, 0], right: [-STEP, 0], up: [0, STEP], down: [0, -STEP] }[arrow];
        setCamera((old) => moved(old, dx, dy));
      } else if (arrow) {
        select(neighbour(scene, chosen, arrow));
      } else if (event.key === "Enter" && event.target.tagName === "BUTTON") {
        return;
      } else if (Object.hasOwn(actions, event.key)) {
        actions[event.key]();
      } else return;
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });

  const drawing = (form) => address(`${base}/drawing.${form}`, { open: place.open, theme });
  const about = `graph of ${scene.boxes.length} boxes and ${scene.links.length} links; press ? for the keys, t for a table`;
  return html`
    <canvas ref=${canvas} tabindex="0" role="img" aria-label=${about} class=${over >= 0 ? "over" : pathFrom >= 0 ? "aim" : ""} ...${pointers}></canvas>
    <p class="sr" role="status" aria-live="polite">${said}</p>
    <div class="tools" role="toolbar" aria-label="view">
      <button onClick=${() => zoom(1.25)} title="zoom in (+)" aria-label="zoom in">+</button>
      <button onClick=${() => zoom(0.8)} title="zoom out (−)" aria-label="zoom out">−</button>
      <button onClick=${actions.f} title="fit (f)">fit</button>
      ${scene.scopes > 0 && html`<button aria-pressed=${!scene.flat} onClick=${group} title="group by scopes (g)">groups</button>`}
      <button aria-pressed=${lit !== null} disabled=${item < 0 && !lit} onClick=${highlight} title="what it depends on, and what depends on it (a)">trace</button>
      <button aria-pressed=${pathFrom >= 0} disabled=${item < 0} onClick=${startPath} title="shortest path to another node (p)">path</button>
      <button aria-pressed=${table} onClick=${toggleTable} title="the graph as a table (t)">table</button>
      <a class="button" href=${drawing("svg")} download title="save the drawing">SVG</a>
      <a class="button" href=${drawing("png")} download title="save the drawing">PNG</a>
    </div>
    ${pathFrom >= 0 && html`<p class="slow">choose where the path ends (Esc: none)</p>`}
    ${camera && html`<${Overview} scene=${scene} camera=${camera} size=${size} colours=${colours}
      move=${(x, y) => setCamera((old) => centred(scene, old.scale, x, y, size.width, size.height))} />`}`;
}
