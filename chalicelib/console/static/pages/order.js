// One order: the moves that are allowed are the only buttons.

import { isLeft } from "../api.js";
import { h, replace } from "../dom.js";
import { MOVES, PAYMENT_MOVES } from "../facts.js";
import { dateTime, exact, money, number, text, words } from "../format.js";
import { editAddress, linesOf, shown } from "../parts/address.js";
import { badge } from "../parts/badge.js";
import { copyButton } from "../parts/copy.js";
import { deliveryTable } from "../parts/deliveries.js";
import { editItems } from "../parts/edit-order.js";
import { field, form, values } from "../parts/form.js";
import { offering } from "../parts/known.js";
import { toast } from "../parts/notice.js";
import { buyer, carrierOf, tagsOf } from "../parts/order.js";
import { card, facts, skeleton } from "../parts/page.js";
import { paymentsCard } from "../parts/payments.js";
import { Record } from "../parts/record.js";
import { table } from "../parts/table.js";
import { link } from "../router.js";
import { may } from "../session.js";
import "../parts/work.js";

const VERBS = {
  PAID: "Mark as paid",
  CANCELLED: "Cancel order",
  REFUNDED: "Refund",
  IN_PRODUCTION: "Start production",
  PROCESSING: "Start processing",
  SHIPPED: "Ship",
  DELIVERED: "Mark as delivered",
};
const MOST_DELIVERIES = 20;
const EDITABLE = ["PENDING", "PAID", "IN_PRODUCTION", "PROCESSING"];
const BACKWARD = new Set(["CANCELLED", "REFUNDED"]);
const NAMES = {
  status: "Status",
  trackingNumber: "Tracking number",
  salesRepId: "Sales rep ID",
  paymentStatus: "Payment status",
  note: "Note",
  tags: "Tags",
  shippingAddress: "Shipping address",
  billingAddress: "Billing address",
};

export async function show(visit) {
  const path = `admin/orders/${encodeURIComponent(visit.params.id)}`;
  const record = new Record(visit, {
    path,
    what: "order",
    names: NAMES,
    fields: ({ trackingNumber, salesRepId, paymentStatus, note, tags }) => ({
      trackingNumber,
      salesRepId,
      paymentStatus,
      note,
      tags,
    }),
    watched: ({ status }) => ({ status }),
    draw: () => page(visit, record),
  });
  await record.load();
  if (may("ADMIN")) await sent(visit, record.data);
}

// The webhook deliveries of this order. They are loaded after the page is drawn.
async function sent(visit, order) {
  try {
    const { data } = await visit.get("admin/deliveries", {
      subject: order.id,
      since: order.createdAt,
      limit: MOST_DELIVERIES,
    });
    visit.deliveries = data.data;
  } catch (refusal) {
    if (isLeft(refusal)) throw refusal;
    visit.deliveries = refusal;
  }
  fillDeliveries(visit);
}

function fillDeliveries({ root, deliveries }) {
  const place = root.querySelector(".deliveries");
  if (!place || !deliveries) return;
  replace(
    place,
    h.h2("Webhook deliveries"),
    deliveries instanceof Error
      ? h.p({ class: "soft" }, deliveries.message)
      : deliveries.length
        ? deliveryTable(deliveries)
        : h.p({ class: "soft" }, "No webhook was notified of this order."),
  );
}

function page(visit, record) {
  const { data: order, etag, path } = record;
  const cash = (amount) => money(amount, order.currency);
  const moves = (may("STAFF") ? MOVES[order.status] : []).toSorted((one, other) => BACKWARD.has(one) - BACKWARD.has(other));

  visit.draw(
    {
      title: `Order #${order.number}`,
      back: [link("/orders"), "Orders"],
      badges: [
        badge(order.status),
        order.paymentStatus !== order.status &&
          badge(order.paymentStatus, `Payment: ${words(order.paymentStatus).toLowerCase()}`),
      ],
      actions: [
        moves.map((status, at) =>
          h.button(
            {
              type: "button",
              class: BACKWARD.has(status) ? "bad" : at === 0 ? "main" : "",
              onclick: visit.once(() => move(status)),
            },
            VERBS[status],
          ),
        ),
        may("STAFF") && h.a({ class: "button quiet", href: link("/orders/new") }, "New order"),
        print("Print order", null),
        print("Print packing slip", "slip"),
        may("OWNER") &&
          h.button({ type: "button", class: "quiet", onclick: visit.once(remove) }, "Delete"),
      ],
    },
    h.div(
      { class: "columns" },
      h.div(
        paymentsCard(visit, record),
        items(),
        may("ADMIN") && h.section({ class: "card deliveries" }, h.h2("Webhook deliveries"), skeleton(2)),
        card("History", h.ol({ class: "history" }, order.history.toReversed().map(entry))),
      ),
      h.div(
        customer(),
        place("shippingAddress"),
        place("billingAddress"),
        details(),
        card(
          "Overview",
          facts([
            ["Ordered", dateTime(order.orderDate)],
            ["Paid", dateTime(order.paidAt)],
            ["Shipped", dateTime(order.shippedAt)],
            ["Source", words(order.source)],
            ["Payment method", order.paymentMethod ? words(order.paymentMethod) : text(null)],
            ["Order ID", h.code(order.id)],
            order.externalId && ["External ID", h.code(order.externalId)],
          ]),
        ),
      ),
    ),
  );

  fillDeliveries(visit);

  function printed(only) {
    visit.root.dataset.print = only ?? "";
    window.print();
  }

  function print(name, only) {
    return h.button({ type: "button", class: "quiet", onclick: () => printed(only) }, name);
  }

  function items() {
    const off = ({ amount, reason }) => [`Discount ${cash(amount)}`, reason && ` · ${reason}`];
    const sum = (name, amount, strong) =>
      h.div({ class: strong ? "strong" : "" }, h.dt(name), h.dd(cash(amount)));
    return card(
      "Items",
      table({
        name: "Items",
        columns: [
          {
            title: "Product",
            cell: (line) =>
              h.div(
                line.isCustom
                  ? h.bdi(line.title)
                  : h.a({ href: link(`/products/${line.productId}`) }, h.bdi(line.title)),
                line.sku && h.div({ class: "soft small" }, line.sku),
                line.discount && h.div({ class: "soft small money" }, off(line.discount)),
                line.note && h.div({ class: "soft small" }, h.bdi(line.note)),
              ),
          },
          { title: "Quantity", cell: ({ quantity }) => number(quantity), class: "number" },
          { title: "Price", cell: ({ price }) => cash(price), class: "number money wide" },
          { title: "Total", cell: ({ total }) => cash(total), class: "number money" },
        ],
        rows: order.lineItems,
      }),
      h.dl(
        { class: "sums money" },
        sum("Subtotal", order.subtotal),
        order.discount && sum("Discount", `-${order.discount.amount}`),
        Number(order.shipping) > 0 && sum("Shipping", order.shipping),
        sum("Tax", order.tax),
        sum("Total", order.total, true),
      ),
      may("STAFF") &&
        EDITABLE.includes(order.status) &&
        h.div(
          { class: "actions" },
          h.button({ type: "button", onclick: visit.once(() => editItems(visit, record)) }, "Edit items"),
        ),
    );
  }

  function customer() {
    const { customer: its } = order;
    if (!its) return card("Customer", h.p({ class: "soft" }, "No customer"));
    return card(
      "Customer",
      h.p(h.a({ href: link(`/customers/${its.id}`) }, buyer(its))),
      its.email && h.p(h.a({ href: `mailto:${its.email}` }, its.email)),
      its.phone && h.p(h.bdi(its.phone)),
    );
  }

  // Where the parcel, or the bill, goes.
  function place(name) {
    const address = order[name];
    const mayChange = may("STAFF") && order.status !== "DELIVERED";
    const label = NAMES[name];
    const change = (to, success = `${label} saved.`) => record.change({ [name]: to }, success);
    const button = (text, work) =>
      h.button(
        {
          type: "button",
          class: "small",
          "aria-label": `${text}: ${label.toLowerCase()}`,
          onclick: visit.once(work),
        },
        text,
      );
    const edit = () =>
      editAddress(visit, { title: label, address, save: (typed) => change(typed) });
    return h.section(
      { class: `card ${name}` },
      h.h2(label),
      address ? shown(address) : h.p({ class: "soft" }, "None"),
      h.div(
        { class: "actions" },
        mayChange && button(address ? "Edit" : "Add", edit),
        mayChange && order.customer && button("Copy from customer", copy),
        mayChange && address && button("Remove", removeIt),
        address && copyButton(visit, linesOf(address).join("\n"), "Copy label"),
        address && button("Print label", () => printed(name)),
      ),
    );

    async function removeIt() {
      const text = linesOf(address).join(", ");
      const yes = await visit.ask({ title: `Remove the ${label.toLowerCase()}?`, text, yes: "Remove", bad: true });
      if (yes) await change(null, `${label} removed.`);
    }

    async function copy() {
      const { data: its } = await visit.get(`admin/customers/${encodeURIComponent(order.customer.id)}`);
      const found = its.addresses.find(({ id }) => id === its.defaultAddressId);
      if (!found) return toast("This customer has no address.", "bad");
      const { id: _, ...copied } = found;
      return change(copied);
    }
  }

  function details() {
    const payments = [order.paymentStatus, ...PAYMENT_MOVES[order.paymentStatus]];
    const read = (typed) => ({
      trackingNumber: typed.trackingNumber.trim() || null,
      salesRepId: typed.salesRepId.trim() || null,
      paymentStatus: typed.paymentStatus,
      note: typed.note.trim() || null,
      tags: tagsOf(typed.tags),
    });
    const carrier = carrierOf(order.trackingNumber);
    const [reps, repNames] = offering(visit, "admin/orders", "salesRepId");
    const node = form({
      fields: [
        h.div(
          field({
            name: "trackingNumber",
            label: NAMES.trackingNumber,
            value: order.trackingNumber,
            autocomplete: "off",
          }),
          carrier &&
            h.p(
              { class: "small" },
              h.a(
                { href: carrier.href, target: "_blank", rel: "noopener noreferrer" },
                `Track with ${carrier.name}`,
              ),
            ),
        ),
        field({
          name: "salesRepId",
          label: NAMES.salesRepId,
          value: order.salesRepId,
          placeholder: "emp_…",
          ...reps,
        }),
        repNames,
        field({
          name: "paymentStatus",
          label: NAMES.paymentStatus,
          value: order.paymentStatus,
          options: payments.map((each) => [each, words(each)]),
        }),
        field({
          name: "tags",
          label: NAMES.tags,
          value: order.tags.join(", "),
          hint: "Separate with commas.",
          autocomplete: "off",
        }),
        field({ name: "note", label: NAMES.note, value: order.note, rows: 4, wide: true }),
      ],
      submit: "Save",
      save: () => record.save(),
      may: may("STAFF"),
    });
    return card("Details", record.edits(node, () => read(values(node))));
  }

  async function move(status) {
    if (status === "SHIPPED") return ship();
    if (BACKWARD.has(status) && !(await isSure(status))) return undefined;
    return moved({ status });
  }

  const isSure = (status) =>
    visit.ask({
      title: `${status === "CANCELLED" ? "Cancel" : "Refund"} order #${order.number}?`,
      text: "Items will be restocked. This cannot be undone.",
      yes: VERBS[status],
      no: "Keep order",
      bad: true,
    });

  function ship() {
    const dialog = visit.modal(`Ship order #${order.number}`, [
      form({
        fields: [
          field({
            name: "trackingNumber",
            label: NAMES.trackingNumber,
            value: record.unsaved.trackingNumber ?? order.trackingNumber,
            hint: "Optional. It is sent with the order.shipped event.",
            autocomplete: "off",
          }),
        ],
        submit: "Ship",
        cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
        async save({ trackingNumber }) {
          const given = trackingNumber.trim();
          await moved({ status: "SHIPPED", ...(given && { trackingNumber: given }) }, "shipped");
          dialog.close();
        },
      }),
    ]);
  }

  // What is typed in Details is saved with the move. If someone else was first, the page shows the
  // current order.
  async function moved(body, word = words(body.status).toLowerCase()) {
    try {
      await record.act(body, `Order #${order.number}: ${word}.`);
    } catch (refusal) {
      if (refusal.status !== 412 && refusal.code !== "invalid_transition") throw refusal;
      await record.load();
      const status = words(record.data.status).toLowerCase();
      toast(`Not changed: this order was edited meanwhile. It is now ${status}.`, "bad");
    }
  }

  async function remove() {
    const yes = await visit.ask({
      title: `Delete order #${order.number}?`,
      text: "If it has not been shipped, its items will be restocked. This cannot be undone.",
      yes: "Delete",
      bad: true,
    });
    if (!yes) return;
    const success = `Order #${order.number} deleted.`;
    await visit.send("DELETE", path, { ifMatch: etag, success });
    visit.saved("order");
    visit.go("/orders");
  }
}

// `status PENDING → PAID, note` as people read it: Status: Pending → Paid, Note changed.
function entry({ at, by, change }) {
  const title = change === "created" ? "Order created" : change.split(", ").map(plain).join(", ");
  return h.li(h.div(title), h.div({ class: "soft small" }, exact(at), " · ", h.bdi(by)));
}

function plain(part) {
  const [, kind, amount, method] = /^((?:voided )?payment|refund) (\S+) (\w+)$/.exec(part) ?? [];
  if (kind) return `${words(kind)} ${amount}, ${words(method).toLowerCase()}`;
  const [, name, before, after] = /^(\w+) (.*) → (.*)$/.exec(part) ?? [];
  if (!name) return NAMES[part] ? `${NAMES[part]} changed` : part;
  const shown = (value) => (/^(s|paymentS)tatus$/.test(name) ? words(value) : value);
  const label = NAMES[name] ?? name;
  if (before === "none") return `${label}: ${shown(after)}`;
  return after === "none" ? `${label} removed` : `${label}: ${shown(before)} → ${shown(after)}`;
}
