// Variants with low stock: those that fell last come first. Their stock is corrected here.

import { h, newKey } from "../dom.js";
import { MOST_LOW, MOST_LOW_OF_ONE } from "../facts.js";
import { number, words } from "../format.js";
import { link } from "../router.js";
import { may } from "../session.js";
import { clearErrors, saving, summary, wrong } from "./form.js";
import { announce, toast } from "./notice.js";
import { empty } from "./page.js";
import { pieceCount } from "./pieces.js";
import { table } from "./table.js";

// The counted number is the usual correction; `+12` and `-1` add and take away.
export const REASONS = ["COUNTED", "RECEIVED", "RETURNED", "DAMAGED", "LOST"];

export const few = (count, most = MOST_LOW) => (count < most ? number(count) : `${number(count)}+`);

// Each product once: its first variant, and in words how many more of it there are.
export function byProduct(variants) {
  const products = Object.groupBy(variants, ({ productId }) => productId);
  return Object.values(products).map(([first, ...rest]) => {
    const more = rest.length > 0 && `${few(rest.length, MOST_LOW_OF_ONE - 1)} more of its variants`;
    return { ...first, more };
  });
}

export function lowStock(visit, rows) {
  if (rows.length === 0)
    return empty("No low stock", "No variant has less stock than its product's threshold.");
  return table({
    name: "Low stock",
    columns: [
      {
        title: "Product",
        cell: ({ productId, productName, variantId, variantTitle, sku, stock, more }) =>
          h.div(
            h.a(
              { class: "strong", href: link(`/products/${productId}`, { variant: variantId }) },
              h.bdi(productName),
            ),
            h.div({ class: "soft small" }, [variantTitle, sku].filter(Boolean).join(" · ")),
            stock <= 0 && h.span({ class: "badge bad" }, "Out"),
            more && h.a({ class: "small", href: link(`/products/${productId}`) }, more),
          ),
      },
      {
        title: "Stock",
        cell: (row) => (may("STAFF") ? stockCell(visit, row) : number(row.stock)),
        class: "stock",
      },
      { title: "Threshold", cell: ({ threshold }) => number(threshold), class: "number" },
    ],
    rows,
  });
}

// A number field: Enter saves, Escape restores the old value.
function stockCell(visit, { productId, variantId, productName, variantTitle, stock }) {
  const name = [productName, variantTitle].filter(Boolean).join(" · ");
  let known = stock;
  let unsure = null; // a move that may have been made: it is sent again, whatever is typed since
  const reason = h.select(
    { "aria-label": `Reason for ${name}`, class: "reason" },
    REASONS.map((each) => h.option({ value: each }, words(each))),
  );
  const count = pieceCount({
    key: variantId,
    label: `Stock of ${name}`,
    value: String(stock),
    onfocus: () => input.select(),
    oninput: () => /^[+-]/.test(input.value) && reason.value === "COUNTED" && guess(),
  });
  const input = count.querySelector("input");
  const save = h.button({ type: "submit", class: "small" }, "Save");
  const form = h.form(
    {
      class: "stock-cell",
      novalidate: true,
      onsubmit: submitted,
      onkeydown: (event) => {
        if (event.key !== "Escape") return;
        input.value = String(known);
        clearErrors(form);
      },
    },
    count,
    reason,
    save,
    summary(),
  );
  visit.guard(
    `stock ${variantId}`,
    () => form.isConnected && input.value.trim() !== String(known),
    "A changed stock number is not saved.",
  );
  return form;

  function guess() {
    reason.value = input.value.startsWith("+") ? "RECEIVED" : "DAMAGED";
  }

  async function submitted(event) {
    event.preventDefault();
    const typed = input.value.trim();
    if (typed === String(known)) return;
    await saving(form, save, async () => {
      if (!/^[+-]?\d+$/.test(typed)) throw wrong(variantId, "Enter a number, or a change such as +12.");
      await move(/^[+-]/.test(typed) ? { by: Number(typed) } : { to: Number(typed) }, reason.value);
    });
  }

  // The stock before a count, which sales may have changed since the page was drawn: an undo does
  // not take them back.
  async function there() {
    const { data } = await visit.get(`admin/products/${productId}`, { fields: "variants" });
    return data.variants.find(({ id }) => id === variantId)?.stock ?? known;
  }

  async function move(change, why) {
    const moves = [{ variantId, ...change, reason: why }];
    const before = () => change.by === undefined && there();
    const asked = unsure ?? { body: { moves }, idempotencyKey: newKey(), before: await before() };
    const path = `admin/products/${productId}/stock`;
    const { data } = await visit.send("POST", path, asked).catch((refusal) => explain(refusal, asked));
    unsure = null;
    known = data.variants.find(({ id }) => id === variantId).stock;
    input.value = String(known);
    reason.value = "COUNTED";
    form.classList.add("saved");
    const by = asked.body.moves[0].by ?? known - asked.before;
    const back = () => saving(form, save, () => move({ by: -by }, "CORRECTED"));
    if (by === 0) announce(`${name}: the stock is already ${known}.`);
    else toast(`${name}: stock is now ${number(known)}.`, "", ["Undo", back]);
    if (JSON.stringify(asked.body.moves) !== JSON.stringify(moves))
      throw wrong(variantId, "What you sent before is saved now.");
  }

  function explain(refusal, asked) {
    if (refusal.status) unsure = null;
    if (refusal.isUnsure) unsure = asked;
    const left = refusal.body?.lines?.[0]?.available;
    if (left !== undefined) throw wrong(variantId, `Only ${left} in stock`);
    throw refusal.errors?.length ? wrong(variantId, refusal.errors[0].message) : refusal;
  }
}
