// A scene on a canvas, and the keys and pointers that move in it.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";
import { NOTHING, linkName } from "./address.js";
import { get } from "./api.js";
import { centred, fitted, moved, opening, showing, zoomed } from "./camera.js";
import { Prepared, ROUGH, hit, hitFrame, paint } from "./canvas.js";
import { spot, useDragging } from "./dragging.js";
import { Overview } from "./overview.js";
import { neighbour } from "./steps.js";

const READABLE = 0.75; // the scale at which a picture opens, if it does not fit
const STEP = 60; // pixels that an arrow key moves
const NEAR = 4; // pixels from a link to where it is pointed at
const NONE = { box: -1, link: -1 };

/**
 * A scene that can be moved, zoomed and walked through. `marks` are the worst severities by item,
 * where they are known already. `item`, `scope` or `link` is what is chosen; `change` is told
 * what the user wants to be otherwise: { item, scope, link, open }. Only an `active` picture takes
 * keys; `keys` are further ones, by name. The children stand among the tools.
 */
export function Picture({ base, scene, marks, item, scope, link, change, colours, active, keys = {}, children }) {
  const canvas = useRef(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [camera, setCamera] = useState(null);
  const [over, setOver] = useState(NONE);
  const [lit, setLit] = useState(null); // items that stay bright
  const [pathFrom, setPathFrom] = useState(-1);
  const [said, say] = useState("");
  const prepared = useMemo(() => new Prepared(scene), [scene]);
  const boxOf = useMemo(() => new Map(scene.boxes.flatMap((box, at) => box.items.map((one) => [one, at]))), [scene]);
  const scopeAt = scope === undefined ? -1 : scene.boxes.findIndex((box) => box.scope === Number(scope));
  const chosen = scopeAt >= 0 ? scopeAt : boxOf.get(item) ?? boxOf.get(scene.folded[item]) ?? -1;
  const bright = useMemo(() => lit && new Set(lit.map((one) => boxOf.get(one)).filter((at) => at !== undefined)), [lit, boxOf]);

  const linkAt = useMemo(() => (link ? scene.links.findIndex((one) => linkName(scene, one) === link) : -1), [scene, link]);
  const marked = useMemo(() => scene.boxes.map((box) => worst(box.items, marks)), [scene, marks]);

  useLayoutEffect(() => {
    const measure = () => setSize({ width: canvas.current.clientWidth, height: canvas.current.clientHeight });
    const watch = new ResizeObserver(measure);
    watch.observe(canvas.current);
    measure();
    return () => watch.disconnect();
  }, []);

  // A new scene opens whole, or about what was chosen; a choice made elsewhere comes into sight.
  const focus = linkAt >= 0 ? scene.links[linkAt].from : chosen;
  const last = useRef({ scene: null, focus: -1 });
  useLayoutEffect(() => {
    if (!size.width) return;
    const before = last.current;
    last.current = { scene, focus };
    const elsewhere = linkAt < 0 && before.focus !== focus; // a link is chosen where it is seen
    if (focus >= 0 && (before.scene !== scene || elsewhere)) {
      const start = camera ?? opening(scene, size.width, size.height, READABLE);
      setCamera(showing(start, scene.boxes[focus], size.width, size.height, READABLE));
    } else if (before.scene !== scene) {
      setCamera(opening(scene, size.width, size.height, READABLE));
    }
  }, [scene, focus, size]);

  useLayoutEffect(() => {
    if (!camera) return;
    paint(canvas.current, prepared, camera, colours, { chosen: { box: chosen, link: linkAt }, over, lit: bright, marked });
    if (canvas.current.dataset.painted) return;
    canvas.current.dataset.painted = "yes"; // what tests and benchmarks wait for
    performance.mark("ufkit-painted");
  }, [prepared, camera, colours, chosen, linkAt, over, bright, marked, size]);

  useEffect(() => {
    if (chosen >= 0) say(scene.boxes[chosen].spoken);
  }, [chosen, scene]);

  const toggle = (which) => {
    const open = new Set(scene.open);
    if (open.has(which)) open.delete(which);
    else open.add(which);
    change({ ...NOTHING, open: [...open].join(","), scope: open.has(which) ? undefined : which });
  };
  const highlight = async () => {
    if (lit) {
      setLit(null);
      return;
    }
    if (item < 0) return;
    const found = await get(`${base}/trace`, { item });
    setLit([item, ...found.before, ...found.behind]);
    say(`${found.before.length} before, ${found.behind.length} behind`);
  };
  const path = async (to) => {
    const found = await get(`${base}/trace`, { item: pathFrom, to });
    setPathFrom(-1);
    setLit(found.items.length ? found.items : null);
    say(found.items.length ? `a path of ${found.items.length} nodes` : "neither leads to the other");
  };
  const select = (at) => {
    if (at < 0) {
      setLit(null);
      change(NOTHING);
      return;
    }
    const box = scene.boxes[at];
    if (pathFrom >= 0 && box.items.length) path(box.items[0]);
    else if (box.scope !== null) change({ ...NOTHING, scope: box.scope });
    else change({ ...NOTHING, item: box.items[0] });
  };
  const pixel = (event) => {
    const at = canvas.current.getBoundingClientRect();
    return [event.clientX - at.left, event.clientY - at.top];
  };
  const pointed = (x, y) => {
    const box = hit(scene, x, y);
    return { box, link: box < 0 && camera.scale >= ROUGH ? prepared.linkAt(x, y, NEAR / camera.scale) : -1 };
  };
  const dragging = useDragging(canvas, camera, setCamera, {
    hover: (x, y) => {
      const now = pointed(x, y);
      setOver((old) => (old.box === now.box && old.link === now.link ? old : now));
    },
    press: (x, y) => {
      const at = pointed(x, y);
      const frame = at.box < 0 ? hitFrame(scene, x, y) : -1;
      if (frame >= 0) toggle(scene.frames[frame].scope);
      else if (at.link >= 0) change({ ...NOTHING, link: linkName(scene, scene.links[at.link]) });
      else select(at.box);
    },
  });
  const pointers = {
    ...dragging,
    onDblClick: (event) => {
      const box = scene.boxes[hit(scene, ...spot(canvas, camera, event))];
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
  const group = () => change({ open: scene.flat ? undefined : "flat" });
  const closeAround = () => {
    const around = chosen >= 0 ? scene.boxes[chosen].around : null;
    if (around !== null) toggle(around);
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
    g: group, a: highlight, p: startPath, Backspace: closeAround, ...keys,
    Enter: () => chosen >= 0 && scene.boxes[chosen].scope !== null && toggle(scene.boxes[chosen].scope),
    Escape: () => (pathFrom >= 0 ? setPathFrom(-1) : select(-1)),
  };
  useLayoutEffect(() => { // not later: a key that comes at once is to start from where this one led
    const pressed = (event) => {
      if (!active) return;
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

  const about = `graph of ${scene.boxes.length} boxes and ${scene.links.length} links; press ? for the keys, t for a table`;
  return html`
    <canvas ref=${canvas} tabindex="0" role="img" aria-label=${about} class=${over.box >= 0 || over.link >= 0 ? "over" : pathFrom >= 0 ? "aim" : ""} ...${pointers}></canvas>
    <p class="sr" role="status" aria-live="polite">${said}</p>
    <div class="foot"><div class="tools" role="toolbar" aria-label="view">
      <button onClick=${() => zoom(1.25)} title="zoom in (+)" aria-label="zoom in">+</button>
      <button onClick=${() => zoom(0.8)} title="zoom out (−)" aria-label="zoom out">−</button>
      <button onClick=${actions.f} title="fit (f)">fit</button>
      ${scene.scopes > 0 && html`<button aria-pressed=${!scene.flat} onClick=${group} title="group by scopes (g)">groups</button>`}
      <button aria-pressed=${lit !== null} disabled=${item < 0 && !lit} onClick=${highlight} title="what it depends on, and what depends on it (a)">trace</button>
      <button aria-pressed=${pathFrom >= 0} disabled=${item < 0} onClick=${startPath} title="shortest path to another node (p)">path</button>
      ${children}
    </div>
    ${camera && html`<${Overview} scene=${scene} camera=${camera} size=${size} colours=${colours}
      move=${(x, y) => setCamera((old) => centred(scene, old.scale, x, y, size.width, size.height))} />`}</div>
    ${pathFrom >= 0 && html`<p class="slow">choose where the path ends (Esc: none)</p>`}`;
}

/** The worst severity that was found about any of some items, or undefined. */
function worst(items, marks) {
  const found = marks ? items.map((item) => marks[item]) : [];
  return ["error", "warning", "note"].find((severity) => found.includes(severity));
}
