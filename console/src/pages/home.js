// The overview of the shop, and what needs attention.

import { h } from "../dom.js";
import { DECIMALS } from "../facts.js";
import { dateTime, money, number, plural, statusWord, words } from "../format.js";
import { bars, shares } from "../parts/bars.js";
import { firstSteps } from "../parts/first-steps.js";
import { byProduct, few, lowStock } from "../parts/low-stock.js";
import { card, empty, tile } from "../parts/page.js";
import { daysAgo } from "../parts/zone.js";
import { link } from "../router.js";
import { may } from "../session.js";

const FIRST_FAILING = 3;
const FIRST_LOW = 8;
const OVERDUE = 14; // days since the order, after which what is due is called overdue
const MOST = 100; // of a page
const TROUBLE = { status: "RETRYING,FAILED", since: 168 }; // as the page of deliveries has it: a week
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "long", timeZone: "UTC" });

export async function show(visit) {
  await draw(visit);
  visit.whenBack(() => draw(visit).catch(() => {})); // what is shown stays
}

async function draw(visit) {
  const overdueSince = daysAgo(OVERDUE + 1);
  const [{ data: shop }, failing, trouble, overdue] = await Promise.all([
    visit.get("admin/summary", { clock: "received" }),
    failingWebhooks(visit),
    failedDeliveries(visit),
    visit.get("admin/orders", { balance: "due", to: overdueSince, fields: "balanceDue", limit: MOST }),
  ]);
  const isNew = shop.last30Days.orders === 0 && shop.openOrders.total === 0;
  const { byStatus, total } = shop.openOrders;
  const before = shop.days.at(-8); // the same day of last week
  const late = overdue.data.pagination.total;
  const lateSum = overdue.data.data.reduce((sum, { balanceDue }) => sum + Number(balanceDue), 0);
  const low = byProduct(shop.lowStock.toSorted((one, other) => one.stock - other.stock));
  const isCut = low.some(({ more }) => /\+/.test(more)); // of a product, not more than some are named
  const methods = shop.moneyToday ?? []; // null: too many to add up at once
  const taken = methods.reduce((sum, { amount }) => sum + Number(amount), 0);
  const today = { from: daysAgo(0), to: daysAgo(0) };
  const needs = [
    shop.production.overdue > 0 &&
      leading(`${plural(shop.production.overdue, "piece")} of work overdue`, "/production", { due: "overdue" }),
    failing.slice(0, FIRST_FAILING).map((each) =>
      h.p(
        h.a({ href: link(`/settings/developer/webhooks/${each.id}`) }, nameOf(each)),
        " has received nothing since ",
        dateTime(each.failingSince),
      ),
    ),
    failing.length > FIRST_FAILING &&
      leading(`${number(failing.length - FIRST_FAILING)} more`, "/settings/developer/webhooks"),
    trouble && h.p(h.a({ href: link("/settings/developer/deliveries", TROUBLE) }, `${trouble} failing`), " in the last 7 days"),
  ]
    .flat()
    .filter(Boolean);
  const lowCount = few(shop.lowStock.length, isCut ? 0 : undefined);
  const lowCard = card(
    "Low stock",
    lowStock(visit, low.slice(0, FIRST_LOW)),
    shop.lowStock.length > Math.min(low.length, FIRST_LOW) && leading("View all low stock", "/products/low-stock"),
  );
  const top = {
    title: "Home",
    actions: may("STAFF") && !isNew && h.a({ class: "button main", href: link("/orders/new") }, "Create order"),
  };
  const alarms = needs.length > 0 && h.section({ class: "notice bad", "aria-label": "Needs someone" }, needs);
  // Until the first order there is nothing to count.
  const begin = may("STAFF") ? firstSteps() : empty("No orders yet", "The first order begins the sums of this page.");
  if (isNew) return visit.draw(top, h.div({ class: "stack" }, alarms, begin, low.length > 0 && lowCard));
  visit.draw(
    top,
    h.div(
      { class: "stack" },
      alarms,
      h.div(
        { class: "tiles" },
        tile(
          "Taken today",
          h.a(
            { href: link("/reports", { type: "money", by: "paymentMethod", clock: "received", ...today }) },
            shop.moneyToday ? money(taken.toFixed(DECIMALS)) : "Reports",
          ),
          ...methods.map(({ method, amount }) => `${words(method)} ${money(amount)}`),
        ),
        tile(
          "Due",
          h.a({ href: link("/orders", { balance: "due" }) }, money(shop.receivables.amount)),
          `of ${plural(shop.receivables.orders, "order")}`,
          late > 0 && [
            h.a({ href: link("/orders", { balance: "due", to: overdueSince }) }, late > MOST ? plural(late, "order") : money(lateSum)),
            ` of orders of more than ${OVERDUE} days ago`,
          ],
        ),
        tile(
          "Open orders",
          h.a({ href: link("/orders", { status: "open" }) }, number(total)),
          "not delivered yet",
        ),
        shop.production.open > 0
          ? tile(
              "Production",
              h.a({ href: link("/production") }, `${number(shop.production.open)} open`),
              shop.production.today > 0 && h.a({ href: link("/production", { due: "today" }) }, `${number(shop.production.today)} due today`),
            )
          : tile("Low stock", h.a({ href: link("/products/low-stock") }, lowCount), "active variants below their threshold"),
      ),
      card(
        "Paid, by the date of the order",
        h.p(
          { class: "today" },
          h.a({ href: link("/orders", { period: 0 }) }, money(shop.today.revenue)),
          ` of today's orders, ${paidOf(shop.today)}`,
          before && `. ${weekday.format(new Date(before.date))} last week: ${money(before.revenue)}, ${paidOf(before)}`,
        ),
        h.p(
          h.a({ href: link("/orders", { period: 29 }) }, money(shop.last30Days.revenue)),
          ` in the last 30 days, ${paidOf(shop.last30Days)}`,
        ),
        bars(
          shop.days.map((day) => ({
            date: day.date,
            value: Number(day.revenue),
            text: money(day.revenue),
            about: paidOf(day),
            href: link("/orders", { from: day.date, to: day.date }),
          })),
          "Paid, last 30 days",
          "Paid",
        ),
        leading("Reports", "/reports", { type: "sales" }),
      ),
      h.div(
        { class: "halves" },
        card(
          "Open orders",
          total === 0
            ? empty("No open orders", "New orders are listed here until they are delivered.")
            : shares(
                Object.entries(byStatus).map(([status, count]) => ({
                  name: statusWord(status),
                  href: link("/orders", { status }),
                  share: count / total,
                  text: number(count),
                })),
              ),
        ),
        lowCard,
      ),
    ),
  );
}

const nameOf = ({ description, url }) => description || new URL(url).host;
const leading = (text, ...to) => h.p(h.a({ href: link(...to) }, text));
// Something of these is paid.
const paidOf = ({ paid, orders }) => `${number(paid)} of ${plural(orders, "order")} with a payment`;

// How many, as text; null without the right, or without any.
async function failedDeliveries(visit) {
  if (!may("ADMIN")) return null;
  const since = new Date(Date.now() - TROUBLE.since * 3_600_000).toISOString();
  const { data } = await visit.get("admin/deliveries", { ...TROUBLE, since, limit: MOST });
  const count = data.data.length;
  return count === 0 ? null : data.nextCursor ? `${number(count)}+ deliveries` : plural(count, "delivery", "deliveries");
}

async function failingWebhooks(visit) {
  if (!may("ADMIN")) return [];
  const { data } = await visit.get("admin/webhooks", { limit: 100 });
  return data.data.filter(({ enabled, failingSince }) => enabled && failingSince);
}
