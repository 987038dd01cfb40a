// Variants as a search finds them: by the words of their product and their own.

import { money, words } from "../format.js";
import { folded } from "./finder.js";

const FEW = 20;
const MOST = 100;
const MOST_SHOWN = 50;

export const variantName = ({ product, variant }) =>
  product.variants.length > 1 ? `${product.name} · ${variant.title}` : product.name;

// The label of a product that is not for sale.
export const notForSale = ({ status }) => (status === "ACTIVE" ? null : words(status));

// The product's SKU is that of its only variant, where this has none.
const skuOf = ({ product, variant }) =>
  variant.sku ?? (product.variants.length === 1 ? product.sku : null);

const codesOf = (each) => [skuOf(each), each.variant.barcode].filter(Boolean);

// The API finds products by their own words and their variants' SKUs and barcodes. Words of a variant's title,
// such as 3xl, are looked for among the variants of what the other words find.
export function variantSearch(visit) {
  return async (text, signal) => {
    const asked = text.split(/\s+/);
    const [whole, ...parts] = attempts(asked);
    let found = matching(await products(whole, FEW, signal), text, false);
    for (const part of parts) {
      if (found.length > 0) break;
      found = matching(await products(part, MOST, signal), text, true);
    }
    return found;
  };

  async function products(search, limit, signal) {
    const { data } = await visit.get("admin/products", { search, limit }, signal);
    return data.data;
  }
}

// All the words, then without those at the end, then without those at the beginning.
function attempts(asked) {
  const shorter = asked.slice(1).map((_, left) => left + 1);
  return [
    asked,
    ...shorter.toReversed().map((count) => asked.slice(0, count)),
    ...shorter.map((count) => asked.slice(count)),
  ]
    .slice(0, 5)
    .map((each) => each.join(" "));
}

function matching(found, text, strictly) {
  const wanted = folded(text).split(/\s+/);
  const options = found.flatMap((product) => {
    const own = [product.name, product.vendor, product.sku, ...product.tags].join(" ");
    const all = product.variants.map((variant) => ({ product, variant }));
    const fits = all.filter(({ variant }) => {
      const said = folded(`${own} ${variant.title} ${variant.sku ?? ""} ${variant.barcode ?? ""}`);
      return wanted.every((word) => said.includes(word));
    });
    return fits.length || strictly ? fits : all;
  });
  const isExact = (each) => codesOf(each).some((code) => folded(code) === folded(text));
  options.sort((one, other) => isExact(other) - isExact(one));
  return options.slice(0, MOST_SHOWN).map(shown);
}

function shown(each) {
  const { product, variant } = each;
  return {
    codes: codesOf(each),
    text: variantName(each),
    mark: notForSale(product),
    about: [
      skuOf(each),
      money(variant.price, product.currency),
      variant.stock === null ? null : `${variant.stock} in stock`,
    ]
      .filter(Boolean)
      .join(" · "),
    value: each,
  };
}
