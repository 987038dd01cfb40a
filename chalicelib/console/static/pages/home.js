// The overview of the shop, and what needs attention.

import { h } from "../dom.js";
import { TIMEZONE } from "../facts.js";
import { dateTime, money, number, plural, words } from "../format.js";
import { bars } from "../parts/bars.js";
import { few, lowStock } from "../parts/low-stock.js";
import { card, empty } from "../parts/page.js";
import { link } from "../router.js";
import { may } from "../session.js";

const FIRST_FAILING = 3;
const FIRST_LOW = 8;

export async function show(visit) {
  await draw(visit);
  visit.whenBack(() => draw(visit).catch(() => {})); // what is shown stays
}

async function draw(visit) {
  const [{ data: shop }, failing] = await Promise.all([
    visit.get("admin/summary"),
    failingWebhooks(visit),
  ]);
  const isNew = shop.last30Days.orders === 0 && shop.openOrders.total === 0;
  const isEmpty =
    isNew && (await visit.get("admin/products", { limit: 1 })).data.pagination.total === 0;
  const steps = isEmpty && may("STAFF") ? await import("../parts/first-steps.js") : null;
  const cash = (amount) => money(amount, shop.currency);
  const tile = (name, big, about) =>
    h.div(
      { class: "tile" },
      h.p(name),
      h.p({ class: "big" }, big),
      h.p({ class: "soft small" }, about),
    );
  const { byStatus, total } = shop.openOrders;
  visit.draw(
    {
      title: "Home",
      actions:
        may("STAFF") &&
        h.a({ class: "button main", href: link("/orders/new") }, "Create order"),
    },
    h.div(
      { class: "stack" },
      steps?.firstSteps(),
      failing.length > 0 &&
        h.div(
          { class: "notice bad" },
          failing.slice(0, FIRST_FAILING).map(({ id, url, failingSince }) =>
            h.p(
              h.a({ href: link(`/settings/developer/webhooks/${id}`) }, url),
              ": no successful delivery since ",
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
        tile(
          `Paid today (${TIMEZONE})`,
          cash(shop.today.revenue),
          `of ${plural(shop.today.orders, "order")}, paid or not`,
        ),
        tile(
          "Paid in the last 30 days",
          cash(shop.last30Days.revenue),
          `of ${plural(shop.last30Days.orders, "order")}, paid or not`,
        ),
        tile(
          "Due",
          h.a({ href: link("/orders", { balance: "due" }) }, cash(shop.receivables.amount)),
          `of ${plural(shop.receivables.orders, "order")}`,
        ),
        tile(
          "Open orders",
          h.a({ href: link("/orders", { status: "open" }) }, number(total)),
          "not delivered yet",
        ),
        tile(
          "Low stock",
          h.a({ href: link("/products/low-stock") }, few(shop.lowStock.length)),
          "active variants below their threshold",
        ),
      ),
      card(
        "Daily revenue",
        bars(
          shop.days.map((day) => ({
            date: day.date,
            value: Number(day.revenue),
            text: cash(day.revenue),
            about: plural(day.orders, "order"),
          })),
          "Daily revenue, last 30 days",
        ),
      ),
      h.div(
        { class: "halves" },
        card(
          "Open orders",
          total === 0
            ? empty("No open orders", "New orders are listed here until they are delivered.")
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
          "Low stock",
          shop.lowStock.length === 0
            ? empty(
                "No low stock",
                "Variants are listed here when their stock falls below the product's threshold.",
              )
            : [
                lowStock(visit, shop.lowStock.slice(0, FIRST_LOW)),
                shop.lowStock.length > FIRST_LOW &&
                  h.p(h.a({ href: link("/products/low-stock") }, "View all low stock")),
              ],
        ),
      ),
    ),
  );
}

async function failingWebhooks(visit) {
  if (!may("ADMIN")) return [];
  const { data } = await visit.get("admin/webhooks", { limit: 100 });
  return data.data.filter(({ enabled, failingSince }) => enabled && failingSince);
}
