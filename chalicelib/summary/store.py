"""What the shop looks like now: read from counters and from the entries of what is low."""

from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final

from typing_extensions import TypedDict

from chalicelib import money, settings, table
from chalicelib.listing.counts import counts, reads
from chalicelib.orders import sales
from chalicelib.orders.model import KIND
from chalicelib.orders.transitions import OPEN
from chalicelib.products import low
from chalicelib.products import store as products

DAYS: Final = 30
_MOST_LOW: Final = 50


class Sold(TypedDict):
    """Orders that were not cancelled, and the totals of those that are paid; days are in UTC."""

    orders: int
    revenue: str


class Day(TypedDict):
    date: str
    orders: int
    revenue: str


class OpenOrders(TypedDict):
    total: int
    byStatus: dict[str, int]


class LowStock(TypedDict):
    productId: str
    productName: str
    variantId: str
    variantTitle: str
    sku: str | None
    stock: int
    threshold: int


class Summary(TypedDict):
    """`days`: the last 30, today last. `lowStock`: up to 50 variants, those that became low last
    first."""

    currency: str
    today: Sold
    last30Days: Sold
    days: list[Day]
    openOrders: OpenOrders
    lowStock: list[LowStock]


def summary(today: date) -> dict[str, Any]:
    """The shape of Summary. `today` in UTC."""
    first = today - timedelta(days=DAYS - 1)
    shortages, days, cells = table.together(
        [
            partial(low.newest, products.load, _MOST_LOW),  # first: it reads several things at once
            partial(sales.days, first, today),
            partial(table.everything, *reads(KIND, {})),
        ]
    )
    known = counts(KIND, {}, [cells])
    by_status = {status.value: known.size({"status": frozenset({status.value})}) for status in OPEN}
    return {
        "currency": settings.currency(),
        "today": _sold(days[-1:]),
        "last30Days": _sold(days),
        "days": [{"date": day.date.isoformat(), **_sold([day])} for day in days],
        "openOrders": {"total": sum(by_status.values()), "byStatus": by_status},
        "lowStock": shortages,
    }


def _sold(days: list[sales.Day]) -> dict[str, Any]:
    revenue = sum((day.revenue for day in days), Decimal(0))
    return {"orders": sum(day.orders for day in days), "revenue": money.render(revenue)}
