"""Sales by day: counters that change in the commit of the order, and their recount.

`sales` / `<day>#<shard>`: `n` orders, how many of them have revenue (`paid`), and their `revenue`.
The day is that of the order's date, in the shop's time zone; after a change of it, recount all days
(`infra/counts.py`). An order counts until it is cancelled or deleted; its revenue is what was paid
and not refunded, at most what is owed.
"""

from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from itertools import chain
from typing import Final

from chalicelib import listing
from chalicelib.orders.model import KIND, DaySales, Order
from chalicelib.orders.schemas import OrderStatus
from chalicelib.storage import table
from chalicelib.storage.attributes import Item
from chalicelib.storage.commit import Commit
from chalicelib.values import clock, timezone

_NUMBERS: Final = ("n", "paid", "revenue")
_Cell = tuple[str, str]  # a day, and one of these


def count_sales(commit: Commit, before: Order | None, after: Order | None) -> None:
    """Add to a commit what an order's change adds to the sales of its days: before off, after on.

    The counter of a day has `n` orders and how many of them have revenue (`paid`), without
    cancelled ones, and the `revenue`. `before` None: a new order; `after` None: a deletion. The day
    is of the order's date, which the change may move.
    """
    for order, sign in ((before, -1), (after, 1)):
        if order is not None:
            counts = order.status is not OrderStatus.CANCELLED
            day = timezone.day_at(clock.parse(order.fields["orderDate"])).isoformat()
            paid = sign * (counts and bool(order.revenue))
            sums = {"paid": Decimal(paid), "revenue": sign * order.revenue}
            commit.count(("sales", day), {"n": sign * counts, **sums})


def list_days(first: date, last: date) -> list[DaySales]:
    """Return the sales of each day of the shop, from the first to the last, by order date.

    A day without sales has zeros. The counters are read, not the orders.
    """
    cells = table.query_all(
        "sales", where=table.sk.between(first.isoformat(), f"{last.isoformat()}$")
    )
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    return [
        _sum_day(day, [c for c in cells if c["sk"].startswith(day.isoformat())]) for day in days
    ]


def _sum_day(day: date, cells: list[Item]) -> DaySales:
    """Return the sales of a day: the sums over the shards of its counter. `cells`: those shards."""
    orders, paid, revenue = (
        sum((Decimal(cell.get(name, 0)) for cell in cells), Decimal(0)) for name in _NUMBERS
    )
    return DaySales(day, int(orders), int(paid), revenue)


def compare_sales(first: date) -> listing.Recount:
    """Compare the stored sales from `first` on with the orders; return what differs, unrepaired.

    `records` are the orders. The list of orders is read, and then all counters. Cancelled orders
    count by their revenue alone.
    """
    start, begin, orders = first.isoformat(), clock.iso(timezone.start_of_day(first)), 0

    def count_both() -> tuple[dict[_Cell, Decimal], dict[_Cell, dict[str, Decimal]]]:
        """Return the numbers by the list of orders, and then the stored ones, by (day, which).

        The stored ones are by shard, too. `orders` is set to how many were read.
        """
        nonlocal orders
        orders, counted = 0, defaultdict[_Cell, Decimal](Decimal)
        for entry in listing.walk_entries(KIND, ("status", "revenue"), begin):
            orders += 1
            day = timezone.day_at(clock.parse(entry["sk"].split("#")[0])).isoformat()
            revenue, counts = Decimal(entry["revenue"]), entry["status"] != OrderStatus.CANCELLED
            counted[day, "n"] += counts
            counted[day, "paid"] += counts and bool(revenue)
            counted[day, "revenue"] += revenue
        stored = defaultdict[_Cell, dict[str, Decimal]](dict)
        for cell in chain.from_iterable(table.pages("sales", where=table.sk.gte(start))):
            day, shard = cell["sk"].split("#")
            for name in _NUMBERS:
                stored[day, name][shard] = Decimal(cell.get(name, 0))
        return counted, stored

    _, wrong = listing.find_disagreement(count_both)
    wrong_cells = [
        listing.Wrong(("sales", day), *numbers, name)
        for (day, name), numbers in sorted(wrong.items())
    ]
    return listing.Recount(orders, wrong_cells)
