"""A merge: each order moves in its own commit, with its part of both totals; at the end the
addresses, the e-mail if there is none, and the record.

The merged customer takes no more orders since the request (`hold_for_merge`), so one pass through
its list finds all. A repeated step finds fewer orders to move.
"""

from collections import Counter
from functools import partial

from chalicelib.customers import store as customers
from chalicelib.customers.model import ROOM_OF_MERGED
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


def step(job: Job) -> Step:
    """Moves the next orders, or ends the merge."""
    source, into = str(job.asked["customer"]), str(job.asked["into"])
    if job.cursor == {"all": True}:
        lost = customers.absorb(source, into, job.id)
        return Step(errors=[_too_much(source, name, number) for name, number in lost.items()])
    query = orders.of_customer(source, MOST_AT_ONCE)
    found, total, after = jobs.records(query, orders.page, (job.cursor or {}).get("after"))
    target = customers.get(into)
    moves = [partial(orders.reassign, order.id, source, target, job.by) for order in found]
    moved = jobs.at_once(moves)
    return Step(
        cursor={"after": after} if after else {"all": True},
        counts=Counter(
            RecordOutcome.UPDATED if done else RecordOutcome.UNCHANGED for done in moved
        ),
        set={} if job.step else {"total": total},
    )


def _too_much(source: str, name: str, number: int) -> JobRecordError:
    what = "characters of the note" if name == "note" else name
    message = f"{number:,} {what} were not moved: there is room for {ROOM_OF_MERGED[name]:,}."
    return missed(source, f"too_many_{what.partition(' ')[0]}", message)
