"""Checks of each customer's totals against the list of orders.

The totals change in the transaction of each order (`store.py`), so they agree unless code was wrong
or someone edited the table by hand.
"""

import zlib
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import Final

from chalicelib import listing
from chalicelib.customers import store as customers
from chalicelib.customers.model import KIND as CUSTOMERS
from chalicelib.customers.model import Customer, Totals
from chalicelib.orders.model import KIND
from chalicelib.orders.schemas import OrderStatus
from chalicelib.values.batches import batches

_AT_ONCE: Final = 50_000  # customers whose totals are held in memory
_READ: Final = 100
_Cell = tuple[str, str]  # a customer, and an attribute
_Counts = tuple[dict[_Cell, Decimal], dict[_Cell, dict[str, Decimal]]]


def compare_spending() -> listing.Recount:
    """Compare all customers' totals with the list of orders; return what differs, unrepaired.

    `records` are the customers. They are compared in parts, each with a walk through all orders.
    """
    parts = 1 + listing.count(CUSTOMERS, {}) // _AT_ONCE
    records, wrong_totals = 0, list[listing.Wrong]()
    for part in range(parts):
        counted, wrong = listing.find_disagreement(partial(_count_part, part, parts))
        records += len({id for id, _ in counted})
        for (id, attribute), numbers in sorted(wrong.items()):
            key = customers.RECORDS.key(id)
            wrong_totals.append(listing.Wrong(key, *numbers, attribute, sharded=False))
    return listing.Recount(records, wrong_totals)


def _count_part(part: int, parts: int) -> _Counts:
    """Return the totals of a part of all customers: by the list of orders, and as they are stored.

    Both have each attribute of Totals (orders, those not cancelled, revenue) by (customer id,
    attribute), the stored ones under the shard ""; customers who are gone are left out. `part`: 0
    to `parts` - 1, by a hash of the id.
    """
    ordered: dict[str, Totals] = defaultdict(Totals)
    for entry in listing.walk_entries(KIND, ("status", "revenue", "customerId")):
        id = entry.get("customerId", "")
        if id and zlib.crc32(id.encode()) % parts == part:
            counts = entry["status"] != OrderStatus.CANCELLED
            ordered[id] += Totals(1, int(counts), Decimal(entry["revenue"]))
    counted, stored = dict[_Cell, Decimal](), dict[_Cell, dict[str, Decimal]]()
    for customer in _load_part(part, parts):
        for name, number in ordered[customer.id].numbers().items():
            counted[customer.id, name] = Decimal(number)
            stored[customer.id, name] = {"": Decimal(customer.fields[name])}
    return counted, stored


def _load_part(part: int, parts: int) -> Iterator[Customer]:
    """Yield the customers of one of `parts` parts, loaded with their totals only.

    The list of all customers is read, whatever the part.
    """
    entries = listing.walk_entries(CUSTOMERS, ())
    ids = (entry["sk"].rpartition("#")[2] for entry in entries)
    wanted = (id for id in ids if zlib.crc32(id.encode()) % parts == part)
    for batch in batches(wanted, _READ):
        yield from customers.load(batch, tuple(Totals().numbers()))
