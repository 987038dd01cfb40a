// One search over orders, products, customers, pages and actions, from any page (`/` or Ctrl+K).

import { call, isLeft } from "./api.js";
import { h, newId } from "./dom.js";
import { date, money, words } from "./format.js";
import { match } from "./router.js";
import { may } from "./session.js";
import { combobox } from "./parts/combobox.js";
import { modal } from "./parts/dialog.js";
import { announce } from "./parts/notice.js";

const PAUSE = 180; // milliseconds without a key before the search is made
const PAGES = [
  ["New order", "/orders/new"],
  ["Add product", "/products/new"],
  ["Import products", "/import"],
  ["Low stock", "/products/low-stock"],
  ["Receive", "/products/receive"],
  ["Counts", "/products/counts"],
  ["Home", "/"],
  ["Orders", "/orders"],
  ["Open orders", "/orders?status=open"],
  ["Products", "/products"],
  ["Customers", "/customers"],
  ["Webhooks", "/settings/developer/webhooks"],
  ["Deliveries", "/settings/developer/deliveries"],
  ["Failed deliveries", "/settings/developer/deliveries?status=RETRYING,FAILED"],
  ["API keys", "/settings/keys"],
  ["API reference", "/reference"],
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

let open = null;

export function openSearch(begun, isEntered) {
  if (open) return;
  const leaving = new AbortController();
  let asking = new AbortController();
  let pause = 0;
  let of = ""; // the text that the records belong to, once the API has answered
  let wanted = null; // the text that Enter was pressed for, before its answer came
  const input = h.input({
    id: newId("search"),
    type: "search",
    placeholder: "Order number, name, email, SKU, page…",
    "aria-label": "Search everything",
    oninput: typed,
    onkeydown: ({ key }) => key.startsWith("Arrow") && (wanted = null),
  });
  const list = combobox({ input, label: "Results", kind: "results-list", stays: true, take, enter });
  const dialog = modal("Search", [input, list.box], { signal: leaving.signal, broad: true });
  open = dialog;
  const close = () => leaving.abort();
  addEventListener("hashchange", close, { signal: leaving.signal });
  dialog.onclose = () => {
    open = null;
    clearTimeout(pause);
    asking.abort();
    leaving.abort();
  };
  input.value = begun;
  typed();
  input.focus();
  if (isEntered) enter();

  function typed() {
    clearTimeout(pause);
    asking.abort();
    wanted = null;
    const text = input.value.trim();
    list.show([], -1, null); // unmarks
    draw(pages(text));
    if (text) pause = setTimeout(look, PAUSE, text);
  }

  async function look(text) {
    asking.abort();
    asking = new AbortController();
    try {
      const records = await search(text, asking.signal);
      of = text;
      draw([...records, ...pages(text)]);
      const found = list.found();
      announce(found.length ? `${found.length} found.` : "Nothing found.");
      if (wanted === text && found.length) take(found[0]);
    } catch (refusal) {
      if (!isLeft(refusal)) list.show([], 0, refusal.message);
    }
  }

  // The option that the user chose by its arrow key stays chosen when more are found.
  function draw(options) {
    const marked = list.at() > 0 && list.found()[list.at()].address;
    const place = marked ? options.findIndex(({ address }) => address === marked) : 0;
    list.show(options, Math.max(0, place), input.value.trim() && "Nothing found");
  }

  function enter(option = list.found()[0], event = null) {
    event?.preventDefault();
    const text = input.value.trim();
    // Results of the API may be listed before pages, which are found without a request.
    if (text && of !== text && list.at() < 1 && !option?.isSure) {
      wanted = text;
      clearTimeout(pause);
      look(text);
    } else if (option) take(option);
  }

  function take(option) {
    close();
    location.hash = `#${option.address}`;
  }
}

function pages(text) {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const ids = IDS.filter(([form]) => form.test(text)).map(([, kind, path]) => ({
    text,
    kind,
    address: `${path}${text}`,
    isSure: true,
  }));
  const named = PAGES.filter(
    ([name, address]) =>
      may(match(address).role) && wanted.every((word) => ` ${name.toLowerCase()}`.includes(` ${word}`)),
  ).map(([name, address]) => ({ text: name, kind: "Page", address }));
  return [...ids, ...named].filter(({ address }) => may(match(address).role)).map(told);
}

const told = ({ kind, about, ...option }) => ({ ...option, about: [kind, about && [" · ", about]] });

// Exact matches come first in each group; an order number, a SKU or an email that equals the text
// comes before all others.
async function search(text, signal) {
  const { data } = await call("GET", "admin/search", { query: { q: text }, signal });
  const orders = data.orders.map((each) => ({
    text: `Order #${each.number}`,
    kind: words(each.status),
    about: [
      each.customer?.email,
      " ",
      money(each.total, each.currency),
      " ",
      date(each.orderDate),
    ],
    address: `/orders/${each.id}`,
    isExact: each.number === text.replace(/^#/, ""),
  }));
  const isIt = (code) => code?.toLowerCase() === text.toLowerCase();
  const products = data.products.map(({ id, name, status, sku, variants }) => {
    const variant = variants.find((each) => isIt(each.sku) || isIt(each.barcode));
    return {
      text: name,
      kind: "Product",
      about: [sku, status === "ACTIVE" ? "" : words(status)].filter(Boolean).join(" · "),
      address: `/products/${id}${variant && variants.length > 1 ? `?variant=${variant.id}` : ""}`,
      isExact: isIt(sku) || Boolean(variant),
    };
  });
  const customers = data.customers.map(({ id, email, firstName, lastName }) => ({
    text: [firstName, lastName].filter(Boolean).join(" ") || email,
    kind: "Customer",
    about: email,
    address: `/customers/${id}`,
    isExact: email === text.toLowerCase(),
  }));
  // Orders are also found by their items, so for text that is not a number, products and customers come first.
  const all = /^#?\d+$/.test(text)
    ? [...orders, ...products, ...customers]
    : [...products, ...customers, ...orders];
  return [...all.filter(({ isExact }) => isExact), ...all.filter(({ isExact }) => !isExact)].map(told);
}
