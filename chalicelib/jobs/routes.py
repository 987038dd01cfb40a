"""Jobs of any type over HTTP: their progress and errors."""

from typing import Any, Final, Union

from chalice.app import Response

from chalicelib import listing
from chalicelib.jobs import store
from chalicelib.jobs.model import VIEWS, Job, JobSummary, JobView, ShownJob, show, show_whole
from chalicelib.problems import Conflict, NotFound
from chalicelib.request import Role, Routes, caller, query, reply, reply_page
from chalicelib.schemas import Walked
from chalicelib.storage.idempotency import fingerprint

routes = Routes(__name__, "Jobs")
# `app.py` imports the routes of all slices that have views before these.
_SUMMARY: Final[Any] = Union[*(view.summary for view in VIEWS.values()), JobSummary]
_WHOLE: Final[Any] = Union[*(view.whole for view in VIEWS.values()), ShownJob]
_SIGNED_ANEW = {"errorReportUrl", "downloadUrl"}
_WITHOUT_COSTS: Final[dict[str, object]] = {
    "preview": [],
    "report": None,
    **dict.fromkeys(_SIGNED_ANEW),
}


@routes.get(
    "/api/admin/jobs",
    "List jobs",
    role=Role.READER,
    query=listing.Filters,
    answers={200: Walked[_SUMMARY]},
)
def list_jobs() -> Response:
    """Newest first: imports, exports, reports, bulk edits, undos, counts, merges, erasures and
    reindexings.
    """
    page = store.page(query(listing.Filters).to_query())
    return reply_page([_view(job).show(job) for job in page.records], page)


@routes.get(
    "/api/admin/jobs/{id}",
    "Get a job",
    role=Role.READER,
    answers={200: _WHOLE, 304: None},
    problems=[NotFound],
)
def get(id: str) -> Response:
    """Its progress, and the first 100 errors; an import's report has all. A Reader gets a report
    without costs and its `downloadUrl`, but no other file, no preview and no samples of columns:
    they may show what products cost.
    """
    job = store.get(id)
    shown = _view(job).show_whole(job)
    if not caller().sees_costs and not _view(job).readers_get_file(job):
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
    answers={200: _WHOLE},
    problems=[NotFound, Conflict],
)
def cancel(id: str) -> Response:
    """No more work is started; records that were written stay, and are counted."""
    store.cancel(id)
    job = store.get(id)
    return reply(200, _view(job).show_whole(job))


def _show_plain(job: Job) -> dict[str, object]:
    return show_whole(job, store.errors(job.id) if job.is_kept else [], None)


def _view(job: Job) -> JobView:
    return VIEWS.get(job.type) or JobView(show, _show_plain)
