// Who changed a record, and how: its entries of the audit log.

import { isLeft } from "../api.js";
import { h, replace } from "../dom.js";
import { words } from "../format.js";
import { link } from "../router.js";
import { may } from "../session.js";
import { problem } from "./notice.js";
import { card, skeleton } from "./page.js";
import { timeline } from "./timeline.js";

const LIMIT = 50;

// A card that loads itself, and older entries after a click; nothing for who may not read it.
// `asked`: {recordId} or {customerId}, whose orders are told, too.
export function trail(visit, asked, title = "Timeline") {
  if (!may("STAFF")) return null;
  const body = h.div(skeleton(2));
  const events = [];
  load("*");
  return card(title, body);

  async function load(cursor) {
    try {
      const { data } = await visit.get("admin/audit", { ...asked, limit: LIMIT, cursor });
      events.push(...data.data.map((entry) => eventOf(entry, asked)));
      draw(data.pagination.next);
    } catch (refusal) {
      if (!isLeft(refusal)) replace(body, problem(refusal, () => load(cursor)));
    }
  }

  function draw(next) {
    const older = visit.once(() => load(next));
    const more = h.button({ type: "button", class: "quiet", onclick: older }, "Older");
    const none = h.p({ class: "soft" }, "Nothing yet. A change appears within half a minute.");
    replace(body, events.length > 0 ? timeline(events) : none, next && more);
  }
}

function eventOf({ at, action, actor, changes, jobId, record, request }, { recordId }) {
  const isOther = record.type === "order" && record.id !== recordId;
  const head = [
    h.b(request ? `Refused: ${request}` : said(action)),
    isOther && [" ", h.a({ href: link(`/orders/${record.id}`) }, `order ${record.number}`)],
    jobId && [" by a ", h.a({ href: link(`/jobs/${jobId}`) }, "job")],
  ];
  return { at, by: actor.keyName ?? "the operator", lines: [head, ...changes.map(changeOf)] };
}

// "order.updated" → "Updated"; "payment.created" → "Payment created".
const said = (action) => words(action.replace(/^(order|product|customer)\./, "").replace(".", " "));

const changeOf = ({ field, before, after }) =>
  h.span({ class: "small" }, nameOf(field), ": ", value(before), " → ", value(after));

// Without ids of parts, which say nothing to a reader: "variants[var_1].price" → "Variants price".
const nameOf = (field) =>
  words(
    field
      .replaceAll(/\[[^\]]*\]/g, "")
      .replaceAll(".", " ")
      .replaceAll(/([a-z])([A-Z])/g, "$1 $2"),
  );
const value = (told) => (told === null || told === "" ? "–" : h.bdi(String(told)));
