// The catalogue: find, filter, and change many at once.

import { h } from "../dom.js";
import { PRODUCT_STATUSES } from "../facts.js";
import { ago, decimal, money, number, plural, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { bulkEdit } from "../parts/bulk-edit.js";
import { choice } from "../parts/choice.js";
import { field, form } from "../parts/form.js";
import { list } from "../parts/list.js";
import { changing, tagsOf } from "../parts/order.js";
import { empty } from "../parts/page.js";
import { picture } from "../parts/picture.js";
import { link } from "../router.js";
import { may } from "../session.js";

export async function show(visit) {
  const into = h.div();
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
  visit.draw({ title: "Products", actions }, into);
  await list(visit, {
    into,
    api: "admin/products",
    name: "product",
    cards: true,
    reads: "id,name,images,vendor,sku,variants,status,published,lowStockThreshold,price,currency,type,storefront,updatedAt",
    exports: may("STAFF") && "products",
    filters: [
      {
        name: "search",
        label: "Search",
        type: "search",
        placeholder: "Name, SKU, vendor or tag",
        autocomplete: "off",
      },
      {
        name: "status",
        label: "Status",
        options: [["", "All"], ...PRODUCT_STATUSES.map((each) => [each, words(each)])],
      },
      { name: "type", label: "Type", placeholder: "All", used: {} },
      {
        name: "sort",
        label: "Sort",
        options: [
          ["", "Newest first"],
          ["createdAt", "Oldest first"],
          ["name", "Name"],
          ["-updatedAt", "Last changed"],
        ],
      },
      { name: "storefront", label: "Storefront", placeholder: "All", used: {}, more: true },
      { name: "vendor", label: "Vendor", placeholder: "All", used: {}, more: true },
      { name: "tag", label: "Tag", placeholder: "All", used: {}, more: true },
      {
        name: "published",
        label: "Published",
        options: [
          ["", "All"],
          ["true", "Yes"],
          ["false", "No"],
        ],
        more: true,
      },
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
        cell: ({ price, currency }) => money(price, currency),
        class: "number money top",
      },
      ...(may("STAFF") ? [{ title: "Margin", cell: margin, class: "number wide" }] : []),
      { title: "Type", cell: ({ type }) => type ?? "", class: "wide" },
      { title: "Last changed", cell: ({ updatedAt }) => ago(updatedAt), class: "wide", sorts: ["-updatedAt"] },
    ],
    none: empty(
      "No products yet",
      "Add your first product, or import a catalog from a file.",
      h.div(
        { class: "actions" },
        actions.slice(-2).map((each) => each.cloneNode(true)),
      ),
    ),
    choose: may("STAFF")
      ? (selection, done) => [
          PRODUCT_STATUSES.map((status) =>
            h.button(
              { type: "button", onclick: visit.once(() => setStatus(visit, selection, status, done)) },
              `Set to ${words(status).toLowerCase()}`,
            ),
          ),
          h.button(
            { type: "button", onclick: () => changeMore(visit, selection, done) },
            "More changes",
          ),
        ]
      : undefined,
  });
}

function named({ id, name, images, vendor, sku, variants }) {
  const about = [vendor, sku, variants.length > 1 && plural(variants.length, "variant")]
    .filter(Boolean)
    .join(" · ");
  return h.div(
    { class: "named" },
    picture(images[0]?.url),
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

// Of the price, what is left after the cost; of variants that differ, from the least to the most.
function margin({ price, variants }) {
  const shares = variants
    .filter((each) => each.cost !== null && Number(each.price ?? price) > 0)
    .map((each) => Math.round((1 - Number(each.cost) / Number(each.price ?? price)) * 100));
  if (shares.length === 0) return "";
  const [least, most] = [Math.min(...shares), Math.max(...shares)];
  return least === most ? `${least} %` : `${least}–${most} %`;
}

const edit = (visit, { which, rows }, more, ...then) => {
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  const its = { api: "admin/products/bulk-edit", name: "product", which, names, undoable: true };
  const asked = { ...its, ...more };
  return bulkEdit(visit, asked, ...then);
};

function setStatus(visit, selection, status, done) {
  const all = plural(selection.size, "product");
  const word = words(status).toLowerCase();
  const warning =
    status === "ACTIVE"
      ? "The storefront shows those that are published."
      : "The storefront no longer shows them.";
  return edit(
    visit,
    selection,
    { title: `Set ${all} to ${word}?`, change: { status }, warning },
    done,
  );
}

function changeMore(visit, selection, done) {
  const all = plural(selection.size, "product");
  const text = (name, label, more) => field({ name, label, autocomplete: "off", ...more });
  const used = (name, more) => choice(visit, ["products", name], { name, ...more });
  const hint = "Separate with commas.";
  const dialog = visit.modal(`Change ${all}`, [
    form({
      fields: [
        used("tag", { name: "addTags", label: "Add tags", hint, several: true }),
        used("tag", { name: "removeTags", label: "Remove tags", hint, several: true }),
        used("vendor", { label: "Vendor" }),
        used("type", { label: "Type" }),
        text("percent", "Change prices by percent", { inputmode: "decimal", placeholder: "-10" }),
        text("roundTo", "Round prices to", { inputmode: "decimal", placeholder: "0.05" }),
      ],
      submit: "Continue",
      cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
      async save(typed) {
        const change = changeOf(typed);
        if (Object.keys(change).length === 0) throw new Error("Enter at least one change.");
        const more = { title: `Change ${all}?`, change };
        await changing(() => edit(visit, selection, more, done, () => dialog.close()));
      },
    }),
  ]);
}

function changeOf({ addTags, removeTags, vendor, type, percent, roundTo }) {
  const price = {
    percent: decimal(percent) || "0", // prices can be rounded without another change
    ...(roundTo.trim() && { roundTo: decimal(roundTo) }),
  };
  return {
    ...(tagsOf(addTags).length && { addTags: tagsOf(addTags) }),
    ...(tagsOf(removeTags).length && { removeTags: tagsOf(removeTags) }),
    ...(vendor.trim() && { vendor: vendor.trim() }),
    ...(type.trim() && { type: type.trim() }),
    ...((percent.trim() || roundTo.trim()) && { price }),
  };
}
