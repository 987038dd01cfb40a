"""Imports over HTTP: a file comes in, a job tells how far it is."""

from typing import Any, Final

from chalice.app import HeadersType, Response

from chalicelib import clock
from chalicelib.imports import files, form, store
from chalicelib.imports.model import LARGEST_FORM, ImportOptions, Mode, NewUpload, Upload
from chalicelib.imports.steps import queue
from chalicelib.jobs.model import StartedJob, Status
from chalicelib.problems import Conflict, Invalid, NotFound, PayloadTooLarge
from chalicelib.request import (
    Role,
    Routes,
    body,
    header,
    query,
    raw_body,
    reply,
    validate,
)

routes = Routes(__name__, "Imports")

_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "file": {"type": "string", "format": "binary", "description": "A CSV, up to 4.4 MB"},
        "mode": {"type": "string", "enum": list(Mode)},
        "dryRun": {"type": "boolean"},
    },
}
_FORM_SECONDS: Final = 300  # until a file that this very request brought counts as lost
_URL_SECONDS: Final = 3_600
# An upload may begin in the last second, and 5 GB take their time.
_UPLOAD_SECONDS: Final = 2 * _URL_SECONDS


@routes.post(
    "/api/admin/products/import",
    "Import products from a CSV file",
    role=Role.STAFF,
    body=_FORM,
    query=ImportOptions,
    consumes="multipart/form-data",
    answers={202: StartedJob},
    largest_body=LARGEST_FORM,
)
def start() -> Response:
    """The form field `file` is the CSV; for more than 4.4 MB use `…/import/uploads`. The columns
    say whose file it is (docs/import.md). The job tells what became of it."""
    asked = query(ImportOptions)
    sent = form.parsed(_form_bytes(), header("content-type") or "")
    for name in sent.fields.keys() - _FORM["properties"].keys():
        raise Invalid.field(name, "unknown_field", "is not a field that can be sent here")
    options = validate(ImportOptions, {**asked.model_dump(by_alias=True), **sent.fields})
    job = store.create(sent.file_name, options.mode, options.dry_run, _FORM_SECONDS)
    files.put(job.id, sent.data)
    return reply(202, {"jobId": job.id})


def _form_bytes() -> bytes:
    try:
        return raw_body()
    except PayloadTooLarge:
        raise PayloadTooLarge(
            f"A form takes files of up to {LARGEST_FORM:,} bytes. For larger ones ask for an"
            " upload: POST /api/admin/products/import/uploads."
        ) from None


@routes.post(
    "/api/admin/products/import/uploads",
    "Get an address to upload a large CSV file to",
    role=Role.STAFF,
    body=NewUpload,
    answers={201: Upload},
)
def prepare() -> Response:
    """Post a form to `url` within the hour: all `fields`, then `file`, up to 5 GB. The import
    starts by itself. A job whose file never comes ends as FAILED, `upload_missing`."""
    asked = body(NewUpload)
    job = store.create(asked.file_name, asked.mode, asked.dry_run, _UPLOAD_SECONDS)
    url, fields = files.upload_form(job.id, _URL_SECONDS)
    expires = clock.iso(clock.after(_URL_SECONDS))
    return reply(201, {"jobId": job.id, "url": url, "fields": fields, "expiresAt": expires})


@routes.get(
    "/api/admin/products/import/template",
    "Get a CSV to begin with",
    role=Role.READER,
    answers={200: "text/csv"},
)
def get_template() -> Response:
    """All our columns, with two products as examples."""
    from chalicelib.imports.formats.report import template

    headers: HeadersType = {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": 'attachment; filename="products.csv"',
    }
    return Response(template().decode(), headers, 200)


@routes.post(
    "/api/admin/jobs/{id}/retry",
    "Import again what failed",
    role=Role.STAFF,
    answers={202: StartedJob},
    problems=[NotFound, Conflict],
)
def retry(id: str) -> Response:
    """A new job, of the rows that failed; or of the whole file, if the job failed or was cancelled.
    What was written before is found unchanged."""
    old = store.get(id)
    if old.status in {Status.QUEUED, Status.RUNNING} and old.given_up(clock.now()) is None:
        raise Conflict(f"The job is {old.status}.", code="job_not_finished")
    if old.status is Status.COMPLETED and "report" not in old.fields:
        raise Conflict("No row of the job can be tried again.", code="nothing_to_retry")
    report = old.status is Status.COMPLETED
    if not files.is_there(old.id, report=report):
        raise Conflict("The file of the job is not there any more.", code="file_missing")
    job = store.create(str(old.fields["fileName"]), old.mode, old.is_rehearsal, _UPLOAD_SECONDS)
    # Not here: to copy 5 GB may take longer than an answer may.
    queue.send([{"job": job.id, "step": "copy", "from": old.id, "report": report}])
    return reply(202, {"jobId": job.id})
