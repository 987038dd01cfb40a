// States, by colour and by word.

import { h } from "../dom.js";
import { words } from "../format.js";

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
  info: ["SHIPPED", "OPEN", "RUNNING", "OWNER"],
};

export function badge(state, text = words(state)) {
  const tone = Object.keys(TONES).find((each) => TONES[each].includes(state)) ?? "plain";
  return h.span({ class: `badge ${tone}` }, text);
}
