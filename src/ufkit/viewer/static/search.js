// Search: a list that narrows as one types; Enter goes there.

import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { NOTHING } from "./address.js";
import { useAnswer } from "./asked.js";
import { Dialog } from "./help.js";
import { Dot, Failure } from "./parts.js";
import { go } from "./place.js";

export function Search({ file, place, close }) {
  const [words, setWords] = useState("");
  const [asked, setAsked] = useState("");
  const [at, setAt] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(words.trim()), 80);
    return () => clearTimeout(timer);
  }, [words]);
  const path = asked ? `files/${file.number}/pictures/${place.picture}/search` : null;
  const { data, error } = useAnswer(path, { q: asked });
  const rows = data?.rows ?? [];
  const chosen = Math.min(at, Math.max(0, rows.length - 1));
  const choose = (row) => {
    close();
    go({ ...place, ...NOTHING, item: row.item });
  };
  const pressed = (event) => {
    if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, rows.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
    else if (event.key === "Enter" && rows[chosen]) choose(rows[chosen]);
    else return;
    event.preventDefault();
  };
  useEffect(() => document.getElementById(`found-${chosen}`)?.scrollIntoView({ block: "nearest" }), [chosen]);
  return html`<${Dialog} label="search" close=${close}>
    <input class="search" type="search" placeholder="name, operation, or field=value" aria-label="search"
      role="combobox" aria-expanded="true" aria-controls="found" aria-activedescendant=${rows.length ? `found-${chosen}` : undefined}
      autocomplete="off" spellcheck="false" autofocus value=${words}
      onInput=${(event) => { setWords(event.target.value); setAt(0); }} onKeyDown=${pressed} />
    ${error && html`<${Failure} error=${error} />`}
    <ul id="found" class="found" role="listbox" aria-label="results">${rows.map((row, index) => html`
      <li id=${`found-${index}`} role="option" aria-selected=${index === chosen} onClick=${() => choose(row)}>
        <${Dot} category=${row.category} /><span class="key">${row.key}</span>
        <span class="quiet">${row.title}${row.value ? `, ${row.value}` : ""}</span></li>`)}</ul>
    ${asked && data && html`<p class="quiet" role="status">${data.total === 0 ? "nothing found" : `${data.total.toLocaleString("en")} found${data.total > rows.length ? `, the first ${rows.length} shown` : ""}`}</p>`}
  </${Dialog}>`;
}
