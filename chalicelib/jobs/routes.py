"""Jobs of any type over HTTP: their progress and errors."""

from typing import Any, Final

from chalice.app import Response

from chalicelib import listing
from chalicelib.exports.store import download_url
from chalicelib.imports.model import ImportJob
from chalicelib.imports.schemas import ImportJobSummary, ShownImportJob
from chalicelib.imports.schemas import show as show_import
from chalicelib.imports.schemas import show_whole as show_whole_import
from chalicelib.jobs import store
from chalicelib.jobs.model import Job, JobSummary, JobType, ShownJob, show, show_whole
from chalicelib.problems import Conflict, NotFound
from chalicelib.reports.schemas import ShownReportJob, show_report
from chalicelib.request import Role, Routes, caller, query, reply, reply_page, size
from chalicelib.schemas import Walked
from chalicelib.storage.idempotency import fingerprint
from chalicelib.values import clock
from chalicelib.values.compact_json import encode

routes = Routes(__name__, "Jobs")
_SIGNED_ANEW = {"errorReportUrl", "downloadUrl"}
_WITHOUT_COSTS: Final[dict[str, Any]] = {"preview": [], **dict.fromkeys(_SIGNED_ANEW)}


@routes.get(
    "/api/admin/jobs",
    "List jobs",
    role=Role.READER,
    query=listing.Filters,
    answers={200: Walked[ImportJobSummary | JobSummary]},
)
def list_jobs() -> Response:
    """Newest first: imports, exports, reports, bulk edits, undos, counts, merges, erasures and
    reindexings."""
    page = store.page(query(listing.Filters).query())
    return reply_page([_listed(job) for job in page.records], page)


@routes.get(
    "/api/admin/jobs/{id}",
    "Get a job",
    role=Role.READER,
    answers={200: ShownImportJob | ShownReportJob | ShownJob, 304: None},
    problems=[NotFound],
)
def get(id: str) -> Response:
    """Its progress, and the first 100 errors; an import's report has all. A Reader gets the
    `downloadUrl` of a report, but no other file, no preview and no samples of columns: they may
    show what products cost."""
    shown = _whole(store.get(id))
    if not caller().sees_costs and shown["type"] != JobType.REPORT:
        columns = [{**column, "samples": []} for column in shown.get("columns", ())]
        without = {**_WITHOUT_COSTS, "columns": columns}
        shown |= {name: empty for name, empty in without.items() if name in shown}
    lasting = {
        name: bool(value) if name in _SIGNED_ANEW else value for name, value in shown.items()
    }
    return reply(200, shown, etag=fingerprint(lasting))


@routes.post(
    "/api/admin/jobs/{id}/cancel",
    "Cancel a job",
    role=Role.STAFF,
    answers={200: ShownImportJob | ShownReportJob | ShownJob},
    problems=[NotFound, Conflict],
)
def cancel(id: str) -> Response:
    """No more work is started; records that were written stay, and are counted."""
    store.cancel(id)
    return reply(200, _whole(store.get(id)))


def _listed(job: Job) -> dict[str, object]:
    if job.type == JobType.PRODUCT_IMPORT:
        return show_import(ImportJob(job.fields), clock.now())
    return show(job)


def _fitting(shown: dict[str, Any]) -> dict[str, object]:
    """An import with the first of its previews that fit into an answer: 50 products whose texts
    are long, and not in ASCII, may be more than 6 MB."""
    previews = shown["preview"]
    if not previews:
        return shown
    rest = encode({**shown, "preview": []})
    number = size.fitting([rest, *map(encode, previews)])
    return {**shown, "preview": previews[: max(0, number - 1)]}


def _whole(job: Job) -> dict[str, Any]:
    if job.type == JobType.PRODUCT_IMPORT:
        return _fitting(show_whole_import(ImportJob(job.fields)))
    if job.type == JobType.REPORT:
        return show_report(job)
    errors = store.errors(job.id) if job.is_kept else []
    url = download_url(job) if job.has_file else None
    return show_whole(job, errors, url)
