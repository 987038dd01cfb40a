// What left the shop on a day: for the carrier, and for who asks where a parcel is.

import { h } from "../dom.js";
import { dateTime, words } from "../format.js";
import { badge } from "../parts/badge.js";
import { list } from "../parts/list.js";
import { buyer, numbersOf } from "../parts/order.js";
import { empty } from "../parts/page.js";
import { daysAgo } from "../parts/zone.js";
import { link } from "../router.js";
import { may } from "../session.js";

const named = (names) => [["", "All"], ...names.map((name) => [name, words(name)])];

export async function show(visit) {
  visit.query.day ??= daysAgo(0);
  await list(visit, {
    top: { title: "Shipments", back: [link("/orders"), "Orders"] },
    api: "admin/shipments",
    name: "shipment",
    exports: may("STAFF") && "shipments",
    filters: [
      { name: "day", type: "date" },
      { name: "state", options: named(["SHIPPED", "DELIVERED", "CANCELLED"]) },
      { name: "method", options: named(["PARCEL", "PICKUP"]), more: true },
      { name: "carrier", more: true },
      { name: "trackingNumber", more: true },
    ],
    toQuery: ({ day, ...rest }) => ({ ...(day && { from: day, to: day }), ...rest }),
    columns: [
      {
        title: "Order",
        cell: ({ orderId, orderNumber }) => h.a({ class: "row", href: link(`/orders/${orderId}`) }, `#${orderNumber}`),
        class: "key",
      },
      { title: "Shipped", cell: ({ shippedAt }) => dateTime(shippedAt), class: "wide" },
      { title: "Customer", cell: ({ customer }) => buyer(customer) },
      { title: "Carrier", cell: ({ carrier, method }) => h.bdi(carrier ?? words(method)), class: "wide" },
      { title: "Tracking", cell: numbersOf },
      { title: "State", cell: ({ state }) => badge(state) },
    ],
    none: empty("No shipments", "Nothing was shipped."),
  });
}
