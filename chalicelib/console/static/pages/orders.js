// Orders, by order date.

import { h } from "../dom.js";
import { PAYMENTS, TIMEZONE } from "../facts.js";
import { dateTime, money, plural, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { bulkEdit } from "../parts/bulk-edit.js";
import { choice } from "../parts/choice.js";
import { form } from "../parts/form.js";
import { list } from "../parts/list.js";
import { empty } from "../parts/page.js";
import { buyer, changing, CLOSED, coded, SOURCES, STATUSES, tagsOf } from "../parts/order.js";
import { daysAgo } from "../parts/zone.js";
import { link } from "../router.js";
import { may } from "../session.js";

export async function show(visit) {
  const into = h.div();
  const add = () => may("STAFF") && h.a({ class: "button main", href: link("/orders/new") }, "Create order");
  visit.draw({ title: "Orders", actions: add() }, into);
  await list(visit, {
    into,
    api: "admin/orders",
    name: "order",
    cards: true,
    reads: "id,number,orderDate,customer,status,paymentStatus,source,salesRepId,total,balanceDue,currency",
    exports: may("STAFF") && "orders",
    filters: [
      {
        name: "search",
        label: "Search",
        type: "search",
        placeholder: "Number, name, email, tracking number, SKU",
        autocomplete: "off",
      },
      {
        name: "status",
        label: "Status",
        options: [["", "All"], ["open", "Open"], ...STATUSES.map((each) => [each, words(each)])],
      },
      {
        name: "balance",
        label: "Balance",
        options: [
          ["", "All"],
          ["due", "Due"],
          ["owed", "Owed to the customer"],
        ],
      },
      { name: "period", label: "Date", options: PERIODS, not: ["from", "to"] },
      { name: "salesRepId", label: "Sales rep ID", placeholder: "All", used: {} },
      {
        name: "sort",
        label: "Sort",
        options: [
          ["", "Newest first"],
          ["orderDate", "Oldest first"],
        ],
      },
      { name: "from", label: `From (${TIMEZONE})`, type: "date", not: ["period"], more: true },
      { name: "to", label: `To (${TIMEZONE})`, type: "date", not: ["period"], more: true },
      {
        name: "paymentStatus",
        label: "Payment",
        options: [["", "All"], ...PAYMENTS.map((each) => [each, words(each)])],
        more: true,
      },
      { name: "tag", label: "Tag", placeholder: "All", used: {}, more: true },
      { name: "customerId", label: "Customer ID", placeholder: "cus_…", more: true },
      { name: "source", label: "Source", placeholder: "All", used: { shown: words, also: SOURCES }, more: true },
    ],
    toQuery: ({ status, source, period, ...rest }) => ({
      ...(period && { from: daysAgo(Number(period)) }),
      ...rest,
      source: source && coded(source),
      ...(status === "open" ? { excludeStatus: CLOSED.join(",") } : { status }),
    }),
    columns: [
      {
        title: "Order",
        cell: ({ id, number }) => h.a({ class: "row", href: link(`/orders/${id}`) }, `#${number}`),
        class: "key under",
      },
      {
        title: `Date (${TIMEZONE})`,
        cell: ({ orderDate }) => dateTime(orderDate),
        class: "wide beside",
        sorts: ["", "orderDate"],
      },
      { title: "Customer", cell: ({ customer }) => buyer(customer), class: "first" },
      { title: "Status", cell: ({ status }) => badge(status), class: "last" },
      {
        title: "Payment",
        cell: ({ status, paymentStatus }) => status !== paymentStatus && badge(paymentStatus),
        class: "wide",
      },
      { title: "Source", cell: ({ source }) => words(source), class: "wide" },
      { title: "Rep", cell: ({ salesRepId }) => salesRepId, class: "wide" },
      {
        title: "Due",
        cell: ({ balanceDue, currency }) => Number(balanceDue) !== 0 && money(balanceDue, currency),
        class: "number money wide",
      },
      { title: "Total", cell: ({ total, currency }) => money(total, currency), class: "number money top" },
    ],
    choose: may("STAFF") ? (selection, done) => changes(visit, selection, done) : undefined,
    none: empty("No orders yet", "Create an order here, or send orders through the API.", add()),
  });
}

const PERIODS = [
  ["", "Any date"],
  ["0", "Today"],
  ["6", "Last 7 days"],
  ["29", "Last 30 days"],
];
const NEXT = ["PROCESSING", "SHIPPED", "DELIVERED"];

// Each order makes the moves it may; the dry run says how many cannot.
function changes(visit, selection, done) {
  const all = plural(selection.size, "order");
  const edit = (title, change, undoable, confirmed) =>
    bulkEdit(
      visit,
      {
        api: "admin/orders/bulk-edit",
        name: "order",
        which: selection.which,
        names: new Map(selection.rows.map(({ id, number }) => [id, `#${number}`])),
        title,
        change,
        undoable,
      },
      done,
      confirmed,
    );
  return [
    NEXT.map((status) => {
      const word = words(status).toLowerCase();
      return h.button(
        {
          type: "button",
          onclick: visit.once(() => edit(`Set ${all} to ${word}?`, { status }, false)),
        },
        `Set to ${word}`,
      );
    }),
    h.button({ type: "button", onclick: tags }, "Tags and sales rep"),
  ];

  function tags() {
    const hint = "Separate with commas.";
    const used = (name, more) => choice(visit, ["orders", name], { name, ...more });
    const dialog = visit.modal(`Change ${all}`, [
      form({
        fields: [
          used("tag", { name: "addTags", label: "Add tags", hint, several: true }),
          used("tag", { name: "removeTags", label: "Remove tags", hint, several: true }),
          used("salesRepId", { label: "Sales rep ID" }),
        ],
        submit: "Continue",
        cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
        async save({ addTags, removeTags, salesRepId }) {
          const change = {
            ...(tagsOf(addTags).length && { addTags: tagsOf(addTags) }),
            ...(tagsOf(removeTags).length && { removeTags: tagsOf(removeTags) }),
            ...(salesRepId.trim() && { salesRepId: salesRepId.trim() }),
          };
          if (Object.keys(change).length === 0) throw new Error("Enter at least one change.");
          await changing(() => edit(`Change ${all}?`, change, true, () => dialog.close()));
        },
      }),
    ]);
  }
}
