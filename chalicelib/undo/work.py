"""An undo: fields that a job changed, and that were not changed since, get their old values.

Each record is restored in one commit, which also marks the entry in the undone job's log and adds
one to the undo's own log: so a repeated step changes nothing twice, and an undo can itself be
undone.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from chalicelib import deadline
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import (
    MOST_AT_ONCE,
    Job,
    JobRecordError,
    RecordOutcome,
    RecordResult,
    Step,
    record_error,
)
from chalicelib.orders import store as orders
from chalicelib.orders.model import Order
from chalicelib.orders.schemas import OrderChange
from chalicelib.problems import NotFound, PreconditionFailed, Problem
from chalicelib.products import store as products
from chalicelib.products.model import NOT_MADE, Product
from chalicelib.storage.attributes import Fields
from chalicelib.storage.commit import Commit
from chalicelib.undo import store
from chalicelib.undo.model import (
    FieldChange,
    difference,
    is_untouched,
    order_difference,
    restore_product,
)
from chalicelib.undo.store import Entry


def step(job: Job) -> Step:
    """Restore the next records, once no worker of the other job writes any more."""
    undone = str(job.request["job"])
    if not job.cursor and (wait := jobs.still_writes(jobs.get(undone))):
        return Step(cursor="", wait=wait)
    groups, more = store.entries(undone, job.cursor or "", MOST_AT_ONCE)
    done = jobs.run_together(
        [partial(_undo_record, job, id, group) for id, group in groups.items()]
    )
    # At the end it is exact: several products of a file may have been one of the shop.
    total = _count_changed_records(undone) if more else int(job.fields["processed"]) + len(done)
    return Step.combine(done, max(groups) if more else None, total=total)


def _count_changed_records(job_id: str) -> int:
    """Return how many records a job has changed, as far as it counted them."""
    undone = jobs.get(job_id).fields
    return sum(int(undone.get(name, 0)) for name in ("created", "updated", "deleted"))


def _undo_record(job: Job, record: str, entries: Sequence[Entry]) -> RecordResult:
    """Restore a record, and name it in what could not be restored."""
    done = _restore_record(job, record, entries)
    if not done.errors:
        return done
    name = _find_name(record)
    return replace(done, errors=[{**error, "name": name} for error in done.errors])


def _find_name(record: str) -> str | None:
    """Return the number of an order or the name of a product; None if it is gone."""
    if record.startswith("ord_"):
        order = orders.RECORDS.find(record)
        return order.fields["number"] if order else None
    product = products.find(record, ["name"])
    return product.fields["name"] if product else None


def _restore_record(job: Job, record: str, entries: Sequence[Entry]) -> RecordResult:
    if any(entry.undone_by == job.id for entry in entries):
        return _repeat_result(job, record)
    live = [entry for entry in entries if entry.undone_by is None]
    if not live:
        return RecordResult.from_outcome(RecordOutcome.UNCHANGED)
    put_back = _undo_order if record.startswith("ord_") else _undo_product
    changed = products.ProductChanged, PreconditionFailed
    try:
        return deadline.retry_on_conflict(partial(put_back, job, record, live), *changed)
    except store.Raced:
        message = "Another undo of the same job restores it."
        return _leave_record(record, "undone_meanwhile", message)
    except Problem as problem:
        return RecordResult.from_problem(record, problem)


def _repeat_result(job: Job, record: str) -> RecordResult:
    """Return the result of an earlier run of this step, from the log of the undo."""
    entry = store.entry(job.id, record)
    assert entry is not None, "the commit that counts the record also writes its entry"
    change = entry.change
    made = RecordOutcome.CREATED if "created" in change else RecordOutcome.UPDATED
    outcome = RecordOutcome.DELETED if "deleted" in change else made
    return RecordResult.from_outcome(outcome, *_left_errors(record, change.get("left", [])))


def _leave_record(id: str, code: str, message: str) -> RecordResult:
    return RecordResult.from_outcome(RecordOutcome.UNCHANGED, record_error(id, code, message))


# --- Products -------------------------------------------------------------------------------------


def _undo_product(job: Job, id: str, entries: Sequence[Entry]) -> RecordResult:
    product = products.find(id)
    changes = [entry.change for entry in entries]
    if any("deleted" in change for change in changes):
        return _create_deleted(job, product, entries)
    if any("created" in change for change in changes):
        return _delete_created(job, product, entries)
    if product is None:
        return _leave_record(id, "deleted_since", "It was deleted since.")
    now = restore_product(product, changes)
    after = products.rewrite_fields(product, now.fields, now.quantities)
    if after is product:
        return RecordResult.from_outcome(RecordOutcome.UNCHANGED, *_left_errors(id, now.left))
    _write_product(job, product, after, entries, now.left)
    return RecordResult.from_outcome(RecordOutcome.UPDATED, *_left_errors(id, now.left))


def _delete_created(job: Job, product: Product | None, entries: Sequence[Entry]) -> RecordResult:
    if product is None:
        return RecordResult.from_outcome(RecordOutcome.UNCHANGED)
    if not is_untouched(product, [entry.change for entry in entries]):
        message = "It was changed, ordered or moved since, so it stays."
        return _leave_record(product.id, "changed_since", message)
    _write_product(job, product, None, entries, [])
    return RecordResult.from_outcome(RecordOutcome.DELETED)


def _create_deleted(job: Job, product: Product | None, entries: Sequence[Entry]) -> RecordResult:
    (change,) = (entry.change for entry in entries)  # an undo writes each record once
    if product is not None:
        return _leave_record(product.id, "changed_since", "It exists again.")
    fields = {**NOT_MADE, **change["deleted"]}  # which release 1.0.0 may have written
    version = int(fields.pop("version"))
    quantities = {id: before for id, (before, _) in change["stock"].items()}
    again = products.recreate_product(Product(fields, quantities, version))
    _write_product(job, None, again, entries, [])
    return RecordResult.from_outcome(RecordOutcome.CREATED)


def _write_product(
    job: Job,
    before: Product | None,
    after: Product | None,
    entries: Sequence[Entry],
    left: Sequence[str],
) -> None:
    commit = products.build_commit(before, after, exactly=after is None, is_undo=True)
    product = after or before
    assert product is not None
    _log_undo(commit, job, product.id, entries, {**difference(before, after), "left": list(left)})
    commit.send()


def _log_undo(
    commit: Commit, job: Job, record: str, entries: Sequence[Entry], change: FieldChange
) -> None:
    """Log in both jobs what is undone; if the other is an undo, its entries can be undone again."""
    store.mark(commit, entries, job.id)
    for entry in entries:
        if "marked" in entry.change:
            store.unmark(commit, entry.change["marked"], entry.change["of"], entry.job)
    origin = {"of": job.request["job"], "marked": [entry.sk for entry in entries]}
    store.note(commit, job.id, record, {**change, **origin})


# --- Orders ---------------------------------------------------------------------------------------

_RESTORABLE: Final = ("salesRepId", "tags")


def _undo_order(job: Job, id: str, entries: Sequence[Entry]) -> RecordResult:
    try:
        order = orders.get(id)
    except NotFound:
        return _leave_record(id, "deleted_since", "It was deleted since.")
    back: dict[str, object] = {}
    left: list[str] = []
    fields: Fields = order.fields
    (entry,) = entries  # a job writes each order once
    for name, (before, after) in entry.change["fields"].items():
        if fields[name] != after:
            left.append(name)
        elif name == "tags" and "erasedAt" in order.fields:
            left.append("tags: a customer was erased")
        elif name in _RESTORABLE:
            back[name] = before
        else:
            left.append(f"{name}: a status cannot go back")
    if not back:
        return RecordResult.from_outcome(RecordOutcome.UNCHANGED, *_left_errors(id, left))

    def log_change(commit: Commit, before: Order, after: Order) -> None:
        _log_undo(commit, job, id, entries, {**order_difference(before, after), "left": left})

    # On condition that it is as it was read, so concurrent changes stay.
    unchanged = orders.ChangeRequest(job.requested_by, frozenset({order.etag}))
    orders.update(id, OrderChange.model_validate(back), unchanged, log_change)
    return RecordResult.from_outcome(RecordOutcome.UPDATED, *_left_errors(id, left))


def _left_errors(record: str, names: Sequence[str]) -> list[JobRecordError]:
    if not names:
        return []
    message = f"Left as they are, because they were changed since: {', '.join(names)}"
    return [record_error(record, "changed_since", message)]
