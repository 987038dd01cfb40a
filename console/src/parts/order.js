// What pages about orders share: states, people, payment, parcels.

import { h } from "../dom.js";
import { MOVES } from "../facts.js";

export const STATUSES = Object.keys(MOVES);
export const CLOSED = STATUSES.filter((each) => MOVES[each].length === 0);

export const NOT_SHIPPED = ["PENDING", "PAID", "IN_PRODUCTION", "PROCESSING"];
export const mayClose = ({ closedAt, kept, status }) =>
  closedAt ? Number(kept) > 0 : status === "SHIPPED" || NOT_SHIPPED.includes(status);

export function fullName(customer) {
  return [customer?.firstName, customer?.lastName].filter(Boolean).join(" ");
}

export const nameOf = (customer) => fullName(customer) || customer.company || customer.email || customer.phone;

export function buyer(customer) {
  if (!customer) return h.span({ class: "soft" }, "No customer");
  return h.bdi(nameOf(customer) ?? "No name");
}

export const SOURCES = ["IN_PERSON", "PRIVATE_COMMISSION", "PHONE", "EMAIL", "ONLINE", "OTHER"];
export const METHODS = ["CASH", "CARD_TERMINAL", "BANK_TRANSFER", "INVOICE"];

// Card terminal → CARD_TERMINAL, as the API has it.
export const coded = (text) =>
  text
    .trim()
    .toUpperCase()
    .replaceAll(/[\s-]+/g, "_");

// Ann Lee → emp_Ann-Lee; an id stays.
export const repOf = (text) => {
  const name = text.trim().normalize("NFKD").replaceAll(/\s+/g, "-").replaceAll(/[^\w-]/g, "");
  return !name || name.startsWith("emp_") ? name : `emp_${name.slice(0, 60)}`;
};

// Each once, as the API keeps them.
export const tagsOf = (text) => [...new Set(text.split(",").map((tag) => tag.trim()))].filter(Boolean);

// Carriers whose numbers have a unique form: their name, the form, and where a number leads. A number that fits
// several carriers is assigned to none.
const CARRIERS = [
  ["UPS", /^1Z[0-9A-Z]{16}$/, "www.ups.com/track?tracknum="],
  ["USPS", /^(9[2-5]\d{20}|9[2-5]\d{24}|[A-Z]{2}\d{9}US)$/, "tools.usps.com/go/TrackConfirmAction?tLabels="],
  ["Royal Mail", /^[A-Z]{2}\d{9}GB$/, "www.royalmail.com/track-your-item#/tracking-results/"],
  [
    "Deutsche Post DHL",
    /^([A-Z]{2}\d{9}DE|JJD\d{16,20}|00340\d{15})$/,
    "www.dhl.de/de/privatkunden/pakete-empfangen/verfolgen.html?piececode=",
  ],
  ["La Poste", /^[A-Z]{2}\d{9}FR$/, "www.laposte.fr/outils/suivre-vos-envois?code="],
  ["Canada Post", /^[A-Z]{2}\d{9}CA$/, "www.canadapost-postescanada.ca/track-reperage/en#/search?searchFor="],
  ["Amazon Logistics", /^TB[ACM]\d{12}$/, "track.amazon.com/tracking/"],
];

// { name, href } of the carrier of a tracking number, or null.
export function carrierOf(trackingNumber) {
  const number = String(trackingNumber ?? "")
    .toUpperCase()
    .replaceAll(/[\s-]/g, "");
  const [name, , page] = CARRIERS.find(([, form]) => form.test(number)) ?? [];
  return name ? { name, href: `https://${page}${encodeURIComponent(number)}` } : null;
}

// The tracking numbers of a shipment, each a link where its carrier is known.
export function numbersOf({ parcels }) {
  return parcels
    .filter(({ trackingNumber }) => trackingNumber)
    .map(({ trackingNumber, trackingUrl }) => {
      const href = trackingUrl ?? carrierOf(trackingNumber)?.href;
      const text = h.bdi(trackingNumber);
      return h.div(href ? h.a({ href, target: "_blank", rel: "noopener noreferrer" }, text) : text);
    });
}
