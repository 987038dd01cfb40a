// Starts an import, and lists the imports so far.

import { h } from "../dom.js";
import { ago, number } from "../format.js";
import { badge } from "../parts/badge.js";
import { list } from "../parts/list.js";
import { card, empty } from "../parts/page.js";
import { changeInWords } from "../parts/job-words.js";
import { jobName, outcome } from "../parts/jobs.js";
import { uploadForm } from "../parts/upload-form.js";
import { link } from "../router.js";

export async function show(visit) {
  const into = h.div();
  visit.draw(
    {
      title: "Import",
      actions: h.button({ type: "button", onclick: visit.once(() => template(visit)) }, "Download template"),
    },
    h.div(
      { class: "stack" },
      card(
        "Import products from a file",
        h.p(
          { class: "soft" },
          "Exports of Shopify, WooCommerce, Wix, Squarespace, Square, Etsy, BigCommerce and others, our template, or any CSV, .xlsx or .ods file whose columns you match. Blank cells leave values unchanged.",
        ),
        uploadForm(visit, (id) => visit.go(`/import/${id}`)),
      ),
      h.section(h.h2("Recent imports, exports and bulk edits"), into),
    ),
  );
  await list(visit, {
    into,
    api: "admin/jobs",
    name: "job",
    filters: [],
    columns: [
      {
        title: "Job",
        cell: ({ id, type, fileName, dryRun, about, createdBy }) => [
          h.a({ class: "row", href: link(`/import/${id}`) }, jobName({ type, fileName })),
          dryRun && h.span({ class: "soft small" }, " dry run"),
          about?.change && h.div({ class: "soft small" }, h.bdi(changeInWords(about.change))),
          createdBy && h.div({ class: "soft small" }, h.bdi(createdBy)),
        ],
      },
      {
        title: "Status",
        cell: (job) =>
          badge(...(job.status === "RUNNING" ? [job.status, `${job.progress} %`] : outcome(job))),
      },
      { title: "Created", cell: ({ created }) => number(created), class: "number wide" },
      { title: "Updated", cell: ({ updated }) => number(updated), class: "number wide" },
      { title: "Unchanged", cell: ({ unchanged }) => number(unchanged), class: "number wide" },
      { title: "Failed", cell: ({ failed }) => number(failed), class: "number" },
      { title: "Started", cell: ({ createdAt }) => ago(createdAt), class: "wide" },
    ],
    none: empty(
      "No imports yet",
      "Choose a file above. Importing the same file again changes nothing.",
    ),
  });
}

async function template(visit) {
  const { data } = await visit.get("admin/products/import/template");
  const href = URL.createObjectURL(new Blob([data], { type: "text/csv" }));
  h.a({ href, download: "products.csv" }).click();
  URL.revokeObjectURL(href);
}
