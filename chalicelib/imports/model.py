"""What an import job is: what clients send, what is stored, and how it is shown.

A job counts in products: adjacent rows of one product are one (`groups.py`). It ends with
created + updated + unchanged + failed = total, unless it was cancelled or failed as a whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib import clock, listing
from chalicelib.imports.csv.records import Format
from chalicelib.jobs.model import Status
from chalicelib.schemas import Choice, Input, Query

LARGEST_UPLOAD: Final = 5 * 1024**3  # bytes; S3: one POST takes 5 GB
LARGEST_FORM: Final = 4_400_000  # bytes: Lambda takes 6 MB of event, where a file is a third longer
INLINE_ERRORS: Final = 100
_READING: Final = timedelta(hours=2)  # three attempts of 15 minutes, within an hour (triggers.yaml)


class Mode(Choice):
    """What may happen to products: both, only new ones, only those that exist."""

    UPSERT = "upsert"
    CREATE = "create"
    UPDATE = "update"


class Outcome(StrEnum):
    """What became of one product of the file; also the names of the job's counters."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    FAILED = "failed"


_FileName = Annotated[str, Field(min_length=1, max_length=255)]
_Mode = Annotated[Mode, Field(description="upsert, create (new only) or update (existing only).")]
_DryRun = Annotated[bool, Field(description="Say what would happen, and write no product.")]


class ImportOptions(Query):
    """Of the multipart import; form fields of these names say the same."""

    mode: _Mode = Mode.UPSERT
    dry_run: _DryRun = False


class NewUpload(Input):
    file_name: _FileName
    mode: _Mode = Mode.UPSERT
    dry_run: _DryRun = False


class Upload(TypedDict):
    """A form to post the file with, as `multipart/form-data`: `fields` first, then `file`."""

    jobId: str
    url: str
    fields: dict[str, str]
    expiresAt: str


class ShownRowError(TypedDict):
    """`row`: the line in the file, the header being line 1; `field`: the file's column."""

    row: int
    field: str
    code: str
    message: str


class FileError(TypedDict):
    """Why the job as a whole failed; `row` where a line of the file is the reason."""

    code: str
    message: str
    row: int | None


class ListedJob(TypedDict):
    id: str
    type: str
    fileName: str
    status: Status
    mode: Mode
    dryRun: bool
    dialect: Annotated[str | None, Field(description="Whose columns the file has")]
    ignoredColumns: list[str]
    total: Annotated[int | None, Field(description="Products in the file; null until it was read")]
    processed: int
    created: int
    updated: int
    unchanged: int
    failed: int
    progress: Annotated[int, Field(description="Percent")]
    error: FileError | None
    createdAt: str
    startedAt: str | None
    completedAt: str | None


class ShownJob(ListedJob):
    errors: Annotated[list[ShownRowError], Field(description="The first 100, by line")]
    errorReportUrl: Annotated[str | None, Field(description="A CSV of all rows that failed")]


@dataclass(frozen=True)
class Job:
    """A job as stored; names as shown where they are shown."""

    fields: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.fields["id"])

    @property
    def index(self) -> listing.Index:
        return listing.Index.read(self.fields["index"])

    @property
    def status(self) -> Status:
        return Status(self.fields["status"])

    @property
    def mode(self) -> Mode:
        return Mode(self.fields["mode"])

    @property
    def is_rehearsal(self) -> bool:
        return bool(self.fields["dryRun"])

    @property
    def etag(self) -> str:
        return str(self.fields["etag"])

    @property
    def format(self) -> Format:
        return Format.from_dict(self.fields["format"])

    @property
    def met_products(self) -> bool:
        """Whether the shop had any product when the file was read."""
        return bool(self.fields["metProducts"])

    @property
    def failed(self) -> int:
        return int(self.fields[Outcome.FAILED])

    @property
    def is_read(self) -> bool:
        """Whether the planner has seen the whole file."""
        return "chunks" in self.fields

    @property
    def all_chunks_done(self) -> bool:
        return self.is_read and int(self.fields["done"]) >= int(self.fields["chunks"])

    @property
    def has_repeats(self) -> bool:
        """Whether a product may stand at several places of the file."""
        return bool(self.fields["repeats"])

    def given_up(self, now: datetime) -> tuple[str, FileError] | None:
        """Since when, and why, the job has failed without anybody having said so: nothing hangs,
        whoever died."""
        came = str(self.fields["uploadBy"])
        if self.status is Status.QUEUED and clock.iso(now) > came:
            message = f"No file was uploaded until {came}."
            return came, {"code": "upload_missing", "message": message, "row": None}
        if self.status is Status.RUNNING and not self.is_read:
            until = clock.parse(self.fields["startedAt"]) + _READING
            if now > until:
                message = "The file could not be read. Retry the job."
                error: FileError = {"code": "planning_failed", "message": message, "row": None}
                return clock.iso(until), error
        return None


def show(job: Job, now: datetime) -> dict[str, Any]:
    """The shape of ListedJob."""
    fields = job.fields
    shown: dict[str, Any] = {
        **{name: fields[name] for name in ("id", "type", "fileName", "status", "mode", "dryRun")},
        "dialect": fields.get("dialect"),
        "ignoredColumns": fields.get("ignoredColumns", []),
        "total": fields.get("total"),
        **{name: fields[name] for name in ("processed", *Outcome)},
        "progress": _progress(job),
        "error": fields.get("error"),
        **{name: fields.get(name) for name in ("createdAt", "startedAt", "completedAt")},
    }
    given_up = job.given_up(now)
    if given_up is not None:
        since, error = given_up
        shown |= {"status": Status.FAILED, "error": error, "completedAt": since}
    return shown


def show_whole(
    job: Job, now: datetime, errors: Sequence[Mapping[str, Any]], report_url: str | None
) -> dict[str, Any]:
    """The shape of ShownJob."""
    return {**show(job, now), "errors": list(errors), "errorReportUrl": report_url}


def _progress(job: Job) -> int:
    if job.status is Status.COMPLETED:
        return 100
    total = job.fields.get("total")
    return min(99, int(job.fields["processed"]) * 100 // int(total)) if total else 0
