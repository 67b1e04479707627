// The frame of the page: files, pages, search, themes, and the page that the address names.

import { html, render, useEffect, useErrorBoundary, useState } from "./vendor/htm-preact.js";
import { get } from "./api.js";
import { Checks } from "./checks.js";
import { Compare } from "./compare.js";
import { Counts } from "./counts.js";
import { Faults } from "./faults.js";
import { Graph } from "./graph.js";
import { Help } from "./help.js";
import { typing } from "./keys.js";
import { Quantisation } from "./quant.js";
import { Failure, Go, Waiting } from "./parts.js";
import { go, href, usePlace } from "./place.js";
import { Records } from "./records.js";
import { Search } from "./search.js";
import { Summary } from "./summary.js";
import { Thresholds } from "./thresholds.js";
import { useTheme } from "./theme.js";

const PAGES = {
  graph: { title: "Graph", show: Graph },
  summary: { title: "Summary", show: Summary },
  check: { title: "Check", show: Checks },
  records: { title: "Records", show: Records },
  counts: { title: "Summary", show: Counts },
  faults: { title: "Check", show: Faults },
  compare: { title: "Compare", show: Compare },
  quant: { title: "Quantisation", show: Quantisation },
  thresholds: { title: "Thresholds", show: Thresholds },
};

function App({ session }) {
  const place = usePlace();
  const [theme, turn] = useTheme();
  const [dialog, setDialog] = useState("");
  const file = session.files[place.file] ?? session.files[0];
  const pages = [...session.pages, ...file.pages]; // those about two files come first
  const page = pages.includes(place.page) ? place.page : pages[0];
  const here = { ...place, file: file.number, page, picture: Math.min(place.picture, Math.max(0, file.pictures.length - 1)) };
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
  const Page = PAGES[page].show;
  const close = () => setDialog("");
  return html`
    <header>
      <span class="brand" aria-hidden="true"><img src="static/icon.svg" alt="" width="20" height="20" /></span>
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
      <${Page} file=${file} place=${here} theme=${theme} session=${session} />
    </${Guarded}></main>
    ${dialog === "search" && html`<${Search} file=${file} place=${here} close=${close} />`}
    ${dialog === "help" && html`<${Help} page=${page} close=${close} />`}`;
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
