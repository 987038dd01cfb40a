"""Import jobs: requests, stored fields and states.

```
create ──► QUEUED ──► RUNNING ──┬──► COMPLETED   all chunks are counted, the report is written
            ▲  │                ├──► FAILED      the file cannot be read, or a chunk not be imported
            │  ▼                └──► CANCELLED   no more is started; what was written is counted
        NEEDS_MAPPING ─────────────► FAILED      nobody answered for 7 days; or CANCELLED
```

- QUEUED: waits for its file, until `uploadBy`. S3's event about the file starts the planner.
- NEEDS_MAPPING: the planner asked how the file is read, at `askedAt`; nothing is written. An answer
  (`answers` counts them) makes it QUEUED, and copies the file onto itself for another event.
- RUNNING: the file (`etag`) is read as `format` and `dialect` say. First the planner cuts it: when
  that is done, `parts` is the number of chunks (`is_read`). Then workers import them: `partsDone`.
- given up: a job whose time is over, and that nobody has marked as FAILED, is shown as FAILED.

A job counts in products, each once, wherever its rows are. It ends with
created + updated + unchanged + failed = total, unless it was cancelled or failed as a whole.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from chalicelib.imports.csv import faults, groups, rows
from chalicelib.imports.csv.rows import FileFormat
from chalicelib.jobs import model as jobs
from chalicelib.jobs.model import JobStatus
from chalicelib.schemas import DIGITS, Choice, Input, NullIsAbsent, QueryParameters, about
from chalicelib.values import clock

LARGEST_UPLOAD: Final = 1 << 30  # bytes: what a planner has time for
LARGEST_FORM: Final = 4_400_000  # bytes: Lambda takes 6 MB of event, where a file is a third longer
LARGEST_WORKBOOK: Final = faults.LARGEST_WORKBOOK
READER_BYTES: Final = faults.READER_BYTES
READER_SECONDS: Final = faults.READER_SECONDS
LARGEST_SHEET: Final = faults.LARGEST_SHEET
LARGEST_ROW: Final = rows.LARGEST_ROW
MOST_COLUMNS: Final = rows.MOST_COLUMNS
LARGEST_HEADER: Final = 100_000  # bytes: a job keeps it and its mapping; DynamoDB takes 400 KB
MOST_ROWS: Final = groups.MOST_ROWS
LARGEST_GROUP: Final = groups.LARGEST_GROUP
MOST_MAPPINGS: Final = 200  # that are saved
LARGEST_MAPPINGS: Final = 2_500_000  # bytes of JSON of all that are saved: they are one answer
LONGEST_MAPPING_NAME: Final = 100
MAPPING_NAME: Final = r"^[^/]*[^/.][^/]*$"  # it stands in a path
_ASKED: Final = timedelta(days=7)  # until a file without an answer about its columns fails
_READING: Final = timedelta(hours=2)  # an hour of refusals, and three attempts of 15 minutes


class ImportMode(Choice):
    """Which products may be written: both, only new ones, only existing ones."""

    UPSERT = "upsert"
    CREATE = "create"
    UPDATE = "update"


class ProductOutcome(StrEnum):
    """The result for one product of the file; also the names of the job's counters."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    FAILED = "failed"


class UnknownColumnsMode(Choice):
    """What happens to a file that is not recognised."""

    ASK = "ask"
    FAIL = "fail"


@dataclass(frozen=True)
class Options:
    """How a file is imported.

    `mapping`: column → field, None if it is not read; `format`: the name of the format of the
    other columns. Without both, the columns decide. `encoding`, `delimiter` and `header_row`:
    how the text is read, by default as detected; `sheet`: of a workbook, by default the first;
    `location`: whose stock counts, by default that of all. `review`: the user must confirm how
    the file is read.
    """

    mode: ImportMode = ImportMode.UPSERT
    dry_run: bool = False
    allow_zero_prices: bool = False
    on_unknown_columns: UnknownColumnsMode = UnknownColumnsMode.ASK
    mapping: Mapping[str, str | None] | None = None
    format: str | None = None
    encoding: str = ""
    sheet: str = ""
    location: str = ""
    delimiter: str = ""
    review: bool = False
    header_row: int | None = None

    def to_attributes(self) -> dict[str, object]:
        """Return the options as attributes of a job, by their names there; all are included."""
        return {stored: getattr(self, name) for name, stored in _ATTRIBUTES.items()}

    @classmethod
    def from_attributes(cls, fields: Mapping[str, Any]) -> "Options":
        """Return the options of a job, from its attributes."""
        values = {name: fields[at] for name, at in _ATTRIBUTES.items()}
        values["mode"] = ImportMode(fields["mode"])
        values["on_unknown_columns"] = UnknownColumnsMode(fields["onUnknownColumns"])
        return cls(**values)


def is_large(header: Iterable[str]) -> bool:
    """Return whether the names of columns are too large to be stored, all together."""
    return sum(len(name.encode("utf-8", "replace")) for name in header) > LARGEST_HEADER


def _check_size(columns: dict[str, str | None]) -> dict[str, str | None]:
    """Return the columns; raise ValueError if their names are too large together."""
    if is_large(columns):
        raise ValueError(f"must have names of {LARGEST_HEADER:,} bytes or fewer together")
    return columns


# By option. A job's `format` is how its file was read, with the encoding and the delimiter.
_ATTRIBUTES: Final = {each.name: to_camel(each.name) for each in dataclass_fields(Options)} | {
    "format": "chosenFormat",
    "encoding": "chosenEncoding",
    "delimiter": "chosenDelimiter",
}


Columns = Annotated[
    dict[Annotated[str, Field(max_length=1_000)], Annotated[str, Field(max_length=50)] | None],
    Field(min_length=1, max_length=MOST_COLUMNS, description="Column → field; null: not read"),
    AfterValidator(_check_size),
]
Delimiter = Annotated[
    Literal["", ",", ";", "\t", "|"],
    # Not an enum: generators make names of its values, and none of a tab.
    WithJsonSchema({"type": "string", "pattern": r"^[,;\t|]?$"}),
    Field(description="Between cells; default: detected."),
]


class SavedMapping(TypedDict):
    """A mapping of a file's columns, saved for files with the same columns."""

    name: Annotated[str, about("Name.")]
    columns: Annotated[dict[str, str | None], about("Column → field; null: not read.")]
    format: Annotated[
        str | None, about("Name of the format that the file has; null: its columns are mapped.")
    ]
    updatedAt: Annotated[str, about("When it was last changed.")]


class _Text(BaseModel):
    """How the text of a file is read."""

    encoding: str = Field(
        "", max_length=40, description="The file's encoding, such as cp1250; default: detected."
    )
    delimiter: Delimiter = ""
    header_row: Annotated[int | None, DIGITS] = Field(
        None, ge=0, le=1_000, description="Line of the header, 0: there is none; default: detected."
    )


class _Asked(_Text):
    """What an import in either way takes."""

    mode: ImportMode = Field(
        ImportMode.UPSERT, description="upsert, create (new only) or update (existing only)."
    )
    dry_run: bool = Field(False, description="Report what would happen, and write no product.")
    allow_zero_prices: bool = Field(False, description="Allow prices above zero to become zero.")
    on_unknown_columns: UnknownColumnsMode = Field(
        UnknownColumnsMode.ASK, description="`ask`: the job waits for a mapping; `fail`: it fails."
    )
    saved_mapping: str = Field(
        "", max_length=LONGEST_MAPPING_NAME, description="Name of the saved mapping to use."
    )
    sheet: str = Field("", max_length=100, description="A workbook's sheet; default: the first.")
    location: str = Field(
        "", max_length=200, description="The location whose stock is read; default: all."
    )
    review: bool = Field(False, description="Wait for confirmation even if the file is recognised.")


class ImportOptions(QueryParameters, _Asked):
    """Of the multipart import; form fields of these names say the same."""

    mapping: str = Field("", max_length=200_000, description="Column → field, as JSON.")


class NewImportUpload(NullIsAbsent, _Asked):
    """A file that will be uploaded, and how it is imported."""

    file_name: str = Field(min_length=1, max_length=255, description="Name of the file.")
    mapping: Annotated[Columns | None, about("Column → field; null: not read.")] = None


class PreviewedMapping(NullIsAbsent):
    """The fields of a file's columns, or a known format with changes."""

    shape: ClassVar[type] = SavedMapping

    columns: Columns | None = None
    format: Annotated[
        Annotated[str, Field(max_length=50)] | None, about("Name of a format, such as `shopify`.")
    ] = None


class ChosenMapping(PreviewedMapping, _Text):
    """How a job's file is read. `encoding`, `delimiter` or `headerRow`: it is read again, and its
    columns are shown again. Otherwise the fields of its columns, or a known format with changes.
    """

    save_as: Annotated[
        Annotated[
            str,
            Field(min_length=1, max_length=LONGEST_MAPPING_NAME, pattern=MAPPING_NAME),
        ]
        | None,
        about("Keep the mapping under this name: without a slash, and not of dots alone."),
    ] = None


class ForeseenVariant(TypedDict):
    """A variant, as the file has it."""

    title: Annotated[str | None, about("Its options, such as Small / Blue; null: it has none.")]
    sku: Annotated[str | None, about("Stock keeping unit.")]
    price: Annotated[str | None, about("Amount; null: the product's, or none.")]
    stock: Annotated[int | None, about("Pieces in stock; null: the file does not say.")]


class ForeseenProduct(TypedDict):
    """A product, as a mapping reads it."""

    row: Annotated[int, about("Line of its first row.")]
    name: Annotated[str | None, about("Name.")]
    sku: Annotated[str | None, about("Stock keeping unit.")]
    price: Annotated[str | None, about("Amount; null: that of its variants, or none.")]
    variants: Annotated[list[ForeseenVariant], about("Its first 20 variants.")]
    errors: Annotated[list[str], about("What is wrong with its rows.")]


class MappingPreview(TypedDict):
    """What a mapping makes of the beginning of a file."""

    rows: Annotated[int, about("How many rows were read.")]
    isWhole: Annotated[bool, about("Whether those are all rows of the file.")]
    products: Annotated[int, about("How many products they are.")]
    variants: Annotated[int, about("How many variants those have.")]
    failed: Annotated[int, about("How many products have rows with errors.")]
    question: Annotated[str | None, about("What may be meant instead; null: nothing looks wrong.")]
    warnings: Annotated[
        list[str], about("The first rows that contradict another row of their product.")
    ]
    first: Annotated[list[ForeseenProduct], about("The first three products.")]


class NewMapping(Input):
    """A mapping to be proposed for files with exactly these columns."""

    shape: ClassVar[type] = SavedMapping

    read_only: ClassVar[frozenset[str]] = frozenset({"name", "updatedAt"})

    columns: Columns
    format: Annotated[str, Field(max_length=50)] | None = None


class SavedMappingList(TypedDict):
    """All saved mappings."""

    data: Annotated[list[SavedMapping], about("The items.")]


class ImportUpload(TypedDict):
    """A form to post the file with, as `multipart/form-data`: `fields` first, then `file`."""

    jobId: Annotated[str, about("Id of the job: get the job until it has ended.")]
    url: Annotated[str, about("Web address.")]
    fields: Annotated[dict[str, str], about("Form fields that come before `file`.")]
    expiresAt: Annotated[str, about("When it expires; null: never.")]


class ImportFailure(TypedDict):
    """Why the job as a whole failed; `row` if a line of the file is the reason."""

    code: Annotated[str, about("What happened, for programs.")]
    message: Annotated[str, about("What happened, for people.")]
    row: Annotated[int | None, about("Line of the file, the header being 1; null: the whole file.")]


def has_ended(job: jobs.Job) -> bool:
    """Return whether a job of any type has ended, or is an import whose time is over.

    Such a one is shown as FAILED, though its stored status is another. Nothing is read.
    """
    is_import = job.type == jobs.JobType.PRODUCT_IMPORT
    unmarked = ImportJob(job.fields).find_unmarked_failure(clock.now()) if is_import else None
    return job.has_ended or unmarked is not None


class ImportJob(jobs.Job):
    """An import's job as stored; names as shown where they are shown."""

    @cached_property
    def options(self) -> Options:
        return Options.from_attributes(self.fields)

    @property
    def has_numbers_of_source(self) -> bool:
        """Whether its file is another job's report, with the row numbers of that job's file."""
        return bool(self.fields.get("retried"))

    @property
    def first_job_id(self) -> str:
        """The job that was retried to become this one, perhaps several times; or its own id."""
        return str(self.fields.get("firstJobId", self.id))

    @property
    def was_asked(self) -> bool:
        """Whether the user was asked how the file is read."""
        return "askedAt" in self.fields

    @property
    def asks_for_encoding(self) -> bool:
        """Whether the user was asked, and first for the encoding: no columns are known."""
        return self.was_asked and not self.fields.get("format")

    @property
    def answers(self) -> int:
        """The number of answers about how the file is read."""
        return int(self.fields.get("answers", 0))

    @property
    def etag(self) -> str:
        return str(self.fields["etag"])

    @cached_property
    def format(self) -> FileFormat:
        return FileFormat(**self.fields["format"])

    @property
    def with_errors(self) -> int:
        return int(self.fields["withErrors"])

    @property
    def has_report(self) -> bool:
        """Whether the job has a report that is not expired.

        It is written when the job ends, perhaps days after its request.
        """
        ended = str(self.fields.get("completedAt", self.fields["createdAt"]))
        return "report" in self.fields and jobs.is_kept_since(ended)

    @property
    def is_read(self) -> bool:
        """Whether the planner, or that of release 1.0, has seen the whole file."""
        return "parts" in self.fields or self.was_read_by_1_0

    @property
    def was_read_by_1_0(self) -> bool:
        """Whether release 1.0.0 has read the file, which kept its rows in other chunks."""
        return "chunks" in self.fields

    @property
    def all_chunks_done(self) -> bool:
        """Whether all chunks of the file are imported; False until the file is read."""
        done, parts = self.fields.get("partsDone", 0), self.fields.get("parts")
        return parts is not None and int(done) >= int(parts)

    def find_unmarked_failure(self, now: datetime) -> tuple[str, ImportFailure] | None:
        """Return (time, failure) of a job whose time is over without being marked.

        None for any other. A job waits until `uploadBy` for its file, 7 days for an answer, and 2
        hours until the file is read. Nothing is stored: it is only shown as FAILED since then, so
        that no job hangs after a crash.
        """
        if self.status is JobStatus.QUEUED:
            until, code = clock.parse(self.fields["uploadBy"]), "upload_missing"
            message = f"No file was uploaded by {self.fields['uploadBy']}."
        elif self.status is JobStatus.NEEDS_MAPPING:
            until, code = clock.parse(self.fields["askedAt"]) + _ASKED, "mapping_missing"
            message = "The file was not mapped within 7 days. Upload it again."
        elif self.status is JobStatus.RUNNING and not self.is_read:
            until, code = clock.parse(self.fields["startedAt"]) + _READING, "planning_failed"
            message = "The file could not be read. Retry the job."
        else:
            return None
        if now <= until:
            return None
        return clock.iso(until), {"code": code, "message": message, "row": None}
