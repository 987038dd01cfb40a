// Variants below their threshold, as the summary names them: those that fell last come first.

import { h } from "../dom.js";
import { number } from "../format.js";
import { link } from "../router.js";
import { table } from "./table.js";

export const MOST_LOW = 50; // the summary names no more
export const few = (count) => (count < MOST_LOW ? number(count) : `${number(count)}+`);

export function lowStock(rows) {
  return table({
    name: "Low on stock",
    columns: [
      {
        title: "Product",
        cell: ({ productId, productName, variantTitle, sku }) =>
          h.div(
            h.a({ class: "row", href: link(`/products/${productId}`) }, productName),
            h.div({ class: "soft small" }, [variantTitle, sku].filter(Boolean).join(" · ")),
          ),
      },
      { title: "Stock", cell: ({ stock }) => h.b(number(stock)), class: "number" },
      { title: "Threshold", cell: ({ threshold }) => number(threshold), class: "number" },
    ],
    rows,
  });
}
