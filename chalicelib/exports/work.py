"""An export: one step writes one piece of the file, so that memory does not grow with the shop.

A repeated step writes its piece again, with a number of its own: records may have changed, and a
worker with the same step must not replace a piece that counts. The file exists only when it is
complete.
"""

from typing import Any, Final

from chalicelib import listing
from chalicelib.customers import store as customers
from chalicelib.exports import store
from chalicelib.exports.columns import writer
from chalicelib.exports.model import ExportType, query
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import Job, Step
from chalicelib.ledger import store as ledger
from chalicelib.listing.search import MOST_MATCHES
from chalicelib.orders import store as orders
from chalicelib.products import store as products

_PAGE: Final = 100
_PAGES: Final[dict[str, Any]] = {
    ExportType.PRODUCTS: products.page,
    ExportType.ORDERS: orders.page,
    ExportType.CUSTOMERS: customers.page,
    ExportType.TRANSACTIONS: orders.list_transactions,
    ExportType.SHIPMENTS: orders.list_shipments,
    ExportType.MOVEMENTS: ledger.page,
}


def step(job: Job) -> Step:
    """Write the next piece; when all are written, put them together."""
    before = job.cursor or {"after": None, "etags": [], "numbers": [], "bytes": 0}
    if before.get("all"):
        store.end(job, before["upload"], zip(before["numbers"], before["etags"], strict=True))
        return Step(set={"bytes": before["bytes"]})
    request = job.request
    upload = before.get("upload") or store.begin(job)
    write = writer(request["type"], request["format"], request["columns"])
    piece = bytearray() if before["etags"] else bytearray(write.head)
    # All orders with a reference are read for each page of their transactions or shipments.
    has_reference = not {"reference", "trackingNumber"}.isdisjoint(request["filters"])
    limit = MOST_MATCHES if has_reference else _PAGE
    wanted = query(request["type"], request["filters"], limit).continue_after(before["after"])
    read = 0
    for page in listing.walk_pages(_PAGES[request["type"]], wanted):
        read += len(page.records)
        for record in page.records:
            piece += write.record(record)
        if len(piece) >= store.PIECE:
            break
    number = jobs.new_number(job.id)
    etags = [*before["etags"], store.add(job, upload, number, bytes(piece))]
    written = {"upload": upload, "etags": etags, "bytes": before["bytes"] + len(piece)}
    written["numbers"] = [*before["numbers"], number]
    # Put together in a step of its own: nothing can be added to a file that is whole.
    written |= {"all": True} if page.next is None else {"after": page.next}
    return Step(cursor=written, read=read, set={} if job.step else {"total": page.total})
