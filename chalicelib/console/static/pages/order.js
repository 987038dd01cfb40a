// One order: the moves that are allowed are the only buttons.

import { isLeft } from "../api.js";
import { h, replace } from "../dom.js";
import { MOVES, PAYMENT_MOVES } from "../facts.js";
import { dateTime, exact, money, number, text, words } from "../format.js";
import { editAddress, linesOf, shown } from "../parts/address.js";
import { badge } from "../parts/badge.js";
import { copyButton } from "../parts/copy.js";
import { deliveryTable } from "../parts/deliveries.js";
import { field, form, values } from "../parts/form.js";
import { toast } from "../parts/notice.js";
import { buyer, carrierOf, tagsOf } from "../parts/order.js";
import { card, facts, skeleton } from "../parts/page.js";
import { differing, edited, whichStays } from "../parts/stale.js";
import { table } from "../parts/table.js";
import { keeping } from "../parts/typed.js";
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
  const { data, etag } = await visit.get(path);
  page(visit, path, data, etag);
  if (may("ADMIN")) await sent(visit, data);
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

function page(visit, path, order, etag) {
  const again = ({ data, etag: next }) => page(visit, path, data, next);
  const patch = (body, ifMatch, success) => visit.send("PATCH", path, { body, ifMatch, success });
  const cash = (amount) => money(amount, order.currency);
  // Unsaved input of the form; a move saves it too.
  let unsaved = () => ({});
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
        print("Print order", null),
        print("Print packing slip", "slip"),
        may("OWNER") &&
          h.button({ type: "button", class: "quiet", onclick: visit.once(remove) }, "Delete"),
      ],
    },
    h.div(
      { class: "columns" },
      h.div(
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
                h.a({ href: link(`/products/${line.productId}`) }, h.bdi(line.title)),
                line.sku && h.div({ class: "soft small" }, line.sku),
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
        sum("Tax", order.tax),
        sum("Total", order.total, true),
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
    const change = async (to, success = `${label} saved.`) => {
      const answer = await patch({ [name]: to }, etag, success);
      keeping(visit.root, () => again(answer));
    };
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
        mayChange && address && button("Remove", () => change(null, `${label} removed.`)),
        address && copyButton(visit, linesOf(address).join("\n"), "Copy label"),
        address && button("Print label", () => printed(name)),
      ),
    );

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
    const was = {
      trackingNumber: order.trackingNumber,
      salesRepId: order.salesRepId,
      paymentStatus: order.paymentStatus,
      note: order.note,
      tags: order.tags,
    };
    const read = (typed) => ({
      trackingNumber: typed.trackingNumber.trim() || null,
      salesRepId: typed.salesRepId.trim() || null,
      paymentStatus: typed.paymentStatus,
      note: typed.note.trim() || null,
      tags: tagsOf(typed.tags),
    });
    const carrier = carrierOf(order.trackingNumber);
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
          autocomplete: "off",
        }),
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
      save: (typed) => save(was, edited(was, first, read(typed)), etag),
      may: may("STAFF"),
    });
    const first = read(values(node));
    unsaved = () => {
      const mine = edited(was, first, read(values(node)));
      return Object.fromEntries(differing(was, mine).map((name) => [name, mine[name]]));
    };
    visit.guard(
      "order",
      () => may("STAFF") && Object.keys(unsaved()).length > 0,
      "Your changes to this order have not been saved.",
    );
    return card("Details", node);
  }

  async function save(was, mine, known) {
    const sent = Object.fromEntries(differing(was, mine).map((name) => [name, mine[name]]));
    if (Object.keys(sent).length === 0) return toast("There are no changes to save.");
    try {
      return again(await patch(sent, known, "Saved."));
    } catch (refusal) {
      if (refusal.status !== 412) throw refusal;
    }
    const latest = await visit.get(path);
    const now = Object.fromEntries(Object.keys(was).map((name) => [name, latest.data[name]]));
    const stays = await whichStays(visit, {
      was: { status: order.status, ...was },
      now: { status: latest.data.status, ...now },
      mine: { status: order.status, ...mine },
      names: NAMES,
      what: "order",
    });
    if (stays === "theirs") return again(latest);
    if (stays === "mine") return again(await patch(sent, latest.etag, "Saved."));
    return undefined;
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
            value: unsaved().trackingNumber ?? order.trackingNumber,
            hint: "Optional. It is sent with the order.shipped event.",
            autocomplete: "off",
          }),
        ],
        submit: "Ship",
        cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
        async save({ trackingNumber }) {
          const { trackingNumber: _, ...others } = unsaved();
          const given = trackingNumber.trim();
          const body = { ...others, status: "SHIPPED", ...(given && { trackingNumber: given }) };
          try {
            const answer = await patch(body, etag, `Order #${order.number} shipped.`);
            dialog.close();
            again(answer);
          } catch (refusal) {
            if (refusal.status !== 412 && refusal.code !== "invalid_transition") throw refusal;
            dialog.close();
            await overtaken(refusal);
          }
        },
      }),
    ]);
  }

  async function moved(body) {
    try {
      const success = `Order #${order.number}: ${words(body.status).toLowerCase()}.`;
      again(await patch({ ...unsaved(), ...body }, etag, success));
    } catch (refusal) {
      if (refusal.status !== 412 && refusal.code !== "invalid_transition") throw refusal;
      await overtaken(refusal);
    }
  }

  // Someone else changed it first. Unsaved input stays; otherwise the page shows the current order.
  async function overtaken(refusal) {
    if (refusal.status === 412 && Object.keys(unsaved()).length > 0) {
      toast("Not changed: this order was edited meanwhile. Save your changes first.", "bad");
      return;
    }
    const now = await visit.get(path);
    again(now);
    const status = words(now.data.status).toLowerCase();
    toast(`Not changed: this order was edited meanwhile. It is now ${status}.`, "bad");
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
    visit.go("/orders");
  }
}

// `status PENDING → PAID, note` as people read it: Status: Pending → Paid, Note changed.
function entry({ at, by, change }) {
  const title = change === "created" ? "Order created" : change.split(", ").map(plain).join(", ");
  return h.li(h.div(title), h.div({ class: "soft small" }, exact(at), " · ", h.bdi(by)));
}

function plain(part) {
  const [, name, before, after] = /^(\w+) (.*) → (.*)$/.exec(part) ?? [];
  if (!name) return NAMES[part] ? `${NAMES[part]} changed` : part;
  const shown = (value) => (/^(s|paymentS)tatus$/.test(name) ? words(value) : value);
  const label = NAMES[name] ?? name;
  if (before === "none") return `${label}: ${shown(after)}`;
  return after === "none" ? `${label} removed` : `${label}: ${shown(before)} → ${shown(after)}`;
}
