"""The nightly look at whether totals and lists agree; `infra/counts.py` repairs."""

from collections.abc import Iterator
from typing import Final

from chalicelib import listing, telemetry
from chalicelib.customers import store as customers
from chalicelib.imports import store as imports
from chalicelib.orders import store as orders
from chalicelib.products import store as products

ALL: Final = (products.RECORDS, orders.RECORDS, customers.RECORDS, imports.RECORDS)


def check() -> None:
    """Says each cell that is wrong, and how many there are: an alarm watches that number."""
    records, wrong = 0, 0
    for kind, found in recounts():
        records += found.records
        wrong += len(found.wrong)
        for one in found.wrong:
            cell = "/".join(one.cell)
            telemetry.error(
                "total is wrong", kind=kind, cell=cell, stored=one.stored, counted=one.counted
            )
    telemetry.measured("totals checked", {"CountsWrong": wrong, "RecordsCounted": records})


def recounts() -> Iterator[tuple[str, listing.Recount]]:
    """Of each kind of record, by its name."""
    for each in ALL:
        yield each.kind.name, listing.recount(each.kind)
