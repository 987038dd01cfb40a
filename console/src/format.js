// Dates in the shop's time zone, amounts in its currency, names as people read them.

import { h } from "./dom.js";
import { CURRENCY, DECIMALS, MOVES, PAYMENT_MOVES, PRODUCT_STATUSES, TIMEZONE } from "./facts.js";

const NONE = "—";
const inZone = (style) => new Intl.DateTimeFormat(undefined, { ...style, timeZone: TIMEZONE });
const DAY = { month: "short", day: "numeric" };
const year = inZone({ year: "numeric" });
const precise = inZone({ dateStyle: "medium", timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const STEPS = [
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

export const number = (value) => new Intl.NumberFormat().format(value);
export const plural = (count, one, many = `${one}s`) =>
  `${number(count)} ${count === 1 ? one : many}`;

// An amount is a decimal string, which Intl takes as it is: no float in between. Its decimals are the API's: browsers
// have none for some currencies.
const digits = { minimumFractionDigits: DECIMALS, maximumFractionDigits: DECIMALS };
const amounts = new Intl.NumberFormat(undefined, { style: "currency", currency: CURRENCY, ...digits });
export const money = (amount) => (amount === null || amount === undefined ? NONE : amounts.format(amount));

// A whole number; other text is sent unchanged, and refused by the API.
export const whole = (text) => (/^\d+$/.test(text) ? Number(text) : text);

function time(formatted, iso) {
  const title = `${precise.format(new Date(iso))}, ${TIMEZONE}`;
  return h.time({ datetime: iso, title }, formatted);
}

// The year is left out of a time of this year, unless `withYear`.
function makeFormat(style) {
  const [short, full] = [inZone(style), inZone({ ...style, year: "numeric" })];
  return (iso, withYear) => {
    if (!iso) return NONE;
    const at = new Date(iso);
    return time((!withYear && year.format(at) === year.format() ? short : full).format(at), iso);
  };
}
export const date = makeFormat(DAY);
export const dateTime = makeFormat({ ...DAY, hour: "numeric", minute: "2-digit" });
export const exact = (iso) => (iso ? time(precise.format(new Date(iso)), iso) : NONE);
export const ago = (iso) => (iso ? time(distance(iso), iso) : NONE);

// A planned time that has passed is shown as due, not as past.
export const due = (iso) => (new Date(iso) > Date.now() ? ago(iso) : time("due now", iso));

export function distance(iso, now = Date.now()) {
  const seconds = Math.round((new Date(iso) - now) / 1000);
  const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? STEPS[3];
  return relative.format(Math.trunc(seconds / size), unit);
}

// IN_PRODUCTION → In production
export function words(name) {
  if (name === "POS") return name;
  const text = String(name ?? "")
    .replaceAll("_", " ")
    .toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// PAID means that the order is confirmed; the payment's own badge says what is paid.
export const statusWord = (status) => words(status === "PAID" ? "CONFIRMED" : status);

export const text = (value) =>
  value === null || value === undefined || value === "" ? NONE : String(value);

const STATES = new Set([...Object.keys(MOVES), ...Object.keys(PAYMENT_MOVES), ...PRODUCT_STATUSES]);
const spaced = (name) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
const MESSAGES = [
  [/numeric string/, `must be an amount, such as ${(1250 / 10 ** DECIMALS).toFixed(DECIMALS)}`],
  [/^must be text$/, "is required"],
];

const NAMED = {
  slug: "URL slug",
  url: "Endpoint URL",
  sku: "SKU",
  seo: "Search engine listing",
  images: "Pictures",
  compareAtPrice: "Compare-at price",
  lowStockThreshold: "Low-stock threshold",
  salesRepId: "Sales rep",
};

// A field of the API as people call it: lineItems.0.trackingNumber → Line items 1 tracking number
export const called = (path) =>
  NAMED[path] ??
  words(path.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) + 1 : spaced(part))).join(" "));

// A message of the API as a shop says it: no names of fields or states but in quotes.
export const plain = (message) =>
  MESSAGES.find(([form]) => form.test(message))?.[1] ??
  String(message).replaceAll(/(['"]).*?\1|\b[a-z]+(?:[A-Z][a-z]+)+\b|\b[A-Z][A-Z_]{3,}\b/g, (text) =>
    /^['"]/.test(text) ? text : /^[a-z]/.test(text) ? spaced(text) : STATES.has(text) ? words(text) : text,
  );
