// The catalogue: find, filter, and change many at once.

import { button, h } from "../dom.js";
import { PRODUCT_STATUSES } from "../facts.js";
import { decimal } from "../parts/amount.js";
import { ago, money, number, plural, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { choice } from "../parts/choice.js";
import { field, optionsOf } from "../parts/form.js";
import { withDialogs } from "../parts/dialogs.js";
import { list } from "../parts/list.js";
import { empty } from "../parts/page.js";
import { picture } from "../parts/picture.js";
import { link } from "../router.js";
import { may } from "../session.js";

const SORTS = [
  ["", "Newest first"],
  ["createdAt", "Oldest first"],
  ["name", "Name"],
  ["-updatedAt", "Last changed"],
];
const YES_OR_NO = [
  ["", "All"],
  ["true", "Yes"],
  ["false", "No"],
];

export async function show(visit) {
  const actions = [
    h.a({ class: "button quiet", href: link("/products/low-stock") }, "Low stock"),
    h.a({ class: "button quiet", href: link("/products/counts") }, "Counts"),
    ...(may("STAFF")
      ? [
          h.a({ class: "button quiet", href: link("/products/receive") }, "Receive"),
          h.a({ class: "button", href: link("/import") }, "Import"),
          h.a({ class: "button main", href: link("/products/new") }, "Add product"),
        ]
      : []),
  ];
  await list(visit, {
    top: { title: "Products", actions },
    api: "admin/products",
    name: "product",
    cards: true,
    reads: "id,name,images,vendor,sku,variants,status,published,lowStockThreshold,price,type,storefront,updatedAt",
    exports: may("STAFF") && "products",
    filters: [
      { name: "search", type: "search", placeholder: "Name, SKU, vendor or tag" },
      { name: "status", options: optionsOf(PRODUCT_STATUSES, "All") },
      { name: "type", placeholder: "All", used: {} },
      { name: "sort", options: SORTS },
      { name: "storefront", placeholder: "All", used: {}, more: true },
      { name: "vendor", placeholder: "All", used: {}, more: true },
      { name: "tag", placeholder: "All", used: {}, more: true },
      { name: "published", options: YES_OR_NO, more: true },
    ],
    columns: [
      { title: "Product", cell: named, sorts: ["name"], class: "first both" },
      {
        title: "Status",
        cell: ({ status, published }) => [
          badge(status),
          status === "ACTIVE" && !published && h.span({ class: "soft small wide" }, " not published"),
        ],
        class: "state",
      },
      { title: "Stock", cell: stock, class: "number last" },
      {
        title: "Price",
        cell: ({ price }) => money(price),
        class: "number money top",
      },
      { title: "Type", cell: ({ type }) => type ?? "", class: "wide" },
      { title: "Last changed", cell: ({ updatedAt }) => ago(updatedAt), class: "wide", sorts: ["-updatedAt"] },
    ],
    none: empty(
      "No products yet",
      "Add your first product, or import a catalog from a file.",
      may("STAFF") && h.a({ class: "button", href: link("/products/new") }, "Add product"),
    ),
    choose: may("STAFF") ? (selection, done) => changes(visit, selection, done) : undefined,
  });
}

function named({ id, name, images, vendor, sku, variants }) {
  const about = [vendor, sku, variants.length > 1 && plural(variants.length, "variant")]
    .filter(Boolean)
    .map((part, at) => [at > 0 && " · ", h.bdi(part)]);
  return h.div(
    { class: "named" },
    picture(images[0]),
    h.div(
      h.a({ class: "row", href: link(`/products/${id}`) }, h.bdi(name)),
      h.div({ class: "soft small" }, about),
    ),
  );
}

// The sum, and each variant on demand.
function stock({ status, variants, lowStockThreshold }) {
  const tracked = variants.filter((each) => each.stock !== null);
  if (tracked.length === 0) return h.span({ class: "soft wraps" }, "not tracked");
  const all = tracked.reduce((sum, each) => sum + each.stock, 0);
  const isLow = (each) => status === "ACTIVE" && each.stock < lowStockThreshold;
  const low = tracked.some(isLow) && h.span({ class: "badge warn" }, "low");
  if (variants.length === 1) return [low, " ", number(all)];
  return h.details(
    { class: "by-variant" },
    h.summary(low, " ", number(all)),
    h.dl(
      tracked.map((each) =>
        h.div({ class: isLow(each) ? "short" : "" }, h.dt(h.bdi(each.title)), h.dd(number(each.stock))),
      ),
    ),
  );
}

function changes(visit, selection, done) {
  const asked = { name: "product", selection };
  const used = (name) => choice(visit, ["products", name], { name });
  const amount = (name, label, placeholder) => field({ name, label, placeholder, inputmode: "decimal" });
  const fields = () => [
    used("vendor"),
    used("type"),
    amount("percent", "Change prices by percent", "-10"),
    amount("roundTo", "Round prices to", "0.05"),
  ];
  return [
    PRODUCT_STATUSES.map((status) => {
      const word = words(status).toLowerCase();
      const title = `Set ${plural(selection.size, "product")} to ${word}?`;
      const warning =
        status === "ACTIVE"
          ? "The storefront shows those that are published."
          : "The storefront no longer shows them.";
      const set = () => withDialogs(({ bulkEdit }) => bulkEdit(visit, { ...asked, title, warning, change: { status } }, done));
      return button(`Set to ${word}`, visit.once(set));
    }),
    button("More changes", visit.once(() => withDialogs(({ bulkForm }) => bulkForm(visit, asked, { fields: fields(), changeOf }, done)))),
  ];
}

function changeOf({ percent, roundTo, ...texts }) {
  const price = {
    percent: decimal(percent) || "0", // prices can be rounded without another change
    ...(roundTo.trim() && { roundTo: decimal(roundTo) }),
  };
  const isPriced = percent.trim() || roundTo.trim();
  return { ...texts, ...(isPriced && { price }) };
}
