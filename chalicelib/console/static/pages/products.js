// The catalogue: find, filter, and set the status of many at once.

import { post } from "../api.js";
import { h } from "../dom.js";
import { ago, money, number, plural, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { list } from "../parts/list.js";
import { toast } from "../parts/notice.js";
import { draw, empty } from "../parts/page.js";
import { link } from "../router.js";

const STATUSES = ["ACTIVE", "DRAFT", "ARCHIVED"];

export async function show(main, { path, query, signal }) {
  const into = h.div();
  const actions = [
    h.a({ class: "button quiet", href: link("/products/low-stock") }, "Low on stock"),
    h.a({ class: "button", href: link("/import") }, "Import a CSV"),
    h.a({ class: "button main", href: link("/products/new") }, "Add a product"),
  ];
  draw(main, { title: "Products", actions }, into);
  await list({
    into,
    api: "admin/products",
    name: "product",
    path,
    query,
    signal,
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
        options: [["", "All"], ...STATUSES.map((each) => [each, words(each)])],
      },
      { name: "type", label: "Type", placeholder: "All", known: true },
      { name: "storefront", label: "Storefront", placeholder: "All", known: true },
    ],
    columns: [
      { title: "Product", cell: named },
      {
        title: "Status",
        cell: ({ status, published }) => [
          badge(status),
          status === "ACTIVE" && !published && h.span({ class: "soft small" }, " not published"),
        ],
      },
      { title: "Stock", cell: stock, class: "number" },
      { title: "Price", cell: ({ price, currency }) => money(price, currency), class: "number" },
      { title: "Type", cell: ({ type }) => type ?? "", class: "wide" },
      { title: "Changed", cell: ({ updatedAt }) => ago(updatedAt), class: "wide" },
    ],
    none: empty(
      "No products yet",
      "Add the first by hand, or bring a whole catalogue from a CSV of Shopify, WooCommerce or Spree.",
      h.div(
        { class: "actions" },
        actions.slice(1).map((each) => each.cloneNode(true)),
      ),
    ),
    choose: (ids, done) =>
      STATUSES.map((status) =>
        h.button(
          { type: "button", onclick: () => setStatus(ids, status, done) },
          `Set ${words(status).toLowerCase()}`,
        ),
      ),
  });
}

function named({ id, name, images, vendor, sku, variants }) {
  const about = [vendor, sku, variants.length > 1 && plural(variants.length, "variant")]
    .filter(Boolean)
    .join(" · ");
  const [image] = images;
  const initial = () =>
    h.span({ class: "thumb", "aria-hidden": "true" }, name.trim().charAt(0).toUpperCase());
  return h.div(
    { class: "named" },
    image
      ? h.img({
          class: "thumb",
          src: image.url,
          alt: "",
          loading: "lazy",
          width: 36,
          height: 36,
          onerror: ({ target }) => target.replaceWith(initial()),
        })
      : initial(),
    h.div(
      h.a({ class: "row", href: link(`/products/${id}`) }, name),
      h.div({ class: "soft small" }, about),
    ),
  );
}

function stock({ variants, lowStockThreshold }) {
  const tracked = variants.filter((each) => each.stock !== null);
  if (tracked.length === 0) return h.span({ class: "soft wraps" }, "not tracked");
  const all = tracked.reduce((sum, each) => sum + each.stock, 0);
  const low = tracked.some((each) => each.stock < lowStockThreshold);
  return [low && h.span({ class: "badge warn" }, "low"), " ", number(all)];
}

async function setStatus(ids, status, done) {
  try {
    const { data } = await post("admin/products/bulk-status", { ids, status });
    const { updated, failed } = data.summary;
    const refused = data.data.find(({ error }) => error)?.error;
    toast(
      `${plural(updated, "product")} set ${words(status).toLowerCase()}.` +
        (failed ? ` ${number(failed)} not: ${refused.message}` : ""),
    );
    await done();
  } catch (refusal) {
    toast(refusal.message);
  }
}
