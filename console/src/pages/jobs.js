// What goes on in the background, and what has been done there: what, by whom, how it ended, and its undo.

import { button, h } from "../dom.js";
import { ago } from "../format.js";
import { badge } from "../parts/badge.js";
import { aboutInWords, countsInWords, doneInWords } from "../parts/job-words.js";
import { canUndo, jobName, outcome, takeBack } from "../parts/jobs.js";
import { list } from "../parts/list.js";
import { empty } from "../parts/page.js";
import { customerLink } from "../parts/subject.js";
import { link } from "../router.js";
import { may } from "../session.js";

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
    columns: [
      {
        title: "Job",
        cell: (job) => {
          const isUndo = job.type === "undo" && !undone.has(job.id) && job.updated + job.deleted > 0;
          if (isUndo) undone.add(job.about.job);
          return [
            h.a({ class: "row", href: link(`/jobs/${job.id}`) }, h.bdi(jobName(job))),
            job.dryRun && h.span({ class: "soft small" }, " preview"),
            h.div({ class: "soft small cut" }, h.bdi(aboutInWords(job)), whoIsMeant(job)),
            h.div({ class: "soft small narrow" }, ago(job.createdAt)),
          ];
        },
      },
      {
        title: "Result",
        cell: (job) => [
          badge(...(job.status === "RUNNING" ? [job.status, `${job.progress} %`] : outcome(job))),
          h.div({ class: "soft small" }, doneInWords(job) ?? countsInWords(job)),
        ],
      },
      { title: "By", cell: ({ createdBy }) => h.bdi(createdBy ?? ""), class: "wide" },
      { title: "Started", cell: ({ createdAt }) => ago(createdAt), class: "wide" },
      {
        title: "",
        cell: (job) =>
          undone.has(job.id)
            ? h.span({ class: "soft small" }, "Undone")
            : may("STAFF") && canUndo(job) && undoing(job),
        class: "number",
      },
    ],
    none: empty("No jobs yet", "Imports, exports and bulk edits are listed here, with what they changed."),
  });
}
