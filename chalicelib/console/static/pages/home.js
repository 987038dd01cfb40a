// The shop at a glance, and what needs a hand.

import { get } from "../api.js";
import { h } from "../dom.js";
import { dateTime, money, number, plural, words } from "../format.js";
import { bars } from "../parts/bars.js";
import { few, lowStock } from "../parts/low-stock.js";
import { card, draw, empty } from "../parts/page.js";
import { link } from "../router.js";
import { may } from "../session.js";

const FIRST_FAILING = 3;
const FIRST_LOW = 8;

export async function show(main, { signal }) {
  const [{ data: shop }, failing] = await Promise.all([
    get("admin/summary", {}, signal),
    failingWebhooks(signal),
  ]);
  if (signal.aborted) return;
  const cash = (amount) => money(amount, shop.currency);
  const tile = (name, big, about) =>
    h.div(
      { class: "tile" },
      h.p(name),
      h.p({ class: "big" }, big),
      h.p({ class: "soft small" }, about),
    );
  const { byStatus, total } = shop.openOrders;
  draw(
    main,
    {
      title: "Home",
      actions: h.a({ class: "button main", href: link("/orders/new") }, "Create an order"),
    },
    h.div(
      { class: "stack" },
      failing.length > 0 &&
        h.div(
          { class: "notice bad" },
          failing.slice(0, FIRST_FAILING).map(({ id, url, failingSince }) =>
            h.p(
              h.a({ href: link(`/settings/developer/webhooks/${id}`) }, url),
              ": no success since ",
              dateTime(failingSince),
            ),
          ),
          failing.length > FIRST_FAILING &&
            h.p(
              h.a(
                { href: link("/settings/developer/webhooks") },
                `${number(failing.length - FIRST_FAILING)} more`,
              ),
            ),
        ),
      h.div(
        { class: "tiles" },
        tile("Sold today", cash(shop.today.revenue), plural(shop.today.orders, "order")),
        tile(
          "The last 30 days",
          cash(shop.last30Days.revenue),
          plural(shop.last30Days.orders, "order"),
        ),
        tile(
          "Open orders",
          h.a({ href: link("/orders", { status: "open" }) }, number(total)),
          "until they are delivered",
        ),
        tile(
          "Low on stock",
          h.a({ href: link("/products/low-stock") }, few(shop.lowStock.length)),
          "variants below their threshold",
        ),
      ),
      card(
        "Paid a day",
        bars(
          shop.days.map((day) => ({
            date: day.date,
            value: Number(day.revenue),
            text: cash(day.revenue),
            about: plural(day.orders, "order"),
          })),
          "Paid a day, the last 30 days",
        ),
      ),
      h.div(
        { class: "halves" },
        card(
          "Open orders",
          total === 0
            ? empty("Nothing waits", "New orders stand here until they are delivered.")
            : h.ul(
                { class: "shares" },
                Object.entries(byStatus).map(([status, count]) =>
                  h.li(
                    h.a({ href: link("/orders", { status }) }, words(status)),
                    h.span(
                      { class: "timing", "aria-hidden": "true" },
                      h.span({ style: { width: `${(100 * count) / total}%` } }),
                    ),
                    h.b(number(count)),
                  ),
                ),
              ),
        ),
        card(
          "Low on stock",
          shop.lowStock.length === 0
            ? empty(
                "Nothing runs low",
                "A variant stands here when its stock falls below its product's threshold.",
              )
            : [
                lowStock(shop.lowStock.slice(0, FIRST_LOW)),
                shop.lowStock.length > FIRST_LOW &&
                  h.p(h.a({ href: link("/products/low-stock") }, "All that are low")),
              ],
        ),
      ),
    ),
  );
}

async function failingWebhooks(signal) {
  if (!may("ADMIN")) return [];
  const { data } = await get("admin/webhooks", { limit: 100 }, signal);
  return data.data.filter(({ enabled, failingSince }) => enabled && failingSince);
}
