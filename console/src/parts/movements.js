// The ledger of a product's stock: why each quantity is what it is. The newest entry first.

import { h } from "../dom.js";
import { ago, number, words } from "../format.js";
import { link } from "../router.js";
import { table } from "./table.js";
import { walked } from "./walked.js";

export const movements = (visit, productId) =>
  walked(visit, "Stock history", {
    path: "admin/stock/movements",
    query: { productId, limit: 20 },
    draw: movementTable,
    none: "No changes of tracked stock yet. They appear within half a minute.",
  });

const movementTable = (rows) =>
  table({
    name: "Stock history",
    columns: [
      { title: "When", cell: ({ at }) => ago(at) },
      { title: "Item", cell: ({ title, sku }) => [h.bdi(title ?? ""), h.div({ class: "soft small" }, sku)] },
      { title: "Change", cell: changed, class: "number" },
      { title: "Stock", cell: ({ stock }) => (stock === null ? "–" : number(stock)), class: "number" },
      { title: "Why", cell: why },
      { title: "By", cell: ({ actor }) => h.bdi(actor.keyName ?? ""), class: "wide" },
    ],
    rows,
  });

const signed = (by) => (by > 0 ? `+${number(by)}` : number(by));
const changed = ({ by, missing }) =>
  missing ? `${number(missing)} missing` : by === null ? "" : signed(by);

function why({ cause, reason, orderId, jobId, countId }) {
  const said = reason ? words(reason) : words(cause);
  if (countId) return h.a({ href: link(`/products/counts/${countId}`) }, said);
  if (orderId) return h.a({ href: link(`/orders/${orderId}`) }, said);
  return jobId ? h.a({ href: link(`/jobs/${jobId}`) }, said) : said;
}
