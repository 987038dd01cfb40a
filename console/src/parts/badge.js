// States, by colour and by word.

import { h } from "../dom.js";
import { statusWord, words } from "../format.js";
import { paymentWord } from "./words.js";

const TONES = {
  good: ["ACTIVE", "APPLIED", "PAID", "DELIVERED", "COMPLETED", "ENABLED"],
  warn: [
    "PENDING",
    "RETRYING",
    "QUEUED",
    "PARTIALLY_PAID",
    "FAILING",
    "IN_PRODUCTION",
    "PROCESSING",
    "PARTLY",
    "NEEDS_MAPPING",
  ],
  bad: ["FAILED"],
  info: ["CONFIRMED", "SHIPPED", "OPEN", "RUNNING", "OWNER"],
};

export function badge(state, text = words(state)) {
  const tone = Object.keys(TONES).find((each) => TONES[each].includes(state)) ?? "plain";
  return h.span({ class: `badge ${tone}` }, text);
}

export const statusBadge = (status) => badge(status === "PAID" ? "CONFIRMED" : status, statusWord(status));

// Shown next to the status, in grey once the order has ended: nothing is left to do about its payment.
export function paymentBadge({ status, paymentStatus, closedAt }) {
  if (status === "REFUNDED" && paymentStatus === "REFUNDED") return null;
  return badge(closedAt || status === "CANCELLED" ? "" : paymentStatus, paymentWord(paymentStatus));
}
