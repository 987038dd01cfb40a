// What pages about webhooks share: the events and their meaning, the form, the secret shown once.

import { h } from "../dom.js";
import { EVENT_KINDS } from "../facts.js";
import { shownOnce } from "./copy.js";
import { jsonOf } from "./filter-trial.js";
import { field } from "./form.js";

const EVENTS = {
  "order.created": "An order was created",
  "order.updated": "An order was changed",
  "order.paid": "An order was paid",
  "order.shipped": "An order was shipped; includes the tracking number",
  "order.cancelled": "An order was cancelled",
  "order.refunded": "An order was refunded",
  "order.deleted": "An order was deleted",
  "order.edited": "Lines or amounts of an order were edited",
  "order.closed": "An order was closed, or keeps less since",
  "order.produced": "All that an order has made for it is done",
  "work.created": "Something is to be made for an order",
  "work.updated": "Work moved to another stage, or was changed",
  "shipment.created": "A part of an order, or all of it, was shipped",
  "shipment.updated": "A shipment was changed, or delivered",
  "shipment.cancelled": "A shipment was cancelled",
  "payment.created": "A payment was recorded",
  "payment.voided": "A payment was voided",
  "refund.created": "A refund was recorded",
  "file.ready": "A file of an order was uploaded",
  "customer.created": "A customer was added",
  "customer.updated": "A customer was changed",
  "customer.deleted": "A customer was deleted",
  "product.created": "A product was added",
  "product.updated": "A product was changed",
  "product.deleted": "A product was deleted",
  "inventory.low": "Stock fell below the threshold",
};

export function endpointFields(endpoint) {
  const taken = new Set(endpoint?.events ?? []);
  return [
    field({
      name: "url",
      type: "url",
      value: endpoint?.url,
      placeholder: "https://example.com/webhooks",
      wide: true,
      required: true,
    }),
    h.fieldset(
      { class: "field whole", "data-field": "events" },
      h.legend("Events"),
      h.div(
        { class: "events" },
        EVENT_KINDS.map((kind) =>
          h.label(
            { class: "event" },
            h.input({ type: "checkbox", name: "events", value: kind, checked: taken.has(kind) }),
            h.span(h.b(kind), h.span({ class: "soft small" }, EVENTS[kind])),
          ),
        ),
      ),
      h.p({ class: "error" }),
    ),
    field({
      name: "email",
      type: "email",
      value: endpoint?.email,
      placeholder: endpoint?.summaryEmail ?? "",
      hint: "Notified when deliveries have failed for an hour, when they work again, and when one runs out of retries. Leave blank for the shop's own address.",
    }),
    field({ name: "description", value: endpoint?.description }),
    field({
      name: "filter",
      rows: 4,
      wide: true,
      value: filterText(endpoint?.filter),
      spellcheck: "false",
      placeholder: '{"data": {"total": [{"numeric": [">=", 500]}]}}',
      hint: "An Amazon EventBridge pattern as JSON. Only events that match are sent. Leave blank for all.",
    }),
  ];
}

const filterText = (filter) => (filter ? JSON.stringify(filter, null, 2) : "");

export function readEndpoint(form) {
  const typed = (name) => form.elements[name].value.trim();
  return {
    url: typed("url"),
    events: [...form.querySelectorAll(".events input:checked")].map((each) => each.value),
    email: typed("email") || null,
    description: typed("description") || null,
    filter: jsonOf(typed("filter")),
  };
}

export function showSecret(visit, title, secret, more) {
  const text = ["Store it with your receiver. The whole text, including ", h.code("whsec_"), ", is the signing key."];
  return shownOnce(visit, title, text, secret, more);
}

export const stateOf = ({ enabled, failingSince }) =>
  enabled ? (failingSince ? "FAILING" : "ENABLED") : "PAUSED";
