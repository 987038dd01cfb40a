"""Jobs in the table, and their progress.

| item | pk | sk |
|---|---|---|
| job | `job_…` | `job` |
| error of a record | `job_…` | `left#<step>#<n>` |

A step counts in the transaction that ends it, so a step that runs twice counts once.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from chalicelib import listing, threads
from chalicelib.jobs import queue
from chalicelib.jobs.model import (
    INLINE_ERRORS,
    KEPT_SECONDS,
    KIND,
    OPEN_JOBS,
    PREVIEWED,
    WHOLE,
    Job,
    JobRecordError,
    JobStatus,
    JobType,
    RecordOutcome,
    Step,
    index_of,
)
from chalicelib.problems import Conflict
from chalicelib.storage import actor, outbox, table
from chalicelib.storage.attributes import Fields, Item, Key
from chalicelib.storage.commit import Commit, underway
from chalicelib.storage.conditions import Attr, Condition
from chalicelib.storage.idempotency import Once
from chalicelib.values import clock, ids

T = TypeVar("T")

# A worker that does not know that its job has ended is stopped before (.chalice/config.json).
WORKER_SECONDS: Final = 330
_PREVIEW_BYTES: Final = 200_000

_open = Attr("status").is_in(sorted(OPEN_JOBS))


class JobFinished(Conflict):
    code = "job_finished"


class CannotCancel(Conflict):
    code = "cannot_cancel"
    text = "This job cannot be cancelled: a part of its work alone would be of no use."


def expires() -> int:
    """Return when items of a job that are written now expire, in Unix seconds."""
    return clock.unix() + KEPT_SECONDS


def key(job_id: str) -> Key:
    return job_id, "job"


RECORDS: Final = listing.Records(KIND, key, index_of, Job, "job")


def create(
    kind: JobType,
    request: Mapping[str, object],
    by: str | None = None,
    *,
    dry_run: bool = False,
    once: Once | None = None,
    also: Callable[[Commit, str], None] | None = None,
) -> str:
    """Start a job; return the text of the answer.

    Its first step is sent before the job is written: a step without a job is dropped, but a job
    without a step would hang. With `once` it raises Repeated and KeyReused.
    `by`: who asks for it, if not the key of a request. `also`: adds to the commit, given the job's
    id.
    """
    id = ids.new_id("job")
    text = json.dumps({"jobId": id})
    if once:
        once.check()
    queue.send(id, 0)
    commit = Commit()
    if once:
        once.record(commit, text, "")
    if also:
        also(commit, id)
    own = {"asked": json.dumps(request, ensure_ascii=False), "step": 0, "dryRun": dry_run}
    insert(commit, id, kind, {**own, **({"by": by} if by else {})}, RecordOutcome)
    commit.send()
    return text


def insert(commit: Commit, id: str, kind: JobType, own: Fields, counters: Iterable[str]) -> Item:
    """Add a new job to the commit; return all of its fields.

    `own`: fields of its type, with `dryRun`.
    """
    key = actor.current()
    fields = {
        "id": id,
        "type": kind,
        "status": JobStatus.QUEUED,
        "by": key.key_name,
        "byId": key.key_id,
        **own,
        "createdAt": clock.now_iso(),
        **dict.fromkeys(("processed", *counters), 0),
    }
    if not own["dryRun"]:
        audit(commit, "started", id, kind)
    return RECORDS.insert(commit, fields)


def audit(commit: Commit, done: str, job_id: str, kind: str) -> None:
    """Add an entry of the audit log to the commit. What was asked is in the job."""
    commit.audit(outbox.audit_entry("job", job_id, action=f"job.{done}", name=str(kind)))


# --- Reading --------------------------------------------------------------------------------------


load, find, get, page = RECORDS.load, RECORDS.find, RECORDS.get, RECORDS.read_page


def errors(job_id: str) -> list[JobRecordError]:
    """Return the errors of the first records that failed."""
    rows = table.query(job_id, where=table.sk.begins_with("left#"), limit=INLINE_ERRORS)
    return [
        {
            "id": item["id"],
            "name": item.get("name"),  # 1.0.0 has none
            "code": item["code"],
            "message": item["message"],
        }
        for item in rows.items
    ]


def require_free(job_id: str | None, otherwise: Callable[[str], Exception]) -> None:
    """Raise the given error with the id of a job that is running. An ended job holds nothing."""
    job = find(job_id) if job_id else None
    if job and not job.has_ended:
        raise otherwise(job.id)


# --- Its steps ------------------------------------------------------------------------------------


def begin(job: Job) -> Job:
    """Return the job, running, unless it has ended meanwhile."""
    if job.status is not JobStatus.QUEUED:
        return job
    started = {"status": JobStatus.RUNNING, "startedAt": clock.now_iso()}
    update_if(job.id, Attr("status").eq(JobStatus.QUEUED), assign=started)
    return get(job.id)


def advance(job: Job, step: Step) -> Job | None:
    """Count the results of a step and end it; None if another worker has done that.

    Results are counted even if the job was cancelled meanwhile.
    """
    same_step = Attr("step").eq(job.step)
    running, ends = Attr("status").eq(JobStatus.RUNNING), _end_fields(JobStatus.COMPLETED)
    is_done = step.cursor is None and _send_advance(job, step, ends, same_step & running)
    return get(job.id) if is_done or _send_advance(job, step, {}, same_step) else None


def _send_advance(job: Job, step: Step, ends: Mapping[str, object], when: Condition) -> bool:
    counts = {str(name): n for name, n in step.counts.items()}
    shown = extend_preview(job, step.previews) if step.previews else {}
    cursor = json.dumps(step.cursor, ensure_ascii=False)
    commit = Commit()
    commit.update(
        key(job.id),
        assign={**step.set, **shown, **ends, "cursor": cursor},
        add={**counts, "processed": sum(counts.values()) + step.read, "step": 1},
        when=when,
    )
    for place, error in enumerate(step.errors):
        sk = f"left#{job.step:06d}#{place:03d}"
        commit.put({"pk": job.id, "sk": sk, **error, "expiresAt": expires()})
    return commit.try_send()


def extend_preview(job: Job, previews: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return a dry run's preview attribute with more records, as far as there is room."""
    shown = json.loads(job.fields.get("preview", "[]"))
    text = json.dumps([*shown, *previews][:PREVIEWED], ensure_ascii=False)
    return {"preview": text} if len(text.encode()) <= _PREVIEW_BYTES else {}


def new_number(job_id: str) -> int:
    """Return a number that no other run of a step of the job gets, greater than those before."""
    return int(table.update(key(job_id), add={"numbers": 1}, when=table.present)["numbers"])


def run_together(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Return what the calls of a step return; as many run at once as may be under way."""
    done: list[T] = []
    while len(done) < len(calls):
        done += threads.run_together(calls[len(done) : len(done) + underway.allowed])
    return done


def fail(job_id: str, code: str, message: str, **more: object) -> None:
    """End the job as FAILED, unless it has ended.

    `more`: the `row` of an import's file that is the reason.
    """
    end(job_id, JobStatus.FAILED, error={"code": code, "message": message, **more})


def cancel(job_id: str) -> None:
    """Cancel a job, also an import.

    Raises NotFound; JobFinished if it has ended otherwise; CannotCancel for jobs that are
    useless in part.
    """
    job = get(job_id)
    if job.type in WHOLE:
        raise CannotCancel
    commit = Commit()
    commit.update(key(job_id), assign=_end_fields(JobStatus.CANCELLED), when=_open)
    audit(commit, "cancelled", job_id, job.type)
    if not commit.try_send():
        job = get(job_id)
        if job.status is not JobStatus.CANCELLED:
            raise JobFinished(f"The job is {job.status} already.")


def end(job_id: str, status: JobStatus, **fields: object) -> bool:
    """End the job with this status; return whether it had not ended yet."""
    return update_if(job_id, _open, assign={**_end_fields(status), **fields})


def _end_fields(status: JobStatus) -> dict[str, object]:
    return {"status": status, "completedAt": clock.now_iso()}


def still_writes(job: Job, seconds: int = WORKER_SECONDS) -> int:
    """Return for how many seconds a worker of a cancelled or failed job may still write.

    `seconds`: how long its function may run.
    """
    if job.status not in {JobStatus.CANCELLED, JobStatus.FAILED} or "startedAt" not in job.fields:
        return 0
    ended = clock.parse(str(job.fields["completedAt"]))
    return max(0, seconds - int((clock.now() - ended).total_seconds()))


def update_if(
    job_id: str, when: Condition, *, assign: Mapping[str, object], remove: Sequence[str] = ()
) -> bool:
    """Change attributes of the job on a condition; return whether it held."""
    return table.update_if(key(job_id), when, assign=assign, remove=remove)
