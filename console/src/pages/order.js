// One order: where it stands, its money, what is next, and what happened.

import { button, emailLink, h } from "../dom.js";
import { MOVES, SHOP } from "../facts.js";
import { called, date, dateTime, money, number, statusWord, words } from "../format.js";
import { editAddress, linesOf, shown } from "../parts/address.js";
import { dayName } from "../parts/bars.js";
import { badge, paymentBadge, statusBadge } from "../parts/badge.js";
import { choice, repField } from "../parts/choice.js";
import { copyButton } from "../parts/copy.js";
import { deliveryTable } from "../parts/deliveries.js";
import { editItems } from "../parts/edit-order.js";
import { preloadDialogs } from "../parts/dialogs.js";
import { filesCard } from "../parts/order-files.js";
import { field } from "../parts/form.js";
import { menu } from "../parts/menu.js";
import { toast } from "../parts/notice.js";
import { buyer, carrierOf, repOf, tagsOf } from "../parts/order.js";
import { storyOf } from "../parts/order-story.js";
import { card, facts } from "../parts/page.js";
import { moneyOf } from "../parts/payments.js";
import { Record } from "../parts/record.js";
import { editFold, recordForm } from "../parts/record-form.js";
import { drawColumns, phoneLink } from "../parts/record-page.js";
import { shipmentsOf } from "../parts/shipments.js";
import { table } from "../parts/table.js";
import { timeline } from "../parts/timeline.js";
import { fieldTrail } from "../parts/trail.js";
import { repWord } from "../parts/words.js";
import { link } from "../router.js";
import { may } from "../session.js";

const VERBS = {
  PAID: "Confirm",
  IN_PRODUCTION: "Start production",
  PROCESSING: "Start processing",
  SHIPPED: "Ship",
  DELIVERED: "Mark as delivered",
};
const MOST_DELIVERIES = 20;
const EDITABLE = ["PENDING", "PAID", "IN_PRODUCTION", "PROCESSING"];
const PATH = ["PENDING", "PAID", "IN_PRODUCTION", "PROCESSING", "SHIPPED", "DELIVERED"];
const FEW_ITEMS = 12;

export async function show(visit) {
  preloadDialogs(visit);
  const webhooks = h.div({ class: "deliveries" }); // filled after the page is drawn
  const record = new Record(visit, {
    path: `admin/orders/${encodeURIComponent(visit.params.id)}`,
    what: "order",
    fields: ({ trackingNumber, salesRepId, dueOn, note, tags }) => ({ trackingNumber, salesRepId, dueOn, note, tags }),
    watched: ({ status }) => ({ status }),
    draw: () => page(visit, record, webhooks, files),
  });
  const files = filesCard(visit, visit.params.id, () => record.data.lineItems);
  await record.load();
  visit.listen(window, "afterprint", () => delete visit.root.dataset.print); // Ctrl+P prints the order
  if (may("ADMIN")) await visit.fill(webhooks, () => delivered(visit, record.data));
}

// The webhook deliveries of an order in one line, with the table behind it.
async function delivered(visit, { id, createdAt }) {
  const asked = { subject: id, since: createdAt, limit: MOST_DELIVERIES };
  const { data: rows } = (await visit.get("admin/deliveries", asked)).data;
  if (rows.length === 0) return h.p({ class: "soft" }, "No webhook was notified of this order.");
  const done = rows.filter(({ status }) => status === "DELIVERED").length;
  const many = rows.length === MOST_DELIVERIES ? `the newest ${MOST_DELIVERIES}` : number(rows.length);
  return h.details(h.summary(`Webhooks: ${done} of ${many} delivered`), deliveryTable(rows));
}

function page(visit, record, webhooks, files) {
  const { data: order } = record;
  const its = moneyOf(visit, record);
  const parcels = shipmentsOf(visit, record, { take: its.take, print: printed });
  const isStaff = may("STAFF");
  // What was refunded is never paid again; and money is not booked without its method.
  const isRefunded = order.paymentStatus === "REFUNDED";
  const isOwed = Number(order.balanceDue) > 0;
  const moves = MOVES[order.status].filter((each) => VERBS[each] && (each !== "PAID" || !(isRefunded || isOwed)));
  if (parcels.mayShip && !moves.includes("SHIPPED")) moves.push("SHIPPED"); // as a shipment
  const steps = isStaff && !order.closedAt ? moves : [];
  const next = nextStep();
  let showDraft = () => {}; // of what was typed and not saved
  const due = h.span();

  visit.draw(
    {
      title: `Order #${order.number}`,
      back: [link("/orders"), "Orders"],
      badges: [statusBadge(order.status), paymentBadge(order), order.closedAt && badge("", "Closed")],
      actions: [
        next?.button ?? newOrder("main"),
        menu([
          steps.filter((each) => each !== next?.status).map((each) => moving(each, "")),
          its.mayGiveBack && next?.work !== its.giveBack && button("Refund", visit.once(its.giveBack)),
          parcels.mayShip && button("Hand over", visit.once(parcels.handOver)),
          its.mayClose && button(order.closedAt ? "Keep less" : "Close order", visit.once(its.close), { class: "bad" }),
          next && newOrder(""),
          print("Print order", null),
          print("Print packing slip", "slip"),
          may("OWNER") && button("Delete", visit.once(remove), { class: "bad" }),
        ]),
      ],
    },
    SHOP && h.p({ class: "paper strong" }, SHOP),
    h.p(
      { class: "soft small about" },
      dateTime(order.orderDate, true),
      ` · ${words(order.source)}`,
      order.customer && h.span({ class: "phone" }, " · ", h.a({ href: link(`/customers/${order.customer.id}`) }, buyer(order.customer))),
      due,
    ),
    progress(),
    its.card(next?.work),
    drawColumns(
      [
        [1, items()],
        [3, parcels.card()],
        [4, files],
        [4, card("Timeline", timeline(storyOf(order, voiding)), webhooks)],
        [9, isStaff && h.details({ class: "card", ontoggle: audited }, h.summary("Every change"))],
      ],
      [
        [2, customer()],
        [5, place("shippingAddress")],
        [6, order.billingAddress && place("billingAddress")],
        [7, details()],
        [8, more()],
      ],
    ),
  );
  showDraft();

  if (order.dueOn || order.lineItems.some(({ make, dueOn }) => make || dueOn))
    visit.fill(due, async () => (await import("../production.js")).drawWork(visit, record));

  function newOrder(kind) {
    return isStaff && h.a({ class: `button ${kind}`, href: link("/orders/new") }, "New order");
  }

  // What is done next is the one main button: money that is owed, until an agreed deposit is there, and while the workshop
  // makes what was ordered; then what is to be made, or to be shipped; else the next status.
  function nextStep() {
    const act = (work, name) => ({ work, button: button(name, visit.once(work), { class: "main" }) });
    const isMade = Boolean(order.producedAt);
    const hasWork = !isMade && order.lineItems.some(({ make, toShip }) => make && toShip > 0);
    const isInWork = hasWork && order.status === "IN_PRODUCTION";
    if (its.mayTake && (steps.length === 0 || isInWork || !order.deposit?.isReached)) return act(its.take, "Take payment");
    if (steps.length === 0)
      return its.mayGiveBack && Number(order.balanceDue) < 0 ? act(its.giveBack, "Refund") : null;
    const isToMake = hasWork || (!isMade && order.source === "PRIVATE_COMMISSION");
    const isToShip = (order.status === "PAID" || isMade) && !isOwed;
    const wanted = isToMake ? "IN_PRODUCTION" : isToShip ? "SHIPPED" : null;
    const status = steps.find((each) => each === wanted) ?? steps.find((each) => each !== "IN_PRODUCTION");
    return { status, button: moving(status, "main") };
  }

  function moving(status, kind) {
    return button(VERBS[status], visit.once(() => move(status)), { class: kind });
  }

  // Its money leaves the reports, also of past days.
  function remove() {
    const text = "If it has not been shipped, its items will be restocked.";
    const records = [...order.payments.filter(({ voidedAt }) => !voidedAt), ...order.refunds.map((one) => ({ ...one, isBack: true }))];
    const instead = ({ target }) => (target.closest("dialog").close(), its.close());
    const lost = records.length > 0 && [
      h.p("These will be gone from the reports, also of past days:"),
      h.ul(
        records.map(({ amount, method, receivedAt, createdAt, isBack }) =>
          h.li(`${money(amount)} ${isBack ? "refunded" : "received"}, ${words(method).toLowerCase()}, `, date(receivedAt ?? createdAt, true)),
        ),
      ),
      its.mayClose && !order.closedAt && h.p("To end the order and keep its money on record: ", button("Close it instead", instead, { class: "small" })),
    ];
    return record.remove("/orders", h.div({ class: "stack tight" }, h.p(text), lost), `order #${order.number}`);
  }

  // The way of an order, as far as it has come.
  function progress() {
    const isMade = order.history.some(({ change }) => change.includes("→ IN_PRODUCTION"));
    const way = PATH.filter((each) => each !== "IN_PRODUCTION" || isMade);
    const now = way.indexOf(order.status);
    if (now < 0) return null;
    return h.ol(
      { class: "progress", "aria-label": "Progress" },
      way.map((each, place) =>
        h.li({ class: place <= now ? "done" : "", "aria-current": place === now && "step" }, statusWord(each)),
      ),
    );
  }

  function voiding(payment) {
    if (!its.isVoidable(payment)) return null;
    const act = (name, work) =>
      button(name, visit.once(() => work(payment)), {
        class: "small",
        "aria-label": `${name} ${words(payment.method)} ${money(payment.amount)}`,
      });
    return [" ", act("Void", its.undoPayment), act("Correct", its.correct)];
  }

  // Field by field, once it is unfolded.
  function audited({ target }) {
    if (target.open && target.childElementCount === 1)
      target.append(fieldTrail(visit, order.id));
  }

  function printed(only) {
    visit.root.dataset.print = only ?? "";
    window.print();
  }

  function print(name, only) {
    return button(name, () => printed(only), { class: "quiet" });
  }

  function items() {
    const off = ({ amount, reason }) => [`Discount ${money(amount)}`, reason && ` · ${reason}`];
    const sum = (name, amount, strong) =>
      h.div({ class: strong ? "strong" : "" }, h.dt(name), h.dd(money(amount)));
    const left = order.lineItems.length - FEW_ITEMS;
    const name = `Show all ${number(order.lineItems.length)} items`;
    const all = button(name, () => ((visit.hasAll = true), show()), { class: "quiet" });
    const node = card(
      "Items",
      table({
        name: "Items",
        columns: [
          {
            title: "Product",
            class: "cut",
            cell: (line) =>
              h.div(
                line.isCustom
                  ? h.bdi(line.title)
                  : h.a({ href: link(`/products/${line.productId}`) }, h.bdi(line.title)),
                line.sku && h.div({ class: "soft small" }, line.sku),
                line.discount && h.div({ class: "soft small money" }, off(line.discount)),
                line.refundedQuantity > 0 &&
                  h.div({ class: "soft small ordered" }, `${number(line.refundedQuantity)} refunded`),
                line.note && h.div({ class: "soft small" }, h.bdi(line.note)),
                (line.make || line.dueOn) && h.div({ class: "small", "data-work": line.id }),
              ),
          },
          { title: "Quantity", cell: pieces, class: "number" },
          { title: "Price", cell: ({ price }) => money(price), class: "number money wide" },
          { title: "Total", cell: ({ total }) => money(total), class: "number money" },
        ],
        rows: order.lineItems,
      }),
      order.note && h.p({ class: "paper" }, h.b("Note: "), h.bdi(order.note)),
      left > 0 && all,
      h.dl(
        { class: "sums money" },
        sum("Subtotal", order.subtotal),
        order.discount && sum("Discount", `-${order.discount.amount}`),
        Number(order.shipping) > 0 && sum("Shipping", order.shipping),
        sum("Tax", order.tax),
        sum("Total", order.total, true),
      ),
      isStaff &&
        EDITABLE.includes(order.status) &&
        !isRefunded &&
        !order.closedAt &&
        h.div({ class: "actions" }, button("Edit items", visit.once(() => editItems(visit, record)))),
    );
    const show = () => {
      all.hidden = visit.hasAll;
      node.classList.toggle("few", left > 0 && !visit.hasAll);
    };
    show();
    return node;
  }

  // On a packing slip: those that are still to be sent; when all have left, those that the customer keeps.
  function pieces({ quantity, refundedQuantity, toShip }) {
    const isLeft = order.lineItems.some((line) => line.toShip > 0);
    const toSend = isLeft ? toShip : quantity - refundedQuantity;
    return [
      h.span({ class: "ordered" }, number(quantity)),
      h.span({ class: `to-send ${toSend > 0 ? "" : "none"}` }, number(toSend)),
    ];
  }

  function customer() {
    const { customer: its } = order;
    if (!its) return card("Customer", h.p({ class: "soft" }, "No customer"));
    return card(
      "Customer",
      h.div(
        h.p(h.a({ href: link(`/customers/${its.id}`) }, buyer(its))),
        its.email && h.p(emailLink(its.email)),
        its.phone && h.p(phoneLink(its.phone)),
      ),
    );
  }

  // Where the parcel, or the bill, goes.
  function place(name, kind = "card") {
    const address = order[name];
    const mayChange = isStaff && order.status !== "DELIVERED";
    const title = called(name);
    const change = (to, success = `${title} saved.`) => record.change({ [name]: to }, success);
    const act = (text, work) =>
      button(text, visit.once(work), { class: "small", "aria-label": `${text}: ${title.toLowerCase()}` });
    const edit = () => editAddress(visit, { title, address, save: (typed) => change(typed) });
    const carrier = name === "shippingAddress" && carrierOf(order.trackingNumber);
    const copying = mayChange && order.customer && act("Copy from customer", copy);
    return h.section(
      { class: `${kind} ${name}` },
      h.h2(title),
      address ? shown(address) : h.p({ class: "soft" }, "None"),
      carrier &&
        h.p(
          { class: "small" },
          h.a(
            { href: carrier.href, target: "_blank", rel: "noopener noreferrer" },
            `Track with ${carrier.name}`,
          ),
        ),
      h.div(
        { class: "actions" },
        mayChange && act(address ? "Edit" : "Add", edit),
        address ? copyButton(visit, linesOf(address).join("\n"), "Copy label") : copying,
        address &&
          menu(
            [
              act("Print label", () => printed(name)),
              copying,
              mayChange && act("Remove", removeIt),
            ],
            title.toLowerCase(),
          ),
      ),
    );

    async function removeIt() {
      const text = linesOf(address).join(", ");
      const yes = await visit.ask({ title: `Remove the ${title.toLowerCase()}?`, text, yes: "Remove", bad: true });
      if (yes) await change(null, `${title} removed.`);
    }

    async function copy() {
      const { data: its } = await visit.get(`admin/customers/${encodeURIComponent(order.customer.id)}`);
      const found = its.addresses.find(({ id }) => id === its.defaultAddressId);
      if (!found) return toast("This customer has no address.", "bad");
      const { id: _, ...copied } = found;
      return change(copied);
    }
  }

  // The note and what else is agreed, as text; its form is behind one button.
  function details() {
    const { note, dueOn, tags, salesRepId, trackingNumber } = order;
    const days = [...new Set(order.lineItems.map((line) => line.dueOn).filter(Boolean))].sort();
    const promised = dueOn ?? days[0];
    return h.section(
      { class: "card details" },
      h.h2("Note and details"),
      note ? h.p({ class: "shown lines" }, h.bdi(note)) : h.p({ class: "shown soft" }, "No note"),
      h.div(
        { class: "shown" },
        facts([
          promised && ["Promised for", [dayName(promised), !dueOn && days.length > 1 && " and later"]],
          tags.length > 0 && ["Tags", h.bdi(tags.join(", "))],
          salesRepId && ["Sales rep", h.bdi(repWord(salesRepId))],
          trackingNumber && ["Tracking number", h.bdi(trackingNumber)],
        ]),
      ),
      isStaff && editFold("Edit note and details", detailsForm()),
    );
  }

  function detailsForm() {
    const read = (typed) => ({
      trackingNumber: typed.trackingNumber.trim() || null,
      dueOn: typed.dueOn || null,
      salesRepId: repOf(typed.salesRepId) || null,
      note: typed.note.trim() || null,
      tags: tagsOf(typed.tags),
    });
    const plain = (name, more) => field({ name, value: order[name], ...more });
    const tags = choice(visit, ["orders", "tag"], {
      name: "tags",
      value: order.tags.join(", "),
      hint: "Separate with commas.",
      several: true,
    });
    const fields = [
      plain("note", { rows: 3, wide: true }),
      plain("dueOn", { label: "Promised for", type: "date", readonly: !EDITABLE.includes(order.status) }),
      tags,
      plain("trackingNumber"),
      repField(visit, { value: order.salesRepId }),
    ];
    const [node, show] = recordForm(visit, record, fields, read);
    showDraft = show;
    return node;
  }

  function more() {
    return h.details(
      { class: "card" },
      h.summary(order.billingAddress ? "More about this order" : "Billing address and more"),
      !order.billingAddress && place("billingAddress", ""),
      facts([
        order.paymentMethod && ["Payment method", words(order.paymentMethod)],
        ["Order ID", h.code(order.id)],
        order.externalId && ["External ID", h.code(order.externalId)],
      ]),
    );
  }

  async function move(status) {
    return status === "SHIPPED" && parcels.mayShip ? parcels.ship() : moved({ status });
  }

  // Unsaved edits of the details are saved with the new status. After a conflict the page shows the current order.
  async function moved(body) {
    try {
      await record.act(body, `Order #${order.number}: ${statusWord(body.status).toLowerCase()}.`);
    } catch (refusal) {
      if (refusal.status !== 412 && refusal.code !== "invalid_transition") throw refusal;
      await record.load();
      const status = statusWord(record.data.status).toLowerCase();
      toast(`Not changed: this order was edited meanwhile. It is now ${status}.`, "bad");
    }
  }
}
