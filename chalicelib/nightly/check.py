"""The nightly check of stored totals against the records that they count.

It compares totals with lists, sales and customers' totals with orders, stock with its ledger, and
the lists of shipments and of work with their orders. `infra/counts.py` repairs all but the last
three; it deletes entries of the lists of orders' parts that lead nowhere.
"""

from collections.abc import Iterator
from datetime import date

from chalicelib import listing, telemetry
from chalicelib.ledger import store as ledger
from chalicelib.orders import store as orders
from chalicelib.reindexing.store import ALL
from chalicelib.summary import store as summary
from chalicelib.values import timezone


def check_totals() -> None:
    """Log each wrong cell, and their number as a metric with an alarm."""
    records, wrong = 0, 0
    found_elsewhere = ("stock ledger", ledger.recount()), ("shipments", orders.compare_shipments())
    for kind, recounted in (*list_recounts(), *found_elsewhere, *orders.compare_work()):
        records += recounted.records
        wrong += len(recounted.wrong)
        for one in recounted.wrong:
            telemetry.error(
                "total is wrong",
                kind=kind,
                cell=one.name,
                stored=str(one.stored),
                counted=str(one.counted),
            )
    telemetry.log_metrics("totals checked", {"CountsWrong": wrong, "RecordsCounted": records})


def list_recounts(all_days: bool = False) -> Iterator[tuple[str, listing.Recount]]:
    """Of each kind of record, by its name, and of the days that the summary shows, or of all."""
    for each in ALL:
        yield each.kind.name, listing.recount(each.kind)
    for kind in orders.LISTS_OF_PARTS:
        yield kind.name, listing.recount(kind)
    first = date(2, 1, 1) if all_days else summary.first_day(timezone.today())
    yield "sales", orders.compare_sales(first)
    yield "customer totals", orders.compare_spending()
