"""From what commits traced in their outbox items (`outbox.py`) to entries, each once.

The stream may bring an item again, late, or to two functions at the same time. The id of an entry
follows from the item's and its place in it; an entry is written only if it is not there.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from chalicelib import telemetry
from chalicelib.problems import Busy
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit, send_all
from chalicelib.storage.table import ConditionFailed
from chalicelib.values.batches import batches

_TRIES: Final = 10

Draft = dict[str, Any]  # an entry that is not written, with its `id`
Found = dict[Key, Item]


def drafts(items: Iterable[Item], read: Callable[[Item], Iterable[Draft]]) -> list[Draft]:
    """What these outbox items trace, each once, as `read` finds it."""
    by_id: dict[str, Draft] = {}
    for item in items:
        try:
            by_id |= {draft["id"]: draft for draft in read(item)}
        except Exception as error:  # a defect must not stop the stream
            telemetry.error("trace is unreadable", error, eventId=item["pk"])
    return list(by_id.values())


def numbered(item: Item, prefix: str, traced: Iterable[Draft]) -> Iterator[Draft]:
    """With the id of each, and what all entries of the item have in common."""
    actor = outbox.trace_of(item).get("actor", {})
    common = {
        "at": item["at"],
        "jobId": actor.get("jobId"),
        "actor": {name: actor.get(name) for name in ("keyId", "keyName")},
    }
    for number, draft in enumerate(traced):
        id = f"{prefix}_{item['pk'].removeprefix('evt_')}{number:05d}"
        yield {**common, **draft, "id": id}


def enter(
    new: Sequence[Draft],
    key: Callable[[str], Key],
    commit: Callable[[Sequence[Draft], Found], Commit],
    *,
    also: Callable[[Draft], Iterable[Key]] = lambda draft: (),
    together: int = 1,
) -> None:
    """Writes those that are not there yet. `key`: of an entry, by its id; `commit`: writes some of
    them, given what was found, on condition that it is still so; `also`: what else to read for
    one; `together`: how many are in one commit. Raises Busy."""
    for _ in range(_TRIES):
        if not new:
            return
        keys = {more for draft in new for more in (key(draft["id"]), *also(draft))}
        found = table.batch_get(keys)
        left = [draft for draft in new if key(draft["id"]) not in found]
        groups = list(batches(left, together))
        failures = send_all([commit(group, found) for group in groups])
        new = [draft for group in _stale(groups, failures) for draft in group]
    if new:
        raise Busy


def _stale(
    groups: Sequence[Sequence[Draft]], failures: Sequence[Exception | None]
) -> Iterator[Sequence[Draft]]:
    """Those of which something was written meanwhile."""
    for group, failure in zip(groups, failures, strict=True):
        if isinstance(failure, ConditionFailed):
            yield group
        elif failure is not None:
            raise failure
