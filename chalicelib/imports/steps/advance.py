"""Starts the next step of a job, and at last ends it.

The worker that finds all chunks done starts it. So each step is started at least once, before the
message of the last chunk is deleted; starting it twice is harmless.
"""

from chalicelib import telemetry
from chalicelib.imports import store
from chalicelib.imports.model import ImportJob, ProductOutcome
from chalicelib.imports.steps import queue
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import JobStatus


def start_next_step(job_id: str) -> None:
    """End a running job whose chunks are all done, or if it has errors, send for its report first.

    The step that writes the report ends it. Nothing happens to any other job.
    """
    job = store.find_job(job_id)
    if job is None or job.status is not JobStatus.RUNNING or not job.all_chunks_done:
        return
    if job.with_errors:
        queue.send([{"job": job.id, "step": "report"}])
    else:
        end_job(job)


def end_job(job: ImportJob) -> None:
    """Mark a job as COMPLETED unless it has ended, and log its numbers, read again."""
    jobs.end(job.id, JobStatus.COMPLETED)
    done = store.get_job(job.id)
    telemetry.log_metrics(
        "import finished",
        {f"Products{name.title()}": int(done.fields[name]) for name in ProductOutcome},
        jobId=job.id,
        status=done.status,
    )


def fail_without_file(job_id: str) -> None:
    """Mark a job as FAILED, unless it has ended, because its file was deleted or replaced.

    That was before all of the file was read. It is logged.
    """
    message = "The file was replaced or removed before all of it was read."
    jobs.fail(job_id, "file_changed", message)
    telemetry.warning("import without its file", jobId=job_id)
