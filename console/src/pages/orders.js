// Orders, by order date.

import { button, h } from "../dom.js";
import { PAYMENTS } from "../facts.js";
import { dateTime, money, number, plural, statusWord, words } from "../format.js";
import { paymentWord, repWord } from "../parts/words.js";
import { badge, paymentBadge, statusBadge } from "../parts/badge.js";
import { NAMES, repField, REPS } from "../parts/choice.js";
import { withDialogs } from "../parts/dialogs.js";
import { list } from "../parts/list.js";
import { empty } from "../parts/page.js";
import { buyer, CLOSED, coded, nameOf, repOf, SOURCES, STATUSES } from "../parts/order.js";
import { daysAgo } from "../parts/zone.js";
import { link } from "../router.js";
import { may } from "../session.js";

export async function show(visit) {
  const { customerId } = visit.query;
  const person = customerId && (await customerOf(visit, customerId));
  const add = may("STAFF") && h.a({ class: "button main", href: link("/orders/new") }, "Create order");
  await list(visit, {
    top: { title: "Orders", actions: [h.a({ class: "button quiet", href: link("/orders/shipments") }, "Shipments"), add], back: person && [link(`/customers/${customerId}`), person] },
    api: "admin/orders",
    name: "order",
    cards: true,
    reads: "id,number,orderDate,customer,status,paymentStatus,source,salesRepId,itemsCount,total,balanceDue,closedAt",
    exports: may("STAFF") && "orders",
    filters: [
      { name: "search", type: "search", placeholder: "Number, name, email, tracking number, SKU" },
      { name: "status", options: [["", "All"], ["open", "Open"], ["closed", "Closed"], ...named(STATUSES, statusWord)] },
      { name: "balance", options: BALANCES },
      { name: "period", label: "Date", options: PERIODS, not: ["from", "to"] },
      { name: "salesRepId", placeholder: "All", used: REPS },
      { name: "sort", options: SORTS },
      { name: "from", type: "date", not: ["period"], more: true },
      { name: "to", type: "date", not: ["period"], more: true },
      { name: "paymentStatus", label: "Payment", options: [["", "All"], ...named(PAYMENTS, paymentWord)], more: true },
      { name: "shippingStatus", label: "Shipping", options: [["", "All"], ["PARTIAL", "Partly shipped"]], more: true },
      { name: "tag", placeholder: "All", used: {}, more: true },
      person && { name: "customerId", label: "Customer", options: [["", "All"], [customerId, person]], more: true },
      { name: "source", placeholder: "All", used: { ...NAMES, also: SOURCES }, more: true },
    ].filter(Boolean),
    toQuery: ({ status, source, salesRepId, period, ...rest }) => ({
      ...(period && { from: daysAgo(Number(period)) }),
      ...rest,
      source: source && coded(source),
      salesRepId: salesRepId && repOf(salesRepId),
      ...({ open: { excludeStatus: CLOSED.join(","), closed: "false" }, closed: { closed: "true" } }[status] ?? { status, closed: CLOSED.includes(status) ? "" : status && "false" }),
    }),
    columns: [
      {
        title: "Order",
        cell: ({ id, number }) => h.a({ class: "row", href: link(`/orders/${id}`) }, `#${number}`),
        class: "key under",
      },
      {
        title: "Date",
        cell: dateOrDue,
        class: "wide middle",
        sorts: ["", "orderDate"],
      },
      { title: "Customer", cell: ({ customer }) => buyer(customer), class: "first" },
      { title: "Status", cell: ({ status, closedAt }) => [statusBadge(status), closedAt && [" ", badge("", "Closed")]], class: "last" },
      { title: "Payment", cell: (order) => (order.paymentStatus === "PAID" ? h.span({ class: "soft" }, "Paid") : paymentBadge(order)), class: "wide" },
      { title: "Source", cell: ({ source }) => words(source), class: "wide" },
      { title: "Rep", cell: ({ salesRepId }) => repWord(salesRepId), class: "wide" },
      { title: "Items", cell: ({ itemsCount }) => number(itemsCount), class: "number wide" },
      {
        title: "Due",
        cell: ({ balanceDue }) => Number(balanceDue) !== 0 && money(balanceDue),
        class: "number money wide",
      },
      { title: "Total", cell: ({ total }) => money(total), class: "number money top" },
    ],
    choose: may("STAFF") ? (selection, done) => changes(visit, selection, done) : undefined,
    none: empty(
      "No orders yet",
      "Create an order here, or send orders through the API.",
      may("STAFF") && h.a({ class: "button", href: link("/orders/new") }, "Create order"),
    ),
  });
}

// On a phone what is due, if something is; else the date.
function dateOrDue({ orderDate, balanceDue }) {
  if (Number(balanceDue) <= 0) return dateTime(orderDate);
  return [h.span({ class: "wide" }, dateTime(orderDate)), h.span({ class: "narrow owed" }, `${money(balanceDue)} due`)];
}

// The customer whose page leads here, as the filter says it.
async function customerOf(visit, id) {
  try {
    return nameOf((await visit.get(`admin/customers/${encodeURIComponent(id)}`)).data) ?? "Erased customer";
  } catch (refusal) {
    if (refusal.status !== 404) throw refusal;
    return "Customer who is gone"; // deleted, or merged into another
  }
}

const named = (values, word) => values.map((each) => [each, word(each)]);
const BALANCES = [
  ["", "All"],
  ["due", "Due"],
  ["owed", "Owed to the customer"],
];
const SORTS = [
  ["", "Newest first"],
  ["orderDate", "Oldest first"],
];
const PERIODS = [
  ["", "Any date"],
  ["0", "Today"],
  ["6", "Last 7 days"],
  ["29", "Last 30 days"],
];
const NEXT = ["PROCESSING", "SHIPPED", "DELIVERED"];

// Each order makes the moves it may; the dry run says how many cannot.
function changes(visit, selection, done) {
  const asked = { name: "order", selection };
  const changeOf = ({ salesRepId }) => ({ salesRepId: repOf(salesRepId) });
  return [
    NEXT.map((status) => {
      const word = statusWord(status).toLowerCase();
      const title = `Set ${plural(selection.size, "order")} to ${word}?`;
      const set = () => withDialogs(({ bulkEdit }) => bulkEdit(visit, { ...asked, title, change: { status }, undoable: false }, done));
      return button(`Set to ${word}`, visit.once(set));
    }),
    button("Tags and sales rep", visit.once(() => withDialogs(({ bulkForm }) => bulkForm(visit, asked, { fields: repField(visit, {}), changeOf }, done)))),
  ];
}
