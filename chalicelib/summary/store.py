"""What the shop looks like now: read from counters and from the entries of what is low."""

from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Annotated, Final

from typing_extensions import TypedDict

from chalicelib import settings, threads
from chalicelib.orders import store as orders
from chalicelib.orders.model import DaySales as DaySold
from chalicelib.orders.schemas import MoneyClock
from chalicelib.products import store as products
from chalicelib.products.model import MOST_LOW_OF_ONE
from chalicelib.products.schemas import LowStockVariant
from chalicelib.schemas import QueryParameters, about
from chalicelib.values import money, timezone

DAYS: Final = 30
MOST_LOW: Final = 50
MOST_COUNTED: Final = 1_000


class SummaryQuery(QueryParameters):
    clock: Annotated[MoneyClock, about("Which time makes the day of `moneyToday`.")] = (
        MoneyClock.RECORDED
    )


class Sales(TypedDict):
    """Orders by their date, and what was paid for them."""

    orders: Annotated[int, about("How many orders that were not cancelled.")]
    paid: Annotated[int, about("How many of them have something paid.")]
    revenue: Annotated[
        str, about("What was paid and not refunded, at most what is owed; a decimal amount.")
    ]


class SalesDay(Sales):
    """What was sold on one day."""

    date: Annotated[str, about("The day, in the shop's time zone.")]


class MethodMoney(TypedDict):
    """Money of one method of payment."""

    method: Annotated[str, about("Such as CASH or CARD_TERMINAL.")]
    amount: Annotated[str, about("Payments less refunds and voids; a decimal amount.")]


class OpenOrders(TypedDict):
    """Orders in progress, and how many have each status."""

    total: Annotated[int, about("How many there are in all.")]
    byStatus: Annotated[dict[str, int], about("How many have each status.")]


class Receivables(TypedDict):
    """What customers have still to pay, of orders that were not cancelled."""

    orders: Annotated[int, about("How many orders have a balance that is due.")]
    amount: Annotated[str, about("The sum of it; a decimal amount.")]


class OpenWork(TypedDict):
    """Work on what is made to order that is open."""

    open: Annotated[int, about("How much there is in all.")]
    overdue: Annotated[int, about("How much was due before today.")]
    today: Annotated[int, about("How much is due today.")]


class ShopSummary(TypedDict):
    """`days`: the last 30, today last. `lowStock`: up to 50 variants, those that became low last
    first.
    """

    currency: Annotated[str, about("The shop's currency, ISO 4217.")]
    today: Annotated[Sales, about("Of today, in the shop's time zone.")]
    last30Days: Annotated[Sales, about("Of the last 30 days, today included.")]
    days: Annotated[list[SalesDay], about("Each of the last 30 days, the oldest first.")]
    openOrders: Annotated[
        OpenOrders, about("Orders that are neither delivered, cancelled nor refunded.")
    ]
    receivables: Annotated[Receivables, about("What customers have still to pay.")]
    production: Annotated[OpenWork, about("What is to be made.")]
    moneyToday: Annotated[
        list[MethodMoney] | None,
        about(
            f"What was recorded today, or received; null: in more than {MOST_COUNTED:,}"
            " transactions, by `received` with those of the 24 hours before."
        ),
    ]
    lowStock: Annotated[
        list[LowStockVariant],
        about(
            "Variants below their threshold, the most recent first;"
            f" at most {MOST_LOW_OF_ONE} of a product."
        ),
    ]


def first_day(today: date) -> date:
    """Return the first of the days that are shown today."""
    return today - timedelta(days=DAYS - 1)


def show_summary(today: date, clock: MoneyClock) -> dict[str, object]:
    """Return the shape of ShopSummary. `today` in the shop's time zone."""
    sum_money = (
        partial(orders.sum_received_by_method, today, MOST_COUNTED)
        if clock is MoneyClock.RECEIVED
        else partial(orders.sum_by_method, timezone.start_of_day(today), MOST_COUNTED)
    )
    low, days, (by_status, due, amount), methods, (at_work, late, now) = threads.run_together(
        [
            partial(products.newest_low_stock, MOST_LOW),  # first, because it itself does so
            partial(orders.list_days, first_day(today), today),
            orders.count_open_orders,
            sum_money,
            orders.count_open_work,
        ]
    )
    return {
        "currency": settings.currency(),
        "today": _show_sales(days[-1:]),
        "last30Days": _show_sales(days),
        "days": [{"date": day.date.isoformat(), **_show_sales([day])} for day in days],
        "openOrders": {"total": sum(by_status.values()), "byStatus": by_status},
        "receivables": {"orders": due, "amount": money.render(amount)},
        "production": {"open": at_work, "overdue": late, "today": now},
        "moneyToday": methods
        and [{"method": method, "amount": money.render(net)} for method, net in methods],
        "lowStock": low,
    }


def _show_sales(days: list[DaySold]) -> dict[str, object]:
    revenue = sum((day.revenue for day in days), Decimal(0))
    counts = {"orders": sum(day.orders for day in days), "paid": sum(day.paid for day in days)}
    return {**counts, "revenue": money.render(revenue)}
