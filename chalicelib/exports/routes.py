"""Exporting records: a job writes the file."""

from chalice.app import Response

from chalicelib.exports.model import NewExport, query
from chalicelib.exports.store import download_url
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import VIEWS, Job, JobType, JobView, StartedJob, show, show_whole
from chalicelib.request import IDEMPOTENT, Role, Routes, body_once, reply_text

routes = Routes(__name__, "Exports")


def _show_export(job: Job) -> dict[str, object]:
    url = download_url(job) if job.has_file else None
    errors = jobs.errors(job.id) if job.is_kept else []
    return show_whole(job, errors, url)


VIEWS[JobType.EXPORT] = JobView(show, _show_export)


@routes.post(
    "/api/admin/exports",
    "Export products, orders, customers, transactions or movements",
    role=Role.STAFF,
    body=NewExport,
    answers={202: StartedJob},
    headers=IDEMPOTENT,
)
def start() -> Response:
    """Those that match `filters`, or with `"all": true` all, as CSV or one JSON object a line. The
    job has `downloadUrl` when it is COMPLETED. A file of products can be imported again. Cells that
    a spreadsheet would run as formulas begin with an apostrophe, which the import removes.
    """
    export, once = body_once(NewExport)
    query(export.type, export.filters, 1)
    about = export.model_dump(by_alias=True, mode="json")
    text = jobs.create(JobType.EXPORT, about, once=once)
    return reply_text(202, text)
