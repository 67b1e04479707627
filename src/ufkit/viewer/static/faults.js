// The check of a dataset: it reads every record, so it is begun by hand where there are many.

import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { href } from "./address.js";
import { get, post } from "./api.js";
import { Failure, Finding, Go, Waiting } from "./parts.js";

const AT_ONCE = 2_000; // records that are checked without being asked
const PAUSE = 400; // milliseconds between two looks

export function Faults({ file, place }) {
  const base = `files/${file.number}/records/checks`;
  const [data, set] = useState(null);
  const [error, fail] = useState(null);
  const [turn, again] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    const look = async () => {
      let now = await get(base, {}, abort.signal);
      if (now.state === "idle" && now.of <= AT_ONCE) now = await post(`${base}/begin`);
      while (!abort.signal.aborted) {
        set(now);
        if (now.state !== "running") return;
        await new Promise((done) => setTimeout(done, PAUSE));
        now = await get(base, {}, abort.signal);
      }
    };
    look().catch((reason) => reason.name !== "AbortError" && fail(reason));
    return () => abort.abort();
  }, [base, turn]);
  const act = (what) => post(`${base}/${what}`).then(() => again(turn + 1), fail);
  if (error) return html`<div class="page"><${Failure} error=${error} /></div>`;
  if (!data) return html`<${Waiting} what="checking" />`;
  const many = (value) => value.toLocaleString("en");
  const titles = { idle: "Not checked yet", running: "Checking", cancelled: "Checked in part" };
  return html`<div class="page checks">
    <h1>${titles[data.state] ?? (data.found === 0 ? "No findings" : `${many(data.found)} ${data.found === 1 ? "finding" : "findings"}`)}</h1>
    ${data.state === "idle" && html`<p>All ${many(data.of)} records are read for it, and images decoded. <button onClick=${() => act("begin")}>check them</button></p>`}
    ${data.state === "running" && html`<p role="status"><progress max=${data.of} value=${data.done}></progress> ${many(data.done)} of ${many(data.of)} looked at, ${many(data.found)} found
      <button class="small" onClick=${() => act("cancel")}>stop</button></p>`}
    ${data.state === "cancelled" && html`<p>It was stopped after ${many(data.done)} of ${many(data.of)} records. <button class="small" onClick=${() => act("begin")}>check all</button></p>`}
    ${data.state === "done" && data.found === 0 && html`<p>Nothing in the ${many(data.of)} records gives reason for doubt.</p>`}
    ${data.rows.map((row, at) => html`<${Finding} key=${at} row=${row}>
      ${row.number !== null && html`<p><${ToRecord} place=${place} number=${row.number} /></p>`}
      ${row.why && html`<details><summary>${row.title}</summary><p>${row.why}</p></details>`}
    </${Finding}>`)}
    ${data.found > data.rows.length && html`<p class="quiet">The first ${many(data.rows.length)} are shown; ufkit check prints all.</p>`}
  </div>`;
}

function ToRecord({ place, number }) {
  const to = { file: place.file, page: "records", picture: 0, record: number };
  return html`<${Go} to=${to} href=${href(to)}>show record ${number.toLocaleString("en")}</${Go}>`;
}
