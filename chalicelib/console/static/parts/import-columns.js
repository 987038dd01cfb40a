// The columns of an import's file: what each is read as, and the question where that is not certain.

import { h } from "../dom.js";
import { field, form, values } from "./form.js";
import { card } from "./page.js";
import { table } from "./table.js";

// `tests/console` holds both against the source.
export const FORMATS = {
  backroom: "Backroom's own columns",
  mapped: "Mapped columns",
  shopify: "Shopify product export",
  shopify_inventory: "Shopify inventory export",
  woocommerce: "WooCommerce product export",
  spree: "Spree product export",
  vendure: "Vendure product file",
  medusa: "Medusa product export",
  wix: "Wix product export",
  squarespace: "Squarespace product export",
  square: "Square item library",
  etsy: "Etsy listings download",
  bigcommerce: "BigCommerce product export",
  prestashop: "PrestaShop product file",
  magento: "Magento 2 product export",
};
const FIELDS = {
  name: "Name",
  slug: "URL slug (handle)",
  description: "Description",
  sku: "SKU",
  price: "Price",
  salePrice: "Sale price",
  compareAtPrice: "Compare-at price",
  stock: "Stock",
  lowStockThreshold: "Low-stock threshold",
  imageUrl: "Image URLs",
  imageAlt: "Image alt text",
  vendor: "Vendor",
  type: "Type",
  category: "Categories",
  tags: "Tags",
  status: "Status",
  published: "Published",
  storefront: "Storefront",
  currency: "Currency",
  option1: "Option 1",
  option2: "Option 2",
  option3: "Option 3",
  variantTitle: "Variant title",
  variantSku: "Variant SKU",
  variantPrice: "Variant price",
  seoTitle: "Page title",
  seoDescription: "Meta description",
};

export const formatName = (dialect) => FORMATS[dialect] ?? dialect ?? "Not recognized yet";

const samplesOf = ({ samples }) =>
  h.span({ class: "cut" }, samples.length ? samples.map((each) => h.div(h.bdi(each))) : "empty");

// What was read, once that is settled.
export function columnTable(columns) {
  return h.details(
    { class: "attempt" },
    h.summary(`Columns (${columns.length})`),
    table({
      name: "Columns",
      columns: [
        { title: "Column", cell: ({ column }) => h.b(h.bdi(column)) },
        { title: "Samples", cell: samplesOf },
        {
          title: "Imported as",
          cell: ({ field: name }) =>
            name ? (FIELDS[name] ?? name) : h.span({ class: "soft" }, "not imported"),
        },
      ],
      rows: columns,
    }),
  );
}

// `answered(job)` gets the job that goes on.
export function mappingForm(visit, job, path, answered) {
  const options = [["", "Do not import"], ...Object.entries(FIELDS)];
  const others = Object.entries(FORMATS).filter(([name]) => name !== "mapped");
  const rows = job.columns;
  const node = form({
    fields: [
      h.div(
        { class: "whole", "data-field": "columns" },
        table({
          name: "Columns",
          columns: [
            { title: "Column", cell: ({ column }) => h.b(h.bdi(column)) },
            { title: "Samples", cell: samplesOf },
            {
              title: "Import as",
              cell: ({ column, field: proposed }) =>
                h.div(
                  { class: "field", "data-field": `columns.${column}` },
                  h.select(
                    { "aria-label": `Import ${column} as`, "data-column": column },
                    options.map(([value, text]) =>
                      h.option({ value, selected: value === (proposed ?? "") }, text),
                    ),
                  ),
                  h.p({ class: "error" }),
                ),
            },
          ],
          rows,
        }),
        h.p({ class: "error" }),
      ),
      field({
        name: "format",
        label: "Or read it as",
        options: [["", "The columns above"], ...others],
      }),
      field({
        name: "saveAs",
        label: "Save these columns as",
        placeholder: "Such as the supplier's name",
        hint: "Optional. They are proposed again for files with the same columns.",
        autocomplete: "off",
      }),
    ],
    submit: job.dryRun ? "Continue to the preview" : "Import",
    async save() {
      const { format, saveAs } = values(node);
      const chosen = [...node.querySelectorAll("[data-column]")];
      const columns = Object.fromEntries(
        chosen.map((each) => [each.dataset.column, each.value || null]),
      );
      const { data } = await visit.send("POST", `${path}/mapping`, {
        body: {
          ...(format ? { format } : { columns }),
          ...(saveAs.trim() && { saveAs: saveAs.trim() }),
        },
      });
      answered(data);
    },
  });
  return card(
    "Match the columns",
    h.p(
      { class: "soft" },
      job.savedMapping
        ? `The columns saved as ${job.savedMapping} are proposed. Nothing has been imported yet.`
        : "This file is in no format that Backroom knows for certain. Check what each column is. Nothing has been imported yet.",
    ),
    node,
  );
}
