// What runs low, to be ordered again.

import { get } from "../api.js";
import { h } from "../dom.js";
import { plural } from "../format.js";
import { lowStock, MOST_LOW } from "../parts/low-stock.js";
import { draw, empty } from "../parts/page.js";
import { link } from "../router.js";

export async function show(main, { signal }) {
  const { data: shop } = await get("admin/summary", {}, signal);
  if (signal.aborted) return;
  const rows = shop.lowStock;
  draw(
    main,
    { title: "Low on stock", back: [link("/products"), "Products"] },
    rows.length === 0
      ? empty(
          "Nothing runs low",
          "A variant stands here when its stock falls below its product's threshold.",
          h.a({ class: "button", href: link("/products") }, "To the products"),
        )
      : [
          h.p(
            { class: "soft" },
            rows.length < MOST_LOW
              ? `${plural(rows.length, "variant")} below the threshold, those that fell last first.`
              : `The ${MOST_LOW} that fell below their threshold last. There may be more.`,
          ),
          lowStock(rows),
        ],
  );
}
