// Customers. They come with their first order, or are added by hand.

import { h } from "../dom.js";
import { date, money, number } from "../format.js";
import { list } from "../parts/list.js";
import { buyer, fullName } from "../parts/order.js";
import { empty } from "../parts/page.js";
import { link } from "../router.js";
import { may } from "../session.js";

export async function show(visit) {
  const add = may("STAFF") && h.a({ class: "button main", href: link("/customers/new") }, "Add customer");
  await list(visit, {
    top: { title: "Customers", actions: add },
    api: "admin/customers",
    name: "customer",
    cards: true,
    exports: may("STAFF") && "customers",
    filters: [
      { name: "search", type: "search", placeholder: "Name, email, phone, company, city" },
      {
        name: "sort",
        options: [
          ["", "Newest first"],
          ["name", "Name"],
        ],
      },
      { name: "tag", placeholder: "All", used: {} },
    ],
    columns: [
      {
        title: "Customer",
        sorts: ["name"],
        cell: (customer) => [
          h.a({ class: "row", href: link(`/customers/${customer.id}`) }, buyer(customer)),
          fullName(customer) && h.span({ class: "soft small narrow" }, customer.phone ?? customer.email),
        ],
        class: "first both",
      },
      { title: "Email", cell: ({ email }) => email, class: "wide" },
      { title: "Phone", cell: ({ phone }) => phone, class: "wide" },
      { title: "Orders", cell: ({ ordersCount }) => number(ordersCount), class: "number wide" },
      {
        title: "Total spent",
        cell: ({ totalSpent }) => money(totalSpent),
        class: "number money wide top",
      },
      { title: "Added", cell: ({ createdAt }) => date(createdAt), sorts: [""], class: "last" },
    ],
    none: empty(
      "No customers yet",
      "A customer is added here, or with their first order.",
      may("STAFF") && h.a({ class: "button", href: link("/customers/new") }, "Add customer"),
    ),
  });
}
