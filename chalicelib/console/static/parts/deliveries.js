// Deliveries in a table: the newest event first.

import { h } from "../dom.js";
import { ago, due, number } from "../format.js";
import { link } from "../router.js";
import { badge } from "./badge.js";
import { table } from "./table.js";

// `endpoints`: the webhooks to tell apart, where there are several.
export function deliveryTable(rows, endpoints = null) {
  const urls = new Map(endpoints?.map(({ id, url }) => [id, url]));
  return table({
    name: "Deliveries",
    columns: [
      {
        title: "Event",
        cell: ({ id, event, test, endpointId }) => [
          h.a({ class: "row", href: link(`/settings/developer/deliveries/${id}`) }, event),
          test && h.span({ class: "soft small" }, " test"),
          endpoints && h.div({ class: "soft small cut" }, urls.get(endpointId)),
        ],
      },
      { title: "Status", cell: ({ status }) => badge(status) },
      { title: "Attempts", cell: ({ attemptCount }) => number(attemptCount), class: "number wide" },
      {
        title: "Next attempt",
        cell: ({ nextAttemptAt }) => (nextAttemptAt ? due(nextAttemptAt) : ""),
        class: "wide",
      },
      { title: "Created", cell: ({ createdAt }) => ago(createdAt) },
    ],
    rows,
  });
}
