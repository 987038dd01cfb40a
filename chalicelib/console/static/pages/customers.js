// Customers. They come with their first order.

import { h } from "../dom.js";
import { date } from "../format.js";
import { list } from "../parts/list.js";
import { buyer, fullName } from "../parts/order.js";
import { draw, empty } from "../parts/page.js";
import { link } from "../router.js";

export async function show(main, { path, query, signal }) {
  const into = h.div();
  draw(main, { title: "Customers" }, into);
  await list({
    into,
    api: "admin/customers",
    name: "customer",
    path,
    query,
    signal,
    filters: [
      {
        name: "search",
        label: "Search",
        type: "search",
        placeholder: "Name or e-mail",
        autocomplete: "off",
      },
    ],
    columns: [
      {
        title: "Customer",
        cell: (customer) => [
          h.a({ class: "row", href: link(`/customers/${customer.id}`) }, buyer(customer)),
          fullName(customer) && h.span({ class: "soft small narrow" }, customer.email),
        ],
      },
      { title: "E-mail", cell: ({ email }) => email, class: "wide" },
      { title: "Since", cell: ({ createdAt }) => date(createdAt) },
    ],
    none: empty(
      "No customers yet",
      "The first order of an e-mail address makes one.",
      h.a({ class: "button", href: link("/orders/new") }, "Create an order"),
    ),
  });
}
