// One import, as it goes on.

import { isLeft } from "../api.js";
import { h, replace } from "../dom.js";
import { ago, dateTime, number, plural, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { outcome } from "../parts/import.js";
import { announce, toast } from "../parts/notice.js";
import { card, facts } from "../parts/page.js";
import { table } from "../parts/table.js";
import { MODES } from "../parts/upload-form.js";
import { link } from "../router.js";

const FIRST_PAUSE = 700; // milliseconds between looks; each is a tenth longer, up to 3 s
const LONGEST_PAUSE = 3000;
const ENDED = new Set(["COMPLETED", "FAILED", "CANCELLED"]);

export async function show(visit) {
  const path = `admin/jobs/${encodeURIComponent(visit.params.id)}`;
  let { data: job } = await visit.get(path);
  const into = h.div({ class: "stack" });
  const state = h.span();
  const actions = h.div({ class: "actions" });
  visit.draw(
    { title: job.fileName || "Import", back: [link("/import"), "Import"], beside: state, actions },
    into,
  );
  fill();
  // The page stands; the job is watched beside it.
  watch().catch((error) => isLeft(error) || toast(error.message, "bad"));

  async function watch() {
    for (
      let pause = FIRST_PAUSE;
      !ENDED.has(job.status);
      pause = Math.min(pause * 1.1, LONGEST_PAUSE)
    ) {
      await visit.sleep(pause);
      const before = job;
      ({ data: job } = await visit.get(path));
      fill();
      if (job.status !== before.status)
        announce(`The import is ${words(job.status).toLowerCase()}.`);
    }
  }

  function fill() {
    replace(state, badge(...outcome(job)), job.dryRun && h.span({ class: "soft" }, " dry run"));
    const ended = ENDED.has(job.status);
    const again = ended && (job.status !== "COMPLETED" || job.failed > 0);
    replace(
      actions,
      !ended && h.button({ type: "button", class: "bad", onclick: act("cancel") }, "Cancel"),
      again &&
        !job.dryRun &&
        h.button({ type: "button", onclick: act("retry") }, "Retry failed rows"),
      ended &&
        job.dryRun &&
        h.a({ class: "button main", href: link("/import") }, "Import this file"),
      ended &&
        job.created + job.updated > 0 &&
        !job.dryRun &&
        h.a({ class: "button", href: link("/products") }, "View products"),
    );
    replace(
      into,
      job.error &&
        h.div(
          { class: "notice bad" },
          h.p(
            { class: "strong" },
            job.error.row
              ? `Line ${number(job.error.row)}: ${job.error.message}`
              : job.error.message,
          ),
        ),
      how(),
      counted(),
      errors(),
      record(),
    );
  }

  function how() {
    if (job.status === "FAILED") return null;
    const { total, processed } = job;
    const told =
      total === null ? "Reading the file…" : `${number(processed)} of ${plural(total, "product")}`;
    return h.div(
      { class: "going" },
      h.progress({
        max: "100",
        "aria-label": "Import",
        ...(total === null && job.status !== "COMPLETED" ? {} : { value: job.progress }),
      }),
      h.p({ class: "soft" }, told),
    );
  }

  function counted() {
    const tile = (name, count, tone) =>
      h.div(
        { class: "tile" },
        h.p(name),
        h.p({ class: `big ${count && tone ? tone : ""}` }, number(count)),
      );
    return h.div(
      { class: "tiles" },
      tile(job.dryRun ? "Would be created" : "Created", job.created),
      tile(job.dryRun ? "Would be updated" : "Updated", job.updated),
      tile("Unchanged", job.unchanged),
      tile("Failed", job.failed, "failed"),
    );
  }

  function errors() {
    if (job.errors.length === 0) return null;
    const report =
      job.errorReportUrl &&
      h.a(
        { class: "button", href: job.errorReportUrl, download: "" },
        "Download failed rows",
      );
    return card(
      "Failed rows",
      h.p(
        { class: "soft" },
        job.dryRun
          ? "Nothing has been imported. Fix these rows in your file before you import it."
          : "Fix these rows in the downloaded file, then import that file. Retry only helps where the rows are right, such as after an outage.",
      ),
      report,
      table({
        name: "Failed rows",
        columns: [
          { title: "Line", cell: ({ row }) => number(row), class: "number" },
          { title: "Column", cell: ({ field }) => field },
          { title: "Problem", cell: ({ message }) => message },
          { title: "Code", cell: ({ code }) => h.code(code), class: "wide" },
        ],
        rows: job.errors,
      }),
    );
  }

  function record() {
    return card(
      "Overview",
      facts([
        ["Format", words(job.dialect ?? "not read yet")],
        ["Import mode", MODES.find(([mode]) => mode === job.mode)?.[1] ?? words(job.mode)],
        ["Started", dateTime(job.createdAt)],
        ["Finished", job.completedAt ? ago(job.completedAt) : "not yet"],
        job.ignoredColumns.length > 0 && ["Ignored columns", job.ignoredColumns.join(", ")],
        ["Job ID", h.code(job.id)],
      ]),
    );
  }

  function act(name) {
    return visit.once(async () => {
      const { data } = await visit.send("POST", `${path}/${name}`);
      if (data.jobId) return visit.go(`/import/${data.jobId}`);
      job = data;
      return fill();
    });
  }
}
