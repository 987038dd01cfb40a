// Low stock, to be reordered or corrected.

import { h, replace } from "../dom.js";
import { MOST_LOW, MOST_LOW_OF_ONE } from "../facts.js";
import { plural } from "../format.js";
import { field } from "../parts/form.js";
import { lowStock } from "../parts/low-stock.js";
import { link } from "../router.js";

export async function show(visit) {
  const { data: shop } = await visit.get("admin/summary");
  const rows = shop.lowStock;
  const table = lowStock(visit, rows);
  const lines = [...table.querySelectorAll("tbody tr")];
  const count = h.p({ class: "soft", role: "status" });
  const search = field({ label: "Search", name: "search", type: "search", placeholder: "Name or SKU", oninput: fit });
  const all =
    rows.length < MOST_LOW
      ? `${plural(rows.length, "variant")} below the threshold, most recent first`
      : `The ${MOST_LOW} variants that fell below their threshold most recently; there may be more`;
  visit.draw(
    { title: "Low stock", back: [link("/products"), "Products"] },
    rows.length === 0 ? table : h.div({ class: "stack even" }, search, count, table),
  );
  fit();

  // Rows are hidden and not drawn again: a number may be typed in one.
  function fit() {
    const typed = search.querySelector("input").value.toLowerCase().split(/\s+/);
    let shown = 0;
    let above = null; // the product that is named there
    rows.forEach(({ productId, productName, variantTitle, sku }, at) => {
      const text = [productName, variantTitle, sku].join(" ").toLowerCase();
      lines[at].hidden = !typed.every((word) => text.includes(word));
      if (lines[at].hidden) return;
      lines[at].classList.toggle("same", productId === above);
      above = productId;
      shown++;
    });
    const some = shown < lines.length && ` ${plural(shown, "variant")} of them match.`;
    replace(count, `${all}, at most ${MOST_LOW_OF_ONE} of a product.`, some);
  }
}
