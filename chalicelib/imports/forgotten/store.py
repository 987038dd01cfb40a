"""What an erasure deletes of an import: its file and reports, and its job's quotes of them.

Everything is deleted, because it cannot be known whether it names the person: a product may have
the same name, an address can be written in many ways, and a file can be in any encoding.
"""

import time
from enum import Enum, auto
from functools import partial
from typing import Final

from chalicelib import threads
from chalicelib.imports import files
from chalicelib.imports.model import ImportJob
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import Job, JobStatus, JobType
from chalicelib.storage import table
from chalicelib.storage.attributes import Key
from chalicelib.storage.conditions import Attr
from chalicelib.values import clock
from chalicelib.values.forgetting import Person

_QUOTING: Final = ("columns", "error#", "notice#", "preview#")
_AT_ONCE: Final = 400  # items of each kind
# A planner that does not know that its job has ended is stopped before (.chalice/config.json).
_PLANNER_SECONDS: Final = 960
_NO_QUOTE: Final = "A customer was erased, and with it what this message quoted of the file."
_MESSAGE: Final = "A customer was erased while the job waited for a mapping. Upload the file again."


class Left(Enum):
    """NOTHING: there was none, or it is newer; GONE; MORE: not finished in time; OPEN: the import
    must end first."""

    NOTHING = auto()
    GONE = auto()
    MORE = auto()
    OPEN = auto()


def forget(job: Job, person: Person, asked_at: str, until: float) -> Left:
    """Deletes the data of an import that was requested before `asked_at`, or that reads the file of
    another. One that waits for a mapping fails. It works until `until` (`time.monotonic`);
    repeating it changes nothing."""
    if job.type != JobType.PRODUCT_IMPORT:
        return Left.NOTHING
    found = ImportJob(job.fields)
    _rename(found, person)
    is_later = str(found.fields["createdAt"]) > asked_at and "sourceJobId" not in found.fields
    if found.is_erased or is_later or _awaits_its_file(found):
        return Left.NOTHING
    if _is_running(found) or not _has_ended(found):
        return Left.OPEN
    gone = False
    while what := _kept(job.id):
        keys, items = what
        files.remove(keys)
        table.batch_write(deletes=items)
        gone = True
        if time.monotonic() > until:
            return Left.MORE
    jobs.update_if(job.id, table.present, assign=_erased(found))
    return Left.GONE if gone else Left.NOTHING


def _erased(job: ImportJob) -> dict[str, object]:
    """Column names may be personal data, and the file is no longer read. An error with a row may
    quote the file, in a wrong encoding too."""
    form, error = job.fields.get("format", {}), job.fields.get("error") or {}
    return {
        **({"error": {**error, "message": _NO_QUOTE}} if error.get("row") is not None else {}),
        "erasedAt": clock.now_iso(),
        "format": {name: form.get(name) for name in ("encoding", "delimiter")},
        "mapping": None,
        "ignoredColumns": [],
        "missedColumns": [],
    }


def _rename(job: ImportJob, person: Person) -> None:
    for name in ("fileName", "error"):
        before = job.fields.get(name)
        left = person.without(before)
        if left != before:
            jobs.update_if(job.id, Attr(name).eq(before), assign={name: left})


def _awaits_its_file(job: ImportJob) -> bool:
    """A file that is uploaded from now on is newer."""
    is_queued = job.status is JobStatus.QUEUED and "sourceJobId" not in job.fields
    return is_queued and not files.kept(job.id)


def _is_running(job: ImportJob) -> bool:
    """Whether a worker may be running: also for a while after it was stopped."""
    if job.status in {JobStatus.QUEUED, JobStatus.RUNNING}:
        return job.given_up(clock.now()) is None
    planner = _PLANNER_SECONDS if job.status is JobStatus.CANCELLED else 0
    return jobs.still_writes(job, jobs.WORKER_SECONDS if job.is_read else planner) > 0


def _has_ended(job: ImportJob) -> bool:
    """Ends one that waits for a mapping; returns whether it has ended."""
    if job.status is not JobStatus.NEEDS_MAPPING:
        return True
    error = {"code": "customer_erased", "message": _MESSAGE, "row": None}
    ended = {"status": JobStatus.FAILED, "completedAt": clock.now_iso(), "error": error}
    return jobs.update_if(job.id, Attr("status").eq(JobStatus.NEEDS_MAPPING), assign=ended)


def _kept(job_id: str) -> tuple[list[str], list[Key]] | None:
    """Some of its keys of objects in S3, and of items; None if there are none."""
    read = partial(table.query, job_id, limit=_AT_ONCE, fields=("pk", "sk"))
    queries = [partial(read, where=table.sk.begins_with(prefix)) for prefix in _QUOTING]
    keys, *rows = threads.together([partial(files.kept, job_id), *queries])
    items: list[Key] = [(item["pk"], item["sk"]) for each in rows for item in each.items]
    return (keys, items) if keys or items else None
