// What happened to a product or a customer, from the audit log: a sentence an entry, and each field behind it.

import { h } from "../dom.js";
import { called, dateTime, money, plural, words } from "../format.js";
import { moveWord } from "./move-word.js";
import { valueWord } from "./words.js";
import { link } from "../router.js";
import { isRecord, subjectLink } from "./subject.js";
import { timeline } from "./timeline.js";

const FEW = 3; // changes of one entry that are shown
const LONGEST = 60; // characters of a value that is shown
const AMOUNTS = ["price", "compareAtPrice", "cost"];
const GROUPS = { addresses: "Addresses", images: "Pictures", defaultAddressId: "Default address" };
// Fields of an order that its customer's timeline names when they change, next to its status.
const OF_AN_ORDER = ["note", "tags", "salesRepId", "trackingNumber", "dueOn", "shippingAddress", "billingAddress"];

// The lines of a record and what is folded below them. `titles`: of variants, by id.
export const drawStory = (entries, titles) => [timeline(entries.map((entry) => describeEntry(entry, titles))), everyField(entries)];

export const drawFields = (entries) => timeline(entries.map(describeFields));

function everyField(entries) {
  const unfold = ({ target }) => {
    if (target.open && target.childElementCount === 1) target.append(...drawFields(entries).filter(Boolean));
  };
  return h.details({ ontoggle: unfold }, h.summary("Every change"));
}

const nameOfActor = ({ keyName }) => keyName ?? "the operator";
const jobLink = (id) => id && [" by a ", h.a({ href: link(`/jobs/${id}`) }, "job")];
const lowerFirst = (text) => text.charAt(0).toLowerCase() + text.slice(1);
const orderLink = ({ id, number }) => h.a({ href: link(`/orders/${id}`) }, `Order #${number}`);

// --- Sentences ------------------------------------------------------------------------------------

function describeEntry(entry, titles) {
  const { at, action, actor, jobId, record, request } = entry;
  const lines = request
    ? [`Refused: the key of ${nameOfActor(actor)} may not do this`]
    : record.type === "order"
      ? [[orderLink(record), describeOrderChange(entry)]]
      : describeRecordChange(action, entry.changes, titles);
  return { at, by: nameOfActor(actor), lines: [[lines[0], jobLink(jobId)], ...lines.slice(1)] };
}

// What an entry of an order says right after the order's number.
function describeOrderChange({ action, changes }) {
  const after = (name) => changes.find(({ field }) => field.replace(/\[[^\]]*\]/, "") === name)?.after;
  const by = (method) => (method ? ` by ${words(method).toLowerCase()}` : "");
  const status = after("status");
  const total = changes.find(({ field }) => field === "total");
  const said = {
    "order.created": () =>
      ` created${after("total") ? `, ${money(after("total"))}` : ""}${after("paymentStatus") === "PAID" ? `, paid${by(after("paymentMethod"))}` : ""}`,
    "order.edited": () => ` edited${total ? `: total ${money(total.before)} → ${money(total.after)}` : ""}`,
    "payment.created": () => `: ${money(after("payments.amount"))} received${by(after("payments.method"))}`,
    "payment.voided": () => ": payment voided",
    "refund.created": () => `: ${money(after("refunds.amount"))} refunded${by(after("refunds.method"))}`,
    "shipment.created": () => (after("shippingStatus") === "PARTIAL" ? " partly shipped" : " shipped"),
    "shipment.updated": () => ": shipment changed",
    "shipment.cancelled": () => ": shipment cancelled",
    "work.updated": () => (after("producedAt") ? " made" : status ? ` ${moveWord(status)}` : ": work changed"),
  }[action];
  if (said) return said();
  const fields = [...new Set(changes.map(({ field }) => field.split(/[.[]/)[0]))].filter((name) => OF_AN_ORDER.includes(name));
  const others = fields.length > 0 && `${joinNames(fields.map(called))} changed`;
  if (status) return ` ${[moveWord(status), others].filter(Boolean).join(", ")}`;
  return others ? `: ${lowerFirst(others)}` : ` ${moveWord(action.split(".")[1].toUpperCase())}`;
}

// The lines of an entry of a product or a customer.
function describeRecordChange(action, changes, titles) {
  if (/\.(created|deleted|erased|merged)$/.test(action)) return [words(action.split(".")[1])];
  const lines = [...new Map(changes.map((change) => describeField(change, titles, changes))).values()];
  if (lines.length === 0) return ["Changed"];
  return lines.length > FEW + 1 ? [...lines.slice(0, FEW), `${plural(lines.length - FEW, "more change")}`] : lines;
}

// What one field's change says, with a key: fields with the same key are shown as one line.
function describeField({ field, before, after }, titles, all) {
  const [, name, id, part] = /^(\w+)(?:\[([^\]]*)\])?\.?(.*)$/.exec(field);
  if (name === "variants" && id) {
    const own = (side) => all.find((each) => each.field === `variants[${id}].title`)?.[side];
    if (own("after") && !own("before")) return [id, ["Variant ", h.bdi(own("after")), " added"]];
    if (own("before") && !own("after")) return [id, ["Variant ", h.bdi(own("before")), " removed"]];
    const title = titles[id] ?? "a variant";
    return [field, phraseOf(part, title === "Default" ? called(part) : [`${called(part)} of `, h.bdi(title)], before, after)];
  }
  if (GROUPS[name] || id || part) return [name, `${GROUPS[name] ?? called(name)} changed`];
  if (before === null && after === null) return [field, `${called(name)} changed`]; // of an erased person
  return name === "tags" ? [name, describeTags(before, after)] : [field, phraseOf(name, called(name), before, after)];
}

function describeTags(before, after) {
  const [was, now] = [before, after].map(parseList);
  if (!was || !now) return "Tags changed";
  const more = now.filter((tag) => !was.includes(tag));
  const less = was.filter((tag) => !now.includes(tag));
  const parts = [more.length > 0 && `${more.join(", ")} added`, less.length > 0 && `${less.join(", ")} removed`];
  return ["Tags: ", h.bdi(parts.filter(Boolean).join(", ") || "in another order")];
}

function phraseOf(field, name, before, after) {
  const is = (value) => value !== null && value !== "";
  if (!is(after)) return [name, " removed"];
  if ([before, after].some((value) => String(value ?? "").length > LONGEST || /^[[{]/.test(value))) return [name, " changed"];
  const shown = (value) => h.bdi(AMOUNTS.includes(field) ? money(value) : valueWord(field, value));
  return [name, ": ", is(before) && [shown(before), " → "], shown(after)];
}

// Name, price and tags
function joinNames(names) {
  const [first, ...more] = names.map((name, at) => (at > 0 ? lowerFirst(name) : name));
  return more.length > 0 ? `${[first, ...more.slice(0, -1)].join(", ")} and ${more.at(-1)}` : first;
}

// --- Fields ---------------------------------------------------------------------------------------

function describeFields({ at, action, actor, changes, jobId, record, request }) {
  const head = [
    h.b(request ? `Refused: ${request}` : actionWord(action)),
    record.type === "order" && [" ", orderLink(record)],
    jobLink(jobId),
  ];
  return { at, by: nameOfActor(actor), lines: [head, ...changes.filter(hasWord).map(changeOf)] };
}

// "order.updated" → "Updated"; "payment.created" → "Payment created".
const actionWord = (action) => words(action.replace(/^(order|product|customer)\./, "").replace(".", " "));

const changeOf = ({ field, before, after }) =>
  h.span({ class: "small" }, nameOf(field), ": ", drawValue(field, before), " → ", drawValue(field, after));

// Ids of parts say nothing to a reader: "variants[var_1].price" → "Variants price". A record has a page: "customer.id" → "Customer".
const nameOf = (field) => called(field.replaceAll(/\[[^\]]*\]|\.id$|(?<!external|salesRep)Id$/g, ""));
const isPart = (text) => /^[a-z]{2,4}_[0-9A-Z]{26}/.test(text) && !isRecord(text);
const hasWord = ({ before, after }) => !isPart(before ?? after);

function drawValue(field, text) {
  if (text === null || text === "" || text === "[]") return "–";
  if (isRecord(text)) return subjectLink({ id: text, name: null });
  if (/^\d{4}-\d\d-\d\dT.*Z$/.test(text)) return dateTime(text);
  return h.bdi(/^\["/.test(text) ? (parseList(text)?.join(", ") ?? text) : valueWord(field, text));
}

// A list of texts; null: it was cut, or cleared.
function parseList(text) {
  try {
    return JSON.parse(text || "[]");
  } catch {
    return null;
  }
}
