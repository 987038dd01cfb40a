"""The log of a job's changes: one entry for each write of a record, in the record's commit.

| item | pk | sk |
|---|---|---|
| entry | `job_…` | `changed#<record id>#<version>` |

`change`: JSON of `model.py`; `undoneBy`: the job that undid it. An entry expires 30 days after it
was written.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final

from chalicelib.jobs import store as jobs
from chalicelib.storage import table
from chalicelib.storage.attributes import Item
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.undo.model import FieldChange

_PREFIX: Final = "changed#"
_DIGITS: Final = 9
_as_json: Final = json.JSONEncoder(ensure_ascii=False, default=int).encode  # DynamoDB's numbers


class AlreadyChanged(Exception):
    """The job has already changed the record."""


class Raced(Exception):
    """Another undo undid or restored the entry meanwhile."""


@dataclass(frozen=True)
class Entry:
    """One write of a job to a record."""

    job: str
    record: str
    sk: str
    stored: str
    undone_by: str | None

    @cached_property
    def change(self) -> FieldChange:
        change: FieldChange = json.loads(self.stored)
        return change


def note(
    commit: Commit,
    job_id: str,
    record_id: str,
    change: FieldChange,
    number: int = 0,
    *,
    once: bool = True,
) -> None:
    """Add the entry of a record to the commit in which a job writes it, once for each number.

    The commit raises AlreadyChanged if the job has done that before. Without `once` it does not
    look: an import's number is the product's version, which the commit itself compares.
    """
    entry = {
        "sk": _entry_sk(record_id, number),
        "change": _as_json(change),
        "expiresAt": jobs.expires(),
    }
    when = table.absent if once else None
    commit.put({"pk": job_id, **entry}, when=when, otherwise=AlreadyChanged())


def _entry_sk(record_id: str, version: int) -> str:
    return f"{_PREFIX}{record_id}#{version:0{_DIGITS}d}"


def find_changed(job_id: str, record_ids: Iterable[str]) -> set[str]:
    """Return the records that a job, which writes each once, has already changed."""
    keys = {(job_id, _entry_sk(id, 0)): id for id in record_ids}
    return {keys[key] for key in table.batch_get(keys)}


def entry(job_id: str, record_id: str, number: int = 0) -> Entry | None:
    """Return the entry that `note` wrote; None if there is none."""
    item = table.get((job_id, _entry_sk(record_id, number)))
    return _read_entry(job_id, item) if item else None


def entries(job_id: str, after: str, limit: int) -> tuple[dict[str, list[Entry]], bool]:
    """Return the entries of up to `limit` records after the record `after`, by record.

    Those of a record are oldest first. The second value says whether there are more.
    """
    start = f"{_PREFIX}{after}~" if after else _PREFIX
    where = table.sk.between(start, _PREFIX + "~")
    read = chain.from_iterable(table.pages(job_id, where=where, limit=100))
    groups: dict[str, list[Entry]] = {}
    for entry in (_read_entry(job_id, item) for item in read):
        if len(groups) == limit and entry.record not in groups:
            return groups, True
        groups.setdefault(entry.record, []).append(entry)
    return groups, False


def _read_entry(job_id: str, item: Item) -> Entry:
    record = item["sk"].removeprefix(_PREFIX).rpartition("#")[0]
    return Entry(job_id, record, item["sk"], item["change"], item.get("undoneBy"))


def mark(commit: Commit, entries: Sequence[Entry], undone_by: str) -> None:
    """Add to the commit that it undoes the entries. The commit raises Raced."""
    for entry in entries:
        commit.update(
            (entry.job, entry.sk),
            assign={"undoneBy": undone_by},
            when=table.present & Attr("undoneBy").not_exists(),
            otherwise=Raced(),
        )


def unmark(commit: Commit, marked: Sequence[str], job_id: str, undone_by: str) -> None:
    """Add to the commit that it undoes an undo, whose marks go.

    The entries that this undo marked, and that have not expired, can be undone again.
    """
    for key in table.batch_get([(job_id, sk) for sk in marked], fields=("pk", "sk")):
        commit.update(
            key,
            remove=["undoneBy"],
            when=Attr("undoneBy").eq(undone_by),
            otherwise=Raced(),
        )
