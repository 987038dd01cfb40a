"""A report: each step adds some records of the period to what the steps before it added up.

The last step only writes what is complete, so that a repeated one writes the same.
"""

from datetime import date
from itertools import islice
from typing import Any, Final

from chalicelib import listing
from chalicelib.exports.model import ExportType, query
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import Job, Step
from chalicelib.orders import store as orders
from chalicelib.orders.schemas import MoneyClock
from chalicelib.products import store as products
from chalicelib.reports import store
from chalicelib.reports.model import READS, ReportBy
from chalicelib.reports.sums import Sums, add_order, add_transaction
from chalicelib.storage.attributes import Fields
from chalicelib.values.batches import batches

_PAGE: Final = 100
_PAGES: Final = 20  # of one step
# By list: how a page is read, and how a record is added.
_ADDED: Final[dict[str, tuple[Any, Any]]] = {
    ExportType.ORDERS: (orders.page, add_order),
    ExportType.TRANSACTIONS: (orders.list_transactions, add_transaction),
}


def step(job: Job) -> Step:
    """Add up the next records; when all are added up, write the rows."""
    request = job.request
    before = job.cursor or {"list": 0, "after": None, "sums": None}
    sums = store.load_sums(job, before["sums"])
    lists = READS[request["type"]]
    if before["list"] == len(lists):
        return Step(set={"bytes": store.write_report(job, sums)})
    kind, filters = lists[before["list"]]
    wanted = query(kind, {**_choose_period(request), **filters}, _PAGE)
    load, add = _ADDED[kind]
    read = 0
    for page in islice(listing.walk_pages(load, wanted.continue_after(before["after"])), _PAGES):
        read += len(page.records)
        for record in page.records:
            add(sums, request, record)
    progress = {"list": before["list"] + (page.next is None), "after": page.next}
    if progress["list"] == len(lists) and request["by"] == ReportBy.PRODUCT:
        _name_products(sums)
    progress["sums"] = jobs.new_number(job.id)
    store.save_sums(job, progress["sums"], sums)
    known = int(job.fields.get("total", 0))
    is_first_of_list = before["after"] is None
    return Step(progress, read=read, set={"total": known + page.total} if is_first_of_list else {})


def _choose_period(request: Fields) -> dict[str, object]:
    """Return which records to read.

    What was received in a period can be recorded until now; `add_transaction` passes over the rest.
    """
    if request.get("clock") == MoneyClock.RECEIVED:
        return {"from": orders.earliest_recorded(date.fromisoformat(request["from"]))}
    return {"from": request["from"], "to": request["to"]}


def _name_products(sums: Sums) -> None:
    """Call each product as it is called now; one that is gone keeps the title of a line."""
    for ids in batches([key for key in sums.rows if key], _PAGE):
        for product in products.load(ids, ("name",)):
            sums.labels[product.id] = product.fields["name"]
