// Orders, by order date.

import { h } from "../dom.js";
import { date, money, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { list } from "../parts/list.js";
import { empty } from "../parts/page.js";
import { buyer, CLOSED, STATUSES } from "../parts/order.js";
import { link } from "../router.js";

export async function show(visit) {
  const into = h.div();
  const add = () => h.a({ class: "button main", href: link("/orders/new") }, "Create order");
  visit.draw({ title: "Orders", actions: add() }, into);
  await list(visit, {
    into,
    api: "admin/orders",
    name: "order",
    filters: [
      {
        name: "search",
        label: "Search",
        type: "search",
        placeholder: "Number, name or email",
        autocomplete: "off",
      },
      {
        name: "status",
        label: "Status",
        options: [["", "All"], ["open", "Open"], ...STATUSES.map((each) => [each, words(each)])],
      },
      { name: "source", label: "Source", placeholder: "All", known: true },
    ],
    toQuery: ({ status, source, ...rest }) => ({
      ...rest,
      source: source
        ?.trim()
        .toUpperCase()
        .replaceAll(/[\s-]+/g, "_"),
      ...(status === "open" ? { excludeStatus: CLOSED.join(",") } : { status }),
    }),
    columns: [
      {
        title: "Order",
        cell: ({ id, number }) => h.a({ class: "row", href: link(`/orders/${id}`) }, `#${number}`),
        class: "key",
      },
      { title: "Date", cell: ({ orderDate }) => date(orderDate), class: "wide" },
      { title: "Customer", cell: ({ customer }) => buyer(customer) },
      { title: "Status", cell: ({ status }) => badge(status) },
      { title: "Payment", cell: ({ paymentStatus }) => badge(paymentStatus), class: "wide" },
      { title: "Source", cell: ({ source }) => words(source), class: "wide" },
      { title: "Total", cell: ({ total, currency }) => money(total, currency), class: "number" },
    ],
    none: empty("No orders yet", "Create an order here, or send orders through the API.", add()),
  });
}
