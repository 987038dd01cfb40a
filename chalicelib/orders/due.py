"""The list of open orders that are due on a day, earliest first.

An entry each, written in the order's commit: its sort is the day.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from chalicelib import listing
from chalicelib.orders.model import Order, due_day
from chalicelib.orders.transactions import write_parts
from chalicelib.storage.commit import Commit

KIND: Final = listing.Kind("due")
# What the day of an order is made of, as shown.
MADE_OF: Final = ("status", "closedAt", "dueOn", "lineItems")


@dataclass(frozen=True)
class DueOrder:
    """An open order, and the day by which it is due."""

    order: Order
    day: str

    @property
    def id(self) -> str:
        return self.order.id

    @cached_property
    def index(self) -> listing.Index:
        return listing.Index.build(sort=self.day, facets={})


def list_due(order: Order | None) -> dict[str, DueOrder]:
    """Return `{order id: DueOrder}` if the order is due on a day (`due_day`), else {}."""
    day = due_day(order) if order else None
    return {order.id: DueOrder(order, day)} if order and day else {}


def count_items(before: Order | None, after: Order | None) -> int:
    """Return how many items `write_entries` adds to a commit at most: two for each of the days."""
    days = {one.day for order in (before, after) for one in list_due(order).values()}
    return 2 * len(days)


def write_entries(commit: Commit, before: Order | None, after: Order | None) -> None:
    """Add to a commit that an order enters or leaves the list, or moves to another day."""
    write_parts(commit, KIND, list_due(before), list_due(after), 1)
