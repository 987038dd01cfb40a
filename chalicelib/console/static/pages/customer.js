// One customer, and what was bought.

import { h } from "../dom.js";
import { date, dateTime, money } from "../format.js";
import { badge } from "../parts/badge.js";
import { fullName } from "../parts/order.js";
import { card, empty, facts } from "../parts/page.js";
import { table } from "../parts/table.js";
import { link } from "../router.js";
import "../parts/work.js";

export async function show(visit) {
  const path = `admin/customers/${encodeURIComponent(visit.params.id)}`;
  const { data: customer } = await visit.get(path);
  const { data: found } = await visit.get("admin/orders", { customerId: customer.id, limit: 50 });
  const orders = found.data;
  visit.draw(
    {
      title: fullName(customer) || customer.email,
      back: [link("/customers"), "Customers"],
      actions: h.a(
        { class: "button", href: link("/orders/new", { customer: customer.id }) },
        "Create order",
      ),
    },
    h.div(
      { class: "stack" },
      card(
        null,
        facts([
          ["Email", h.a({ href: `mailto:${customer.email}` }, customer.email)],
          ["Customer since", dateTime(customer.createdAt)],
          ["Customer ID", h.code(customer.id)],
        ]),
      ),
      card(
        "Orders",
        orders.length === 0
          ? empty("No orders", "This customer has no orders, or they were deleted.")
          : table({
              name: "Orders",
              columns: [
                {
                  title: "Order",
                  cell: ({ id, number }) =>
                    h.a({ class: "row", href: link(`/orders/${id}`) }, `#${number}`),
                  class: "key",
                },
                { title: "Date", cell: ({ orderDate }) => date(orderDate) },
                { title: "Status", cell: ({ status }) => badge(status) },
                {
                  title: "Total",
                  cell: ({ total, currency }) => money(total, currency),
                  class: "number money",
                },
              ],
              rows: orders,
            }),
        found.total > found.data.length &&
          h.p(h.a({ href: link("/orders", { customerId: customer.id }) }, "View all orders")),
      ),
    ),
  );
}
