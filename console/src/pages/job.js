// One job, with its progress.

import { button, h, replace } from "../dom.js";
import { ago, dateTime, number, plain, plural, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { columnTable, DELIMITERS, ENCODINGS, formatName, mappingForm } from "../parts/import-columns.js";
import { previewTable } from "../parts/import-preview.js";
import { changeInWords, countsInWords, doneInWords, recordsInWords, TO_DO } from "../parts/job-words.js";
import { canUndo, hasEnded, jobName, outcome, takeBack, watch } from "../parts/jobs.js";
import { announce } from "../parts/notice.js";
import { once } from "../parts/once.js";
import { CLOSED } from "../parts/order.js";
import { card, facts, keepFocus, tile } from "../parts/page.js";
import { customerLink, subjectLink } from "../parts/subject.js";
import { table } from "../parts/table.js";
import { held, retype, typedSince } from "../parts/typed.js";
import { MODES } from "../parts/upload-form.js";
import { link } from "../router.js";
import { may } from "../session.js";

export async function show(visit) {
  const path = `admin/jobs/${encodeURIComponent(visit.params.id)}`;
  let { data: job } = await visit.get(path);
  const into = h.div({ class: "stack" });
  const state = h.span();
  const trouble = h.div(); // what kept it from being followed
  const key = once();
  const actions = h.div({ class: "actions" });
  const people = new Map(); // links to customers; who was erased meanwhile gets another
  let isReading = false; // the file again, while its form stays
  let drawn = new Map(); // what each field held
  const isTyped = () => typedSince(into, drawn).size > 0;
  visit.draw({ title: jobName(job), back: [link("/jobs"), "Jobs"], badges: state, actions }, trouble, into);
  visit.guard("mapping", isTyped, "The columns have not been sent.");
  fill();
  // Not awaited: the page is drawn, and the job is watched in the background.
  follow();

  function follow() {
    if (hasEnded(job) || job.status === "NEEDS_MAPPING") return null;
    return visit.fill(trouble, () => watch(visit, job.id, seen).then(() => null));
  }

  function answered(next, isRead = false) {
    isReading = isRead;
    seen(next);
    return follow();
  }

  function seen(next) {
    const before = job;
    job = next;
    replace(trouble);
    isReading &&= !hasEnded(job) && job.status !== "NEEDS_MAPPING";
    if (!isReading) fill();
    if (job.status !== before.status) announce(`${words(job.status)}.`);
  }

  function fill() {
    replace(state, badge(...outcome(job)), job.dryRun && h.span({ class: "soft" }, " preview"));
    const ended = hasEnded(job);
    const mayAct = may("STAFF");
    const isImport = job.type === "product_import";
    const asked = job.status === "NEEDS_MAPPING";
    const again = ended && (job.status !== "COMPLETED" || (job.withErrors ?? job.failed) > 0);
    const isPreview = isImport && job.dryRun;
    const isMade = isImport && !job.dryRun;
    replace(
      actions,
      mayAct && !ended && button("Cancel", act("cancel"), { class: "bad" }),
      mayAct && again && isMade && button("Retry failed rows", act("retry")),
      mayAct && isPreview && job.status === "COMPLETED" && button("Import this file", act("run"), { class: "main" }),
      job.downloadUrl && h.a({ class: "button main", href: job.downloadUrl, download: "" }, "Download"),
      mayAct && canUndo(job) && button(`Undo ${jobKind(job)}`, visit.once(back)),
      ended &&
        isMade &&
        job.created + job.updated > 0 &&
        h.a({ class: "button", href: link("/products") }, "View products"),
    );
    const typed = typedSince(into, drawn);
    const content = [
      job.error &&
        h.p(
          { class: "notice bad strong" },
          job.error.row && `Line ${number(job.error.row)}: `,
          job.error.message,
        ),
      !asked && how(),
      warnings(),
      errors(), // what went wrong comes first
      asked ? mayAct && mappingForm(visit, job, path, answered) : counted(),
      !asked && job.preview?.length > 0 && job.dryRun && isImport && previewTable(job.preview),
      !(asked && mayAct) && job.columns?.length > 0 && columnTable(job.columns),
      record(),
    ];
    keepFocus(into, () => {
      replace(into, content);
      drawn = held(into);
      retype(into, typed);
    });
  }

  async function back() {
    const its = await takeBack(visit, job);
    if (its) visit.go(`/jobs/${its.id}`);
  }

  function how() {
    if (job.status === "FAILED") return null;
    const { total, processed } = job;
    const summary =
      total === null ? "Reading the file…" : `${number(processed)} of ${plural(total, job.mode ? "product" : "record")}`;
    return h.div(
      { class: "going" },
      !hasEnded(job) && h.progress({ max: "100", "aria-label": "Progress", ...(total !== null && { value: job.progress }) }),
      h.p({ class: "soft" }, summary),
    );
  }

  function counted() {
    if (!job.mode) return h.div(h.p({ class: "strong" }, doneInWords(job) ?? countsInWords(job)), ...leading());
    const bad = (count) => h.span({ class: count > 0 ? "failed" : "" }, number(count));
    return h.div(
      { class: "tiles three" },
      tile(job.dryRun ? "Would be created" : "Created", number(job.created)),
      tile(job.dryRun ? "Would be updated" : "Updated", number(job.updated)),
      tile("Unchanged", number(job.unchanged)),
      tile("Failed", bad(job.failed)),
      tile("With failed rows", bad(job.withErrors)),
      tile("Rows in the file", job.rows === null ? "–" : number(job.rows)),
    );
  }

  // Where what it was about is.
  function leading() {
    const { about = {} } = job;
    const to = (path, name) => h.p(h.a({ href: link(path) }, name));
    return [
      about?.job && to(`/jobs/${about.job}`, "The job that was undone"),
      about?.count && to(`/products/counts/${about.count}`, about.name ?? "The count"),
      about?.into && h.p(hasEnded(job) ? "Merged into " : [linkPerson(about.customer, "One customer"), " is merged into "], linkPerson(about.into, "the customer who stays")),
      about?.customer && !about.into && h.p(linkPerson(about.customer, hasEnded(job) ? "The erased customer" : "The customer")),
      job.type === "report" && to("/reports", "Reports"),
    ].filter(Boolean);
  }

  function linkPerson(id, word) {
    const key = `${id} ${hasEnded(job)}`;
    if (!people.has(key)) people.set(key, customerLink(visit, id, word));
    return people.get(key);
  }

  function warnings() {
    if (!job.warnings?.length) return null;
    return h.div({ class: "notice warn" }, job.warnings.map(({ message }) => h.p(message)));
  }

  function errors() {
    if (job.errors.length === 0) return null;
    const report =
      job.errorReportUrl &&
      h.a({ class: `button ${job.dryRun ? "" : "main"}`, href: job.errorReportUrl, download: "" }, "Download failed rows");
    const isImport = job.errors[0].row !== undefined;
    const title = isImport ? "Failed rows" : job.failed > 0 ? "Failed" : "Left as they are";
    return card(
      title,
      isImport && h.p(
        { class: "soft" },
        job.dryRun
          ? "Nothing has been imported. Fix these rows in your file before you import it."
          : "Fix these rows in the downloaded file, then import that file. Retry only helps where the rows are right, such as after an outage.",
      ),
      TO_DO[job.type] && h.p({ class: "soft" }, TO_DO[job.type]),
      report,
      table({
        name: title,
        columns: [
          ...(!isImport
            ? [{ title: "Record", cell: subjectLink }]
            : [
                { title: "Product", cell: ({ name, sku, slug }) => h.bdi(name ?? sku ?? slug ?? "") },
                { title: "Line", cell: ({ row }) => number(row), class: "number" },
                { title: "Column", cell: ({ field }) => field },
              ]),
          { title: "Problem", cell: ({ message }) => plain(message) },
        ],
        rows: job.errors,
      }),
    );
  }

  function record() {
    return card(
      "Overview",
      facts([
        job.mode && ["Format", formatName(job.dialect)],
        job.encoding && ["Encoding", ENCODINGS[job.encoding] ?? job.encoding],
        job.delimiter && ["Delimiter", DELIMITERS[job.delimiter] ?? job.delimiter],
        job.mode && ["Import mode", MODES.find(([mode]) => mode === job.mode)?.[1] ?? words(job.mode)],
        job.about?.change && ["Change", h.bdi(changeInWords(job.about.change))],
        (job.about?.ids || job.about?.filters) && ["Records", records()],
        job.createdBy && ["Requested by", h.bdi(job.createdBy)],
        ["Started", dateTime(job.createdAt)],
        ["Finished", job.completedAt ? ago(job.completedAt) : "not yet"],
        job.ignoredColumns?.length > 0 && ["Ignored columns", job.ignoredColumns.join(", ")],
        ["Job ID", h.code(job.id)],
      ]),
    );
  }

  // The list that has them, as far as one has.
  function records() {
    const { filters, kind, type } = job.about;
    const said = h.bdi(recordsInWords(job.about));
    const path = { product: "/products", products: "/products", order: "/orders", orders: "/orders" }[kind ?? type];
    if (!filters || !path) return said;
    const { excludeStatus, ...asked } = filters;
    if (excludeStatus && String(excludeStatus) !== String(CLOSED)) return said;
    return h.a({ href: link(path, excludeStatus ? { ...asked, status: "open" } : asked) }, said);
  }

  function act(name) {
    return visit.once(async () => {
      const { data } = await visit.send("POST", `${path}/${name}`, { idempotencyKey: key(name) });
      if (data.jobId) return visit.go(`/jobs/${data.jobId}`);
      job = data;
      return fill();
    });
  }
}

const jobKind = (job) => jobName({ type: job.type }).toLowerCase();
