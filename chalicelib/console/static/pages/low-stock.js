// Low stock, to be reordered or corrected.

import { h } from "../dom.js";
import { MOST_LOW } from "../facts.js";
import { plural } from "../format.js";
import { lowStock } from "../parts/low-stock.js";
import { empty } from "../parts/page.js";
import { link } from "../router.js";

export async function show(visit) {
  const { data: shop } = await visit.get("admin/summary");
  const rows = shop.lowStock;
  visit.draw(
    { title: "Low stock", back: [link("/products"), "Products"] },
    rows.length === 0
      ? empty(
          "No low stock",
          "Variants are listed here when their stock falls below the product's threshold.",
          h.a({ class: "button", href: link("/products") }, "View products"),
        )
      : [
          h.p(
            { class: "soft" },
            rows.length < MOST_LOW
              ? `${plural(rows.length, "variant")} below the threshold, most recent first.`
              : `The ${MOST_LOW} variants that fell below their threshold most recently. There may be more.`,
          ),
          lowStock(visit, rows),
        ],
  );
}
