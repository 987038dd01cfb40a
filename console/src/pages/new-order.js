// An order entered by hand, such as a sale in the shop or by telephone. It can be entered with a scanner
// or the keyboard alone: Enter adds the item found, and only Ctrl+Enter places the order.

import { isLeft } from "../api.js";
import { button, h, newKey, replace } from "../dom.js";
import { TIMEZONE } from "../facts.js";
import { amountOf, decimal } from "../parts/amount.js";
import { called, money, words } from "../format.js";
import { editAddress, shown } from "../parts/address.js";
import { chooseBuyer } from "../parts/buyer.js";
import { choice, NAMES, repField } from "../parts/choice.js";
import { field, saving, summary, values, wrong } from "../parts/form.js";
import { isCash, methodPicks, picks } from "../parts/method.js";
import { announce, toast } from "../parts/notice.js";
import { coded, repOf, SOURCES, tagsOf } from "../parts/order.js";
import { begunNotice, dropDraft, keepDraft, loadDraft } from "../parts/draft.js";
import { discountOf, orderLines } from "../parts/order-lines.js";
import { card } from "../parts/page.js";
import { create } from "../parts/record.js";
import { shortage } from "../parts/shortage.js";
import { splitPayment } from "../parts/split.js";
import { held, retype } from "../parts/typed.js";
import { momentOf } from "../parts/zone.js";
import { link } from "../router.js";
import { who as signedIn } from "../session.js";

const PAUSE = 250; // milliseconds without a key before the sums are asked for
const PAID = [
  ["none", "Not paid"],
  ["deposit", "Deposit"],
  ["paid", "Paid"],
];

export async function show(visit) {
  const known = visit.query.customer
    ? (await visit.get(`admin/customers/${encodeURIComponent(visit.query.customer)}`)).data
    : null;
  const draft = loadDraft(visit);
  begin(visit, known, draft?.customer === (visit.query.customer ?? "") ? { draft } : {});
}

// `left`: { pieces, texts } that were scanned while the order before this one was being created, or the `draft` of this tab.
function begin(visit, known, left = {}) {
  const { customer = "" } = visit.query;
  const draft = left.draft ?? null;
  // A retry after a lost connection does not place a second order.
  const idempotencyKey = draft?.key ?? newKey();
  let isPlacing = false;
  let blank = null; // what is sent where nothing was entered
  const sums = h.div({ class: "totals", role: "status" });
  // Offered when the stock does not suffice.
  const force = field({ name: "force", label: "Sell it anyway: the customer has it in hand", type: "checkbox" });
  force.hidden = true;
  const submit = h.button({ type: "submit", class: "main" }, "Create order");
  const used = (name, more) => choice(visit, ["orders", name], { name, ...more });
  const amount = (name, more) => field({ name, inputmode: "decimal", placeholder: "0", ...more });
  const paid = field({ name: "paid", label: "Paid now", value: "none", type: "hidden" });
  paid.append(picks(visit, paid, "How much is paid", PAID).group);
  const deposit = amount("deposit", { placeholder: "30 % or 100.00", inputmode: "text", hint: "Work starts once the deposit is paid." });
  const method = methodPicks(visit, { name: "method" });
  const given = amount("tendered", { label: "Cash received", placeholder: "" });
  given.dataset.field = "payments.0.tendered";
  const split = splitPayment({ visit, changed: () => blank && changed() });
  const hint = ["Enter adds the item.", h.span({ class: "wide" }, " Ctrl+Enter creates the order.")];
  const items = orderLines(visit, { hint, changed: () => changed() });
  const { find } = items;
  const who = chooseBuyer({ visit, known, changed: () => (changed(), find.focus()) });
  // Collapsed: a sale in the shop has no address, and needs no extra key press.
  let shipsTo = null;
  const to = h.div({ class: "stack even", "data-field": "shippingAddress" });
  const fold = (name, ...content) => h.details({ class: "card" }, h.summary(name), h.div({ class: "stack even" }, content));
  const form = h.form(
    { class: "till", novalidate: true, onsubmit: submitted, oninput: changed, onkeydown: pressed },
    h.div({ class: "stack tight" }, card("Items", items.nodes), card(null, who.node)),
    h.div(
      { class: "stack tight folds" },
      fold(
        "Note and tags",
        field({ name: "note", rows: 3 }),
        used("tag", { name: "tags", hint: "Separate with commas.", several: true }),
      ),
      fold("Shipping address", to),
      fold(
        "Date, source and sales rep",
        field({
          name: "orderDate",
          type: "datetime-local",
          hint: `Also of the payment. Leave blank for now. Time zone: ${TIMEZONE}.`,
        }),
        used("source", { value: words("IN_PERSON"), ...NAMES, also: SOURCES }),
        repField(visit, { value: repOf(signedIn().name), onfocus: ({ target }) => target.select() }),
      ),
    ),
    card(
      "Payment",
      h.div(
        { class: "fields three" },
        amount("discount", { placeholder: "5 or 10 %", inputmode: "text" }),
        amount("shipping"),
        amount("tax"),
      ),
      sums,
      paid,
      method,
      h.div({ class: "fields" }, deposit, given),
      split.node,
      summary(),
      force,
      h.div({ class: "actions" }, submit),
    ),
  );
  const again = draft && begunNotice(visit);
  visit.draw({ title: "New order", back: [link("/orders"), "Orders"] }, again, form);
  drawAddress();
  blank = JSON.stringify(order());
  for (const { piece, more } of left.pieces ?? []) items.add(piece).quantity.value = String(more);
  left.texts?.forEach((text) => find.scan(text));
  if (draft) restore();
  changed();
  find.focus();
  // What was entered survives in its tab: a reload, and other pages.
  function keep() {
    if (JSON.stringify(order()) === blank) return dropDraft(visit);
    const kept = { lines: items.kept(), split: split.kept(), who: who.known(), shipsTo, fields: [...held(form)] };
    return keepDraft(visit, { customer, key: idempotencyKey, ...kept });
  }

  function restore() {
    items.restore(draft.lines);
    split.restore(draft.split);
    if (draft.who) who.choose(draft.who);
    drawAddress(draft.shipsTo);
    retype(form, new Map(draft.fields));
    who.unfold();
    form.querySelectorAll(".order-lines .field[hidden]").forEach((note) => (note.hidden = !note.querySelector("input").value));
  }

  function drawAddress(address = shipsTo) {
    shipsTo = address;
    if (blank) changed();
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

  function changed() {
    const typed = values(form);
    const isSplit = split.kept().length > 0;
    const isUnpaid = typed.paid === "none";
    deposit.hidden = typed.paid === "paid";
    method.hidden = isUnpaid || isSplit;
    method.dataset.field = isSplit ? "method" : "payments.0.method"; // as the API calls it in its errors
    given.hidden = method.hidden || !isCash(typed.method);
    split.node.hidden = isUnpaid;
    if (!isPlacing) keep();
    sums.ariaBusy = "true";
    visit.after(PAUSE, "sums", addUp);
  }

  // What the order would come to, as the API says it.
  async function addUp() {
    const { lineItems, ...all } = order();
    if (lineItems.length === 0) return drawSums();
    const { discount, shipping, tax, deposit: agreed, payments } = all;
    const body = { lineItems, discount, shipping, tax, deposit: agreed, payments, stockPolicy: "FORCE" };
    const mine = visit.latest("trial");
    try {
      drawSums(await trial(await completed(body, mine), mine));
    } catch (refusal) {
      if (isLeft(refusal) || mine.aborted) return;
      const [first] = refusal.errors ?? [];
      const name = first && called(first.field.replace(/^(lineItems|payments)\.\d+\./, "").replace(/\..*/, ""));
      drawSums(null, first ? `${name} ${first.message}.` : refusal.message);
    }
  }

  async function trial(body, signal) {
    const asked = { body: { ...body, dryRun: true }, signal };
    return (await visit.send("POST", "admin/orders", asked)).data;
  }

  // A deposit that is a share is paid once the API has said how much it is.
  async function completed(body, signal) {
    const { paid: is } = values(form);
    if (is !== "deposit" || split.kept().length > 0 || !body.deposit) return body;
    const { deposit: its } = await trial({ ...body, payments: [] }, signal);
    return { ...body, payments: [{ ...body.payments[0], amount: its.amount }] };
  }

  function drawSums(would, none = "The sums are shown with the first item.") {
    sums.ariaBusy = null;
    const row = (name, sum, is) => sum && Number(sum) !== 0 && h.div({ class: is }, h.dt(name), h.dd(money(sum)));
    if (!would) return replace(sums, h.p({ class: "soft" }, none));
    const [first] = would.payments;
    return replace(
      sums,
      h.dl(
        { class: "sums" },
        row("Subtotal", would.subtotal),
        row("Discount", would.discount && `-${would.discount.amount}`),
        row("Shipping", would.shipping),
        row("Tax", would.tax),
        h.div({ class: "strong big" }, h.dt("Total"), h.dd(money(would.total))),
        row("Deposit", would.deposit?.amount),
        h.div(h.dt("Due now"), h.dd(money(would.amountPaid))),
        row("Change", first?.change, "big good"),
        row("Due later", would.balanceDue),
      ),
    );
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

  // `isSure`: what the API would take, but no shop means, is refused.
  function order(isSure = false) {
    const typed = values(form);
    const set = (name, make = (text) => text.trim()) =>
      typed[name]?.trim() ? { [name]: make(typed[name]) } : {};
    return {
      lineItems: items.read(),
      ...(typed.force && { stockPolicy: "FORCE" }),
      customer: who.read(typed),
      ...(shipsTo && { shippingAddress: shipsTo }),
      ...paymentOf(typed, isSure),
      ...set("source", coded),
      ...set("discount", discountOf),
      ...set("shipping", amountOf),
      ...set("tax", amountOf),
      ...set("salesRepId", repOf),
      ...set("note"),
      ...set("orderDate", momentOf),
      tags: tagsOf(typed.tags),
    };
  }

  // The deposit and the payments; each has a method, and the day of the order.
  function paymentOf(typed, isSure) {
    const text = typed.deposit.trim();
    const share = /^(.*)%$/.exec(text);
    const agreed = typed.paid !== "paid" && text && { deposit: share ? { percent: decimal(share[1]) } : { amount: amountOf(text) } };
    if (typed.paid === "none") return agreed || {};
    if (isSure && typed.paid === "deposit" && !text) throw wrong("deposit", "is required");
    const at = typed.orderDate ? { receivedAt: momentOf(typed.orderDate) } : {};
    const several = split.read(isSure).map((each) => ({ ...each, ...at }));
    if (several.length > 0) return { ...agreed, payments: several };
    const how = coded(typed.method) || null;
    if (isSure && !how) throw wrong("payments.0.method", "must be chosen");
    const cash = isCash(typed.method) && typed.tendered.trim() && { tendered: amountOf(typed.tendered) };
    return { ...agreed, ...(how && { paymentMethod: how }), payments: [{ method: how, ...cash, ...at }] };
  }

  async function submitted(event) {
    event.preventDefault();
    await saving(form, submit, async () => {
      if (!(await isReady())) return;
      const body = await completed(order(true));
      isPlacing = true;
      const before = items.pieces();
      const success = (placed) => `Order #${placed.number} created.`;
      const found = [link("/orders"), "View orders: it is the newest"];
      const made = (placed, sent) => next(placed, before, sent);
      try {
        await create(visit, "order", { form, found, made, body, idempotencyKey, success });
      } catch (refusal) {
        isPlacing = false;
        keep();
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
    const whole = (name) => (/^deposit|^payments.0.amount$/.test(name) && !form.querySelector(`[data-field="${name}"]`) ? "deposit" : name);
    refusal.errors = errors?.map((error) => ({ ...error, field: whole(error.field) }));
    return refusal;
  }
}
