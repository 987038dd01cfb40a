"""Imports over HTTP: uploads, mappings and their jobs."""

import hashlib
import json
import re
from dataclasses import replace
from typing import Any, Final

from chalice.app import HeadersType, Response

from chalicelib.customers import store as customers
from chalicelib.imports import files, mappings, multipart_form, store
from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.model import (
    LARGEST_FORM,
    LONGEST_MAPPING_NAME,
    MAPPING_NAME,
    ChosenMapping,
    Columns,
    ImportJob,
    ImportOptions,
    ImportUpload,
    MappingPreview,
    NewImportUpload,
    NewMapping,
    Options,
    PreviewedMapping,
    SavedMapping,
    SavedMappingList,
    has_ended,
)
from chalicelib.imports.schemas import ImportJobSummary, ShownImportJob, show, show_whole
from chalicelib.imports.steps import queue
from chalicelib.jobs.model import VIEWS, Job, JobStatus, JobType, JobView, StartedJob
from chalicelib.problems import Conflict, Invalid, MalformedJson, NotFound, PayloadTooLarge
from chalicelib.request import (
    IDEMPOTENT,
    Role,
    Routes,
    body,
    body_once,
    header,
    looked_up,
    once,
    query,
    raw_body,
    reply,
    size,
    validate,
)
from chalicelib.request.answer import reply_text
from chalicelib.request.parse import unique
from chalicelib.schemas import Deleted
from chalicelib.storage.idempotency import Begun, Once, withdraw_if_refused
from chalicelib.values import clock
from chalicelib.values.compact_json import encode

routes = Routes(__name__, "Imports")

# Each parameter of the query is also accepted as a form field; `description/openapi.py` adds them
# here.
_FORM: Final = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "file": {"type": "string", "format": "binary", "description": "A CSV, up to 4.4 MB"}
    },
}
_FORM_FIELDS: Final = {field.alias for field in ImportOptions.model_fields.values()}


def _show_listed(job: Job) -> dict[str, Any]:
    """Return the shape of ImportJobSummary of a job that the list has loaded, as of now."""
    return show(ImportJob(job.fields), clock.now())


def _show_fitting(job: Job) -> dict[str, Any]:
    """Return the shape of ShownImportJob, with the first of its previews that fit into an answer.

    50 products whose texts are long, and not in ASCII, may be more than 6 MB.
    """
    shown: dict[str, Any] = show_whole(ImportJob(job.fields))
    previews = shown["preview"]
    if not previews:
        return shown
    others = encode({**shown, "preview": []})
    number = size.fitting([others, *map(encode, previews)])
    return {**shown, "preview": previews[: max(0, number - 1)]}


VIEWS[JobType.PRODUCT_IMPORT] = JobView(
    _show_listed, _show_fitting, ImportJobSummary, ShownImportJob
)
_FORM_SECONDS: Final = 300  # until the file of this request counts as lost
_URL_SECONDS: Final = 3_600
# An upload may begin in the last second, and 1 GB takes its time.
_UPLOAD_SECONDS: Final = 2 * _URL_SECONDS


@routes.post(
    "/api/admin/products/import",
    "Import products from a file",
    role=Role.STAFF,
    body=_FORM,
    query=ImportOptions,
    consumes="multipart/form-data",
    answers={202: StartedJob},
    headers=IDEMPOTENT,
    largest_body=LARGEST_FORM,
)
def start() -> Response:
    """The form field `file` is a CSV, .xlsx or .ods file; for more than 4.4 MB use
    `…/import/uploads`. The format is recognised by its columns (docs/import.md). The job has the
    results.
    """
    options_sent = query(ImportOptions)
    sent = multipart_form.parse_form(_read_form_body(), header("content-type") or "")
    for name in sent.fields.keys() - _FORM_FIELDS:
        raise Invalid.field(name, "unknown_field", "is not a field that can be sent here")
    options = validate(ImportOptions, {**options_sent.model_dump(by_alias=True), **sent.fields})
    chosen = options.model_dump(mode="json", by_alias=True)
    repeatable = once([chosen, sent.file_name, hashlib.sha256(sent.data).hexdigest()])
    begun = repeatable.begin_or_resume() if repeatable else None
    id = begun.id("job", 0) if begun else None
    with withdraw_if_refused(begun):
        read_as = _read_options(options)
    job = store.create_job(sent.file_name, read_as, _FORM_SECONDS, id=id)
    # Again, if it was lost; not over a workbook's sheet, which the job may be reading.
    if begun is None or not begun.again or not files.has_file(job.id, report=False):
        files.put_upload(job.id, sent.data)
    return _reply_job(job, begun)


def _read_options(sent: ImportOptions | NewImportUpload) -> Options:
    """Return the options of a request; the saved mapping that it names is loaded.

    Raises Invalid for an unknown mapping or encoding.
    """
    mapping, file_format = _read_mapping(sent)
    values = sent.model_dump(exclude={"file_name", "saved_mapping"})
    read_as = {
        "mapping": mapping,
        "format": file_format,
        "encoding": _check_encoding(sent.encoding),
    }
    return Options(**{**values, **read_as})


def _check_encoding(name: str) -> str:
    """Return the usual name of an encoding, "" for none. Raises Invalid for an unknown one."""
    from chalicelib.imports.csv.encodings import find_encoding

    try:
        return find_encoding(name) if name else ""
    except FileRejected as unknown:
        raise Invalid.field("encoding", unknown.code, f"is unknown: {unknown.message}") from None


def _read_mapping(request: ImportOptions | NewImportUpload) -> tuple[Columns | None, str | None]:
    """Return the columns and the format of the saved mapping that is named, or of the one sent.

    Raises Invalid if the saved mapping does not exist, or both are sent.
    """
    if request.saved_mapping:
        if request.mapping:
            raise Invalid.field("savedMapping", "two_mappings", "cannot be sent with `mapping`")
        try:
            saved = mappings.get_mapping(request.saved_mapping)
        except NotFound:
            message = "is not the name of a saved mapping"
            raise Invalid.field("savedMapping", "unknown_mapping", message) from None
        columns = saved["columns"]
        is_changed = not saved["format"] or any(columns.values())
        return (columns if is_changed else None), saved["format"]
    sent = request.mapping or None
    if isinstance(sent, str):
        try:
            sent = json.loads(sent, object_pairs_hook=unique)
        except (ValueError, RecursionError, MalformedJson):
            message = "is not JSON, or names a column twice"
            raise Invalid.field("mapping", "malformed_json", message) from None
    if sent is not None:
        sent = validate(NewMapping, {"columns": sent}).columns
        mappings.check_mapping(list(sent), sent, None)
    return sent, None


def _read_form_body() -> bytes:
    """Return the whole body, as bytes.

    Raises PayloadTooLarge, which names the way for larger files.
    """
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
    body=NewImportUpload,
    answers={201: ImportUpload},
    headers=IDEMPOTENT,
)
def prepare_upload() -> Response:
    """Post a form to `url` within the hour: all `fields`, then `file`, up to 1 GB. The import
    then starts automatically. A job without its file ends as FAILED, `upload_missing`. A retry with
    the same Idempotency-Key returns the same job with a new address, valid for an hour.
    """
    upload, repeatable = body_once(NewImportUpload)
    read_as = _read_options(upload)
    id = repeatable.begin_or_resume().id("job", 0) if repeatable else None
    job = store.create_job(upload.file_name, read_as, _UPLOAD_SECONDS, id=id)
    url, fields = files.upload_form(job.id, _URL_SECONDS)
    expires = clock.iso(clock.seconds_from_now(_URL_SECONDS))
    return reply(201, {"jobId": job.id, "url": url, "fields": fields, "expiresAt": expires})


@routes.get(
    "/api/admin/products/import/template",
    "Get a CSV template",
    role=Role.READER,
    answers={200: "text/csv"},
)
def get_import_template() -> Response:
    """All our columns, with two products as examples."""
    from chalicelib.imports.formats.report import template

    headers: HeadersType = {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": 'attachment; filename="products.csv"',
    }
    return Response(template().decode(), headers, 200)


@routes.post(
    "/api/admin/jobs/{id}/retry",
    "Retry failed rows",
    role=Role.STAFF,
    answers={202: StartedJob},
    problems=[NotFound, Conflict],
    headers=IDEMPOTENT,
)
def retry(id: str) -> Response:
    """A new job for the rows that failed, or for the whole file if the job failed or was cancelled.
    Products already written are `unchanged`.
    """
    repeatable = looked_up()
    old = _get_ended_job(id)
    has_rows = old.status is not JobStatus.COMPLETED or "report" in old.fields
    if old.type != JobType.PRODUCT_IMPORT or not has_rows:
        raise Conflict("No row of the job can be retried.", code="nothing_to_retry")
    report = old.status is JobStatus.COMPLETED
    options = old.options
    if report:
        from chalicelib.imports.formats.report import report_delimiter

        # It begins with its header, whose names may have more of other marks.
        delimiter = report_delimiter(str(old.fields["format"]["delimiter"]))
        options = replace(options, header_row=None, delimiter=delimiter)
    return _start_again(old, options, repeatable, report=report)


@routes.post(
    "/api/admin/jobs/{id}/run",
    "Import the file of a dry run",
    role=Role.STAFF,
    answers={202: StartedJob},
    problems=[NotFound, Conflict],
    headers=IDEMPOTENT,
)
def run(id: str) -> Response:
    """A new job with the same file, mapping and options, which writes."""
    repeatable = looked_up()
    old = _get_ended_job(id)
    is_import = old.type == JobType.PRODUCT_IMPORT
    if not (is_import and old.is_dry_run and old.status is JobStatus.COMPLETED):
        raise Conflict("The job is not a completed dry run.", code="not_a_dry_run")
    return _start_again(old, replace(old.options, dry_run=False), repeatable, report=False)


def _reply_job(job: ImportJob, begun: Begun | None) -> Response:
    """Return the reply 202 with nothing but `jobId`; store it as the answer of the request.

    `begun`: the request, if it has an idempotency key; otherwise nothing is stored.
    """
    text = encode({"jobId": job.id})
    if begun:
        begun.finish(text)
    return reply_text(202, text)


def _get_ended_job(id: str) -> ImportJob:
    """Return the job if it has ended. Raises NotFound, and Conflict if it has not."""
    job = store.get_job(id)
    if not has_ended(job):
        raise Conflict(f"The job is {job.status}.", code="job_not_finished")
    return job


def _start_again(
    old: ImportJob, options: Options, repeatable: Once | None, *, report: bool
) -> Response:
    """Create a job that reads the file of `old`, or the `report` of its failed rows; answer 202.

    A message is sent that copies the file; the job's format is that of `old`, unless the options
    have one. With `repeatable`, a repeat gets the same job. Raises Conflict if the file is gone, or
    if a customer was erased since it was uploaded.
    """
    if not files.has_file(old.id, report=report):
        subject = "report of the failed rows" if report else "file of the job"
        raise Conflict(f"The {subject} no longer exists.", code="file_missing")
    if customers.is_erased_since(str(old.fields["createdAt"])):  # a copy would be kept anew
        message = "A customer was erased since the file was uploaded. Upload it again."
        raise Conflict(message, code="file_missing")
    file_format = old.fields.get("dialect")
    if options.mapping is None and options.format is None and file_format:
        options = replace(options, format=str(file_format))
    source: dict[str, object] = {"sourceJobId": old.id}
    source["retried"] = report or old.has_numbers_of_source
    source["blankUpTo"] = None if report else old.fields.get("blankUpTo")
    if not old.is_dry_run:  # which wrote nothing
        source["firstJobId"] = old.first_job_id
    begun = repeatable.begin_or_resume() if repeatable else None
    id = begun.id("job", 0) if begun else None
    job = store.create_job(str(old.fields["fileName"]), options, _UPLOAD_SECONDS, source, id)
    # Not here: copying 1 GB may take longer than a request.
    queue.send([{"job": job.id, "step": "copy", "from": old.id, "report": report}])
    return _reply_job(job, begun)


@routes.post(
    "/api/admin/jobs/{id}/mapping",
    "Map the columns of a file",
    role=Role.STAFF,
    body=ChosenMapping,
    answers={200: ShownImportJob},
    problems=[NotFound, Conflict],
)
def map_import_columns(id: str) -> Response:
    """Continues a job that is NEEDS_MAPPING with `columns` (column → field, null if it is not
    read), a known `format`, or both: the format with these columns changed. With `encoding`,
    `delimiter` or `headerRow` instead, the file is read again and its columns are shown again.
    `saveAs` saves the mapping for files with these columns.
    """
    job, asked = _get_waiting_job(id), body(ChosenMapping)
    is_other = asked.encoding or asked.delimiter or asked.header_row is not None
    chosen = _change_reading(job, asked) if is_other else _apply_mapping(job, asked)
    answered = store.store_answer(job.id, chosen, _UPLOAD_SECONDS)
    if answered is None:
        raise Conflict("The job does not wait for a mapping.", code="job_not_waiting")
    queue.send([{"job": job.id, "step": "copy", "from": job.id, "report": False}])
    return reply(200, show_whole(answered))


@routes.post(
    "/api/admin/jobs/{id}/mapping/preview",
    "Preview a mapping",
    role=Role.STAFF,
    body=PreviewedMapping,
    answers={200: MappingPreview},
    problems=[NotFound, Conflict],
)
def preview_import_mapping(id: str) -> Response:
    """What the first half megabyte of the file becomes with this mapping: how many products and
    variants, and the first three. Nothing is written, and the job still waits.
    """
    from chalicelib.imports import foreseen

    job, chosen = _get_waiting_job(id), body(PreviewedMapping)
    try:
        return reply(200, foreseen.foresee(job, job.format, _apply_mapping(job, chosen)))
    except FileRejected as rejected:
        raise Invalid.field("format", rejected.code, rejected.message) from None
    except files.FileChanged:
        raise Conflict("The file of the job no longer exists.", code="file_missing") from None


def _get_waiting_job(id: str) -> ImportJob:
    """Return a job whose user was asked, until its file is read after an answer.

    Raises NotFound, and Conflict for any other, also if it has failed meanwhile.
    """
    job = store.get_job(id)
    waits = job.was_asked and job.status in {JobStatus.NEEDS_MAPPING, JobStatus.QUEUED}
    if not waits or job.find_unmarked_failure(clock.now()) is not None:
        raise Conflict("The job does not wait for a mapping.", code="job_not_waiting")
    return job


def _change_reading(job: ImportJob, chosen: ChosenMapping) -> Options:
    """Return the job's options with another encoding, delimiter or header row.

    Raises Invalid if the request has columns too, which are known only after the next reading.
    """
    if chosen.columns or chosen.format or chosen.save_as:
        message = "must be sent after the file was read again, not in the same request"
        raise Invalid.field("columns", "not_yet", message)
    encoding = _check_encoding(chosen.encoding) or job.options.encoding
    delimiter = chosen.delimiter or job.options.delimiter
    row = job.options.header_row if chosen.header_row is None else chosen.header_row
    return replace(job.options, encoding=encoding, delimiter=delimiter, header_row=row)


def _apply_mapping(job: ImportJob, chosen: PreviewedMapping) -> Options:
    """Check the mapping of the request, and save it if it has a name.

    Return the job's options with it. The job is not changed. Raises Invalid, also while the
    encoding is asked for first.
    """
    if job.asks_for_encoding:
        raise Invalid.field("encoding", "required", "is required: choose one of `encodings`")
    mappings.check_mapping(job.format.header, chosen.columns, chosen.format)
    if isinstance(chosen, ChosenMapping) and chosen.save_as:
        mappings.save_mapping(chosen.save_as, job.format.header, chosen.columns, chosen.format)
    return replace(job.options, mapping=chosen.columns, format=chosen.format, review=False)


@routes.get(
    "/api/admin/products/import/mappings",
    "List saved mappings",
    role=Role.STAFF,
    answers={200: SavedMappingList},
)
def list_import_mappings() -> Response:
    """All saved mappings, by name. Each is proposed for files with exactly its columns."""
    return reply(200, {"data": mappings.list_mappings()})


@routes.put(
    "/api/admin/products/import/mappings/{name}",
    "Save a mapping",
    role=Role.STAFF,
    body=NewMapping,
    answers={200: SavedMapping},
    problems=[Conflict],
)
def save_import_mapping(name: str) -> Response:
    """Name every column of the file, with null for those that are not read. Replaces a mapping of
    the same name.
    """
    new = body(NewMapping)
    if len(name) > LONGEST_MAPPING_NAME:
        message = f"must be at most {LONGEST_MAPPING_NAME} characters"
        raise Invalid.field("name", "too_long", message)
    if not re.fullmatch(MAPPING_NAME, name):
        raise Invalid.field("name", "invalid", "must have no slash, and not dots alone")
    header = list(new.columns)
    # Of a format with no field for any column, as it is shown: they are read as the format does.
    as_it_does = new.format is not None and not any(new.columns.values())
    columns = None if as_it_does else new.columns
    mappings.check_mapping(header, columns, new.format)
    return reply(200, mappings.save_mapping(name, header, columns, new.format))


@routes.delete(
    "/api/admin/products/import/mappings/{name}",
    "Delete a saved mapping",
    role=Role.STAFF,
    answers={200: Deleted},
    problems=[NotFound],
)
def delete_import_mapping(name: str) -> Response:
    mappings.delete_mapping(name)
    return reply(200, {"id": name, "deleted": True})
