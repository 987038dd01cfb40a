// Counts of stock, and starting one.

import { button, h, newKey } from "../dom.js";
import { ago, number } from "../format.js";
import { badge } from "../parts/badge.js";
import { choice, meant } from "../parts/choice.js";
import { dialogForm } from "../parts/dialog-form.js";
import { matching } from "../parts/matching.js";
import { field } from "../parts/form.js";
import { list } from "../parts/list.js";
import { empty } from "../parts/page.js";
import { link } from "../router.js";
import { may } from "../session.js";

export async function show(visit) {
  const start = may("STAFF") && button("New count", () => begin(visit), { class: "main" });
  await list(visit, {
    top: { title: "Counts", back: [link("/products"), "Products"], actions: start },
    api: "admin/stock/counts",
    name: "count",
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

const USED = ["vendor", "type"];

function begin(visit) {
  const used = (name) => choice(visit, ["products", name], { name, label: `Only this ${name}` });
  const idempotencyKey = newKey();
  dialogForm(visit, "New count", {
    fields: [
      field({ name: "name", placeholder: "Such as the room or the shelf" }),
      field({
        name: "search",
        label: "Only products with these words",
        hint: "Leave all three blank to count everything.",
      }),
      used("vendor"),
      used("type"),
    ],
    submit: "Start",
    async save({ name, ...typed }) {
      const texts = Object.entries(typed).map(([each, text]) => [each, text.trim()]);
      const filters = Object.fromEntries(texts.filter(([, text]) => text));
      for (const each of USED.filter((one) => filters[one])) {
        const { same } = await meant(visit, ["products", each], filters[each]);
        filters[each] = same ?? filters[each];
      }
      return visit.send("POST", "admin/stock/counts", { body: { name, ...matching(filters) }, idempotencyKey });
    },
    then: ({ data }) => visit.go(`/products/counts/${data.id}`),
  });
}
