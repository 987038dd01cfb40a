// Deliveries in a table: the newest event first.

import { h } from "../dom.js";
import { ago, due, number, words } from "../format.js";
import { link } from "../router.js";
import { badge } from "./badge.js";
import { subjectName } from "./subject.js";
import { table } from "./table.js";

// `endpoints`: the webhooks to distinguish, if there are several.
export function deliveryTable(rows, endpoints = null) {
  const urls = new Map(endpoints?.map(({ id, url }) => [id, url]));
  return table({
    name: "Deliveries",
    columns: [
      {
        title: "Event",
        cell: (delivery) => [
          h.a({ class: "row", href: link(`/settings/developer/deliveries/${delivery.id}`) }, delivery.event),
          delivery.test && h.span({ class: "soft small" }, " test"),
          delivery.subject && h.div({ class: "small" }, subjectName(delivery.subject)),
          endpoints && h.div({ class: "soft small cut" }, urls.get(delivery.endpointId)),
        ],
      },
      {
        title: "Status",
        cell: (delivery) => [badge(delivery.status), h.div({ class: "small" }, met(delivery))],
      },
      {
        title: "Attempts",
        cell: ({ attemptCount }) => number(attemptCount),
        class: "number wide",
      },
      {
        title: "Next attempt",
        cell: ({ nextAttemptAt }) => (nextAttemptAt ? due(nextAttemptAt) : ""),
      },
      { title: "Created", cell: ({ createdAt }) => ago(createdAt), class: "wide" },
    ],
    rows,
  });
}

// HTTP 500, or the error if there is no status.
export const met = ({ lastStatus, lastError }) =>
  lastStatus ? `HTTP ${lastStatus}` : lastError ? words(lastError) : "";
