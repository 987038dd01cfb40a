// Low stock, to be reordered or corrected.

import { button, h, replace } from "../dom.js";
import { plural } from "../format.js";
import { field } from "../parts/form.js";
import { lowStock } from "../parts/low-stock.js";
import { link } from "../router.js";

const LIMIT = 100;
const PAUSE = 220; // milliseconds without a key before the others are read

export async function show(visit) {
  const known = []; // [row, its line in the table]
  let next = "*";
  let table = null;
  const count = h.p({ class: "soft", role: "status" });
  const more = button("Show more", visit.once(load));
  const search = field({ label: "Search", name: "search", type: "search", placeholder: "Name or SKU", oninput: searched });
  const words = () => search.querySelector("input").value.toLowerCase().split(/\s+/).filter(Boolean);
  await load();
  visit.draw(
    { title: "Low stock", back: [link("/products"), "Products"] },
    table ? h.div({ class: "stack even" }, search, count, table, h.p({ class: "pager" }, more)) : lowStock(visit, []),
  );

  // The next page; all of them for a search. Lines are added, and not drawn again: a number may be typed in one.
  async function load() {
    const at = known.length;
    do take((await visit.get("admin/stock/low", { limit: LIMIT, cursor: next })).data);
    while (next && (known.length === at || words().length > 0));
    if (document.activeElement === more) known[at]?.[1].focus();
    more.hidden = !next;
  }

  function take({ data: rows, nextCursor }) {
    next = nextCursor;
    const drawn = rows.length > 0 && lowStock(visit, rows);
    const lines = drawn ? [...drawn.querySelectorAll("tbody tr")] : [];
    lines.forEach((line) => (line.tabIndex = -1)); // the first of more gets the focus
    if (table) table.querySelector("tbody").append(...lines);
    else if (drawn) table = drawn;
    known.push(...rows.map((row, at) => [row, lines[at]]));
    fit();
  }

  function searched() {
    fit();
    if (next) visit.after(PAUSE, "search", () => next && words().length > 0 && more.click());
  }

  function fit() {
    let above = null; // the product that is named there
    const shown = known.filter(([{ productId, productName, variantTitle, sku }, line]) => {
      const text = [productName, variantTitle, sku].join(" ").toLowerCase();
      line.hidden = !words().every((word) => text.includes(word));
      line.classList.toggle("same", productId === above);
      if (!line.hidden) above = productId;
      return !line.hidden;
    });
    const all = `${next ? "The first " : ""}${plural(known.length, "variant")} below the threshold`;
    replace(count, all, shown.length < known.length && `, ${plural(shown.length, "variant")} of them match`, ".");
  }
}
