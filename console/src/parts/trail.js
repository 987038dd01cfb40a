// Who changed a record, and how: its entries of the audit log.

import { h } from "../dom.js";
import { called, exact, words } from "../format.js";
import { valueWord } from "./words.js";
import { link } from "../router.js";
import { may } from "../session.js";
import { isRecord, subjectLink } from "./subject.js";
import { timeline } from "./timeline.js";
import { walked } from "./walked.js";

// `asked`: {recordId} or {customerId}, whose orders are told, too. Nothing for who may not read it.
export const trail = (visit, asked, title = "Timeline") =>
  may("STAFF") &&
  walked(visit, title, {
    path: "admin/audit",
    query: { ...asked, limit: 50 },
    draw: (entries) => timeline(entries.map((entry) => eventOf(entry, asked))),
    none: "Nothing yet. A change appears within half a minute.",
  });

function eventOf({ at, action, actor, changes, jobId, record, request }, { recordId }) {
  const isOther = record.type === "order" && record.id !== recordId;
  const head = [
    h.b(request ? `Refused: ${request}` : said(action)),
    isOther && [" ", h.a({ href: link(`/orders/${record.id}`) }, `order ${record.number}`)],
    jobId && [" by a ", h.a({ href: link(`/jobs/${jobId}`) }, "job")],
  ];
  return { at, by: actor.keyName ?? "the operator", lines: [head, ...changes.filter(hasWord).map(changeOf)] };
}

// "order.updated" → "Updated"; "payment.created" → "Payment created".
const said = (action) => words(action.replace(/^(order|product|customer)\./, "").replace(".", " "));

const changeOf = ({ field, before, after }) =>
  h.span({ class: "small" }, nameOf(field), ": ", value(field, before), " → ", value(field, after));

// Ids of parts say nothing to a reader: "variants[var_1].price" → "Variants price". A record has a page: "customer.id" → "Customer".
const nameOf = (field) => called(field.replaceAll(/\[[^\]]*\]|\.id$|(?<!external|salesRep)Id$/g, ""));
const isPart = (told) => /^[a-z]{2,4}_[0-9A-Z]{26}/.test(told) && !isRecord(told);
const hasWord = ({ before, after }) => !isPart(before ?? after);

function value(field, told) {
  if (told === null || told === "" || told === "[]") return "–";
  if (isRecord(told)) return subjectLink({ id: told, name: null });
  if (/^\d{4}-\d\d-\d\dT.*Z$/.test(told)) return exact(told);
  return h.bdi(/^\["/.test(told) ? listed(told) : valueWord(field, told));
}

// A list of texts; one that was cut stays as it is.
function listed(told) {
  try {
    return JSON.parse(told).join(", ");
  } catch {
    return told;
  }
}
