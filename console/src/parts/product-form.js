// The fields of a product: drawn from one, read back as one, and what differs in between.

import { button, h, replace } from "../dom.js";
import { amountOf } from "./amount.js";
import { plural, whole } from "../format.js";
import { choice } from "./choice.js";
import { dialogForm } from "./dialog-form.js";
import { field, optionsOf, wrong } from "./form.js";
import { REASONS } from "./low-stock.js";
import { tagsOf } from "./order.js";
import { card } from "./page.js";
import { rows } from "./rows.js";
import { differing, pickChanges } from "./stale.js";
import { PRODUCT_STATUSES } from "../facts.js";

const BLANK = { status: "DRAFT", published: true, tags: [], variants: [], images: [], specification: [], seo: {} };
const TEXTS = [
  "name",
  "slug",
  "description",
  "status",
  "price",
  "compareAtPrice",
  "sku",
  "vendor",
  "type",
  "storefront",
];

const MOST_MADE = 100; // variants of options
const BETWEEN = " / "; // values in the title of a variant
// Of the options that variants are made of.
const ORDINALS = ["first", "second", "third"];
const OPTION_NAMES = ["Size", "Colour", ""];
const OPTION_HINTS = ["Separated with commas, such as S, M, L", "Such as Red, Blue. Blank: there is only one option."];
const AMOUNTS = ["price", "compareAtPrice"];

const orNull = (text) => (text === "" ? null : text);
// Pieces that come or go: their reason, unless another is chosen, and how they are typed.
const ARRIVED = "RECEIVED";
const GONE = "DAMAGED";
const isMove = ({ row, typed }) => /^[+-]\d+$/.test(typed.stock) && Number.isInteger(row.stock);

// The values of each option, as the titles of variants have them; none if they differ in their number of options.
function valuesOfTitles(titles, names) {
  const parts = titles.map((title) => title.split(BETWEEN));
  const [{ length }] = parts.length ? parts : [[]];
  if (parts.some((each) => each.length !== length) || (length === 1 && names.length === 0)) return [];
  return Array.from({ length }, (_, at) => [...new Set(parts.map((each) => each[at]))]);
}

// `images`: its list of pictures. `visit`: of the page that shows it, unless it is only read.
export function productForm(product, images, visit = null) {
  const own = product ?? BLANK;
  const text = (name, more) => field({ name, value: own[name] ?? "", ...more });
  const used = (name, more) => choice(visit, ["products", name], { name, value: own[name] ?? "", ...more });
  const amount = (name) => text(name, { inputmode: "decimal" });
  // One variant has the product's price and SKU: they are shown once.
  const [only, ...more] = own.variants;
  const isAlone = !only || (more.length === 0 && (only.sku ?? own.sku) === own.sku && (only.price ?? own.price) === own.price);
  const optionNames = field({ name: "optionNames", type: "hidden", value: (own.metadata?.optionNames ?? []).join(BETWEEN) });
  optionNames.hidden = true;
  let variants = null;
  variants = rows({
    name: "variants",
    down: ["price", "cost", "stock"],
    extra: visit && button("Options", options, { class: "small" }),
    changed: () => variants?.node.classList.toggle("alone", isAlone && variants.read().length === 1),
    what: "variant",
    add: "Add a variant",
    widths: "minmax(0, 1fr) minmax(0, 1.1fr) minmax(0, 1.2fr) 5rem 5rem 6.75rem 2.25rem",
    columns: [
      { name: "title", label: "Title" },
      { name: "sku", label: "SKU" },
      { name: "barcode", label: "Barcode", onkeydown: toNext },
      { name: "price", label: "Price", inputmode: "decimal" },
      { name: "cost", label: "Cost", inputmode: "decimal" },
      { name: "stock", label: "Stock", inputmode: "numeric", placeholder: "not tracked" },
    ],
    start: product ? own.variants : [{ title: "Default" }],
    mayRemove: ({ title, stock }) =>
      !(stock > 0) ||
      visit.ask({
        title: `Remove ${title}?`,
        text: `${plural(stock, "piece")} in stock will no longer be counted.`,
        yes: "Remove",
        bad: true,
      }),
  });
  variants.node.classList.toggle("alone", isAlone);
  nameTitles();

  // A variant for each combination of values; those that are there already stay.
  function options() {
    const named = optionNames.querySelector("input");
    const names = named.value ? named.value.split(BETWEEN) : [];
    const had = valuesOfTitles(variants.read().map(({ typed }) => typed.title), names);
    const fields = ORDINALS.flatMap((name, at) => [
      field({ name: `${name}Name`, label: `Name of the ${name} option`, value: names[at], placeholder: OPTION_NAMES[at], maxlength: "40" }),
      field({ name, label: `Values of ${at < 2 ? "the" : "a"} ${name} option`, hint: OPTION_HINTS[at], value: had[at]?.join(", ") }),
    ]);
    dialogForm(visit, "Variants from options", {
      fields,
      submit: "Add variants",
      save(typed) {
        const lists = ORDINALS.map((name) => tagsOf(typed[name])).filter((list) => list.length > 0);
        if (lists.length === 0) throw wrong("first", "is required");
        const newNames = ORDINALS.map((name) => typed[`${name}Name`].replaceAll("/", " ").trim()).slice(0, lists.length);
        named.value = newNames.some(Boolean) ? newNames.map((name, at) => name || `Option ${at + 1}`).join(BETWEEN) : "";
        const titles = lists.reduce((all, list) => all.flatMap((one) => list.map((each) => [...one, each])), [[]]).map((parts) => parts.join(BETWEEN));
        if (titles.length > MOST_MADE) throw wrong("first", `would make ${titles.length} variants; at most ${MOST_MADE} at once`);
        const there = variants.read();
        const blank = there.length === 1 && !there[0].row.id && there[0].typed.title === "Default" ? there[0].line : null;
        const known = new Set(there.map((each) => each.typed.title));
        const [first, ...rest] = titles.filter((title) => !known.has(title));
        const fill = (line, title) => (line.querySelector("[name=title]").value = title);
        if (first) fill(blank ?? variants.append({}), first);
        rest.forEach((title) => fill(variants.append({}), title));
        nameTitles();
        variants.node.dispatchEvent(new Event("input", { bubbles: true }));
      },
    });
  }
  // The column of titles is headed by the names of the options.
  function nameTitles() {
    replace(variants.node.querySelector(".head span"), optionNames.querySelector("input").value || "Title");
  }
  const reason = field({
    name: "reason",
    label: "Why the stock changes",
    options: optionsOf(REASONS, "Received (+) or damaged (-)"),
  });
  reason.hidden = true;
  const details = rows({
    name: "specification",
    what: "question",
    add: "Add a question",
    widths: "minmax(0, 1fr) 8rem minmax(0, 1fr) 2.25rem",
    columns: [
      { name: "name", label: "Name", placeholder: "Size" },
      { name: "required", label: "Required", options: [["", "Optional"], ["yes", "Required"]] },
      { name: "choices", label: "Choices", placeholder: "any, or S, M, L" },
    ],
    start: own.specification.map(({ name, required, choices }) => ({ name, required: required ? "yes" : "", choices: choices.join(", ") })),
  });
  // A scanner ends with Enter, which would save the product half entered.
  function toNext(event) {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.target.closest(".line").nextElementSibling?.querySelector("[name=barcode]").focus();
  }
  if (visit) images.begin(own.images);
  // What is rarely wanted is one line.
  const fold = (title, isOpen, ...content) => h.details({ class: "card", open: isOpen }, h.summary(title), h.div({ class: "stack even" }, content));
  const threshold = text("lowStockThreshold", { inputmode: "numeric", placeholder: "5" });
  threshold.hidden = own.madeToOrder; // it takes no stock
  const about = card(
    null,
    visit && images.node,
    h.div(
      { class: "fields" },
      text("name", { wide: true }),
      text("description", { rows: 3, wide: true }),
    ),
  );
  const stock = card(
    "Price and stock",
    h.div({ class: "fields" }, amount("price"), amount("compareAtPrice"), text("sku"), threshold, optionNames),
    variants.node,
    h.p({ class: "hint" }, "Stock: 21, or +5 and -3 for pieces that came or went. Blank: not tracked. A blank price or SKU is the product's."),
    reason,
  );
  const made = fold(
    "Made to order",
    Boolean(own.madeToOrder),
    h.div(
      { class: "fields" },
      text("madeToOrder", { label: "Made when it is ordered", type: "checkbox", hint: "It takes no stock." }),
      text("leadDays", { label: "Days until it is due", inputmode: "numeric", placeholder: "no date" }),
    ),
    h.p({ class: "strong" }, "Questions for each order"),
    details.node,
  );
  const node = h.div(
    { class: "columns" },
    // What is changed daily comes first.
    h.div(!product?.id ? [about, stock, made] : own.madeToOrder ? [stock, made, about] : [stock, about, made]),
    h.div(
      card(
        "Availability",
        text("status", { options: optionsOf(PRODUCT_STATUSES) }),
        text("published", {
          type: "checkbox",
          hint: "The storefront shows products that are active and published.",
        }),
        used("storefront", { hint: "Leave blank for all storefronts." }),
      ),
      card(
        "Organization",
        used("vendor"),
        used("type"),
        used("tag", {
          name: "tags",
          value: own.tags.join(", "),
          hint: "Separate with commas.",
          several: true,
        }),
      ),
      fold(
        "Search engine listing",
        false,
        text("slug", { placeholder: product ? "" : "created from the name" }),
        h.div(
          { class: "stack even", "data-field": "seo" },
          field({ name: "seo.title", label: "Page title", value: own.seo?.title }),
          field({ name: "seo.description", label: "Meta description", value: own.seo?.description ?? "", rows: 3 }),
        ),
      ),
    ),
  );

  // The form's product, in the API's shape.
  function read() {
    // By field, because rows have a `price` and a `sku` too.
    const typed = (name) => node.querySelector(`[data-field="${name}"] [name]`).value.trim();
    const said = Object.fromEntries(TEXTS.map((name) => [name, orNull(typed(name))]));
    for (const name of AMOUNTS) said[name] &&= amountOf(said[name]);
    return {
      ...said,
      published: node.querySelector("[name=published]").checked,
      madeToOrder: node.querySelector("[name=madeToOrder]").checked,
      leadDays: orNull(whole(typed("leadDays"))),
      specification: details.read().map(({ typed: { name, required, choices } }) => ({ name, required: required === "yes", choices: tagsOf(choices) })),
      tags: tagsOf(typed("tags")),
      lowStockThreshold: orNull(whole(typed("lowStockThreshold"))),
      optionNames: typed("optionNames") ? typed("optionNames").split(BETWEEN) : null,
      seo: { title: orNull(typed("seo.title")), description: orNull(typed("seo.description")) },
      images: (visit ? images.read() : own.images).map(images.toInput),
      variants: variants.read().map(({ row, typed, typed: { title, sku, barcode, price, cost, stock } }) => ({
        ...(row.id ? { id: row.id } : {}),
        title: orNull(title),
        sku: orNull(sku),
        barcode: orNull(barcode),
        price: orNull(amountOf(price)),
        cost: orNull(amountOf(cost)),
        stock: isMove({ row, typed }) ? row.stock : orNull(whole(stock)),
      })),
    };
  }

  // Pieces that come or go, such as +5, as the API moves them; and the fields that say so.
  function moves() {
    const lines = variants.read().filter(isMove);
    const why = reason.querySelector("select").value;
    reason.hidden = lines.length === 0;
    return lines.map(({ line, row, typed: { stock } }) => ({
      at: line.querySelector("[name=stock]").closest("[data-field]"),
      move: { variantId: row.id, by: Number(stock), reason: why || (Number(stock) > 0 ? ARRIVED : GONE) },
    }));
  }
  return { node, read, moves, reason, reveal: variants.reveal, lists: [variants, images, details], isAlone };
}

// Only what differs is sent, so an edit of the name never writes an old stock over a sale.
export function changes(was, now) {
  const sent = pickChanges(was, now);
  if (sent.variants) {
    const known = new Map(was.variants.map((variant) => [variant.id, variant]));
    sent.variants = now.variants.map((variant) => {
      const before = known.get(variant.id) ?? {};
      const news = differing(before, variant).filter(
        (name) => variant.id || variant[name] !== null,
      );
      return Object.fromEntries(
        [["id", variant.id], ...news.map((name) => [name, variant[name]])].filter(
          ([name, value]) => name !== "id" || value,
        ),
      );
    });
  }
  return sent;
}

// A new product: blank fields and untouched variants are not sent.
export function created(now) {
  const sent = Object.fromEntries(
    Object.entries(now).filter(
      ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  );
  if (!sent.seo.title && !sent.seo.description) delete sent.seo;
  const { optionNames } = sent;
  delete sent.optionNames;
  if (optionNames) sent.metadata = { optionNames };
  const given = (variant) =>
    Object.fromEntries(Object.entries(variant).filter(([, value]) => value !== null));
  const [only, ...more] = now.variants;
  const untouched =
    only && more.length === 0 && only.title === "Default" && Object.keys(given(only)).length === 1;
  if (untouched) delete sent.variants;
  else if (sent.variants) sent.variants = sent.variants.map(given);
  return sent;
}
