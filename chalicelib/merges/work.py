"""A merge: each order moves in its own commit, with its part of both totals.

At the end the addresses move, the e-mail if there is none, and the record.

The merged customer takes no more orders since the request (`hold_for_merge`), so one pass through
its list finds all. A repeated step finds fewer orders to move.
"""

from functools import partial

from chalicelib.customers import store as customers
from chalicelib.customers.model import ROOM_OF_MERGED
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import (
    MOST_AT_ONCE,
    Job,
    JobRecordError,
    RecordResult,
    Step,
    record_error,
)
from chalicelib.orders import store as orders


def step(job: Job) -> Step:
    """Move the next orders, or end the merge."""
    source, into = str(job.request["customer"]), str(job.request["into"])
    if job.cursor == {"all": True}:
        lost = customers.absorb(source, into, job.id)
        return Step(errors=[_overflow_error(source, name, number) for name, number in lost.items()])
    after = (job.cursor or {}).get("after")
    page = orders.page(orders.query_by_customer(source, MOST_AT_ONCE).continue_after(after))
    target = customers.get(into)
    moves = [
        partial(orders.move_to_customer, order.id, source, target, job.requested_by)
        for order in page.records
    ]
    cursor = {"after": page.next} if page.next else {"all": True}
    total = {} if job.step else {"total": page.total}
    return Step.combine(map(RecordResult.from_change, jobs.run_together(moves)), cursor, **total)


def _overflow_error(source: str, name: str, number: int) -> JobRecordError:
    subject = "characters of the note" if name == "note" else name
    message = f"{number:,} {subject} were not moved: there is room for {ROOM_OF_MERGED[name]:,}."
    return record_error(source, f"too_many_{subject.partition(' ')[0]}", message)
