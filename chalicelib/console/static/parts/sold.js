// What was sold of a product in the last 30 days, added up when it is unfolded.

import { h } from "../dom.js";
import { CURRENCY } from "../facts.js";
import { ago, money, plural } from "../format.js";
import { reportOf } from "./report.js";
import { daysAgo } from "./zone.js";

export function sold(visit, productId) {
  const into = h.div();
  const unfolded = ({ target }) => target.open && into.childElementCount === 0 && visit.fill(into, load);
  return h.details({ class: "card", ontoggle: unfolded }, h.summary("Sold in the last 30 days"), into);

  async function load() {
    const asked = { type: "sales", by: "product", from: daysAgo(29), to: daysAgo(0) };
    const { report, completedAt } = await reportOf(visit, asked, visit.signal);
    const row = report.rows.find(({ key }) => key === productId);
    const none = report.truncated ? "Less than any of the products that a report lists." : "Nothing was sold.";
    const sums = row && `${plural(row.pieces, "piece")} in ${plural(row.orders, "order")}, ${money(row.net, CURRENCY)} net.`;
    return h.p(sums ?? none, h.span({ class: "soft" }, " Added up ", ago(completedAt), "."));
  }
}
