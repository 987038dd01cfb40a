"""What the shop looks like now: read from counters and from the entries of what is low."""

from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final

from typing_extensions import TypedDict

from chalicelib import settings
from chalicelib.orders import store as orders
from chalicelib.orders.model import DaySales as DaySold
from chalicelib.products import store as products
from chalicelib.products.shown import LowStockVariant
from chalicelib.storage import round_trips
from chalicelib.values import money

DAYS: Final = 30
MOST_LOW: Final = 50


class Sales(TypedDict):
    """Orders that were not cancelled, and the totals of those that are paid; days of the shop."""

    orders: int
    revenue: str


class SalesDay(TypedDict):
    date: str
    orders: int
    revenue: str


class OpenOrders(TypedDict):
    total: int
    byStatus: dict[str, int]


class ShopSummary(TypedDict):
    """`days`: the last 30, today last. `lowStock`: up to 50 variants, those that became low last
    first."""

    currency: str
    today: Sales
    last30Days: Sales
    days: list[SalesDay]
    openOrders: OpenOrders
    lowStock: list[LowStockVariant]


def first_day(today: date) -> date:
    """The first of the days that are shown today."""
    return today - timedelta(days=DAYS - 1)


def summary(today: date) -> dict[str, Any]:
    """The shape of ShopSummary. `today` in the shop's time zone."""
    low, days, by_status = round_trips.together(
        [
            partial(products.running_low, MOST_LOW),  # first, because it itself does so
            partial(orders.days, first_day(today), today),
            orders.open_orders,
        ]
    )
    return {
        "currency": settings.currency(),
        "today": _sold(days[-1:]),
        "last30Days": _sold(days),
        "days": [{"date": day.date.isoformat(), **_sold([day])} for day in days],
        "openOrders": {"total": sum(by_status.values()), "byStatus": by_status},
        "lowStock": low,
    }


def _sold(days: list[DaySold]) -> dict[str, Any]:
    revenue = sum((day.revenue for day in days), Decimal(0))
    return {"orders": sum(day.orders for day in days), "revenue": money.render(revenue)}
