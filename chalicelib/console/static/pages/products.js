// The catalogue: find, filter, and set the status of many at once.

import { h } from "../dom.js";
import { PRODUCT_STATUSES } from "../facts.js";
import { ago, money, number, plural, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { list } from "../parts/list.js";
import { toast } from "../parts/notice.js";
import { empty } from "../parts/page.js";
import { link } from "../router.js";

export async function show(visit) {
  const into = h.div();
  const actions = [
    h.a({ class: "button quiet", href: link("/products/low-stock") }, "Low stock"),
    h.a({ class: "button", href: link("/import") }, "Import"),
    h.a({ class: "button main", href: link("/products/new") }, "Add product"),
  ];
  visit.draw({ title: "Products", actions }, into);
  await list(visit, {
    into,
    api: "admin/products",
    name: "product",
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
      {
        title: "Price",
        cell: ({ price, currency }) => money(price, currency),
        class: "number money",
      },
      { title: "Type", cell: ({ type }) => type ?? "", class: "wide" },
      { title: "Last changed", cell: ({ updatedAt }) => ago(updatedAt), class: "wide" },
    ],
    none: empty(
      "No products yet",
      "Add your first product, or import a catalog from a CSV file.",
      h.div(
        { class: "actions" },
        actions.slice(1).map((each) => each.cloneNode(true)),
      ),
    ),
    choose: (rows, done) =>
      PRODUCT_STATUSES.map((status) =>
        h.button(
          { type: "button", onclick: visit.once(() => setStatus(visit, rows, status, done)) },
          `Set to ${words(status).toLowerCase()}`,
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
      h.a({ class: "row", href: link(`/products/${id}`) }, h.bdi(name)),
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

async function setStatus(visit, rows, status, done) {
  const all = plural(rows.length, "product");
  const word = words(status).toLowerCase();
  const live = rows.filter((row) => row.status === "ACTIVE").length;
  const yes = await visit.ask({
    title: `Set ${all} to ${word}?`,
    text:
      status === "ACTIVE"
        ? "The storefront shows those that are published."
        : `${number(live)} of them are active now and will no longer be sold in the storefront.`,
    yes: `Set to ${word}`,
  });
  if (!yes) return;
  const changed = rows.filter((row) => row.status !== status);
  const ids = rows.map(({ id }) => id);
  const { data } = await visit.send("POST", "admin/products/bulk-status", {
    body: { ids, status },
  });
  const { updated, failed } = data.summary;
  const refused = data.data.find(({ error }) => error)?.error;
  const told =
    `${plural(updated, "product")} set to ${word}.` +
    (failed ? ` ${number(failed)} failed: ${refused.message}` : "");
  toast(told, failed ? "bad" : "", ["Undo", () => takeBack(visit, changed, done)]);
  await done();
}

async function takeBack(visit, rows, done) {
  for (const status of new Set(rows.map((row) => row.status))) {
    const ids = rows.filter((row) => row.status === status).map(({ id }) => id);
    await visit.send("POST", "admin/products/bulk-status", { body: { ids, status } });
  }
  toast(`${plural(rows.length, "product")} set back.`);
  await done();
}
