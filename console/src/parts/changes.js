// What would differ in a record, as people say it.

import { h } from "../dom.js";
import { called, number } from "../format.js";
import { valueWord } from "./words.js";

const TOLD = ["name", "slug", "description", "status", "price", "compareAtPrice", "sku", "vendor", "type"];
const TOLD_LAST = ["storefront", "published", "tags", "lowStockThreshold", "seo", "images", "variants", "salesRepId"];
const OF_A_VARIANT = ["title", "sku", "barcode", "price", "cost", "stock"];

// `before` and `after`: the fields that differ. Lines for a cell of a table.
export function changesOf(before, after) {
  return Object.keys(after)
    .filter((name) => [...TOLD, ...TOLD_LAST].includes(name))
    .flatMap((name) =>
      name === "variants"
        ? ofVariants(before.variants ?? [], after.variants, "price" in after)
        : [line(called(name), before[name], after[name], name)],
    );
}

// A new product in a few words: its price, its variants, its stock.
export function newInWords({ price, variants = [] }) {
  const stock = variants.filter((each) => each.stock !== null);
  const titles = variants.length > 1 && `${variants.map(({ title }) => title).join(", ")}`;
  const all = stock.reduce((sum, each) => sum + each.stock, 0);
  return [price, titles, stock.length > 0 && `${number(all)} in stock`].filter(Boolean).join(" · ");
}

// A variant without a price of its own follows the product's: that is one change, not one for each.
function ofVariants(before, after, isPriced) {
  const known = new Map(before.map((each) => [each.id, each]));
  const lines = after.flatMap((each) => {
    const was = known.get(each.id);
    if (!was) return [line(`New: ${each.title}`, undefined, newInWords({ price: each.price, variants: [each] }))];
    const of = after.length > 1 || each.title !== "Default" ? `${each.title} · ` : "";
    return OF_A_VARIANT.filter((name) => was[name] !== each[name] && !(isPriced && name === "price")).map((name) =>
      line(`${of}${called(name)}`, was[name], each[name]),
    );
  });
  const stay = new Set(after.map(({ id }) => id));
  const gone = before.filter(({ id }) => !stay.has(id));
  return [...lines, ...gone.map(({ title }) => line("Removed", undefined, title))];
}

const line = (label, before, after, name) =>
  h.div(
    { class: "cut" },
    h.span({ class: "soft" }, `${label} `),
    before !== undefined && [h.del(shown(before, name)), " → "],
    h.span(shown(after, name)),
  );

// A value of any field.
export function shown(value, name = "") {
  if (value === null || value === undefined || value === "" || value.length === 0) return "none";
  if (Array.isArray(value)) return value.map((each) => shown(each)).join(", ");
  if (value.pictureId) return value.alt || "a picture";
  if (typeof value === "object") {
    const parts = Object.entries(value).filter(([name, each]) => name !== "id" && each);
    const isNested = parts.some(([, each]) => typeof each === "object");
    return isNested ? JSON.stringify(value) : parts.map(([, each]) => each).join(", ") || "none";
  }
  return valueWord(name, value);
}
