// One search over orders, products, customers, pages and actions, from any page (`/` or Ctrl+K).

import { call, isLeft } from "./api.js";
import { h, newId, replace } from "./dom.js";
import { date, money, words } from "./format.js";
import { match } from "./router.js";
import { may } from "./session.js";
import { modal } from "./parts/dialog.js";
import { announce } from "./parts/notice.js";
import "./parts/work.js";

const PAUSE = 180; // milliseconds without a key before the search is made
const PAGES = [
  ["New order", "/orders/new"],
  ["Add product", "/products/new"],
  ["Import products", "/import"],
  ["Low stock", "/products/low-stock"],
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
  const id = newId("search");
  const leaving = new AbortController();
  let asking = new AbortController();
  let pause = 0;
  let found = [];
  let of = ""; // the text that `found` belongs to, once the API has answered
  let wanted = null; // the text that Enter was pressed for, before its answer came
  let at = 0;
  const box = h.ul({ id: `${id}-list`, role: "listbox", class: "results-list", "aria-label": "Results" });
  const input = h.input({
    id,
    type: "search",
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Order number, name, email, SKU, page…",
    "aria-label": "Search everything",
    "aria-expanded": "true",
    "aria-controls": box.id,
    "aria-autocomplete": "list",
    oninput: typed,
    onkeydown: pressed,
  });
  const dialog = modal("Search", [input, box], { signal: leaving.signal, broad: true });
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
    at = 0;
    const text = input.value.trim();
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
      announce(found.length ? `${found.length} found.` : "Nothing found.");
      if (wanted === text && found.length) take(found[0]);
    } catch (refusal) {
      if (!isLeft(refusal)) replace(box, h.li({ class: "error", role: "option" }, refusal.message));
    }
  }

  // The option that the user chose by its arrow key stays chosen when more are found.
  function draw(options) {
    const marked = at > 0 && found[at]?.address;
    found = options;
    replace(
      box,
      found.length === 0 && input.value.trim()
        ? h.li({ class: "soft", role: "option", "aria-disabled": "true" }, "Nothing found")
        : found.map((option, place) =>
            h.li(
              {
                id: `${id}-${place}`,
                role: "option",
                "aria-selected": "false",
                onclick: () => take(option),
              },
              h.span(h.bdi(option.text)),
              h.span({ class: "soft small" }, option.kind, option.about && [" · ", option.about]),
            ),
          ),
    );
    mark(Math.max(0, marked ? found.findIndex(({ address }) => address === marked) : 0));
  }

  function mark(place) {
    at = place;
    [...box.children].forEach((each, here) =>
      each.setAttribute("aria-selected", String(here === at && found.length > 0)),
    );
    box.children[at]?.scrollIntoView({ block: "nearest" });
    if (found.length) input.setAttribute("aria-activedescendant", `${id}-${at}`);
    else input.removeAttribute("aria-activedescendant");
  }

  function pressed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) {
      event.preventDefault();
      mark((at + step + found.length) % found.length);
      wanted = null;
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    enter();
  }

  function enter() {
    const text = input.value.trim();
    // Results of the API may be listed before pages, which are found without a request.
    if (text && of !== text && at === 0 && !found[0]?.isSure) {
      wanted = text;
      clearTimeout(pause);
      look(text);
    } else if (found[at]) take(found[at]);
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
  return [...ids, ...named].filter(({ address }) => may(match(address).role));
}

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
  const products = data.products.map(({ id, name, status, sku, variants }) => ({
    text: name,
    kind: "Product",
    about: [sku, status === "ACTIVE" ? "" : words(status)].filter(Boolean).join(" · "),
    address: `/products/${id}`,
    isExact: [sku, ...variants.map((each) => each.sku)].some(
      (each) => each?.toLowerCase() === text.toLowerCase(),
    ),
  }));
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
  return [...all.filter(({ isExact }) => isExact), ...all.filter(({ isExact }) => !isExact)];
}
