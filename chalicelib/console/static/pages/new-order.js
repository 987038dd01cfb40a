// An order entered by hand, such as a sale in the shop or by telephone. It can be entered with a scanner
// or the keyboard alone: Enter adds the item found, and only Ctrl+Enter places the order.

import { h, newKey, replace } from "../dom.js";
import { PAYMENTS, TIMEZONE } from "../facts.js";
import { decimal, words } from "../format.js";
import { editAddress, shown } from "../parts/address.js";
import { chooseBuyer } from "../parts/buyer.js";
import { choice, methodField } from "../parts/choice.js";
import { field, saving, values } from "../parts/form.js";
import { finder } from "../parts/finder.js";
import { announce, toast } from "../parts/notice.js";
import { coded, SOURCES, tagsOf } from "../parts/order.js";
import { discountOf, orderLines } from "../parts/order-lines.js";
import { card } from "../parts/page.js";
import { listenForScans } from "../parts/scanner.js";
import { splitPayment } from "../parts/split.js";
import { held } from "../parts/typed.js";
import { variantSearch } from "../parts/variants.js";
import { momentOf } from "../parts/zone.js";
import { link } from "../router.js";

export async function show(visit) {
  const known = visit.query.customer
    ? (await visit.get(`admin/customers/${encodeURIComponent(visit.query.customer)}`)).data
    : null;
  begin(visit, known);
  listenForScans(
    visit,
    (target) => finds.get(visit).node.contains(target),
    (code) => {
      finds.get(visit).focus();
      finds.get(visit).scan(code);
    },
  );
}

// The search of the order that a page shows now.
const finds = new WeakMap();

// `left`: { pieces, texts } that were scanned while the order before this one was being created.
function begin(visit, known, left = { pieces: [], texts: [] }) {
  // A retry after a lost connection does not place a second order.
  const idempotencyKey = newKey();
  let isPlacing = false;
  const sum = h.p({ class: "strong", role: "status" });
  const summary = h.div({ role: "alert", class: "summary" });
  // Offered when the stock does not suffice.
  const force = field({
    label: "Sell it anyway: the customer has it in hand",
    name: "force",
    type: "checkbox",
  });
  force.hidden = true;
  const create = h.button({ type: "submit", class: "main" }, "Create order");
  const used = (name, more) => choice(visit, ["orders", name], { name, ...more });
  const status = field({
    name: "paymentStatus",
    label: "Payment status",
    value: "PENDING",
    options: PAYMENTS.map((each) => [each, words(each)]),
  });
  const method = methodField(visit, {
    name: "paymentMethod",
    label: "Payment method",
    placeholder: "Card terminal",
  });
  // Payments say what the status is.
  const split = splitPayment({
    visit,
    changed: (count) => {
      status.hidden = method.hidden = count > 0;
    },
  });
  const items = orderLines({ changed: total, left: () => find.focus() });
  const who = chooseBuyer({ visit, known, changed: () => find.focus() });
  // Collapsed: a sale in the shop has no address, and needs no extra key press.
  let shipsTo = null;
  const to = h.div({ class: "stack even", "data-field": "shippingAddress" });
  const find = finder({
    visit,
    label: "Find a product",
    placeholder: "SKU, barcode or name",
    hint: "Enter adds the item. Ctrl+Enter creates the order.",
    codes: "SKU or barcode",
    custom: (text) => items.addCustom(text),
    search: variantSearch(visit),
    chosen: (piece) => {
      items.add(piece);
      find.focus();
    },
  });
  const form = h.form(
    { novalidate: true, onsubmit: submitted, oninput: total, onkeydown: pressed },
    h.div(
      { class: "columns" },
      h.div(
        card(
          "Items",
          h.div({ "data-field": "lineItems" }, find.node, h.p({ class: "error" })),
          items.node,
          h.div(
            { class: "actions" },
            h.button({ type: "button", class: "small", onclick: () => items.addCustom() }, "Add a custom item"),
          ),
          sum,
        ),
        card(
          "Note and tags",
          field({ name: "note", label: "Note", rows: 3 }),
          used("tag", { name: "tags", label: "Tags", hint: "Separate with commas.", several: true }),
        ),
      ),
      h.div(
        card("Customer", who.node),
        card(
          "Payment",
          status,
          method,
          split.node,
          [
            ["discount", "Discount", "5.00 or 10 %", "text"],
            ["shipping", "Shipping"],
            ["tax", "Tax"],
          ].map(([name, label, placeholder = "0", inputmode = "decimal"]) =>
            field({ name, label, inputmode, autocomplete: "off", placeholder }),
          ),
        ),
        card("Shipping address", to),
        card(
          "Order details",
          used("source", { label: "Source", value: words("IN_PERSON"), shown: words, also: SOURCES }),
          used("salesRepId", { label: "Sales rep ID" }),
          field({
            name: "orderDate",
            label: "Order date",
            type: "datetime-local",
            hint: `Leave blank for now. Time zone: ${TIMEZONE}.`,
          }),
        ),
      ),
    ),
    h.div({ class: "save" }, summary, force, h.div({ class: "actions" }, create)),
  );
  visit.draw({ title: "New order", back: [link("/orders"), "Orders"] }, form);
  total();
  drawAddress();
  for (const { piece, more } of left.pieces) items.add(piece).quantity.value = String(more);
  left.texts.forEach((text) => find.scan(text));
  total();
  find.focus();
  finds.set(visit, find);
  const blank = JSON.stringify(order());
  visit.guard(
    "order",
    () => isPlacing || JSON.stringify(order()) !== blank,
    "This order has not been created yet. What you entered will be lost.",
  );

  function drawAddress(address = shipsTo) {
    shipsTo = address;
    const button = (text, onclick) => h.button({ type: "button", class: "small", onclick }, text);
    const enter = () =>
      editAddress(visit, {
        title: "Shipping address",
        address: shipsTo,
        save: (typed) => {
          if (!typed.address1 || !typed.city || !typed.countryCode) throw incomplete(typed);
          drawAddress(typed);
        },
      });
    const copy = () => {
      const { addresses = [], defaultAddressId } = who.known() ?? {};
      const found = addresses.find(({ id }) => id === defaultAddressId);
      if (!found) return announce("This customer has no address.");
      const { id: _, ...address } = found;
      return drawAddress(address);
    };
    replace(
      to,
      shipsTo ? shown(shipsTo) : h.p({ class: "soft" }, "None"),
      h.div(
        { class: "actions" },
        button(shipsTo ? "Edit address" : "Add address", enter),
        button("Copy from customer", copy),
        shipsTo && button("Remove address", () => drawAddress(null)),
      ),
      h.p({ class: "error" }),
    );
  }

  function total() {
    const { tax, shipping, discount } = values(form);
    replace(sum, items.total([tax, shipping], discount));
  }

  // Scanners send Enter, so Enter never places the order, wherever the focus is.
  function pressed(event) {
    if (event.key !== "Enter" || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      form.requestSubmit(create);
    } else if (event.target === create || event.target.matches("input, select")) {
      event.preventDefault();
      if (event.target === create) announce("Press Ctrl+Enter to create the order.");
    }
  }

  function order() {
    const typed = values(form);
    const given = (name, make = (text) => text.trim()) =>
      typed[name]?.trim() ? { [name]: make(typed[name]) } : {};
    const money = split.read(typed);
    const asked = { paymentStatus: typed.paymentStatus, ...given("paymentMethod", coded) };
    return {
      lineItems: items.read(),
      ...(typed.force && { stockPolicy: "FORCE" }),
      customer: who.read(typed),
      ...(shipsTo && { shippingAddress: shipsTo }),
      ...(!money.payments && asked),
      ...money,
      ...given("source", coded),
      ...given("discount", discountOf),
      ...given("shipping", decimal),
      ...given("tax", decimal),
      ...given("salesRepId"),
      ...given("note"),
      ...given("orderDate", momentOf),
      tags: tagsOf(typed.tags),
    };
  }

  async function submitted(event) {
    event.preventDefault();
    await saving(form, create, summary, async () => {
      if (!(await isReady())) return;
      isPlacing = true;
      const before = items.pieces();
      const sent = held(form);
      try {
        const { data } = await visit.send("POST", "admin/orders", {
          body: order(),
          idempotencyKey,
          success: (placed) => `Order #${placed.number} created.`,
        });
        await next(data, before, sent);
      } catch (refusal) {
        isPlacing = false;
        throw explained(refusal);
      }
    });
  }

  // Everything that was searched for is on the order, and unusual items are confirmed; scans that
  // come while the question is open too.
  async function isReady() {
    const agreed = new Set();
    for (;;) {
      await find.settled();
      await who.settled();
      if (find.missed())
        throw new Error("An item that was searched for is not on the order. Add or dismiss it first.");
      if (who.missed())
        throw new Error("The customer who was searched for is not on the order. Choose or clear it first.");
      const unusual = items.unusual().filter((name) => !agreed.has(name));
      if (unusual.length === 0) return who.confirmed(values(form));
      if (!(await sellAnyway(unusual))) return false;
      unusual.forEach((name) => agreed.add(name));
    }
  }

  // What was scanned while the order was created is on the next one.
  async function next(placed, before, sent) {
    await find.settled();
    const pieces = items.since(before);
    const texts = find.left();
    if (pieces.length + texts.length === 0) return visit.goOn(`/orders/${placed.id}`, "order", sent);
    visit.stored(sent);
    begin(visit, null, { pieces, texts });
    return toast("What was scanned since then is on this new order.");
  }

  function incomplete(address) {
    const names = ["address1", "city", "countryCode"].filter((name) => !address[name]);
    const errors = names.map((name) => ({ field: name, message: "is required" }));
    return Object.assign(new Error("The address is incomplete."), { errors });
  }

  const sellAnyway = (names) =>
    visit.ask({
      title: "Sell products that are not active?",
      text: h.ul(names.map((name) => h.li(h.bdi(name)))),
      yes: "Create order",
      no: "Back",
    });

  function explained(refusal) {
    if (refusal.code === "insufficient_stock") {
      force.hidden = false;
      refusal.errors = items.lines.flatMap(({ variant }, at) => {
        const short = refusal.body.lines.find((each) => each.variantId === variant.id);
        return short
          ? [{ field: `lineItems.${at}.quantity`, message: `Only ${short.available} in stock` }]
          : [];
      });
    }
    const whole = (name) => (name.startsWith("deposit.") ? "deposit" : name);
    refusal.errors = refusal.errors?.map((error) => ({ ...error, field: whole(error.field) }));
    if (refusal.code === "idempotency_key_reused") {
      refusal.message = "This order was already created, before your last changes.";
      refusal.link = [link("/orders"), "It is the newest of the orders"];
    }
    return refusal;
  }
}
