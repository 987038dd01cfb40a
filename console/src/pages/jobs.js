// What goes on in the background, and what has been done there: what, by whom, how it ended, and its undo.

import { button, h } from "../dom.js";
import { ago, plural } from "../format.js";
import { badge } from "../parts/badge.js";
import { aboutInWords, countsInWords, doneInWords } from "../parts/job-words.js";
import { canUndo, jobName, outcome, takeBack } from "../parts/jobs.js";
import { list } from "../parts/list.js";
import { empty } from "../parts/page.js";
import { customerLink } from "../parts/subject.js";
import { link } from "../router.js";
import { may } from "../session.js";

const isReport = ({ type, status }) => type === "report" && status === "COMPLETED";

// Each look at a report is a job: several that completed one after the other are one row, which has them as `runs`.
function foldReports(jobs) {
  const rows = [];
  for (const job of jobs) {
    const last = rows.at(-1);
    if (last && isReport(last) && isReport(job)) rows.splice(-1, 1, { ...last, runs: [...(last.runs ?? [last]), job] });
    else rows.push(job);
  }
  return rows;
}

function drawState(job) {
  const [state, text] = job.status === "RUNNING" ? [job.status, `${job.progress} %`] : outcome(job);
  return state === "COMPLETED" ? h.span({ class: "soft" }, "Completed") : badge(state, text);
}

const drawRuns = (runs) =>
  h.details(
    { class: "above-row" },
    h.summary(plural(runs.length, "run of a report", "runs of reports")),
    h.ul(
      { class: "history" },
      runs.map((job) => h.li(h.a({ href: link(`/jobs/${job.id}`) }, h.bdi(aboutInWords(job))), " ", ago(job.createdAt))),
    ),
  );

export async function show(visit) {
  const importing = may("STAFF") && h.a({ class: "button main", href: link("/import") }, "Import");
  const undone = new Set(); // the newest come first, so an undo comes before its job
  const undoing = (job) => {
    const undo = visit.once(async () => (await takeBack(visit, job)) && page.load());
    return button("Undo", undo, { class: "small above-row", "aria-label": `Undo ${jobName(job)}` });
  };
  const whoIsMeant = ({ about }) => about?.customer && [about.into && "into ", customerLink(visit, about.into ?? about.customer, "a customer")];
  const page = await list(visit, {
    top: { title: "Jobs", actions: importing },
    api: "admin/jobs",
    name: "job",
    cards: true,
    fold: foldReports,
    columns: [
      {
        title: "Job",
        cell: (job) => {
          if (job.runs) return drawRuns(job.runs);
          const isUndo = job.type === "undo" && !undone.has(job.id) && job.updated + job.deleted > 0;
          if (isUndo) undone.add(job.about.job);
          return [
            h.a({ class: "row", href: link(`/jobs/${job.id}`) }, h.bdi(jobName(job))),
            job.dryRun && h.span({ class: "soft small" }, " preview"),
            h.div({ class: "soft small cut" }, h.bdi(aboutInWords(job)), whoIsMeant(job)),
          ];
        },
        class: "first both",
      },
      {
        title: "Result",
        cell: (job) => [drawState(job), !job.runs && h.div({ class: "soft small wide" }, doneInWords(job) ?? countsInWords(job))],
        class: "top",
      },
      { title: "By", cell: ({ createdBy }) => h.bdi(createdBy ?? ""), class: "wide" },
      { title: "Started", cell: ({ createdAt }) => h.span({ class: "soft" }, ago(createdAt)), class: "state" },
      {
        title: "",
        cell: (job) =>
          undone.has(job.id)
            ? h.span({ class: "soft small" }, "Undone")
            : may("STAFF") && canUndo(job) && undoing(job),
        class: "number last",
      },
    ],
    none: empty("No jobs yet", "Imports, exports and bulk edits are listed here, with what they changed."),
  });
}
