// One order: the moves that are allowed are the only buttons.

import { call, get } from "../api.js";
import { h } from "../dom.js";
import { dateTime, exact, money, number, text, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { ask, modal } from "../parts/dialog.js";
import { field, form } from "../parts/form.js";
import { toast } from "../parts/notice.js";
import { buyer, MOVES, PAYMENTS } from "../parts/order.js";
import { card, draw, facts } from "../parts/page.js";
import { differing, whichStays } from "../parts/stale.js";
import { table } from "../parts/table.js";
import { go, guard, link } from "../router.js";
import { may } from "../session.js";
import "../parts/work.js";

const VERBS = {
  PAID: "Mark as paid",
  CANCELLED: "Cancel",
  REFUNDED: "Refund",
  IN_PRODUCTION: "Start production",
  PROCESSING: "Start processing",
  SHIPPED: "Ship",
  DELIVERED: "Mark as delivered",
};
const BACKWARD = new Set(["CANCELLED", "REFUNDED"]);

export async function show(main, { params, signal }) {
  const path = `admin/orders/${encodeURIComponent(params.id)}`;
  const { data, etag } = await get(path, {}, signal);
  if (!signal.aborted) page(main, path, data, etag);
}

function page(main, path, order, etag) {
  const again = ({ data, etag: next }) => page(main, path, data, next);
  const patch = (body, ifMatch) => call("PATCH", path, { body, ifMatch });
  const cash = (amount) => money(amount, order.currency);
  // What is typed in Details and not saved yet: a move takes it along.
  let unsaved = () => ({});

  draw(
    main,
    {
      title: `Order #${order.number}`,
      back: [link("/orders"), "Orders"],
      beside: [
        badge(order.status),
        order.paymentStatus !== order.status &&
          badge(order.paymentStatus, `Payment: ${words(order.paymentStatus).toLowerCase()}`),
      ],
      actions: [
        MOVES[order.status].map((status, at) =>
          h.button(
            {
              type: "button",
              class: BACKWARD.has(status) ? "bad" : at === 0 ? "main" : "",
              onclick: () => move(status),
            },
            VERBS[status],
          ),
        ),
        may("OWNER") && h.button({ type: "button", class: "quiet", onclick: deleted }, "Delete"),
      ],
    },
    h.div(
      { class: "columns" },
      h.div(
        lines(),
        card("History", h.ol({ class: "history" }, order.history.toReversed().map(entry))),
      ),
      h.div(
        customer(),
        details(),
        card(
          "Record",
          facts([
            ["Ordered", dateTime(order.orderDate)],
            ["Paid", dateTime(order.paidAt)],
            ["Shipped", dateTime(order.shippedAt)],
            ["Source", words(order.source)],
            ["Payment method", order.paymentMethod ? words(order.paymentMethod) : text(null)],
            ["Identifier", h.code(order.id)],
          ]),
        ),
      ),
    ),
  );

  function lines() {
    const sum = (name, amount, strong) =>
      h.div({ class: strong ? "strong" : "" }, h.dt(name), h.dd(cash(amount)));
    return card(
      "Lines",
      table({
        name: "Lines",
        columns: [
          {
            title: "Product",
            cell: (line) =>
              h.div(
                h.a({ href: link(`/products/${line.productId}`) }, line.title),
                line.sku && h.div({ class: "soft small" }, line.sku),
              ),
          },
          { title: "Quantity", cell: ({ quantity }) => number(quantity), class: "number" },
          { title: "Price", cell: ({ price }) => cash(price), class: "number wide" },
          { title: "Total", cell: ({ total }) => cash(total), class: "number" },
        ],
        rows: order.lineItems,
      }),
      h.dl(
        { class: "sums" },
        sum("Subtotal", order.subtotal),
        sum("Tax", order.tax),
        sum("Total", order.total, true),
      ),
    );
  }

  function customer() {
    const { customer: its } = order;
    if (!its) return card("Customer", h.p({ class: "soft" }, "Nobody is named on this order."));
    return card(
      "Customer",
      h.p(h.a({ href: link(`/customers/${its.id}`) }, buyer(its))),
      h.p(h.a({ href: `mailto:${its.email}` }, its.email)),
    );
  }

  function details() {
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
      tags: typed.tags
        .split(",")
        .map((tag) => tag.trim())
        .filter(Boolean),
    });
    const node = form({
      fields: [
        field({
          name: "trackingNumber",
          label: "Tracking number",
          value: order.trackingNumber,
          autocomplete: "off",
        }),
        field({
          name: "salesRepId",
          label: "Sales rep",
          value: order.salesRepId,
          placeholder: "emp_…",
          autocomplete: "off",
        }),
        field({
          name: "paymentStatus",
          label: "Payment status",
          value: order.paymentStatus,
          options: PAYMENTS.map((each) => [each, words(each)]),
        }),
        field({
          name: "tags",
          label: "Tags",
          value: order.tags.join(", "),
          hint: "Separated by commas.",
          autocomplete: "off",
        }),
        field({ name: "note", label: "Note", value: order.note, rows: 4, wide: true }),
      ],
      submit: "Save",
      save: (typed) => save(was, read(typed), etag),
    });
    unsaved = () => {
      const mine = read(Object.fromEntries(new FormData(node)));
      return Object.fromEntries(differing(was, mine).map((name) => [name, mine[name]]));
    };
    guard(
      () => node.isConnected && Object.keys(unsaved()).length > 0,
      () =>
        ask({
          title: "Leave without saving?",
          text: "What you typed about this order is not saved.",
          yes: "Leave",
          no: "Stay",
          bad: true,
        }),
    );
    return card("Details", node);
  }

  async function save(was, mine, known) {
    const sent = Object.fromEntries(differing(was, mine).map((name) => [name, mine[name]]));
    if (Object.keys(sent).length === 0) return toast("Nothing was changed.");
    try {
      again(await patch(sent, known));
      return toast("Saved.");
    } catch (refusal) {
      if (refusal.status !== 412) throw refusal;
    }
    const { data, etag: next } = await get(path);
    const now = Object.fromEntries(Object.keys(was).map((name) => [name, data[name]]));
    const stays = await whichStays({
      was: { status: order.status, ...was },
      now: { status: data.status, ...now },
      mine: { status: order.status, ...mine },
      what: "order",
    });
    if (stays === "theirs") again({ data, etag: next });
    if (stays === "mine") {
      again(await patch(sent, next));
      toast("Saved.");
    }
    return undefined;
  }

  async function move(status) {
    if (status === "SHIPPED") return ship();
    const gives = BACKWARD.has(status);
    if (
      gives &&
      !(await ask({
        title: `${VERBS[status]} order #${order.number}?`,
        text: "What it took from the stock is given back. This cannot be undone.",
        yes: status === "CANCELLED" ? "Cancel the order" : VERBS[status],
        no: "Keep it as it is",
        bad: true,
      }))
    )
      return;
    await moved({ status });
  }

  async function ship() {
    const dialog = modal(`Ship order #${order.number}`, [
      form({
        fields: [
          field({
            name: "trackingNumber",
            label: "Tracking number",
            value: unsaved().trackingNumber ?? order.trackingNumber,
            hint: "The event order.shipped carries it. It can stay blank.",
            autocomplete: "off",
          }),
        ],
        submit: "Ship",
        cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Back"),
        async save({ trackingNumber }) {
          const { trackingNumber: _, ...others } = unsaved();
          const answer = await patch(
            {
              ...others,
              status: "SHIPPED",
              ...(trackingNumber.trim() ? { trackingNumber: trackingNumber.trim() } : {}),
            },
            etag,
          );
          dialog.close();
          again(answer);
          toast(`Order #${order.number} is shipped.`);
        },
      }),
    ]);
  }

  async function moved(body) {
    try {
      again(await patch({ ...unsaved(), ...body }, etag));
      toast(`Order #${order.number}: ${words(body.status).toLowerCase()}.`);
    } catch (refusal) {
      if (refusal.status === 412 && Object.keys(unsaved()).length > 0) {
        toast("Nothing was done: the order was changed meanwhile. Save what you typed first.");
      } else if (refusal.status === 412 || refusal.code === "invalid_transition") {
        const now = await get(path);
        again(now);
        toast(
          `Nothing was done: the order was changed meanwhile, and is ${words(now.data.status).toLowerCase()} now.`,
        );
      } else toast(refusal.message);
    }
  }

  async function deleted() {
    if (
      !(await ask({
        title: `Delete order #${order.number}?`,
        text: "Before shipping, what it took from the stock is given back. This cannot be undone.",
        yes: "Delete",
        bad: true,
      }))
    )
      return;
    try {
      await call("DELETE", path, { ifMatch: etag });
      guard(null);
      toast(`Order #${order.number} was deleted.`);
      go("/orders");
    } catch (refusal) {
      toast(refusal.message);
    }
  }
}

function entry({ at, by, change }) {
  return h.li(
    h.div(change.charAt(0).toUpperCase() + change.slice(1)),
    h.div({ class: "soft small" }, exact(at), ` · ${by}`),
  );
}
