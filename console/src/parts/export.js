// A file of all records that a list shows.

import { isLeft } from "../api.js";
import { button, h, newKey, replace } from "../dom.js";
import { number, plural } from "../format.js";
import { field, form } from "./form.js";
import { completed } from "./jobs.js";
import { matching } from "./matching.js";
import { toast } from "./notice.js";

const FORMATS = [
  ["backroom", "CSV, to edit and import here again"],
  ["shopify", "CSV with the columns of Shopify"],
  ["jsonl", "JSON lines, with every field"],
];

// `type`: products, orders or customers; `name`: one of them; `filters` as the list asks the API.
export function exportDialog(visit, { type, name, filters, total }) {
  const content = h.div({ class: "stack even" });
  const close = (text) => button(text, () => dialog.close());
  const options =
    type === "products" ? FORMATS : [["backroom", "CSV, for a spreadsheet"], FORMATS.at(-1)];
  replace(
    content,
    form({
      fields: field({ name: "file", options }),
      submit: "Export",
      cancel: close("Cancel"),
      save: ({ file }) => run(file).catch(failed),
    }),
  );
  const dialog = visit.modal(`Export ${plural(total, name)}`, [content]);
  content.querySelector("button.main").focus();

  async function run(file) {
    const isJson = file === "jsonl";
    const progress = h.progress({ max: "100", "aria-label": "Export" });
    const where = "The export continues if you leave. Its file will be on the Jobs page.";
    replace(content, progress, h.p({ class: "soft" }, where));
    const body = { type, ...matching(filters), format: isJson ? "jsonl" : "csv" };
    if (type === "products" && !isJson) body.columns = file;
    const { data } = await visit.send("POST", "admin/exports", { body, idempotencyKey: newKey() });
    const job = await completed(visit, data.jobId, (seen) => {
      if (seen.total) progress.value = seen.progress;
    });
    const start = h.a({ href: job.downloadUrl, download: "" }, `Download again (${size(job.bytes)})`);
    if (!dialog.open) return toast("The export is ready.", "", ["Download", () => start.click()]);
    const done = close("Close");
    replace(
      content,
      h.p(`${number(job.total)} of ${plural(total, name)} exported. The download has started.`),
      h.p(start),
      h.div({ class: "actions" }, done),
    );
    done.focus();
    start.click();
  }

  function failed(refusal) {
    if (isLeft(refusal)) throw refusal;
    replace(
      content,
      h.p({ class: "notice bad" }, refusal.message),
      h.div({ class: "actions" }, close("Close")),
    );
  }
}

const size = (bytes) =>
  bytes < 1e6 ? `${number(Math.ceil(bytes / 1e3))} kB` : `${number(Math.round(bytes / 1e5) / 10)} MB`;
