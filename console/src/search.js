// One search over orders, products, customers, pages and actions, from any page (`/` or Ctrl+K).

import style from "./search.css" with { type: "text" };
import { h, newId } from "./dom.js";
import { date, money, plural, statusWord, words } from "./format.js";
import { MENU } from "./navigation.js";
import { link, match } from "./router.js";
import { may } from "./session.js";
import { asked } from "./parts/choice.js";
import { combobox } from "./parts/combobox.js";
import { nameOf, repOf } from "./parts/order.js";
import { addStyle } from "./parts/style.js";
import { repWord } from "./parts/words.js";
import { Visit } from "./visit.js";

addStyle(style);

// Each with other words for it, such as those of what is done there.
const WORDS = {
  "/orders": "export print packing slip label ship refund",
  "/products": "export stock price",
  "/customers": "export merge erase",
  "/reports": "export csv sales profit money",
  "/import": "csv excel upload saved mappings columns",
  "/settings/keys": "settings employees users people team members staff roles password sign in access",
  "/settings/production": "settings production workshop steps",
  "/settings/shipping": "settings shipping tracking parcels delivery services dhl ups post",
  "/settings/developer/webhooks": "settings events integrations notifications connected systems url",
  "/settings/developer/deliveries": "webhooks events retries replay",
  "/jobs": "undo export history",
  "console/reference": "developer openapi documentation",
  "console/guide": "settings help manual currency time zone shop name address profile payment methods taxes",
};
const PAGES = [
  ["New order", "/orders/new", "create sale till"],
  ["Promised dates", "/orders/due", "due orders overdue"],
  ["Add product", "/products/new", "create new"],
  ["Add customer", "/customers/new", "create new"],
  ["Low stock", "/products/low-stock", "reorder"],
  ["Receive", "/products/receive", "goods add stock"],
  ["Counts", "/products/counts", "stocktaking inventory new"],
  ...MENU.flatMap(({ items }) => items)
    .map(([path, name]) => [name, path, WORDS[path] ?? ""]),
  ["Shipments", "/orders/shipments", "parcels tracking sent day"],
  ["Open orders", "/orders?status=open", ""],
  ["Orders that are due", "/orders?balance=due", "take payment unpaid"],
  ["Tax", "/reports?type=tax", "vat report"],
  ["Money by method", "/reports?type=money&by=paymentMethod&clock=received", "cash day closing"],
  ["Failed deliveries", "/settings/developer/deliveries?status=RETRYING,FAILED", ""],
];
// The page that an id alone leads to.
const IDS = [
  [/^ord_\w+$/, "Order", "/orders/"],
  [/^prod_\w+$/, "Product", "/products/"],
  [/^cus_\w+$/, "Customer", "/customers/"],
  [/^dlv_\w+$/, "Delivery", "/settings/developer/deliveries/"],
  [/^wh_\w+$/, "Webhook", "/settings/developer/webhooks/"],
  [/^job_\w+$/, "Job", "/jobs/"],
  [/^cnt_\w+$/, "Count", "/products/counts/"],
];

const MOST_REPS = 3;

let open = null;

// What the open page offers, by its words: Take payment, Print order, Export.
const findButtons = () =>
  [...document.querySelectorAll("#main button")].filter(
    (each) => each.textContent && !each.closest("td, th, .chip, .finder") && (each.checkVisibility() || each.closest("[popover]")),
  );

export function openSearch(begun, isEntered) {
  if (open) return;
  const mine = new Visit({}, () => {});
  let wanted = null; // the text that Enter was pressed for, before its answer came
  const input = h.input({
    id: newId("search"),
    type: "search",
    placeholder: "Order number, name, email, SKU, page…",
    "aria-label": "Search everything",
    onkeydown: ({ key }) => key.startsWith("Arrow") && (wanted = null),
  });
  const failed = (text, message) => list.show([], text, message);
  const list = combobox({ visit: mine, input, label: "Results", stays: true, ask, take, enter, failed });
  input.addEventListener("input", typed);
  open = mine.modal("Search", [input, list.box], { broad: true });
  mine.listen(window, "hashchange", () => mine.leave());
  open.onclose = () => {
    open = null;
    mine.leave();
  };
  input.value = begun;
  input.focus();
  input.dispatchEvent(new Event("input"));
  if (isEntered) enter();

  function typed() {
    wanted = null;
    list.show([], null); // unmarks
    list.show(pages(input.value.trim()), null);
  }

  async function ask(text, signal) {
    const [found, reps] = await Promise.all([search(mine, text, signal), repsOf(mine, text, signal)]);
    const options = [...found, ...reps, ...pages(text)];
    if (wanted === text && options.length) take(options[0]);
    return options;
  }

  function enter(option = list.found()[0], event = null) {
    event?.preventDefault();
    const text = input.value.trim();
    // Results of the API may be listed before pages, which are found without a request.
    if (text && list.of() !== text && list.at() < 1 && !option?.isSure) {
      wanted = text;
      list.look();
    } else if (option) take(option);
  }

  function take({ key, press }) {
    mine.leave();
    if (press) findButtons().find((each) => each.textContent === press)?.click();
    else location.href = key.startsWith("/") ? link(key) : new URL(key, document.baseURI).href;
  }
}

function pages(text) {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const ids = IDS.filter(([form]) => form.test(text)).map(([, kind, path]) => ({
    text,
    kind,
    key: `${path}${text}`,
    isSure: true,
  }));
  const isMeant = (...names) => wanted.every((word) => ` ${names.join(" ").toLowerCase()}`.includes(` ${word}`));
  const offered = new Set(findButtons().map((each) => each.textContent));
  const acts = [...offered].filter((name) => isMeant(name)).map((name) => ({ text: name, kind: "On this page", press: name }));
  const named = PAGES.filter(([name, , also]) => isMeant(name, also)).map(([name, key]) => ({ text: name, kind: "Page", key }));
  const open = [...ids, ...named].filter(({ key }) => may(match(key).role));
  return [...(wanted.length > 0 ? acts : []), ...open].map(toOption);
}

// The orders of each sales rep of this name.
async function repsOf(visit, text, signal) {
  const found = repOf(text) ? await asked(visit, ["orders", "salesRepId"], repOf(text), signal) : [];
  return found.slice(0, MOST_REPS).map(({ value, count }) =>
    toOption({ text: repWord(value), kind: "Sales rep", about: plural(count, "order"), key: `/orders?salesRepId=${encodeURIComponent(value)}` }),
  );
}

const toOption = ({ kind, about, ...option }) => ({ ...option, about: [kind, about && [" · ", about]] });

// Exact matches come first in each group; an order number, a SKU or an email that equals the text
// comes before all others.
async function search(visit, text, signal) {
  const { data } = await visit.get("admin/search", { q: text }, signal);
  const orders = data.orders.map((each) => ({
    text: `Order #${each.number}`,
    kind: statusWord(each.status),
    about: [
      each.customer?.email,
      " ",
      money(each.total),
      " ",
      date(each.orderDate),
    ],
    key: `/orders/${each.id}`,
    isExact: each.number === text.replace(/^#/, ""),
  }));
  const isIt = (code) => code?.toLowerCase() === text.toLowerCase();
  const products = data.products.map(({ id, name, status, sku, variants }) => {
    const variant = variants.find((each) => isIt(each.sku) || isIt(each.barcode));
    return {
      text: name,
      kind: "Product",
      about: [sku, status === "ACTIVE" ? "" : words(status)].filter(Boolean).join(" · "),
      key: `/products/${id}${variant && variants.length > 1 ? `?variant=${variant.id}` : ""}`,
      isExact: isIt(sku) || Boolean(variant),
    };
  });
  const customers = data.customers.map((each) => ({
    text: nameOf(each) ?? each.id,
    kind: "Customer",
    about: each.email,
    key: `/customers/${each.id}`,
    isExact: each.email === text.toLowerCase(),
  }));
  // Orders are also found by their items, so for text that is not a number, products and customers come first.
  const all = /^#?\d+$/.test(text)
    ? [...orders, ...products, ...customers]
    : [...products, ...customers, ...orders];
  return [...all.filter(({ isExact }) => isExact), ...all.filter(({ isExact }) => !isExact)].map(toOption);
}
