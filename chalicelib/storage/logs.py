"""Logs that nothing edits: from what commits traced in their outbox items to entries, each once.

The stream may bring an item again, late, or to two functions at the same time. The id of an entry
follows from the item's and its place in it; an entry is written only if it is not there.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from chalicelib import telemetry
from chalicelib.problems import Busy
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.lockstep import Need, Work
from chalicelib.storage.outbox import Committed
from chalicelib.storage.table import ConditionFailed
from chalicelib.values.batches import batches

_TRIES: Final = 10

Draft = dict[str, Any]  # an entry that is not written, with its `id`
Found = dict[Key, Item]


def read_drafts(
    batch: Iterable[Committed], read: Callable[[Committed], Iterable[Draft]]
) -> list[Draft]:
    """Return the drafts that `read` makes of these outbox items: for each id, the last one.

    An item on which `read` fails is logged, and skipped.
    """
    by_id: dict[str, Draft] = {}
    for committed in batch:
        try:
            by_id |= {draft["id"]: draft for draft in read(committed)}
        except Exception as error:  # a defect must not stop the stream
            telemetry.error("trace is unreadable", error, eventId=committed.id)
    return list(by_id.values())


def number_drafts(committed: Committed, prefix: str, traced: Iterable[Draft]) -> Iterator[Draft]:
    """Yield each draft with its `id`, and with the commit's `at`, `jobId`, `actor` and `mark`.

    `mark` is the commit's `feed_mark_key`; `jobId` is None for none; `actor` is {keyId, keyName} as
    traced, None for the service. What a draft has itself counts, but for `id`: `<prefix>_`, the
    item's id without `evt_`, and the draft's place in `traced` in five digits.
    """
    actor = committed.trace.get("actor", {})
    common = {
        "at": committed.item["at"],
        "mark": committed.feed_mark_key,
        "jobId": actor.get("jobId"),
        "actor": {name: actor.get(name) for name in ("keyId", "keyName")},
    }
    own = f"{prefix}_{committed.id.removeprefix('evt_')}"
    for number, draft in enumerate(traced):
        yield {**common, **draft, "id": f"{own}{number:05d}"}


def write_entries(
    drafts: Sequence[Draft],
    key_of: Callable[[str], Key],
    commit_of: Callable[[Sequence[Draft], Found], Commit],
    *,
    other_keys_of: Callable[[Draft], Iterable[Key]] = lambda draft: (),
    per_commit: int,
    is_alone: Callable[[Draft], bool] = lambda draft: False,
) -> Work:
    """Write the entries that are not stored yet, in commits of up to `per_commit` drafts.

    It is a piece of work (`lockstep`): it yields what it reads and sends. `key_of`: returns the key
    of an entry by its id. `commit_of`: returns the commit of some drafts; it gets the items that
    were read, and demands that they are unchanged, and that no entry is stored. `other_keys_of`:
    returns other keys to read for a draft. `is_alone`: tells whether a draft has a commit to
    itself.

    Drafts whose commit failed its condition are read and written again. Raises Busy after ten
    rounds, and any other failure of a commit at once.
    """
    # First only the commit's mark in the feed is read: if it is there, all entries are stored. If
    # an earlier run died before it wrote the mark, `commit_of`'s condition fails, and the next
    # round reads the entries.
    for attempt in range(_TRIES):
        if not drafts:
            return
        own = [key_of(draft["id"]) if attempt else draft["mark"] for draft in drafts]
        other_keys = {key for draft in drafts for key in other_keys_of(draft)}
        found = (yield Need(other_keys.union(own))).items
        missing = [draft for draft, key in zip(drafts, own, strict=True) if key not in found]
        groups = list(_group_drafts(missing, per_commit, is_alone))
        outcome = yield Need(commits=[commit_of(group, found) for group in groups])
        drafts = [draft for group in _groups_to_retry(groups, outcome.failures) for draft in group]
    if drafts:
        raise Busy


def _group_drafts(
    drafts: Sequence[Draft], per_commit: int, is_alone: Callable[[Draft], bool]
) -> Iterator[Sequence[Draft]]:
    """Yield a group of one for each draft that `is_alone`, then groups of `per_commit` others."""
    yield from ([draft] for draft in drafts if is_alone(draft))
    yield from batches([draft for draft in drafts if not is_alone(draft)], per_commit)


def _groups_to_retry(
    groups: Sequence[Sequence[Draft]], failures: Sequence[Exception | None]
) -> Iterator[Sequence[Draft]]:
    """Yield the groups whose commit failed a condition without an error of its own.

    `failures`: of the groups' commits, in order; None is success. Raises any other failure.
    """
    for group, failure in zip(groups, failures, strict=True):
        if isinstance(failure, ConditionFailed):
            yield group
        elif failure is not None:
            raise failure
