// Pieces that are scanned or found, anywhere on a page; and how many of each, which can be typed.

import { h, newId } from "../dom.js";
import { finder } from "./finder.js";
import { listenForScans } from "./scanner.js";
import { variantSearch } from "./variants.js";

// `took(piece)` gets each: { product, variant }. `listen()` takes scans when the page is drawn.
export function pieceFinder(visit, hint, took) {
  const find = finder({
    visit,
    label: "Find a product",
    placeholder: "SKU, barcode or name",
    hint,
    codes: "SKU or barcode",
    search: variantSearch(visit),
    chosen: (piece) => {
      took(piece);
      find.focus();
    },
  });
  const scanned = (code) => {
    find.focus();
    find.scan(code);
  };
  const listen = () => {
    listenForScans(visit, (target) => find.node.contains(target), scanned);
    find.focus();
  };
  return { ...find, listen };
}

// The field of a number in a table. `key`: of its record. `message`: what is wrong with it.
export function pieceCount({ key, label, message, ...attributes }) {
  const id = newId("error");
  return h.div(
    { "data-field": key },
    h.input({
      name: key,
      inputmode: "numeric",
      autocomplete: "off",
      "aria-label": label,
      "aria-describedby": id,
      ...attributes,
    }),
    h.p({ id, class: "error" }, message),
  );
}
