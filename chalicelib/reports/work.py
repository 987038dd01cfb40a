"""A report: each step adds some records of the period to what the steps before it added up.

The last step only writes what is complete, so that a repeated one writes the same.
"""

from typing import Final

from chalicelib.exports.model import ExportType, query
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import Job, Step
from chalicelib.orders import store as orders
from chalicelib.products import store as products
from chalicelib.reports import store
from chalicelib.reports.model import READS, ReportBy
from chalicelib.reports.sums import Sums, of_order, of_transaction

_PAGE: Final = 100
_PAGES: Final = 20  # of one step


def step(job: Job) -> Step:
    """Adds up the next records; when all are added up, writes the rows."""
    asked = job.asked
    before = job.cursor or {"list": 0, "after": None, "sums": None}
    sums = store.read(job, before["sums"])
    lists = READS[asked["type"]]
    if before["list"] == len(lists):
        return Step(set={"bytes": store.end(job, sums)})
    kind, filters = lists[before["list"]]
    period = {"from": asked["from"], "to": asked["to"]}
    wanted = query(kind, {**period, **filters}, _PAGE)
    after, read = before["after"], 0
    for _ in range(_PAGES):
        if kind == ExportType.ORDERS:
            sold, total, after = jobs.records(wanted, orders.page, after)
            for order in sold:
                of_order(sums, asked["type"], asked["by"], order, asked.get("productId"))
            read += len(sold)
        else:
            paid, total, after = jobs.records(wanted, orders.transactions_page, after)
            for transaction in paid:
                of_transaction(sums, asked["type"], asked["by"], transaction.fields)
            read += len(paid)
        if after is None:
            break
    more = {"list": before["list"] + (after is None), "after": after}
    if more["list"] == len(lists) and asked["by"] == ReportBy.PRODUCT:
        _name(sums)
    more["sums"] = jobs.new_number(job.id)
    store.write(job, more["sums"], sums)
    is_first_of_list = before["after"] is None
    known = int(job.fields.get("total", 0))
    return Step(cursor=more, read=read, set={"total": known + total} if is_first_of_list else {})


def _name(sums: Sums) -> None:
    """Calls each product as it is called now; one that is gone keeps the title of a line."""
    ids = [key for key in sums.rows if key]
    for first in range(0, len(ids), _PAGE):
        for product in products.load(ids[first : first + _PAGE], ("name",)):
            sums.labels[product.id] = product.fields["name"]
