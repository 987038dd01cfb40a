// Variants as a search finds them: by the words of their product and their own.

import { money, words } from "../format.js";
import { finder, folded } from "./finder.js";
import { picture } from "./picture.js";
import { listenForScans } from "./scanner.js";

const MOST_SHOWN = 50;

export const variantName = ({ product, variant }) =>
  product.variants.length > 1 ? `${product.name} · ${variant.title}` : product.name;

// The label of a product that is not for sale.
export const notForSale = ({ status }) => (status === "ACTIVE" ? null : words(status));

// The product's SKU is that of its only variant, where this has none.
const skuOf = ({ product, variant }) =>
  variant.sku ?? (product.variants.length === 1 ? product.sku : null);

const codesOf = (each) => [skuOf(each), each.variant.barcode].filter(Boolean);

// The API finds products by their own words and those of their variants, which are told apart here.
const variantSearch = (visit) => async (text, signal) => {
  const { data } = await visit.get("admin/products", { search: text, limit: MOST_SHOWN }, signal);
  const wanted = folded(text).split(/\s+/);
  const isExact = (each) => codesOf(each).some((code) => folded(code) === folded(text));
  const variantsOf = (product) => product.variants.map((variant) => ({ product, variant }));
  const hasCode = (product) => variantsOf(product).some(isExact);
  // These are the newest: of more of them, that with just this code is found by another search.
  if (data.total > MOST_SHOWN && !data.data.some(hasCode))
    data.data.push(...(await visit.get("admin/search", { q: text }, signal)).data.products.filter(hasCode));
  const options = data.data.flatMap((product) => {
    const own = [product.name, product.vendor, product.sku, ...product.tags].join(" ");
    const all = variantsOf(product);
    const fits = all.filter(({ variant }) => {
      const said = folded(`${own} ${variant.title} ${variant.sku ?? ""} ${variant.barcode ?? ""}`);
      return wanted.every((word) => said.includes(word));
    });
    return fits.length ? fits : all;
  });
  options.sort((one, other) => isExact(other) - isExact(one));
  return options.slice(0, MOST_SHOWN).map(shown);
};

function shown(each) {
  const { product, variant } = each;
  return {
    codes: codesOf(each),
    text: variantName(each),
    picture: picture(product.images[0]),
    mark: notForSale(product),
    about: [
      skuOf(each),
      money(variant.price),
      variant.stock === null ? null : `${variant.stock} in stock`,
    ]
      .filter(Boolean)
      .join(" · "),
    value: each,
  };
}

// Finds a variant by its words, its SKU or its barcode, also one that is scanned while another field has the focus.
export function variantFinder(visit, { chosen, ...more }) {
  const find = finder({
    visit,
    label: "Find a product",
    placeholder: "SKU, barcode or name",
    codes: "SKU or barcode",
    search: variantSearch(visit),
    chosen(piece) {
      chosen(piece);
      find.focus();
    },
    ...more,
  });
  const isOwn = (target) => !find.node.isConnected || find.node.contains(target);
  listenForScans(visit, isOwn, (code) => {
    find.focus();
    find.scan(code);
  });
  return find;
}
