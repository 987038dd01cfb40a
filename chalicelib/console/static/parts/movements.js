// The ledger of a product's stock: why each quantity is what it is. The newest entry first.

import { isLeft } from "../api.js";
import { h, replace } from "../dom.js";
import { ago, number, words } from "../format.js";
import { link } from "../router.js";
import { problem } from "./notice.js";
import { card, skeleton } from "./page.js";
import { table } from "./table.js";

const LIMIT = 20;

// A card that loads itself, and older entries after a click.
export function movements(visit, productId) {
  const body = h.div(skeleton(2));
  const rows = [];
  load("*");
  return card("Stock history", body);

  async function load(cursor) {
    try {
      const asked = { productId, limit: LIMIT, cursor };
      const { data } = await visit.get("admin/stock/movements", asked);
      rows.push(...data.data);
      draw(data.pagination.next);
    } catch (refusal) {
      if (!isLeft(refusal)) replace(body, problem(refusal, () => load(cursor)));
    }
  }

  function draw(next) {
    const more = h.button({ type: "button", class: "quiet", onclick: visit.once(() => load(next)) }, "Older");
    const none = h.p({ class: "soft" }, "No changes of tracked stock yet. They appear within half a minute.");
    replace(body, rows.length > 0 ? movementTable(rows) : none, next && more);
  }
}

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
