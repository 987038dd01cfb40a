"""Apply a count: each product in its own commit, by the difference of its lines.

So what was sold since they were counted stays sold.

A product's lines may be in two steps; the number of the first one tells its entries of the log
apart. A repeated step finds in the log what it did before a crash.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Final

from chalicelib import deadline
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import (
    Job,
    JobRecordError,
    RecordOutcome,
    RecordResult,
    Step,
    record_error,
)
from chalicelib.products import store as products
from chalicelib.products.model import Product, title_of
from chalicelib.products.schemas import MOST_STOCK, MovedStock
from chalicelib.stocktaking import store
from chalicelib.stocktaking.model import Line
from chalicelib.undo import store as undo
from chalicelib.undo.model import difference
from chalicelib.values import ids

_AT_ONCE: Final = 50  # lines of a step: a transaction takes an error of each
_LINES_OF_A_PART: Final = 1_000  # at most: for their numbers
_CHANGED: Final = (products.ProductChanged, undo.AlreadyChanged)
_Lines = Sequence[tuple[str, Line]]


def step(job: Job) -> Step:
    """Apply the next lines."""
    count = store.get(str(job.request["count"]))
    part, at = job.cursor or (0, 0)
    waiting = store.load_counted_lines(count, part)[at:]
    done, number = [], part * _LINES_OF_A_PART + at
    for product_id, group in groupby(waiting[:_AT_ONCE], lambda one: ids.product_of(one[0])):
        lines = list(group)
        applied = partial(_apply_product, job, count.id, product_id, lines, number)
        done.append(partial(deadline.retry_on_conflict, applied, *_CHANGED))
        number += len(lines)
    following = (part, at + _AT_ONCE) if waiting[_AT_ONCE:] else (part + 1, 0)
    cursor = following if following[0] < count.parts else None
    return Step.combine(jobs.run_together(done), cursor, total=int(count.fields["counted"]))


def _apply_product(
    job: Job, count_id: str, product_id: str, lines: _Lines, number: int
) -> RecordResult:
    """Apply the lines of a product. It raises what is in `_CHANGED`."""
    product = products.find(product_id)
    # Read after the product: without an entry, that is as it was before.
    entry = undo.entry(job.id, product_id, number)
    if entry:
        return _result_of_lines(lines, len(entry.change["stock"]), entry.change["errors"])
    after, made, errors = _count_product(product, lines)
    if product and after and made:
        commit = products.build_move_commit(product, after, made, countId=count_id)
        change = {**difference(product, after), "errors": errors}
        undo.note(commit, job.id, product_id, change, number)
        commit.send()
    return _result_of_lines(lines, len(made), errors)


def _result_of_lines(lines: _Lines, updated: int, errors: Sequence[JobRecordError]) -> RecordResult:
    counts = {RecordOutcome.UPDATED: updated, RecordOutcome.FAILED: len(errors)}
    unchanged = len(lines) - updated - len(errors)
    return RecordResult(counts={**counts, RecordOutcome.UNCHANGED: unchanged}, errors=errors)


def _count_product(
    product: Product | None, lines: _Lines
) -> tuple[Product | None, list[MovedStock], list[JobRecordError]]:
    """Return the product after the lines that can be applied, its moves, and all errors."""
    quantities = dict(product.quantities) if product else {}
    made: list[MovedStock] = []
    errors: list[JobRecordError] = []
    for id, line in lines:
        was, by = quantities.get(id), line.difference
        if not by:
            continue
        if was is None:
            reason = "not_tracked", "It is gone, or its stock is not tracked any more."
        elif was + by < 0:
            reason = "insufficient_stock", f"{-by} are missing, and only {was} are in stock."
        elif was + by > MOST_STOCK:
            reason = "out_of_range", f"There would be more than {MOST_STOCK} pieces."
        else:
            quantities[id] = was + by
            made.append({"variantId": id, "by": by, "stock": was + by, "reason": "COUNTED"})
            continue
        variant = product.variant(id) if product else None
        name = title_of(product.fields["name"], variant["title"]) if product and variant else None
        errors.append(record_error(id, *reason, name))
    return replace(product, quantities=quantities) if product else None, made, errors
