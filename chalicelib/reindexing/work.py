"""A reindexing: passes over all records, in steps of up to a hundred.

A pass goes through the lists of all records, newest first, so that what is created meanwhile is not
met. Functions of the previous release may still run for a while after a deployment, and write the
old index. So the last pass begins `settle` seconds after the start, unless the first found nothing
to do. At its end the numbers of the kinds are noted, and what was 503 `reindexing` is served.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from chalicelib import __version__, listing
from chalicelib.facets import store as facets
from chalicelib.jobs.model import Job, RecordOutcome, Step
from chalicelib.reindexing import store
from chalicelib.storage import table
from chalicelib.storage.attributes import Item
from chalicelib.values import clock

_LOOKED_AT_ONCE: Final = 100
_SECONDS: Final = 10  # of a step
_LOOKS_A_MOVE: Final = 50  # looking at a record takes a unit or two, moving one up to 200
_WAITED_AT_ONCE: Final = 900


@dataclass(frozen=True)
class _Place:
    """Where a step starts: after the position `after` in the partition `at` of the nth pass.

    `release`: another one starts again. `until`: functions of the one before may run, Unix time.
    """

    release: str
    until: int
    number: int = 1
    at: str = ""
    after: str = ""


def step(job: Job) -> Step:
    """Move the next records."""
    place = _Place(__version__, clock.unix() + int(job.request["settle"]))
    if job.cursor and job.cursor["release"] == __version__:
        place = _Place(**job.cursor)
    if place.number > 1 and not place.at and (wait := place.until - clock.unix()) > 0:
        return Step(cursor=asdict(place), wait=min(wait, _WAITED_AT_ONCE))
    kinds = [records for records in store.ALL if records.kind.name in job.request["kinds"]]
    lists = {pk: records for records in kinds for pk in records.kind.list_pks("*")}
    if place.at not in lists:
        place = replace(place, at=next(iter(lists)), after="")
    records, rate = lists[place.at], float(job.request["rate"])
    after, looked, moved = _move_page(records, place.at, place.after, rate)
    left = list(lists)[list(lists).index(place.at) + (after is None) :]
    # Later passes meet the same records again.
    counts = {RecordOutcome.UPDATED: moved}
    counts |= {RecordOutcome.UNCHANGED: looked - moved} if place.number == 1 else {}
    processed = int(job.fields["processed"]) + sum(counts.values())
    if not left and _is_done(job, place, [each.kind for each in kinds], moved):
        store.note_end(each.kind for each in kinds)
        return Step(counts=counts, set={"total": processed})
    if left:
        place = replace(place, at=left[0], after=after or "")
    else:
        place = replace(place, number=place.number + 1, at="", after="")
    # Records come and go meanwhile.
    total = job.fields.get("total") or sum(listing.count(each.kind, {}) for each in kinds)
    return Step(asdict(place), counts, set={"total": max(int(total), processed)})


def _move_page(
    records: listing.Records[listing.Indexed], pk: str, after: str, rate: float
) -> tuple[str | None, int, int]:
    """Move a page of records; return the position of the last, how many were looked at, and moved.

    The position is None at the end. `rate`: records moved a second. Raises Busy for one that keeps
    changing.
    """
    limit = _LOOKED_AT_ONCE
    rows = table.query(pk, after=after or None, forward=False, limit=limit, fields=("sk",))
    ids = [str(item["sk"]).rsplit("#", 1)[1] for item in rows.items]
    # One call reads them all. A record that changes before its turn is read again.
    read = table.batch_get(map(records.key, ids))
    facets.remember(records.kind.name, read.values())
    _merge_cells(records.kind, read.values())
    until, moved = time.monotonic() + _SECONDS, 0
    for place, id in enumerate(ids):
        start = time.monotonic()
        if start > until:
            return str(rows.items[place - 1]["sk"]), place, moved
        is_moved = listing.reindex(records, id, read.get(records.key(id)))
        moved += is_moved
        due = (1 if is_moved else 1 / _LOOKS_A_MOVE) / rate
        time.sleep(max(0.0, due - (time.monotonic() - start)))
    return rows.after, len(ids), moved


def _merge_cells(kind: listing.Kind, records: Iterable[Item]) -> None:
    """Merge the cells under the values of these records that release 1.0.0 wrote."""
    values = {value for item in records for value in kind.values_counted(item["index"]["facets"])}
    for value in values:
        listing.merge_cells(kind, f"{kind.count_pk()}#{value}")


def _is_done(job: Job, place: _Place, kinds: Sequence[listing.Kind], moved: int) -> bool:
    """Whether a pass that has ended was the last."""
    merged = sum(listing.merge_cells(kind, kind.count_pk()) for kind in kinds)
    if place.number == 1 and job.request["settle"]:
        return store.are_noted(kinds) and not (moved or merged or job.fields["updated"])
    return True
