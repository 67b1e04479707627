// The frame of the page: files, pages, search, themes, and the page that the address names.

import { html, render, useEffect, useErrorBoundary, useState } from "./vendor/htm-preact.js";
import { href, pagesOf, settled } from "./address.js";
import { get } from "./api.js";
import { Graph } from "./graph.js";
import { typing } from "./keys.js";
import { later } from "./later.js";
import { Failure, Go, Waiting } from "./parts.js";
import { go, usePlace } from "./place.js";
import { useTheme } from "./theme.js";

const ICON = new URL("./icon.svg", import.meta.url).href;

// Each page loads its modules when it is first gone to; a graph, which most begin with, at once.
const shown = (load) => later(load, Waiting);
const PAGES = {
  graph: { title: "Graph", show: Graph },
  summary: { title: "Summary", show: shown(async () => (await import("./summary.js")).Summary) },
  check: { title: "Check", show: shown(async () => (await import("./checks.js")).Checks) },
  records: { title: "Records", show: shown(async () => (await import("./records.js")).Records) },
  counts: { title: "Summary", show: shown(async () => (await import("./counts.js")).Counts) },
  faults: { title: "Check", show: shown(async () => (await import("./faults.js")).Faults) },
  compare: { title: "Compare", show: shown(async () => (await import("./compare.js")).Compare) },
  quant: { title: "Quantisation", show: shown(async () => (await import("./quant.js")).Quantisation) },
  thresholds: { title: "Thresholds", show: shown(async () => (await import("./thresholds.js")).Thresholds) },
};
const Search = later(async () => (await import("./search.js")).Search);
const Help = later(async () => (await import("./help.js")).Help);

function App({ session }) {
  const place = usePlace();
  const [theme, turn] = useTheme();
  const [dialog, setDialog] = useState("");
  const here = settled(session, place);
  const { page } = here;
  const file = session.files[here.file];
  const pages = pagesOf(session, file);
  useEffect(() => {
    document.title = `${file.name} – ufkit`;
    if (place.page !== page || place.file !== file.number) go(here, { replace: true });
  });
  useEffect(() => {
    const { style } = document.documentElement;
    for (const [name, { head }] of Object.entries(session.colours[theme].categories)) style.setProperty(`--category-${name}`, head);
  }, [session, theme]);
  useEffect(() => {
    const pressed = (event) => {
      const search = (event.key === "/" && !typing(event)) || ((event.ctrlKey || event.metaKey) && "kf".includes(event.key));
      if (search && page === "graph") setDialog("search");
      else if (event.key === "?" && !typing(event)) setDialog("help");
      else if (event.key === "Escape" && dialog) setDialog("");
      else if (event.key === "d" && !typing(event) && plain(event)) turn();
      else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    addEventListener("keydown", pressed, true);
    return () => removeEventListener("keydown", pressed, true);
  }, [dialog, page, turn]);
  const close = () => setDialog("");
  return html`
    <header>
      <span class="brand" aria-hidden="true"><img src=${ICON} alt="" width="20" height="20" /></span>
      <nav class="files" aria-label="files">${session.files.map((other) => {
        const to = { file: other.number, page: other.pages[0], picture: 0 };
        return html`<${Go} to=${to} href=${href(to)} aria-current=${other === file && !session.pages.includes(page) ? "page" : undefined}
          title=${[other.description, other.bytes].filter(Boolean).join(", ")}>${other.name}</${Go}>`;
      })}</nav>
      <nav class="pages" aria-label="pages">${pages.map((name) => {
        const to = { file: file.number, page: name, picture: here.picture };
        return html`<${Go} to=${to} href=${href(to)} aria-current=${name === page ? "page" : undefined}>${PAGES[name].title}</${Go}>`;
      })}</nav>
      ${file.pictures.length > 1 && html`<select aria-label="graph" value=${here.picture}
        onChange=${(event) => go({ file: file.number, page, picture: Number(event.target.value) })}>
        ${file.pictures.map((picture, at) => html`<option value=${at}>${picture.name || `graph ${at}`} (${picture.items})</option>`)}
      </select>`}
      <span class="space"></span>
      ${page === "graph" && html`<button onClick=${() => setDialog("search")} title="search (/)">Search</button>`}
      <button onClick=${turn} title="dark or light (d)" aria-label="dark or light">${theme === "dark" ? "☀" : "☾"}</button>
      <button onClick=${() => setDialog("help")} title="keys (?)" aria-label="keys">?</button>
    </header>
    <main><${Guarded} key=${`${here.file} ${page} ${here.picture}`}>
      <${PAGES[page].show} file=${file} place=${here} theme=${theme} session=${session} />
    </${Guarded}></main>
    ${dialog && html`<${Guarded} key=${dialog}>
      ${dialog === "search" ? html`<${Search} file=${file} place=${here} close=${close} />` : html`<${Help} page=${page} close=${close} />`}
    </${Guarded}>`}`;
}

/** A page, or what went wrong in it: never a blank one. */
function Guarded({ children }) {
  const [error] = useErrorBoundary();
  return error ? html`<div class="page"><${Failure} error=${error} /></div>` : children;
}

function plain(event) {
  return !(event.ctrlKey || event.metaKey || event.altKey);
}

function Start() {
  const [state, set] = useState({});
  useEffect(() => {
    get("session").then((session) => set({ session }), (error) => set({ error }));
  }, []);
  if (state.error) return html`<main><div class="page"><${Failure} error=${state.error} /></div></main>`;
  return state.session ? html`<${App} session=${state.session} />` : html`<main><${Waiting} /></main>`;
}

render(html`<${Start} />`, document.getElementById("app"));
