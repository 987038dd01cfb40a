// One customer, and what was bought.

import { get } from "../api.js";
import { h } from "../dom.js";
import { date, dateTime, money } from "../format.js";
import { badge } from "../parts/badge.js";
import { buyer } from "../parts/order.js";
import { card, draw, empty, facts } from "../parts/page.js";
import { table } from "../parts/table.js";
import { link } from "../router.js";

export async function show(main, { params, signal }) {
  const { data: customer } = await get(
    `admin/customers/${encodeURIComponent(params.id)}`,
    {},
    signal,
  );
  // The search also finds who has this address as a part of theirs.
  const { data: found } = await get("admin/orders", { search: customer.email, limit: 50 }, signal);
  if (signal.aborted) return;
  const orders = found.data.filter((order) => order.customer?.id === customer.id);
  draw(
    main,
    {
      title: buyer(customer),
      back: [link("/customers"), "Customers"],
      actions: h.a(
        { class: "button", href: link("/orders/new", { customer: customer.id }) },
        "Create an order",
      ),
    },
    h.div(
      { class: "stack" },
      card(
        null,
        facts([
          ["E-mail", h.a({ href: `mailto:${customer.email}` }, customer.email)],
          ["Since", dateTime(customer.createdAt)],
          ["Identifier", h.code(customer.id)],
        ]),
      ),
      card(
        "Orders",
        orders.length === 0
          ? empty("No orders", "Nothing was ordered, or the orders were deleted.")
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
                  class: "number",
                },
              ],
              rows: orders,
            }),
        found.total > found.data.length &&
          h.p(h.a({ href: link("/orders", { search: customer.email }) }, "All orders")),
      ),
    ),
  );
}
