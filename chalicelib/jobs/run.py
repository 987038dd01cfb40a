"""The worker of jobs: one step after another, within the time of one message.

A step may stop at any line, run twice, or overlap with itself. The record or the job's log shows
what it did to each record; its counts are in the transaction that ends it.
"""

import time
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from chalicelib import telemetry
from chalicelib.jobs import queue, store
from chalicelib.jobs.model import Job, JobStatus, RecordOutcome, Step
from chalicelib.problems import Problem
from chalicelib.sqs import Batch, Handled, handle_steps
from chalicelib.storage.actor import act_as

_SECONDS: Final = 20  # of steps for one message; then other jobs continue
_RETRY_SECONDS: Final = (2, 5, 20, 60, 180)
_MISSING: Final = 4  # receives of a step before its job is written

Work = Mapping[str, str]  # type of job → module whose `step` does it


def batch(event: Batch, work: Work) -> Handled:
    """Work on messages of the queue of jobs; return those that failed, which are received again."""

    def do_step(message: Mapping[str, Any], received: int) -> bool:
        """Work on a message; return False for one whose job is not written yet."""
        job = store.find(message["job"])
        if job is None:
            return received > _MISSING  # its request died, or was answered with an error
        with act_as(lambda: job.actor):
            _run_steps(job, int(message["step"]), received > 1, work)
        return True

    records = event["Records"]
    return handle_steps(records, do_step, queue.show_again, _RETRY_SECONDS, "job step failed")


def _run_steps(job: Job, number: int, again: bool, work: Work) -> None:
    if job.step != number and not again:
        return
    # For a repeated step that has ended: its worker may have died before it sent the next.
    until = time.monotonic() + _SECONDS
    current: Job | None = store.begin(job)
    wait = 0
    do: Callable[[Job], Step] = import_module(work[job.type]).step
    while current is not None and current.status is JobStatus.RUNNING:
        if wait or (current.step != job.step and time.monotonic() > until):
            queue.send(current.id, current.step, wait)
            return
        step = _do_step(current, do)
        if step is None:
            return
        current, wait = store.advance(current, step), step.wait
    if current is not None and current.status is JobStatus.COMPLETED:
        counts = {f"Records{name.title()}": int(current.fields[name]) for name in RecordOutcome}
        telemetry.log_metrics("job finished", counts, jobId=current.id, type=current.type)


def _do_step(job: Job, do: Callable[[Job], Step]) -> Step | None:
    """Return the result of the job's next step; None if the job has failed."""
    try:
        return do(job)
    except Problem as problem:
        # The request cannot be done, so retrying is useless.
        if problem.may_pass:
            raise
        store.fail(job.id, str(problem.body()["code"]), str(problem))
        return None
