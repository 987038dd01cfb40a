// Choosing a file: by dropping it, or with the keyboard.

import { h, replace } from "../dom.js";
import { number } from "../format.js";
import { loadUploads } from "./dialogs.js";
import { field, saving, summary, values } from "./form.js";
import { announce } from "./notice.js";
import { once } from "./once.js";

export const MODES = [
  ["upsert", "Create new products and update existing ones"],
  ["create", "Only create new products"],
  ["update", "Only update existing products"],
];

const HOUR = 3_600_000; // milliseconds

// The whole window accepts the file; otherwise a file dropped next to the box would replace the page.
export function uploadForm(visit, done) {
  let key = once();
  let since = 0; // when it was made
  let chosen = null;
  const picked = h.p({ class: "strong" }, "A CSV, .xlsx or .ods file", h.span({ class: "wide" }, ": drop it here"));
  const input = h.input({
    id: "csv",
    type: "file",
    accept: ".csv,.xlsx,.ods,text/csv,text/plain",
    class: "unseen",
    onclick: () => (input.value = ""), // so that the same file can be chosen again
    onchange: () => choose(input.files[0]),
  });
  const drop = h.div(
    { class: "drop", "data-field": "file" },
    picked,
    h.div(input, h.label({ class: "button", for: "csv" }, "Choose file")),
    h.p({ class: "error" }),
  );
  const bar = h.progress({ max: "1", value: 0, "aria-label": "Upload" });
  const amount = h.p({ class: "soft small" });
  const running = h.div({ hidden: true }, bar, amount);
  // A preview is a dry run; its page imports the same file.
  const start = h.button({ type: "submit", class: "main", name: "preview" }, "Preview import");
  const now = h.button({ type: "submit" }, "Import");
  const form = h.form(
    { novalidate: true, onsubmit: submitted },
    summary(),
    drop,
    h.div(
      { class: "fields" },
      field({ name: "mode", label: "Import mode", value: "upsert", options: MODES }),
    ),
    running,
    h.div({ class: "actions" }, start, now),
    h.p({ class: "hint" }, "The preview shows what would change, and saves nothing. Import saves at once, and can be undone."),
  );

  for (const type of ["dragover", "dragleave", "drop"]) visit.listen(window, type, over);
  visit.guard("upload", () => isBusy(), "The upload will be cancelled.");

  function over(event) {
    event.preventDefault();
    drop.classList.toggle("over", event.type === "dragover");
    if (event.type === "drop") choose(...event.dataTransfer.files);
  }

  function choose(file, ...more) {
    if (!file || isBusy()) return;
    drop.querySelector(".error").textContent = more.length
      ? "Only one file can be imported at a time. The first one was chosen."
      : "";
    chosen = file;
    replace(picked, `${file.name} · ${bytes(file.size)}`);
    announce(`${file.name} chosen.`);
  }

  const isBusy = () => [start, now].some(({ ariaBusy }) => ariaBusy === "true");

  async function submitted(event) {
    event.preventDefault();
    if (isBusy()) return;
    if (!chosen) {
      drop.querySelector(".error").textContent = "Choose a file first.";
      input.focus();
      return;
    }
    const dryRun = event.submitter !== now;
    running.hidden = false;
    await saving(form, dryRun ? start : now, async () => {
      const options = { ...values(form), dryRun };
      const { name, size, lastModified } = chosen;
      // A job waits two hours for its file, and an upload may take one. Later, it is another job.
      if (Date.now() - since > HOUR) [key, since] = [once(), Date.now()];
      const idempotencyKey = key([name, size, lastModified, options]);
      const more = { tell: progress, signal: visit.signal, idempotencyKey };
      done(await visit.finish(loadUploads().then(({ upload }) => upload(chosen, options, more))));
    });
    running.hidden = true;
  }

  function progress(sent, total) {
    bar.value = total ? sent / total : 0;
    replace(
      amount,
      `${bytes(sent)} of ${bytes(total)} (${number(Math.round((100 * sent) / (total || 1)))} %)`,
    );
  }

  return form;
}

function bytes(count) {
  const units = ["bytes", "kB", "MB", "GB"];
  const power = count < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(count) / 3));
  return `${number(Number((count / 1000 ** power).toFixed(power ? 1 : 0)))} ${units[power]}`;
}
