"""Undoing a job."""

from chalice.app import Response

from chalicelib.imports.model import has_ended
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import UNDOABLE, Job, JobType, StartedJob
from chalicelib.problems import Conflict
from chalicelib.request import IDEMPOTENT, Role, Routes, looked_up, reply_text

routes = Routes(__name__, "Jobs")


@routes.post(
    "/api/admin/jobs/{id}/undo",
    "Undo an import, a bulk edit or a count",
    role=Role.STAFF,
    answers={202: StartedJob},
    problems=[Conflict],
    headers=IDEMPOTENT,
)
def undo_job(id: str) -> Response:
    """Every field that the job changed, and that was not changed since, gets its old value; stock
    changes by the difference. A product that the job created is deleted, unless it was changed,
    ordered or moved since. What cannot be undone is in the new job's errors, with the reason.
    Undoing twice changes nothing; an undo can be undone. Within 30 days.
    """
    repeatable = looked_up()
    _check_undoable(jobs.get(id))
    text = jobs.create(JobType.UNDO, {"job": id}, once=repeatable)
    return reply_text(202, text)


def _check_undoable(job: Job) -> None:
    """Raise Conflict, with the reason, for a job that cannot be undone."""
    if job.type not in UNDOABLE:
        raise Conflict(f"A job of type {job.type} cannot be undone.", code="nothing_to_undo")
    if not has_ended(job):
        raise Conflict(f"The job is {job.status}.", code="job_not_finished")
    if job.is_dry_run:
        raise Conflict("The job was a dry run and changed nothing.", code="nothing_to_undo")
    if not job.is_kept:
        raise Conflict("A job can be undone for 30 days.", code="undo_expired")
