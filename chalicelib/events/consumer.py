"""From committed events to entries of the change feed, in the order in which they are written.

An entry and the mark that its outbox item has one are in one transaction: however often the stream
brings the item, it has one entry.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from chalicelib import deadline
from chalicelib.events.store import HOUR
from chalicelib.problems import Busy
from chalicelib.storage import outbox, table
from chalicelib.storage.commit import Commit
from chalicelib.storage.lockstep import Need, Work
from chalicelib.storage.outbox import Committed
from chalicelib.values import clock
from chalicelib.values.batches import batches

_PER_COMMIT: Final = 45  # entries of one transaction of 100 items
_TRIES: Final = 5
_SECONDS: Final = 10  # of the transaction; an attempt that began before has up to 15 more


class _Placed(Exception):
    """Another function wrote the entry first."""


def consume(batch: Sequence[Committed]) -> Work:
    """Write the entries of these commits that are not there yet, after all other consumers ended.

    So an item with an entry needs nothing more. Raises Busy. Test events have entries, too, which
    no reader sees (`store._load_bodies`).
    """
    # One that has expired had an entry: AWS deletes what has expired in any order.
    current = {
        committed.feed_mark_key: committed for committed in batch if not committed.has_expired
    }
    known = (yield Need(current.keys())).items
    yield Need(is_last=True)
    new = [
        committed
        for committed in current.values()
        if committed.feed_mark_key not in known and not committed.failure
    ]
    for part in batches(new, _PER_COMMIT):
        _write_entries(part)


def _write_entries(part: Sequence[Committed]) -> None:
    missing = list(part)
    for _ in range(_TRIES):
        if not missing:
            return
        try:
            _send_entries(missing)
        except _Placed:
            known = table.batch_get(committed.feed_mark_key for committed in part)
            missing = [committed for committed in part if committed.feed_mark_key not in known]
        else:
            return
    raise Busy


def _send_entries(part: Sequence[Committed]) -> None:
    """Write entries in one transaction, which ends within the half minute by which readers lag.

    No attempt begins after `_SECONDS`, and none takes longer than the rest.
    """
    now = _time_in_open_hour()
    expires = {"expiresAt": clock.unix() + outbox.KEPT_SECONDS}
    commit = Commit()
    for committed in part:
        pk, mark = committed.feed_mark_key
        commit.put({"pk": pk, "sk": mark, **expires}, when=table.absent, otherwise=_Placed())
        entry = {
            "kinds": sorted({event.event for event in committed.events}),
            "bytes": sum(len(event.body.encode()) for event in committed.events),
        }
        commit.put({"pk": f"feed#{now[:HOUR]}", "sk": f"{now}#{pk}", **entry, **expires})
    deadline.at_most(_SECONDS, commit.send)


def _time_in_open_hour() -> str:
    """Return the time, when readers find its hour."""
    while True:
        hour = clock.now_iso()[:HOUR]
        _open_hour(hour)
        now = clock.now_iso()  # opening it may have taken long
        if now[:HOUR] == hour:
            return now


@lru_cache(maxsize=2)
def _open_hour(hour: str) -> None:
    """Write the item by which readers find the entries of an hour.

    That is done once a process, before its first entry of the hour.
    """
    table.put({"pk": "feed", "sk": hour, "expiresAt": clock.unix() + outbox.KEPT_SECONDS + 3_600})
