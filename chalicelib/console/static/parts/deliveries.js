// Deliveries in a table: the newest event first.

import { h } from "../dom.js";
import { ago, number } from "../format.js";
import { link } from "../router.js";
import { badge } from "./badge.js";
import { table } from "./table.js";

export function deliveryTable(rows) {
  return table({
    name: "Deliveries",
    columns: [
      {
        title: "Event",
        cell: ({ id, event, test }) => [
          h.a({ class: "row", href: link(`/settings/developer/deliveries/${id}`) }, event),
          test && h.span({ class: "soft small" }, " test"),
        ],
      },
      { title: "State", cell: ({ status }) => badge(status) },
      { title: "Attempts", cell: ({ attempts }) => number(attempts), class: "number wide" },
      {
        title: "Next attempt",
        cell: ({ nextAttemptAt }) => (nextAttemptAt ? ago(nextAttemptAt) : ""),
        class: "wide",
      },
      { title: "Begun", cell: ({ createdAt }) => ago(createdAt) },
    ],
    rows,
  });
}
