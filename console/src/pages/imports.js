// Starts an import.

import { button, h } from "../dom.js";
import { card } from "../parts/page.js";
import { uploadForm } from "../parts/upload-form.js";
import { link } from "../router.js";

export function show(visit) {
  visit.draw(
    {
      title: "Import products",
      actions: [
        h.a({ class: "button quiet", href: link("/jobs") }, "Earlier imports"),
        button("Download template", visit.once(() => template(visit))),
      ],
    },
    card(
      null,
      h.p(
        { class: "soft" },
        "Exports of Shopify, WooCommerce, Wix, Squarespace, Square, Etsy, BigCommerce and others, our template, or any CSV, .xlsx or .ods file whose columns you match. Blank cells leave values unchanged.",
      ),
      uploadForm(visit, (id) => visit.go(`/jobs/${id}`)),
    ),
  );
}

async function template(visit) {
  const { data } = await visit.get("admin/products/import/template");
  const href = URL.createObjectURL(new Blob([data], { type: "text/csv" }));
  h.a({ href, download: "products.csv" }).click();
  URL.revokeObjectURL(href);
}
