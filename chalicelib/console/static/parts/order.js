// What pages about orders share: the moves of `docs/api.md`, and how a buyer is named.

import { h, newId } from "../dom.js";

export const MOVES = {
  PENDING: ["PAID", "CANCELLED"],
  PAID: ["PROCESSING", "IN_PRODUCTION", "REFUNDED"],
  IN_PRODUCTION: ["PROCESSING"],
  PROCESSING: ["SHIPPED"],
  SHIPPED: ["DELIVERED"],
  DELIVERED: [],
  CANCELLED: [],
  REFUNDED: [],
};
export const STATUSES = Object.keys(MOVES);
export const CLOSED = STATUSES.filter((each) => MOVES[each].length === 0);
export const PAYMENTS = ["PENDING", "PAID", "PARTIALLY_PAID", "REFUNDED", "FAILED"];

export function fullName(customer) {
  return [customer?.firstName, customer?.lastName].filter(Boolean).join(" ");
}

export function buyer(customer) {
  if (!customer) return h.span({ class: "soft" }, "nobody");
  return fullName(customer) || customer.email;
}

// A text field that offers names seen before, such as sources.
export function suggestions(names) {
  const id = newId("names");
  return [
    id,
    h.datalist(
      { id },
      names.map((value) => h.option({ value })),
    ),
  ];
}
