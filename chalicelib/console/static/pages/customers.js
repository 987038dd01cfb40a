// Customers. They come with their first order.

import { h } from "../dom.js";
import { date } from "../format.js";
import { list } from "../parts/list.js";
import { buyer, fullName } from "../parts/order.js";
import { empty } from "../parts/page.js";
import { link } from "../router.js";

export async function show(visit) {
  const into = h.div();
  visit.draw({ title: "Customers" }, into);
  await list(visit, {
    into,
    api: "admin/customers",
    name: "customer",
    filters: [
      {
        name: "search",
        label: "Search",
        type: "search",
        placeholder: "Name or email",
        autocomplete: "off",
      },
      {
        name: "sort",
        label: "Sort",
        options: [
          ["", "Newest first"],
          ["name", "Name"],
        ],
      },
      { name: "tag", label: "Tag" },
    ],
    columns: [
      {
        title: "Customer",
        cell: (customer) => [
          h.a({ class: "row", href: link(`/customers/${customer.id}`) }, buyer(customer)),
          fullName(customer) && h.span({ class: "soft small narrow" }, customer.email),
        ],
      },
      { title: "Email", cell: ({ email }) => email, class: "wide" },
      { title: "Customer since", cell: ({ createdAt }) => date(createdAt) },
    ],
    none: empty(
      "No customers yet",
      "A customer is added with the first order of an email address.",
      h.a({ class: "button", href: link("/orders/new") }, "Create order"),
    ),
  });
}
