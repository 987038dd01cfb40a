// What happened to an order: its moves, payments, refunds, edits and other changes, as one list of events.

import { h } from "../dom.js";
import { called, dateTime, money, plural, words } from "../format.js";
import { moveWord } from "./move-word.js";
import { valueWord } from "./words.js";

const FIELDS = ["trackingNumber", "salesRepId", "note", "tags", "shippingAddress", "billingAddress"];
const MINUTE = 60_000;

// For `timeline`. `extra(payment)`: what else is drawn with a payment, such as a button.
export function storyOf(order, extra = () => null) {
  const soft = (...text) => h.span({ class: "soft small" }, ...text);
  const events = new Map();

  // What one request did is one event.
  function tell(at, by, ...lines) {
    const key = `${at} ${by}`;
    if (!events.has(key)) events.set(key, { at, by, lines: [] });
    events.get(key).lines.push(...lines.filter(Boolean));
  }

  const isRecorded = new Set([...order.payments, ...order.refunds].map(({ createdAt }) => createdAt));
  const isEdited = new Set(order.edits.map(({ at }) => at));
  const voided = (at) => order.payments.find(({ voidedAt }) => voidedAt === at)?.voidReason;
  for (const { at, by, change } of order.history) {
    // Records say it better.
    const isSaid = (part) =>
      (isRecorded.has(at) && /^(payment|refund|paymentStatus) /.test(part)) ||
      (isEdited.has(at) && /^(edited|total .*|deposit)$/.test(part));
    const parts = change.split(", ").filter((part) => !isSaid(part));
    tell(at, by, ...parts.map((part) => inWords(part)), voided(at) && soft(h.bdi(voided(at))));
  }
  for (const one of order.payments) {
    const { amount, method, receivedAt, createdAt, reference, note, tendered, voidedAt } = one;
    const said = `${money(amount)} received, ${words(method).toLowerCase()}`;
    tell(
      createdAt,
      one.by,
      h.span(voidedAt ? h.del(said) : said, reference && [" · ", h.bdi(reference)], extra(one)),
      Date.parse(createdAt) - Date.parse(receivedAt) > MINUTE && soft("On ", dateTime(receivedAt)),
      Number(tendered) > Number(amount) && soft(`${money(tendered)} in cash, ${money(one.change)} change`),
      note && soft(h.bdi(note)),
    );
  }
  for (const { amount, method, createdAt, by, reason, note, reference, lines } of order.refunds) {
    const pieces = lines.reduce((all, { quantity }) => all + quantity, 0);
    const why = [reason && words(reason), pieces > 0 && plural(pieces, "piece"), note].filter(Boolean);
    tell(
      createdAt,
      by,
      h.span(`${money(amount)} refunded, ${words(method).toLowerCase()}`, reference && [" · ", h.bdi(reference)]),
      why.length > 0 && soft(h.bdi(why.join(" · "))),
    );
  }
  for (const { at, by, reason, totalBefore, totalAfter, changes } of order.edits) {
    const sums = totalBefore === totalAfter ? "" : `: total ${money(totalBefore)} → ${money(totalAfter)}`;
    const details = changes.filter((each) => !each.startsWith("total "));
    tell(at, by, `Items edited${sums}`, reason && soft(h.bdi(reason)), ...details.map((each) => soft(h.bdi(each))));
  }
  tell(order.closedAt, order.closedBy, order.closeReason && soft(h.bdi(order.closeReason)));
  return [...events.values()].filter(({ lines }) => lines.length > 0);
}

// `status PENDING → PAID` as people read it: Pending → Paid.
function inWords(part) {
  if (part === "created") return "Order created";
  if (part === "closed") return "Order closed";
  const [, kind, amount, method] = /^(voided payment|payment|refund|kept) (\S+)(?: (\w+))?$/.exec(part) ?? [];
  if (kind) return [`${words(kind)} ${money(amount)}`, method && words(method).toLowerCase()].filter(Boolean).join(", ");
  const [, name, before, after] = /^(\w+) (.*) → (.*)$/.exec(part) ?? [];
  if (!name) return FIELDS.includes(part) ? `${called(part)} changed` : words(part);
  if (name === "status") return words(moveWord(after));
  const shown = (value) => (name === "kept" ? money(value) : valueWord(name, value));
  if (before === "none") return `${called(name)}: ${shown(after)}`;
  if (after === "none") return `${called(name)} removed`;
  return `${called(name)}: ${shown(before)} → ${shown(after)}`;
}
