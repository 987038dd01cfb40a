// What was sold of a product in the last 30 days, added up when it is unfolded.

import { h, replace } from "../dom.js";
import { ago, money, plural } from "../format.js";
import { link } from "../router.js";
import { bars } from "./bars.js";
import { skeleton } from "./page.js";
import { days, reportOf } from "./report.js";
import { daysAgo } from "./zone.js";

export function sold(visit, productId) {
  const into = h.div();
  const unfolded = ({ target }) => {
    if (!target.open || into.hasChildNodes()) return;
    replace(into, skeleton(2));
    visit.fill(into, load);
  };
  return h.details({ class: "card", ontoggle: unfolded }, h.summary("Sold in the last 30 days"), into);

  async function load() {
    const asked = { type: "sales", by: "day", productId, from: daysAgo(29), to: daysAgo(0) };
    const job = await reportOf(visit, asked, visit.signal);
    const { pieces, orders, net } = job.report.totals;
    const sums = `${plural(pieces, "piece")} in ${plural(orders, "order")}, ${money(net)} net.`;
    const leads = (date) => link("/orders", { from: date, to: date });
    const isSold = job.report.rows.length > 0;
    return [
      h.p(isSold ? sums : "Nothing was sold.", h.span({ class: "soft" }, " Added up ", ago(job.completedAt), ".")),
      isSold && bars(days(job, leads), "Sold, last 30 days", "Net"),
    ];
  }
}
