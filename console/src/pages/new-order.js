// An order entered by hand, such as a sale in the shop or by telephone. It can be entered with a scanner
// or the keyboard alone: Enter adds the item found, and only Ctrl+Enter places the order.

import { button, h, newKey, replace } from "../dom.js";
import { PAYMENTS, TIMEZONE } from "../facts.js";
import { amountOf } from "../parts/amount.js";
import { words } from "../format.js";
import { editAddress, shown } from "../parts/address.js";
import { chooseBuyer } from "../parts/buyer.js";
import { choice, methodField } from "../parts/choice.js";
import { field, optionsOf, saving, summary, values } from "../parts/form.js";
import { announce, toast } from "../parts/notice.js";
import { coded, SOURCES, tagsOf } from "../parts/order.js";
import { discountOf, orderLines } from "../parts/order-lines.js";
import { card } from "../parts/page.js";
import { create } from "../parts/record.js";
import { shortage } from "../parts/shortage.js";
import { splitPayment } from "../parts/split.js";
import { momentOf } from "../parts/zone.js";
import { link } from "../router.js";

export async function show(visit) {
  const known = visit.query.customer
    ? (await visit.get(`admin/customers/${encodeURIComponent(visit.query.customer)}`)).data
    : null;
  begin(visit, known);
}

// `left`: { pieces, texts } that were scanned while the order before this one was being created.
function begin(visit, known, left = { pieces: [], texts: [] }) {
  // A retry after a lost connection does not place a second order.
  const idempotencyKey = newKey();
  let isPlacing = false;
  const sum = h.p({ class: "strong", role: "status" });
  // Offered when the stock does not suffice.
  const force = field({ name: "force", label: "Sell it anyway: the customer has it in hand", type: "checkbox" });
  force.hidden = true;
  const submit = h.button({ type: "submit", class: "main" }, "Create order");
  const used = (name, more) => choice(visit, ["orders", name], { name, ...more });
  const status = field({ name: "paymentStatus", value: "PENDING", options: optionsOf(PAYMENTS) });
  const method = methodField(visit, { name: "paymentMethod", placeholder: "Card terminal" });
  // Payments say what the status is.
  const split = splitPayment({ visit, changed: (count) => (status.hidden = method.hidden = count > 0) });
  const hint = "Enter adds the item. Ctrl+Enter creates the order.";
  const items = orderLines(visit, { hint, changed: () => total() });
  const { find } = items;
  const who = chooseBuyer({ visit, known, changed: () => find.focus() });
  // Collapsed: a sale in the shop has no address, and needs no extra key press.
  let shipsTo = null;
  const to = h.div({ class: "stack even", "data-field": "shippingAddress" });
  const form = h.form(
    { novalidate: true, onsubmit: submitted, oninput: total, onkeydown: pressed },
    h.div(
      { class: "columns" },
      h.div(
        card("Items", items.nodes, sum),
        card(
          "Note and tags",
          field({ name: "note", rows: 3 }),
          used("tag", { name: "tags", hint: "Separate with commas.", several: true }),
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
            ["discount", "5.00 or 10 %", "text"],
            ["shipping"],
            ["tax"],
          ].map(([name, placeholder = "0", inputmode = "decimal"]) => field({ name, inputmode, placeholder })),
        ),
        card("Shipping address", to),
        card(
          "Order details",
          used("source", { value: words("IN_PERSON"), shown: words, also: SOURCES }),
          used("salesRepId"),
          field({ name: "orderDate", type: "datetime-local", hint: `Leave blank for now. Time zone: ${TIMEZONE}.` }),
        ),
      ),
    ),
    h.div({ class: "save" }, summary(), force, h.div({ class: "actions" }, submit)),
  );
  visit.draw({ title: "New order", back: [link("/orders"), "Orders"] }, form);
  total();
  drawAddress();
  for (const { piece, more } of left.pieces) items.add(piece).quantity.value = String(more);
  left.texts.forEach((text) => find.scan(text));
  total();
  find.focus();
  const blank = JSON.stringify(order());
  visit.guard(
    "order",
    () => isPlacing || JSON.stringify(order()) !== blank,
    "This order has not been created yet. What you entered will be lost.",
  );

  function drawAddress(address = shipsTo) {
    shipsTo = address;
    const act = (text, onclick) => button(text, onclick, { class: "small" });
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
        act(shipsTo ? "Edit address" : "Add address", enter),
        act("Copy from customer", copy),
        shipsTo && act("Remove address", () => drawAddress(null)),
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
      form.requestSubmit(submit);
    } else if (event.target === submit || event.target.matches("input, select")) {
      event.preventDefault();
      if (event.target === submit) announce("Press Ctrl+Enter to create the order.");
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
      ...given("shipping", amountOf),
      ...given("tax", amountOf),
      ...given("salesRepId"),
      ...given("note"),
      ...given("orderDate", momentOf),
      tags: tagsOf(typed.tags),
    };
  }

  async function submitted(event) {
    event.preventDefault();
    await saving(form, submit, async () => {
      if (!(await isReady())) return;
      isPlacing = true;
      const before = items.pieces();
      const success = (placed) => `Order #${placed.number} created.`;
      const found = [link("/orders"), "View orders: it is the newest"];
      const made = (placed, sent) => next(placed, before, sent);
      try {
        await create(visit, "order", { form, found, made, body: order(), idempotencyKey, success });
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
    if (refusal.code === "insufficient_stock") force.hidden = false;
    const errors = shortage(refusal, items.fieldOf) ?? refusal.errors;
    const whole = (name) => (name.startsWith("deposit.") ? "deposit" : name);
    refusal.errors = errors?.map((error) => ({ ...error, field: whole(error.field) }));
    return refusal;
  }
}
