"""For other slices: the file of a job, a table as a CSV, and what is left of an erased customer."""

from collections.abc import Iterable, Sequence

from chalicelib.exports import files
from chalicelib.exports.cells import BOM, lines
from chalicelib.exports.model import ExportType
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import Job, JobStatus, JobType

_NAMELESS = {ExportType.PRODUCTS, ExportType.MOVEMENTS}  # they name no customer
_MESSAGE = "A customer in it was erased. Start the export again."

download_url = files.url


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    return BOM + lines([header, *rows])


def forget(job: Job, ids: Sequence[str]) -> bool:
    """Removes the file of an export that has one of these customers and orders, or is being written
    and may have; whether it was one. Doing it again changes nothing."""
    if job.type != JobType.EXPORT or job.asked["type"] in _NAMELESS:
        return False
    if not job.has_ended:
        jobs.fail(job.id, "customer_erased", _MESSAGE)
        files.remove(jobs.get(job.id))
        return True
    if job.status is not JobStatus.COMPLETED:
        files.remove(job)  # its last step may have put it together after it had failed
        return False
    if "bytes" not in job.fields or not files.holds(job, ids):
        return False
    files.remove(job)
    jobs.lose_file(job.id, {"code": "customer_erased", "message": _MESSAGE})
    return True
