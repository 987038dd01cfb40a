// Bringing a catalogue in, and the imports so far.

import { get } from "../api.js";
import { h } from "../dom.js";
import { ago, number, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { list } from "../parts/list.js";
import { toast } from "../parts/notice.js";
import { card, draw, empty } from "../parts/page.js";
import { uploadForm } from "../parts/upload-form.js";
import { go, link } from "../router.js";

export async function show(main, { path, query, signal }) {
  const into = h.div();
  draw(
    main,
    {
      title: "Import",
      actions: h.button({ type: "button", onclick: template }, "Download a template"),
    },
    h.div(
      { class: "stack" },
      card(
        "Products from a CSV",
        h.p(
          { class: "soft" },
          "An export of Shopify, WooCommerce or Spree, or our own columns. A blank cell leaves a value as it is.",
        ),
        uploadForm({ done: (id) => go(`/import/${id}`), signal }),
      ),
      h.section(h.h2("Imports so far"), into),
    ),
  );
  await list({
    into,
    api: "admin/jobs",
    name: "import",
    path,
    query,
    signal,
    filters: [],
    columns: [
      {
        title: "File",
        cell: ({ id, fileName, dryRun }) => [
          h.a({ class: "row", href: link(`/import/${id}`) }, fileName || "upload"),
          dryRun && h.span({ class: "soft small" }, " rehearsal"),
        ],
      },
      {
        title: "State",
        cell: ({ status, progress }) =>
          badge(status, status === "RUNNING" ? `${progress} %` : words(status)),
      },
      { title: "Created", cell: ({ created }) => number(created), class: "number wide" },
      { title: "Changed", cell: ({ updated }) => number(updated), class: "number wide" },
      { title: "Unchanged", cell: ({ unchanged }) => number(unchanged), class: "number wide" },
      { title: "Failed", cell: ({ failed }) => number(failed), class: "number" },
      { title: "Begun", cell: ({ createdAt }) => ago(createdAt), class: "wide" },
    ],
    none: empty(
      "No imports yet",
      "Drop a CSV above. It can be imported again at any time: what is the same stays the same.",
    ),
  });
}

async function template() {
  try {
    const { data } = await get("admin/products/import/template");
    const href = URL.createObjectURL(new Blob([data], { type: "text/csv" }));
    h.a({ href, download: "products.csv" }).click();
    URL.revokeObjectURL(href);
  } catch (refusal) {
    toast(refusal.message);
  }
}
