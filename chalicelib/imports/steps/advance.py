"""Starts the next step of a job, and at last ends it.

The worker that ends a step starts the next one before its message is deleted, so each step is
started at least once; starting it twice is harmless.
"""

from collections.abc import Mapping

from chalicelib import telemetry
from chalicelib.imports import store
from chalicelib.imports.model import ImportJob, ProductOutcome
from chalicelib.imports.steps import queue
from chalicelib.jobs.model import JobStatus


class StepNotFinished(Exception):
    """Another worker is about to continue, or has crashed: decided when the message comes again."""


def after_chunks(job_id: str, is_mine: bool) -> None:
    """Starts the next step when all chunks are done. `is_mine`: whether this worker must do it.

    Raises StepNotFinished if another worker must, and has not.
    """
    job = store.find(job_id)
    if job is not None and job.status is JobStatus.RUNNING and job.all_chunks_done:
        _follow(job, "", is_mine)


def after_ordered(job: ImportJob, number: str, is_mine: bool) -> None:
    """Starts the step after the groups that chunk `number` left for later. Raises StepNotFinished
    as above."""
    _follow(job, number, is_mine)


def _follow(job: ImportJob, number: str, is_mine: bool) -> None:
    """These steps form one chain that never breaks: the worker that finished one starts the next,
    and no message is deleted before the next is known to be started."""
    if store.was_followed(job.id, number):
        return
    if not is_mine:
        raise StepNotFinished
    _begin_next(job, number)
    store.follow(job.id, number)


def _begin_next(job: ImportJob, number: str) -> None:
    left = store.next_deferred(job.id, number)
    if left is not None:
        _send(job, "ordered", number=left["sk"].partition("#")[2])
    elif number:
        _send(job, "leftover")
    else:
        after_leftover(job)


def more_leftover(job: ImportJob) -> None:
    _send(job, "leftover")


def after_leftover(job: ImportJob) -> None:
    whole = store.get(job.id)
    if whole.failed:
        _send(whole, "report")
    else:
        end(whole)


def more_report(job: ImportJob, state: Mapping[str, object]) -> None:
    _send(job, "report", state=dict(state))


def end(job: ImportJob) -> None:
    store.complete(job.id)
    done = store.get(job.id)
    telemetry.measured(
        "import finished",
        {f"Products{name.title()}": int(done.fields[name]) for name in ProductOutcome},
        jobId=job.id,
        status=done.status,
    )


def end_without_file(job_id: str) -> None:
    """The file was deleted or replaced, so the rest of it cannot be read."""
    message = "The file was replaced or removed before all of it was read."
    store.fail(job_id, "file_changed", message)
    telemetry.warning("import without its file", jobId=job_id)


def _send(job: ImportJob, step: str, **more: object) -> None:
    queue.send([{"job": job.id, "step": step, **more}])
