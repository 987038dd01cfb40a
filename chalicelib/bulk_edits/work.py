"""A bulk edit: each record in its own commit, with the log entry for an undo.

A repeated step also finds in the log what it changed before a crash. The records that match filters
are chosen a step before they are changed, because afterwards they may no longer match.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from chalicelib.bulk_edits import prices
from chalicelib.bulk_edits.model import LISTS
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import MOST_AT_ONCE, Job, RecordOutcome, RecordResult, Step
from chalicelib.orders import store as orders
from chalicelib.orders.model import Order, show_order
from chalicelib.orders.schemas import OrderChange
from chalicelib.problems import Problem
from chalicelib.products import store as products
from chalicelib.products.model import Product, show_product
from chalicelib.products.schemas import ProductChange
from chalicelib.storage.attributes import Fields
from chalicelib.storage.commit import Commit
from chalicelib.undo import store as undo
from chalicelib.undo.model import OF_ORDERS, FieldChange, difference, order_difference
from chalicelib.validation import validate

# What can be set as it is sent.
_PLAIN: Final = ("status", "published", "storefront", "type", "vendor", "lowStockThreshold")


def step(job: Job) -> Step:
    """Change the next records."""
    if job.request.get("ids") is not None:
        ids = list(dict.fromkeys(job.request["ids"]))
        at = int(job.cursor or 0)
        end = at + MOST_AT_ONCE
        cursor = end if end < len(ids) else None
        return Step.combine(_change_records(job, ids[at:end]), cursor, total=len(ids))
    if job.cursor is None:
        chosen, total = _choose_next(job, None)
        return Step(cursor=chosen, set={"total": total})
    done, after = _change_records(job, job.cursor["ids"]), job.cursor["after"]
    return Step.combine(done, _choose_next(job, after)[0] if after else None)


def _choose_next(job: Job, after: str | None) -> tuple[dict[str, object] | None, int]:
    """Return the cursor with the next records that match the filters, and how many match.

    The cursor is None if there are none.
    """
    kind = job.request["kind"]
    matching = LISTS[kind].query_from_body(job.request["filters"], MOST_AT_ONCE)
    page = _KINDS[kind].store.page(matching.continue_after(after))
    ids = [record.id for record in page.records]
    return ({"ids": ids, "after": page.next} if ids or page.next else None), page.total


def _change_records(job: Job, ids: Sequence[str]) -> list[RecordResult]:
    """Change these records; return the results."""
    made = jobs.run_together([partial(_edit_record, job, id) for id in ids])
    done = dict(zip(ids, made, strict=True))
    # An earlier run of this step, or another worker with it, may have changed these.
    unsure = [id for id, part in done.items() if RecordOutcome.UPDATED not in part.counts]
    done |= dict.fromkeys(undo.find_changed(job.id, unsure), RecordResult.from_change(True))
    return list(done.values())


def _edit_record(job: Job, id: str) -> RecordResult:
    """Change a record, unless this job has done that before."""
    kind = _KINDS[job.request["kind"]]
    name: str | None = None

    def draft(before: Any) -> Any:
        nonlocal name
        name = before.fields[kind.name]
        return kind.draft(job, before)

    def log_change(commit: Commit, before: object, after: object) -> None:
        undo.note(commit, job.id, id, kind.difference(before, after))

    try:
        if job.is_dry_run:
            before = kind.store.get(id)
            after = draft(before)
        else:
            before, after, *_ = kind.store.rewrite(id, draft, also=log_change)
    except undo.AlreadyChanged:
        return RecordResult.from_change(True)
    except Problem as problem:
        return RecordResult.from_problem(id, problem, name)
    if after is before or not job.is_dry_run:
        return RecordResult.from_change(after is not before)
    return replace(
        RecordResult.from_change(True),
        previews=[_show_difference(kind.show(before), kind.show(after))],
    )


def _show_difference(before: Fields, after: Fields) -> dict[str, object]:
    """Return what differs between two versions of a record as it is shown."""
    names = [name for name in after if name != "updatedAt" and before[name] != after[name]]
    versions = {"before": before, "after": after}
    shown = {which: {name: one[name] for name in names} for which, one in versions.items()}
    return {"id": before["id"], **shown}


# --- Products -------------------------------------------------------------------------------------


def _edit_product(job: Job, product: Product) -> Product:
    """Return the product after the edit; itself if nothing differs. Raises what a PUT raises."""
    changes = product_change(product, job.request["change"])
    return products.preview_update(product, validate(ProductChange, changes).sent_fields())


def product_change(product: Product, change: Fields) -> dict[str, object]:
    """Return the body of a PUT that makes a bulk change (`ProductEdit`, as sent) of a product."""
    changes = {name: change[name] for name in _PLAIN if name in change}
    changes["tags"] = _change_tags(product.fields["tags"], change)
    if change.get("compareAtPrice"):
        changes["compareAtPrice"] = prices.compare_at_price(product, change["compareAtPrice"])
    if change.get("price"):
        changes |= prices.reprice_product(product, change["price"])
    return changes


def _change_tags(tags: Sequence[str], change: Fields) -> list[str]:
    removed = set(change.get("removeTags") or ())
    added: Iterable[str] = change.get("addTags") or ()
    return list(dict.fromkeys([*(tag for tag in tags if tag not in removed), *added]))


# --- Orders ---------------------------------------------------------------------------------------


def _edit_order(job: Job, order: Order) -> Order:
    """Return the order after the edit; itself if nothing differs. Raises what a PATCH raises."""
    changes = _order_change(order, job.request["change"])
    return (
        orders.preview_update(order, validate(OrderChange, changes), job.requested_by)
        if changes
        else order
    )


def _order_change(order: Order, change: Fields) -> dict[str, object]:
    """Return the body of a PATCH that makes a bulk change (`OrderEdit`, as sent) of this order."""
    changes = {name: change[name] for name in OF_ORDERS if name in change}
    changes["tags"] = _change_tags(order.fields["tags"], change)
    fields: Fields = order.fields
    return {name: value for name, value in changes.items() if fields[name] != value}


class _Kind(NamedTuple):
    """How records of a kind are edited: their store, the edit, its difference, what is shown.

    `name`: the field by which people know a record.
    """

    store: Any
    name: str
    draft: Callable[[Job, Any], Any]
    difference: Callable[[Any, Any], FieldChange]
    show: Callable[[Any], dict[str, object]]


_KINDS: Final = {
    "product": _Kind(products, "name", _edit_product, difference, show_product),
    "order": _Kind(orders, "number", _edit_order, order_difference, show_order),
}
