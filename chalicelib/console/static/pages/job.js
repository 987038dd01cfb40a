// One import, as it goes on.

import { get, post, sleep } from "../api.js";
import { h, replace } from "../dom.js";
import { ago, dateTime, number, plural, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { announce, toast } from "../parts/notice.js";
import { card, draw, facts } from "../parts/page.js";
import { table } from "../parts/table.js";
import { MODES } from "../parts/upload-form.js";
import { go, link } from "../router.js";

const FIRST_PAUSE = 700; // milliseconds between looks; each is a tenth longer, up to 3 s
const LONGEST_PAUSE = 3000;
const ENDED = new Set(["COMPLETED", "FAILED", "CANCELLED"]);

export async function show(main, { params, signal }) {
  const path = `admin/jobs/${encodeURIComponent(params.id)}`;
  let { data: job } = await get(path, {}, signal);
  const into = h.div({ class: "stack" });
  const state = h.span();
  const actions = h.div({ class: "actions" });
  draw(
    main,
    { title: job.fileName || "Import", back: [link("/import"), "Import"], beside: state, actions },
    into,
  );
  fill();
  // The page stands; the job is watched beside it.
  watch().catch((error) => error.name !== "AbortError" && toast(error.message));

  async function watch() {
    for (
      let pause = FIRST_PAUSE;
      !ENDED.has(job.status);
      pause = Math.min(pause * 1.1, LONGEST_PAUSE)
    ) {
      await sleep(pause, signal);
      const before = job;
      ({ data: job } = await get(path, {}, signal));
      fill();
      if (job.status !== before.status)
        announce(`The import is ${words(job.status).toLowerCase()}.`);
    }
  }

  function fill() {
    replace(state, badge(job.status), job.dryRun && h.span({ class: "soft" }, " rehearsal"));
    const ended = ENDED.has(job.status);
    const again = ended && (job.status !== "COMPLETED" || job.failed > 0);
    replace(
      actions,
      !ended && h.button({ type: "button", class: "bad", onclick: act("cancel") }, "Cancel"),
      again &&
        !job.dryRun &&
        h.button({ type: "button", onclick: act("retry") }, "Import again what failed"),
      ended &&
        job.dryRun &&
        h.a({ class: "button main", href: link("/import") }, "Import the file"),
      ended &&
        job.created + job.updated > 0 &&
        !job.dryRun &&
        h.a({ class: "button", href: link("/products") }, "To the products"),
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
      total === null ? "Reading the file …" : `${number(processed)} of ${plural(total, "product")}`;
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
      tile(job.dryRun ? "Would change" : "Changed", job.updated),
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
        "Download all rows that failed",
      );
    return card(
      "Rows that failed",
      h.p(
        { class: "soft" },
        job.dryRun
          ? "Nothing was imported yet. These rows will not be, unless you mend them in your file first."
          : "Mend them in the report, and import it: the rest stays as it is.",
      ),
      report,
      table({
        name: "Rows that failed",
        columns: [
          { title: "Line", cell: ({ row }) => number(row), class: "number" },
          { title: "Column", cell: ({ field }) => field },
          { title: "What is wrong", cell: ({ message }) => message },
          { title: "Code", cell: ({ code }) => h.code(code), class: "wide" },
        ],
        rows: job.errors,
      }),
    );
  }

  function record() {
    return card(
      "Record",
      facts([
        ["Columns of", words(job.dialect ?? "not read yet")],
        ["What may happen", MODES.find(([mode]) => mode === job.mode)?.[1] ?? words(job.mode)],
        ["Begun", dateTime(job.createdAt)],
        ["Ended", job.completedAt ? ago(job.completedAt) : "not yet"],
        job.ignoredColumns.length > 0 && ["Columns not read", job.ignoredColumns.join(", ")],
        ["Identifier", h.code(job.id)],
      ]),
    );
  }

  function act(name) {
    return async () => {
      try {
        const { data } = await post(`${path}/${name}`);
        if (data.jobId) return go(`/import/${data.jobId}`);
        job = data;
        fill();
      } catch (refusal) {
        toast(refusal.message);
      }
      return undefined;
    };
  }
}
