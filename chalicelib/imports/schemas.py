"""An import job as the API shows it."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.imports import files, store
from chalicelib.imports.formats import FIELDS, FORMATS, Format, Mapped, Ours
from chalicelib.imports.formats.product import Skipped
from chalicelib.imports.model import ImportFailure, ImportJob, ImportMode
from chalicelib.imports.store import MOST_PREVIEWS
from chalicelib.jobs.model import INLINE_ERRORS, JobProgress, JobStatus, show_as
from chalicelib.schemas import about
from chalicelib.values import clock

_KNOWN: Final[tuple[type[Format], ...]] = (Ours, Mapped, *FORMATS)
TITLES: Final = {one.name: one.title for one in _KNOWN}
FIELD_NAMES: Final = tuple(FIELDS)


class ImportRowError(TypedDict):
    """`row`: the line in the file (the header is line 1); `field`: the file's column; and the
    product as its rows name it.
    """

    row: Annotated[int, about("Line of the file, the header being 1; null: the whole file.")]
    field: Annotated[str, about("The field that it is about; for a file its column.")]
    code: Annotated[str, about("What happened, for programs.")]
    message: Annotated[str, about("What happened, for people.")]
    slug: Annotated[str | None, about("Its part of a web address, such as blue-shirt.")]
    sku: Annotated[str | None, about("Stock keeping unit.")]
    name: Annotated[str | None, about("Name.")]


class ImportColumn(TypedDict):
    """A column of the file; `field`: what it is read as, or proposed as."""

    column: Annotated[str, about("Name of the file's column.")]
    samples: Annotated[list[str], Field(description="Up to three different values")]
    field: Annotated[str | None, about("The field that it is read as, or proposed as; null: none.")]
    ignored: Annotated[bool, about("Whether it is not read.")]


class ImportEncoding(TypedDict):
    """A possible encoding of the file."""

    encoding: Annotated[str, Field(description="The name to choose it by")]
    samples: Annotated[list[str], Field(description="The first words in this encoding")]


class ImportNotice(TypedDict):
    """A warning; nothing failed."""

    code: Annotated[str, about("What happened, for programs.")]
    message: Annotated[str, about("What happened, for people.")]
    column: Annotated[str, about("Name of the file's column.")]


class ImportPreview(TypedDict):
    """A product of a dry run: the fields that would differ. `before` is null if it would be
    created. Long texts and lists are cut.
    """

    row: Annotated[int, about("Line of the file, the header being 1; null: the whole file.")]
    outcome: Annotated[str, about("What would happen to it: created, updated or failed.")]
    id: Annotated[str | None, about("Identifier.")]
    slug: Annotated[str, about("Its part of a web address, such as blue-shirt.")]
    name: Annotated[str, about("Name.")]
    image: Annotated[str | None, about("Address of its first picture; null: it has none.")]
    before: Annotated[
        dict[str, object] | None,
        about("The fields that differ, as they are now; null where it would be created."),
    ]
    after: Annotated[dict[str, object], about("The fields that differ, afterwards.")]


class ImportJobSummary(JobProgress):
    """An import, as a list shows it; it counts products."""

    type: Annotated[str, about("Always product_import.")]
    fileName: Annotated[str, about("Name of the file.")]
    mode: Annotated[ImportMode, about("Import mode: which products may be created or changed.")]
    allowZeroPrices: Annotated[bool, about("Whether prices above zero may become zero.")]
    dialect: Annotated[str | None, Field(description="The format of the file")]
    encoding: Annotated[str | None, Field(description="Of the file's text")]
    delimiter: Annotated[str | None, about("What separates the file's columns.")]
    headerRow: Annotated[int | None, about("Line of the header; 0: the file has none.")]
    ignoredColumns: Annotated[list[str], about("Columns that are not read.")]
    warnings: Annotated[list[ImportNotice], about("Warnings; nothing failed.")]
    sourceJobId: Annotated[str | None, Field(description="The job that this one retries or runs")]
    total: Annotated[int | None, Field(description="Products in the file; null until it was read")]
    rows: Annotated[int | None, Field(description="Rows in the file; null until it was read")]
    failed: Annotated[int, about("How many could not be written at all.")]
    withErrors: Annotated[int, about("How many have rows that failed, written or not.")]
    error: Annotated[ImportFailure | None, about("Why it failed; null: it did not.")]


class ShownImportJob(ImportJobSummary):
    """An import: its progress, and the results for the file's products."""

    errors: Annotated[
        list[ImportRowError], Field(description=f"The first {INLINE_ERRORS}, by line")
    ]
    errorReportUrl: Annotated[
        str | None, Field(description="A CSV of all rows that failed, for 30 days; null: none")
    ]
    columns: Annotated[list[ImportColumn], Field(description="Empty until the file was read")]
    savedMapping: Annotated[str | None, Field(description="The saved mapping that is proposed")]
    fields: Annotated[list[str], Field(description="The fields that a column can be read as")]
    fieldDescriptions: Annotated[dict[str, str], Field(description="What each of them is")]
    encodings: Annotated[list[ImportEncoding], Field(description="The encodings to choose from")]
    preview: Annotated[
        list[ImportPreview],
        Field(description=f"Of a dry run: the first {MOST_PREVIEWS} that change"),
    ]


def show(job: ImportJob, now: datetime) -> dict[str, object]:
    """Return the job in the shape of ImportJobSummary. Nothing is read.

    One whose time is over is shown as FAILED. `now`: by which that is judged.
    """
    fields, form = job.fields, job.fields.get("format", {})
    shown: dict[str, object] = {
        **show_as(ImportJobSummary, job),
        "allowZeroPrices": bool(fields.get("allowZeroPrices")),
        **{name: form.get(name) for name in ("encoding", "delimiter")},
        "headerRow": form.get("header_row"),
        "ignoredColumns": fields.get("ignoredColumns", []),
        "warnings": _list_warnings(job),
        "error": {"row": None, **fields["error"]} if fields.get("error") else None,
    }
    unmarked = job.find_unmarked_failure(now)
    if unmarked is not None:
        since, error = unmarked
        shown |= {"status": JobStatus.FAILED, "error": error, "completedAt": since}
    return shown


def show_whole(job: ImportJob) -> dict[str, object]:
    """Return the job in the shape of ShownImportJob.

    Its columns, first errors and notices, and previews are read here; `errorReportUrl` is valid for
    an hour.
    """
    shown: dict[str, object] = {
        **show(job, clock.now()),
        **{name: [] for name in ("errors", "columns", "fields", "encodings", "preview")},
        **dict.fromkeys(("errorReportUrl", "savedMapping")),
        **(store.get_columns(job.id) if job.is_kept else {}),
    }
    named = shown["fields"] if isinstance(shown["fields"], list) else []
    shown["fieldDescriptions"] = {name: FIELDS[name] for name in named if name in FIELDS}
    if job.has_report:
        shown["errorReportUrl"] = files.report_url(job.id, str(job.fields["fileName"]))
    if not job.is_kept:  # though it may be there for days
        return shown
    if job.with_errors:
        shown["errors"] = store.list_errors(job.id)
    if job.fields.get(Skipped.REPEATED) or job.fields.get(Skipped.SHARED_SKU):
        repeats = store.list_errors(job.id, store.NOTICES)
        notices = [_make_notice(each["code"], each["message"], each["field"]) for each in repeats]
        shown["warnings"] = [*_list_warnings(job), *notices]
    if job.is_dry_run:
        shown["preview"] = store.list_previews(job.id)
    return shown


def _list_warnings(job: ImportJob) -> list[ImportNotice]:
    """Return the notices of what is not read, in doubt, or was skipped, each with its number."""
    notices = [
        _make_notice("column_not_read", f'This column is not read: "{column}".', column)
        for column in job.fields.get("missedColumns", ())
    ]
    if far := job.fields.get("blankUpTo"):
        message = f"Blank cells far from the others, up to {far}, are not read."
        notices.append(_make_notice("blank_cells_far_away", message))
    if doubt := job.fields.get("doubt"):
        notices.append(_make_notice("mapping_in_doubt", doubt))
    for skipped, (code, message) in _SKIPPED.items():
        if number := job.fields.get(skipped):
            notices.append(_make_notice(code, f"{message}: {number}."))
    return notices


def _make_notice(code: str, message: str, column: str = "") -> ImportNotice:
    """Return a notice; `column` is "" if it is about the whole file."""
    return {"code": code, "message": message, "column": column}


_SKIPPED: Final = {
    Skipped.PICTURES: ("pictures_skipped", "Pictures without an address that can be used, skipped"),
    Skipped.BARCODES: (
        "barcodes_skipped",
        "Barcodes that are too long, or that a spreadsheet has rounded, skipped",
    ),
    Skipped.REPEATED: (
        "rows_repeated",
        "Rows with another name, SKU, price or stock than an earlier row of the product; the later"
        " counts",
    ),
    Skipped.SHARED_SKU: (
        "shared_skus",
        "Variants with the SKU of another variant of their product, which lists by SKU cannot"
        " change",
    ),
    Skipped.OTHER_VIEW: (
        "other_store_view",
        "Rows of other store views, which translate the products, skipped",
    ),
    Skipped.OTHER_CURRENCY: (
        "other_currency",
        "Rows in another currency than the shop's, which are another price list, skipped",
    ),
}
