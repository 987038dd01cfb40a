// Counts of stock, and starting one.

import { h, newKey } from "../dom.js";
import { ago, number } from "../format.js";
import { badge } from "../parts/badge.js";
import { field, form } from "../parts/form.js";
import { list } from "../parts/list.js";
import { empty } from "../parts/page.js";
import { link } from "../router.js";
import { may } from "../session.js";

export async function show(visit) {
  const into = h.div();
  const start = h.button({ type: "button", class: "main", onclick: () => begin(visit) }, "New count");
  visit.draw({ title: "Counts", back: [link("/products"), "Products"], actions: may("STAFF") && start }, into);
  await list(visit, {
    into,
    api: "admin/stock/counts",
    name: "count",
    filters: [],
    columns: [
      {
        title: "Count",
        cell: ({ id, name, createdBy }) => [
          h.a({ class: "row", href: link(`/products/counts/${id}`) }, h.bdi(name)),
          h.div({ class: "soft small" }, h.bdi(createdBy)),
        ],
      },
      { title: "Status", cell: ({ status }) => badge(status) },
      { title: "Counted", cell: ({ counted, variants }) => `${number(counted)} of ${number(variants)}`, class: "number" },
      { title: "Different", cell: ({ different }) => number(different), class: "number wide" },
      { title: "Started", cell: ({ createdAt }) => ago(createdAt), class: "wide" },
    ],
    none: empty("No counts yet", "Count what is on a shelf while the shop sells. What is sold meanwhile stays sold."),
  });
}

function begin(visit) {
  const idempotencyKey = newKey();
  const text = (name, label, more) => field({ name, label, autocomplete: "off", ...more });
  const dialog = visit.modal(
    "New count",
    form({
      fields: [
        text("name", "Name", { placeholder: "Such as the room or the shelf" }),
        text("search", "Only products with these words", { hint: "Leave all three blank to count everything." }),
        text("vendor", "Only of this vendor"),
        text("type", "Only of this type"),
      ],
      submit: "Start",
      cancel: h.button({ type: "button", onclick: () => dialog.close() }, "Cancel"),
      save: async ({ name, ...typed }) => {
        const given = Object.entries(typed).filter(([, value]) => value.trim());
        const which = given.length > 0 ? { filters: Object.fromEntries(given) } : { all: true };
        const body = { name, ...which };
        const { data } = await visit.send("POST", "admin/stock/counts", { body, idempotencyKey });
        dialog.close();
        visit.go(`/products/counts/${data.id}`);
      },
    }),
  );
}
