// What pages about webhooks share: the events and their meaning, the form, the secret shown once.

import { h } from "../dom.js";
import { copied } from "./copy.js";
import { modal } from "./dialog.js";
import { field } from "./form.js";

const EVENTS = {
  "order.created": "A new order was placed",
  "order.updated": "An order was changed in any way",
  "order.paid": "The payment came in",
  "order.shipped": "It is on its way, with its tracking number",
  "order.cancelled": "An order was cancelled",
  "order.refunded": "An order was refunded",
  "customer.created": "A new customer",
  "product.created": "A new product",
  "product.updated": "A product was changed",
  "inventory.low": "Stock fell below the threshold",
};
export const KINDS = Object.keys(EVENTS);

export function endpointFields(endpoint) {
  const taken = new Set(endpoint?.events ?? []);
  return [
    field({
      name: "url",
      label: "Endpoint URL",
      type: "url",
      value: endpoint?.url,
      placeholder: "https://example.com/webhooks",
      wide: true,
      required: true,
      autocomplete: "off",
    }),
    h.fieldset(
      { class: "field whole", "data-field": "events" },
      h.legend("Events"),
      h.div(
        { class: "events" },
        KINDS.map((kind) =>
          h.label(
            { class: "event" },
            h.input({ type: "checkbox", value: kind, checked: taken.has(kind) }),
            h.span(h.b(kind), h.span({ class: "soft small" }, EVENTS[kind])),
          ),
        ),
      ),
      h.p({ class: "error" }),
    ),
    field({
      name: "email",
      label: "E-mail",
      type: "email",
      value: endpoint?.email,
      placeholder: endpoint?.summaryEmail ?? "",
      hint: "Told when it has been failing for an hour, when it answers again, and when deliveries fail. If empty, the shop's own address is.",
      autocomplete: "off",
    }),
    field({
      name: "description",
      label: "Description",
      value: endpoint?.description,
      autocomplete: "off",
    }),
  ];
}

export function readEndpoint(form) {
  const typed = (name) => form.elements[name].value.trim();
  return {
    url: typed("url"),
    events: [...form.querySelectorAll(".events input:checked")].map((each) => each.value),
    email: typed("email") || null,
    description: typed("description") || null,
  };
}

export function writeEndpoint(form, { events, ...texts }) {
  for (const [name, text] of Object.entries(texts)) form.elements[name].value = text ?? "";
  if (events)
    form
      .querySelectorAll(".events input")
      .forEach((each) => (each.checked = events.includes(each.value)));
}

// The only time that it is seen. Resolves when it was put away.
export function showSecret(title, secret, more) {
  return new Promise((done) => {
    const dialog = modal(
      title,
      [
        h.p(
          "This is the only time that it is shown. Keep it where your receiver finds it; all of it, ",
          h.code("whsec_"),
          " included, is the key of the signature.",
        ),
        copied(secret),
        more && h.p({ class: "soft" }, more),
        h.div(
          { class: "actions" },
          h.button(
            { type: "button", class: "main", onclick: () => dialog.close() },
            "I have kept it",
          ),
        ),
      ],
      { stays: true },
    );
    dialog.addEventListener("close", done);
  });
}

export const stateOf = ({ enabled, failingSince }) =>
  enabled ? (failingSince ? "FAILING" : "ENABLED") : "PAUSED";
