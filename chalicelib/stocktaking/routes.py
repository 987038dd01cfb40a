"""Counts of stock over HTTP."""

import json
from contextlib import suppress
from functools import partial

from chalice.app import Response

from chalicelib import listing
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import JobType, StartedJob
from chalicelib.problems import Conflict
from chalicelib.request import (
    IDEMPOTENT,
    Role,
    Routes,
    body_once,
    caller,
    looked_up,
    query,
    reply,
    reply_page,
    reply_text,
)
from chalicelib.schemas import Listed, Walked, numbered_page
from chalicelib.stocktaking import store
from chalicelib.stocktaking.model import (
    CountedLines,
    CountStatus,
    EnteredLines,
    ListLines,
    NewStockCount,
    ShownStockCount,
    ShownStockCountLine,
    show,
)

routes = Routes(__name__, "Stock")
_COUNT = "/api/admin/stock/counts/{id}"


@routes.get(
    "/api/admin/stock/counts",
    "List counts of stock",
    role=Role.READER,
    query=listing.Filters,
    answers={200: Walked[ShownStockCount]},
)
def list_stock_counts() -> Response:
    """Newest first."""
    page = store.page(query(listing.Filters).to_query())
    return reply_page([show(count) for count in page.records], page)


@routes.post(
    "/api/admin/stock/counts",
    "Start a count of stock",
    role=Role.STAFF,
    body=NewStockCount,
    answers={201: ShownStockCount},
    headers=IDEMPOTENT,
)
def create_stock_count() -> Response:
    """Of `variantIds`, or of all variants with a tracked stock of the products that match `filters`
    or, with `"all": true`, of all products: up to 10,000. Sales go on while it is OPEN.
    """
    new, repeatable = body_once(NewStockCount)
    return reply_text(201, store.create(new, caller().name, repeatable))


@routes.get(
    _COUNT,
    "Get a count of stock",
    role=Role.READER,
    answers={200: ShownStockCount},
)
def get_stock_count(id: str) -> Response:
    """How far it is. Its lines are at `lines`."""
    return reply(200, show(store.get(id)))


@routes.get(
    f"{_COUNT}/lines",
    "List the lines of a count",
    role=Role.READER,
    query=ListLines,
    answers={200: Listed[ShownStockCountLine]},
)
def list_stock_count_lines(id: str) -> Response:
    """Of every variant, what was counted last first."""
    filters = query(ListLines)
    lines = store.lines(id, filters.state)
    start = (filters.page - 1) * filters.limit
    shown = store.show_lines(lines[start : start + filters.limit])
    return reply(200, numbered_page(shown, len(lines), filters))


@routes.put(
    f"{_COUNT}/lines",
    "Enter what was counted",
    role=Role.STAFF,
    body=CountedLines,
    answers={200: EnteredLines},
    problems=[Conflict],
    headers=IDEMPOTENT,
)
def enter_stock_count_lines(id: str) -> Response:
    """Keeps what was counted of up to 500 variants, and as `expected` the stock at this moment.
    Counting again replaces both; `add` adds to what was counted and leaves `expected`, as for a
    second shelf, or a scan of each piece. A line with a `before` that is not so any more is 409
    `count_changed`, with the `lines` as they are, and nothing is kept.
    """
    counted, repeatable = body_once(CountedLines)
    return reply_text(200, store.enter(id, counted.lines, caller().name, repeatable))


@routes.post(
    f"{_COUNT}/apply",
    "Apply a count",
    role=Role.STAFF,
    answers={202: StartedJob},
    problems=[Conflict],
    headers=IDEMPOTENT,
)
def apply_stock_count(id: str) -> Response:
    """Changes the stock of each counted variant by `counted` less `expected`, so what was sold
    since stays sold. What would fall below zero is an error of the job. Variants that were not
    counted stay as they are. Applying again answers the same job, which can be undone:
    `POST /api/admin/jobs/{id}/undo`.
    """
    repeatable = looked_up()
    count = store.get(id)
    if count.status is CountStatus.OPEN:
        close = partial(store.close, id, CountStatus.APPLIED)
        about = {"count": id, "name": count.fields["name"]}
        with suppress(store.CountClosed):  # since it was read
            text = jobs.create(JobType.STOCK_COUNT, about, once=repeatable, also=close)
            return reply_text(202, text)
        count = store.get(id)
    if count.status is not CountStatus.APPLIED:
        raise store.CountClosed(count.status)
    return reply_text(202, json.dumps({"jobId": count.fields["jobId"]}))


@routes.post(
    f"{_COUNT}/cancel",
    "Cancel a count",
    role=Role.STAFF,
    answers={200: ShownStockCount},
    problems=[Conflict],
)
def cancel_stock_count(id: str) -> Response:
    """It takes no more lines, and changes nothing. Its lines can still be read."""
    return reply(200, show(store.cancel(id)))
