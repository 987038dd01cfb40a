// The lines of a new order: one for each variant, however often it is scanned, and custom ones.

import { button, h, replace } from "../dom.js";
import { amountOf, decimal } from "./amount.js";
import { whole } from "../format.js";
import { field } from "./form.js";
import { icon } from "./icon.js";
import { madeFields } from "./made.js";
import { announce } from "./notice.js";
import { picture } from "./picture.js";
import { notForSale, variantFinder, variantName } from "./variants.js";

const isPercent = (text) => /%\s*$/.test(text);

// 12,50 or 10 %, for the API.
export const discountOf = (text) => (isPercent(text) ? { percent: decimal(text) } : { amount: amountOf(text) });

// `changed()` after each change; the rest is for the search, which has the keyboard after a line.
export function orderLines(visit, { changed, ...more }) {
  const lines = [];
  const node = h.div({ class: "rows order-lines" });
  const find = variantFinder(visit, { chosen: add, custom: addCustom, ...more });

  // One more piece of an existing line, or a new line.
  function add(piece) {
    const same = lines.find(({ variant }) => variant.id === piece.variant.id);
    if (!same) return append(piece);
    const pieces = Number(same.quantity.value);
    same.quantity.value = String(Number.isInteger(pieces) ? pieces + 1 : 1);
    announce(`${same.name}: ${same.quantity.value}.`);
    flash(same);
    update();
    return same;
  }

  // What is in no catalogue: it has a name and a price, and no stock.
  const CUSTOM = { product: { status: "ACTIVE" }, variant: { id: null, price: "", sku: null, stock: null } };
  let customs = 0;

  function append({ product, variant, isMade = false }) {
    const isCustom = variant.id === null;
    if (isCustom) customs += 1;
    const name = isCustom ? `custom item ${customs}` : variantName({ product, variant });
    const line = { product, variant, name };
    const number = (label, settings) =>
      field({
        label: [label, h.span({ class: "unseen" }, ` of ${name}`)],
        onkeydown: (event) => {
          if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          find.focus();
        },
        oninput: update,
        ...settings,
      });
    line.short = h.span({ class: "small short" });
    const quantity = number("Quantity", { name: "quantity", value: "1", inputmode: "numeric" });
    const price = number("Price", { name: "price", value: variant.price, inputmode: "decimal" });
    const title = isCustom && number("Name", { name: "title", maxlength: "200", placeholder: "Such as an engraving" });
    line.title = title && title.querySelector("input");
    const note = number("Note", { name: "note", maxlength: "1000", placeholder: "Such as measures" });
    note.hidden = true;
    line.note = note.querySelector("input");
    const noting = button("Add a note", () => ((note.hidden = false), line.note.focus()), {
      class: "small quiet",
      "aria-label": `Add a note to ${name}`,
    });
    line.made = madeFields({ product, name: String, of: name, oninput: update });
    line.fields = { quantity, price, note, ...line.made.fields, ...(title && { title }) };
    line.quantity = quantity.querySelector("input");
    line.price = price.querySelector("input");
    line.node = h.div(
      { class: "line" },
      h.div(
        { class: "what" },
        title || h.span({ class: "named" }, product.images?.[0] && picture(product.images[0]), h.b(h.bdi(name))),
        notForSale(product) && [" ", h.span({ class: "badge warn" }, notForSale(product))],
        h.div(
          { class: "soft small" },
          [variant.sku, variant.stock !== null && `${variant.stock} in stock`]
            .filter(Boolean)
            .join(" · "),
        ),
        line.short,
        line.made.open,
        noting,
        note,
        line.made.node,
      ),
      quantity,
      price,
      button(icon("remove"), remove, { class: "quiet", "aria-label": `Remove ${name}` }),
    );
    lines.push(line);
    if (isMade) line.made.reveal();
    node.append(line.node);
    announce(`${name} added.`);
    update();
    return line;

    function remove() {
      lines.splice(lines.indexOf(line), 1);
      line.node.remove();
      update();
      find.focus();
    }
  }

  // With its name, only the price is missing.
  function addCustom(name = "") {
    const { title, price } = append(CUSTOM);
    title.value = name;
    (name ? price : title).focus();
    update();
  }

  function flash({ node: row }) {
    row.scrollIntoView({ block: "nearest" });
    row.classList.remove("again");
    void row.offsetWidth; // an animation starts again only where it was drawn without
    row.classList.add("again");
  }

  // Errors such as `lineItems.2.price` find their line, because the fields are renamed.
  function update() {
    node.style.setProperty("--line-columns", "minmax(0, 1fr) 5rem 7rem 2.25rem");
    lines.forEach(({ fields, variant, quantity, short, made }, at) => {
      for (const [name, each] of Object.entries(fields)) each.dataset.field = `lineItems.${at}.${name}`;
      const isShort = variant.stock !== null && !made.read().make && Number(quantity.value) > variant.stock;
      replace(short, isShort && `Only ${variant.stock} in stock`);
    });
    changed();
  }

  // A blank price is the variant's.
  const priceOf = ({ variant, price }) => amountOf(price.value) || variant.price;

  return {
    nodes: [
      h.div({ "data-field": "lineItems" }, find.node, h.p({ class: "error" })),
      node,
      h.div({ class: "actions" }, button("Add a custom item", () => addCustom(), { class: "small" })),
    ],
    find,
    add,
    lines,
    read: () =>
      lines.map(({ variant, title, quantity, price, note, made }) => ({
        ...(title ? { title: title.value.trim() } : { variantId: variant.id }),
        ...(note.value.trim() && { note: note.value.trim() }),
        ...(made.isOpen() && made.read()),
        quantity: whole(quantity.value.trim()),
        price: priceOf({ variant, price }) || null,
      })),
    // The field of how many of a variant, as `update` names it.
    fieldOf: ({ variantId }) => `lineItems.${lines.findIndex(({ variant }) => variant.id === variantId)}.quantity`,
    // How many of each variant are on the order now, and the pieces that were added since then.
    pieces: () => new Map(lines.map(({ variant, quantity }) => [variant.id, Number(quantity.value)])),
    since: (before) =>
      lines
        .filter(({ title }) => !title)
        .map(({ product, variant, quantity }) => ({
          piece: { product, variant },
          more: Number(quantity.value) - (before.get(variant.id) ?? 0),
        }))
        .filter(({ more }) => more > 0),
    // What `restore` needs, besides what the fields hold.
    kept: () =>
      lines.map(({ product: { status, name, variants = [], images, madeToOrder, leadDays, specification }, variant, made }) => ({
        product: { status, name, variants: variants.map(() => null), images, madeToOrder, leadDays, specification },
        variant,
        isMade: made.isOpen(),
      })),
    restore: (pieces) => pieces.forEach(append),
    // The names of products that the shop does not sell now.
    unusual: () =>
      lines
        .filter(({ product }) => notForSale(product))
        .map(({ name, product }) => `${name} (${notForSale(product).toLowerCase()})`),
  };
}
