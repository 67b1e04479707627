// A grid of records, of which only those in sight are asked for: it may have millions.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.js";
import { get } from "./api.js";
import { Failure, count } from "./parts.js";
import { Tall } from "./tall.js";
import { Thumb, classOf } from "./thumb.js";

const CHUNK = 60; // records of one request
const KEPT = 40; // chunks
const LULL = 60; // milliseconds without scrolling after which records are asked for
const SETTLED = 200; // and after which the bar shows where they are
const GAP = 14;
const CAPTION = 44;

/**
 * The records of a filter, in squares of about `side` pixels. `at` is the place of the one that is chosen among them; `move` is told
 * another, `open` the number of a record.
 */
export function Grid({ base, filter, total, side: wished, rgb, boxes, at, move, open }) {
  const window_ = useRef(null);
  const tall = useRef(null);
  tall.current ??= new Tall();
  const [view, setView] = useState({ width: 0, height: 0 });
  const [top, setTop] = useState(0);
  const columns = Math.max(1, Math.round((view.width - GAP) / (wished + GAP)));
  const side = view.width ? Math.floor((view.width - GAP) / columns) - GAP : wished; // no room is left over
  const row = side + CAPTION + GAP;
  const lines = Math.ceil(total / columns);
  tall.current.measure(lines * row + GAP, view.height);
  const first = Math.max(0, Math.floor(top / row)) * columns;
  const last = Math.min(total, (Math.floor((top + view.height) / row) + 1) * columns);
  const { rowAt, error } = useRows(base, filter, first, last, total);

  useLayoutEffect(() => {
    const measure = () => setView({ width: window_.current.clientWidth, height: window_.current.clientHeight });
    const watch = new ResizeObserver(measure);
    watch.observe(window_.current);
    measure();
    return () => watch.disconnect();
  }, []);

  const goTo = (pixel) => {
    window_.current.scrollTop = tall.current.goTo(pixel);
    setTop(tall.current.top);
  };
  // The one that is chosen comes into sight: when the page opens, when it moves, in other columns.
  const line = Math.floor(at / columns);
  useLayoutEffect(() => {
    if (!view.height || at >= total) return;
    const y = line * row;
    if (y < tall.current.top) goTo(y);
    else if (y + row + GAP > tall.current.top + view.height) goTo(y + row + GAP - view.height);
  }, [line, row, columns, view.height > 0]);
  useEffect(() => goTo(line * row), [JSON.stringify(filter)]);

  // Once scrolling rests, the bar shows where it led, and the address what is in sight.
  const rest = useRef(0);
  const settle = () => {
    window_.current.scrollTop = tall.current.goTo(tall.current.top);
    const y = line * row;
    const seen = y + row > tall.current.top && y < tall.current.top + view.height;
    if (!seen) move(Math.min(total - 1, Math.ceil(tall.current.top / row) * columns));
  };
  useEffect(() => () => clearTimeout(rest.current), []);
  useEffect(() => {
    if (document.activeElement === document.body) window_.current.focus({ preventScroll: true });
  }, []);
  const scrolled = (event) => {
    setTop(tall.current.scrolled(event.currentTarget.scrollTop));
    clearTimeout(rest.current);
    rest.current = setTimeout(settle, SETTLED);
  };
  const page = Math.max(1, Math.floor(view.height / row));
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, PageUp: -page * columns, PageDown: page * columns, Home: -total, End: total };
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) move(Math.max(0, Math.min(total - 1, at + steps[event.key])));
    else if (event.key === "Enter" && rowAt(at)) open(rowAt(at).number, at);
    else return;
    event.preventDefault();
  };
  const cells = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  if (error) return html`<div class="page"><${Failure} error=${error} /></div>`;
  return html`<div class="records" ref=${window_} tabindex="0" role="grid" aria-label="records" aria-rowcount=${lines} aria-colcount=${columns}
      aria-activedescendant=${at >= first && at < last ? `record-${at}` : undefined} onScroll=${scrolled} onKeyDown=${pressed}>
    <div style=${{ height: `${tall.current.bar}px` }} role="presentation">
      <div class="window" style=${{ height: `${view.height}px` }} role="presentation">
        ${lineNumbers(first, last, columns).map((number) => html`<div role="row" key=${number} aria-rowindex=${number + 1}>
          ${cells.filter((place) => Math.floor(place / columns) === number).map((place) => html`<${Cell} key=${place} place=${place} row=${rowAt(place)} base=${base}
            x=${GAP + (place % columns) * (side + GAP)} y=${GAP + number * row - Math.round(top)} side=${side} rgb=${rgb} boxes=${boxes}
            chosen=${place === at} column=${place % columns} open=${open} />`)}</div>`)}
      </div>
    </div></div>`;
}

function lineNumbers(first, last, columns) {
  const begin = Math.floor(first / columns);
  return Array.from({ length: Math.max(0, Math.ceil(last / columns) - begin) }, (_, at) => begin + at);
}

function Cell({ place, row, base, x, y, side, rgb, boxes, chosen, column, open }) {
  const style = { transform: `translate(${x}px, ${y}px)`, width: `${side}px` };
  const said = row ? `${row.key}, ${told(row)}` : "loading";
  return html`<div class="record" role="gridcell" id=${`record-${place}`} aria-selected=${chosen} aria-colindex=${column + 1} aria-label=${said}
      style=${style} title=${row?.key} onClick=${() => row && open(row.number, place)}>
    <div class="frame" style=${{ height: `${side}px` }}>${row && html`<${Thumb} key=${row.number} base=${base} row=${row} side=${side} rgb=${rgb} boxes=${boxes} />`}</div>
    <p class="key"><bdi dir="ltr">${row?.key ?? ""}</bdi></p><p class="quiet">${row ? told(row) : ""}</p>
  </div>`;
}

/** Size and label, or boxes, in a few words. */
function told(row) {
  if (row.problem.length) return "cannot be read";
  const size = row.dtype === "uint8" && row.shape.length === 3 ? `${row.size[0]} × ${row.size[1]}` : `${row.dtype} ${row.shape.join(" × ") || "scalar"}`;
  if (row.boxed !== null) return `${size} · ${count(row.boxed)} box${row.boxed === 1 ? "" : "es"}`;
  return row.label === null ? size : `${size} · ${classOf(row)}`;
}

/** What is known of the records from place `first` to `last`: a function of the place, and an error. */
function useRows(base, filter, first, last, total) {
  const key = JSON.stringify([base, filter]);
  const held = useRef({ key, chunks: new Map() });
  if (held.current.key !== key) held.current = { key, chunks: new Map() };
  const { chunks } = held.current;
  const [state, set] = useState({});
  const begin = Math.floor(first / CHUNK);
  const end = Math.ceil(last / CHUNK);
  const wanted = [];
  for (let at = begin; at < end; at += 1) {
    if ((chunks.get(at)?.length ?? -1) < Math.min(CHUNK, total - at * CHUNK)) wanted.push(at);
  }
  const asked = wanted.join(",");
  useEffect(() => {
    if (!wanted.length) return undefined;
    const abort = new AbortController();
    const ask = () => {
      for (const at of wanted) {
        get(`${base}/rows`, { ...filter, from: at * CHUNK, count: CHUNK }, abort.signal).then(
          ({ rows }) => {
            chunks.delete(at);
            chunks.set(at, rows);
            for (const old of [...chunks.keys()].slice(0, Math.max(0, chunks.size - KEPT))) chunks.delete(old);
            set({});
          },
          (error) => error.name !== "AbortError" && set({ key, error }),
        );
      }
    };
    const timer = setTimeout(ask, chunks.size ? LULL : 0);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key, asked]);
  return { rowAt: (place) => chunks.get(Math.floor(place / CHUNK))?.[place % CHUNK], error: state.key === key ? state.error : undefined };
}
