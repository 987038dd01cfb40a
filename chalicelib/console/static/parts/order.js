// What pages about orders share: states, people, payment, parcels.

import { h } from "../dom.js";
import { MOVES } from "../facts.js";

export const STATUSES = Object.keys(MOVES);
export const CLOSED = STATUSES.filter((each) => MOVES[each].length === 0);

export function fullName(customer) {
  return [customer?.firstName, customer?.lastName].filter(Boolean).join(" ");
}

export function buyer(customer) {
  if (!customer) return h.span({ class: "soft" }, "No customer");
  return h.bdi(fullName(customer) || customer.email || customer.phone || "No name");
}

export const SOURCES = ["IN_PERSON", "PRIVATE_COMMISSION", "PHONE", "EMAIL", "ONLINE", "OTHER"];
export const METHODS = ["CARD_TERMINAL", "CASH", "BANK_TRANSFER", "INVOICE"];

// Card terminal → CARD_TERMINAL, as the API has it.
export const coded = (text) =>
  text
    .trim()
    .toUpperCase()
    .replaceAll(/[\s-]+/g, "_");

export const tagsOf = (text) =>
  text
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);

// Errors of a bulk edit's change, such as `change.price.percent`, at their fields.
export async function changing(edit) {
  try {
    await edit();
  } catch (refusal) {
    const own = (name) => name.split(".").findLast((part) => !/^\d+$/.test(part));
    refusal.errors = refusal.errors?.map((error) => ({ ...error, field: own(error.field) }));
    throw refusal;
  }
}

// Carriers whose numbers have a unique form. A number that fits several carriers is assigned to none.
const CARRIERS = [
  {
    name: "UPS",
    form: /^1Z[0-9A-Z]{16}$/,
    page: (number) => `https://www.ups.com/track?tracknum=${number}`,
  },
  {
    name: "USPS",
    form: /^(9[2-5]\d{20}|9[2-5]\d{24}|[A-Z]{2}\d{9}US)$/,
    page: (number) => `https://tools.usps.com/go/TrackConfirmAction?tLabels=${number}`,
  },
  {
    name: "Royal Mail",
    form: /^[A-Z]{2}\d{9}GB$/,
    page: (number) => `https://www.royalmail.com/track-your-item#/tracking-results/${number}`,
  },
  {
    name: "Deutsche Post DHL",
    form: /^([A-Z]{2}\d{9}DE|JJD\d{16,20}|00340\d{15})$/,
    page: (number) =>
      `https://www.dhl.de/de/privatkunden/pakete-empfangen/verfolgen.html?piececode=${number}`,
  },
  {
    name: "La Poste",
    form: /^[A-Z]{2}\d{9}FR$/,
    page: (number) => `https://www.laposte.fr/outils/suivre-vos-envois?code=${number}`,
  },
  {
    name: "Canada Post",
    form: /^[A-Z]{2}\d{9}CA$/,
    page: (number) =>
      `https://www.canadapost-postescanada.ca/track-reperage/en#/search?searchFor=${number}`,
  },
  {
    name: "Amazon Logistics",
    form: /^TB[ACM]\d{12}$/,
    page: (number) => `https://track.amazon.com/tracking/${number}`,
  },
];

// { name, href } of the carrier of a tracking number, or null.
export function carrierOf(trackingNumber) {
  const number = String(trackingNumber ?? "")
    .toUpperCase()
    .replaceAll(/[\s-]/g, "");
  const carrier = CARRIERS.find(({ form }) => form.test(number));
  return carrier ? { name: carrier.name, href: carrier.page(encodeURIComponent(number)) } : null;
}
