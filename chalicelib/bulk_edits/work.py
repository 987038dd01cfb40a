"""A bulk edit: each record in its own commit, with the log entry for an undo.

A repeated step also finds in the log what it changed before a crash. The records that match filters
are chosen a step before they are changed, because afterwards they may no longer match.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from chalicelib.bulk_edits import prices
from chalicelib.bulk_edits.model import filtered
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import (
    MOST_AT_ONCE,
    Job,
    JobRecordError,
    RecordOutcome,
    Step,
    missed,
)
from chalicelib.orders import store as orders
from chalicelib.orders.model import Order, OrderChange
from chalicelib.orders.shown import show as show_order
from chalicelib.problems import Problem
from chalicelib.products import store as products
from chalicelib.products.model import Product, ProductChange
from chalicelib.products.shown import show as show_product
from chalicelib.storage.attributes import Fields
from chalicelib.storage.commit import Commit
from chalicelib.undo import store as undo
from chalicelib.undo.model import difference
from chalicelib.validation import validate

# What can be set as it is sent.
_PLAIN: Final = ("status", "published", "storefront", "type", "vendor", "lowStockThreshold")
_OF_ORDERS: Final = ("status", "salesRepId", "tags")
_Preview = dict[str, object]
_Outcome = tuple[RecordOutcome, list[JobRecordError], _Preview | None]


def step(job: Job) -> Step:
    """Changes the next records."""
    if job.asked.get("ids") is not None:
        ids = list(dict.fromkeys(job.asked["ids"]))
        at = int(job.cursor or 0)
        end = at + MOST_AT_ONCE
        step = _changed(job, ids[at:end])
        cursor = end if end < len(ids) else None
        return replace(step, cursor=cursor, set={**step.set, "total": len(ids)})
    if job.cursor is None:
        chosen, total = _chosen(job, None)
        return Step(cursor=chosen, set={"total": total})
    step, after = _changed(job, job.cursor["ids"]), job.cursor["after"]
    return replace(step, cursor=_chosen(job, after)[0] if after else None)


def _chosen(job: Job, after: str | None) -> tuple[dict[str, object] | None, int]:
    """The cursor with the next records that match the filters, None if there are none; and how many
    match."""
    kind = job.asked["kind"]
    filters = filtered(kind, job.asked["filters"])
    read: Any = orders.page if kind == "order" else products.page
    query = replace(filters.query(), limit=MOST_AT_ONCE, deepest=None)
    found, total, following = jobs.records(query, read, after)
    ids = [record.id for record in found]
    return ({"ids": ids, "after": following} if ids or following else None), total


def _changed(job: Job, ids: Sequence[str]) -> Step:
    """The results of changing these records."""
    before = undo.changed(job.id, ids)
    one = _order if job.asked["kind"] == "order" else _product
    others = [id for id in ids if id not in before]
    made = jobs.at_once([partial(_edited, one, job, id) for id in others])
    outcomes = dict(zip(others, made, strict=True))
    # Another worker with the same step may have changed these meanwhile.
    unsure = [id for id, (counter, *_) in outcomes.items() if counter is not RecordOutcome.UPDATED]
    before |= undo.changed(job.id, unsure)
    done: list[_Outcome] = [(RecordOutcome.UPDATED, [], None)] * len(before)
    done += [outcome for id, outcome in outcomes.items() if id not in before]
    shown = [preview for _, _, preview in done if preview is not None]
    return Step(
        counts=Counter(counter for counter, _, _ in done),
        errors=[error for _, errors, _ in done for error in errors],
        set=jobs.previewed(job, shown) if job.is_dry_run else {},
    )


def _edited(one: Any, job: Job, id: str) -> _Outcome:
    try:
        preview: _Preview | None = one(job, id)
    except undo.AlreadyChanged:
        return RecordOutcome.UPDATED, [], None
    except Problem as problem:
        if problem.may_pass:
            raise
        return RecordOutcome.FAILED, [missed(id, problem.code, str(problem))], None
    return (RecordOutcome.UNCHANGED if preview is None else RecordOutcome.UPDATED), [], preview


def _preview(id: str, before: Mapping[str, object], after: Mapping[str, object]) -> _Preview:
    """What differs between two versions of a record as it is shown."""
    names = [name for name in after if name != "updatedAt" and before[name] != after[name]]
    return {
        "id": id,
        "before": {name: before[name] for name in names},
        "after": {name: after[name] for name in names},
    }


# --- Products -------------------------------------------------------------------------------------


def _product(job: Job, id: str) -> _Preview | None:
    """The change of a product; None if nothing differs. Raises what a PUT raises."""
    change = job.asked["change"]

    def given(before: Product) -> ProductChange:
        return validate(ProductChange, product_change(before, change))

    if job.is_dry_run:
        before = products.get(id)
        after = products.redrafted(before, given(before).given())
    else:

        def log(commit: Commit, before: Product, after: Product) -> None:
            undo.note(commit, job.id, id, difference(before, after))

        before, after = products.edit(id, given, log)
    if after is before:
        return None
    return _preview(id, show_product(before), show_product(after))


def product_change(product: Product, change: Fields) -> dict[str, Any]:
    """The body of a PUT that makes a bulk change (`ProductEdit`, as sent) of this product."""
    given = {name: change[name] for name in _PLAIN if name in change}
    given["tags"] = _tagged(product.fields["tags"], change)
    if change.get("compareAtPrice"):
        given["compareAtPrice"] = prices.compared(product, change["compareAtPrice"])
    if change.get("price"):
        given |= prices.repriced(product, change["price"])
    return given


def _tagged(tags: Sequence[str], change: Fields) -> list[str]:
    removed = set(change.get("removeTags") or ())
    added: Iterable[str] = change.get("addTags") or ()
    return list(dict.fromkeys([*(tag for tag in tags if tag not in removed), *added]))


# --- Orders ---------------------------------------------------------------------------------------


def _order(job: Job, id: str) -> _Preview | None:
    """The change of an order; None if nothing differs. Raises what a PATCH raises."""

    def draft(before: Order) -> Order:
        given = _order_change(before, job.asked["change"])
        return orders.redrafted(before, validate(OrderChange, given), job.by) if given else before

    if job.is_dry_run:
        before = orders.get(id)
        after = draft(before)
    else:

        def log(commit: Commit, before: Order, after: Order) -> None:
            both = ((name, before.fields[name], after.fields[name]) for name in _OF_ORDERS)
            pairs = {name: [was, now] for name, was, now in both if was != now}
            undo.note(commit, job.id, id, {"fields": pairs})

        before, after, _ = orders.redraft(id, draft, orders.Asked(job.by), log)
    if after is before:
        return None
    return _preview(id, show_order(before), show_order(after))


def _order_change(order: Order, change: Fields) -> dict[str, Any]:
    """The body of a PATCH that makes a bulk change (`OrderEdit`, as sent) of this order."""
    given = {name: change[name] for name in _OF_ORDERS if name in change}
    given["tags"] = _tagged(order.fields["tags"], change)
    return {name: value for name, value in given.items() if order.fields[name] != value}
