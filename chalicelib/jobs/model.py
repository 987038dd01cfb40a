"""Jobs of any type: progress, counters, and how they are shown."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Final, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib import listing
from chalicelib.problems import Problem
from chalicelib.schemas import about
from chalicelib.storage.actor import Actor
from chalicelib.storage.attributes import Item
from chalicelib.values import clock

KIND: Final = listing.Kind("job")
KEPT_SECONDS: Final = 30 * 86_400  # as long as resources.yaml keeps the files of jobs
MOST_AT_ONCE: Final = 25  # records that one step works on
INLINE_ERRORS: Final = 100
PREVIEWED: Final = 100


class JobType(StrEnum):
    PRODUCT_IMPORT = "product_import"
    BULK_EDIT = "bulk_edit"
    EXPORT = "export"
    UNDO = "undo"
    CUSTOMER_MERGE = "customer_merge"
    CUSTOMER_ERASURE = "customer_erasure"
    REINDEX = "reindex"
    REPORT = "report"
    STOCK_COUNT = "stock_count"


class JobStatus(StrEnum):
    """QUEUED: accepted; an import also waits for its file. NEEDS_MAPPING: an import waits for a
    mapping of its file's columns. RUNNING: its steps are at work. The others are final: every
    record was tried, an error ended it, or a client cancelled it.
    """

    QUEUED = "QUEUED"
    NEEDS_MAPPING = "NEEDS_MAPPING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


# Types of jobs that cannot be cancelled.
WHOLE: Final = frozenset({JobType.CUSTOMER_MERGE, JobType.CUSTOMER_ERASURE, JobType.STOCK_COUNT})
UNDOABLE: Final = (
    JobType.PRODUCT_IMPORT,
    JobType.BULK_EDIT,
    JobType.STOCK_COUNT,
    JobType.UNDO,
)
OPEN_JOBS: Final = frozenset({JobStatus.QUEUED, JobStatus.NEEDS_MAPPING, JobStatus.RUNNING})


class RecordOutcome(StrEnum):
    """The result for one record; also the names of the job's counters."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"
    UNCHANGED = "unchanged"
    FAILED = "failed"


class JobRecordError(TypedDict):
    """Why one record failed or was not changed."""

    id: Annotated[str, about("Identifier.")]
    name: Annotated[
        str | None, about("Name of a product or variant, number of an order; null: unknown.")
    ]
    code: Annotated[str, about("What happened, for programs.")]
    message: Annotated[str, about("What happened, for people.")]


def record_error(id: str, code: str, message: str, name: str | None = None) -> JobRecordError:
    """Return the error of a record that a step did not change, and why."""
    return {"id": id, "name": name, "code": code, "message": message[:1_000]}


class JobError(TypedDict):
    """Why the job as a whole failed."""

    code: Annotated[str, about("What happened, for programs.")]
    message: Annotated[str, about("What happened, for people.")]


class StartedJob(TypedDict):
    """The job that does it."""

    jobId: Annotated[str, about("Id of the job: get the job until it has ended.")]


class JobProgress(TypedDict):
    """What a list shows of a job of any type."""

    id: Annotated[str, about("Identifier.")]
    status: Annotated[JobStatus, about("Its state.")]
    dryRun: Annotated[bool, about("Whether it only reports what would happen.")]
    processed: Annotated[int, about("How many were worked on.")]
    created: Annotated[int, about("How many were created.")]
    updated: Annotated[int, about("How many were updated.")]
    unchanged: Annotated[int, about("How many needed no change.")]
    progress: Annotated[int, Field(description="Percent")]
    createdAt: Annotated[str, about("When it was created.")]
    startedAt: Annotated[str | None, about("When it began; null: it has not.")]
    completedAt: Annotated[str | None, about("When it ended; null: it has not.")]
    createdBy: Annotated[str, Field(description="Name of the API key that requested it")]


class JobSummary(JobProgress):
    """A job that changes, exports, adds up or reindexes records of the shop."""

    type: Annotated[
        str,
        about(
            "bulk_edit, export, report, undo, stock_count, customer_merge, customer_erasure"
            " or reindex."
        ),
    ]
    total: Annotated[int | None, Field(description="All records; null until they were counted")]
    deleted: Annotated[int, about("How many were deleted.")]
    failed: Annotated[int, about("How many failed.")]
    error: Annotated[JobError | None, about("Why it failed; null: it did not.")]
    about: Annotated[dict[str, object], Field(description="The request")]


class ShownJob(JobSummary):
    """A job other than an import: its progress and its results."""

    errors: Annotated[list[JobRecordError], Field(description=f"The first {INLINE_ERRORS}")]
    preview: Annotated[
        list[dict[str, object]],
        Field(
            description=f"Of a dry run: the first {PREVIEWED} records as `{{id, before, after}}`"
        ),
    ]
    downloadUrl: Annotated[
        str | None,
        Field(description="Of an export or a report: its file, for 30 days; expires after an hour"),
    ]
    bytes: Annotated[int | None, Field(description="Of an export or a report: its file's size")]
    touched: NotRequired[
        Annotated[dict[str, int], Field(description="Of an erasure: how many of each were changed")]
    ]
    goneBy: NotRequired[
        Annotated[
            dict[str, str],
            Field(description="Of an erasure: when the rest of each has ended by itself"),
        ]
    ]


def is_kept_since(moment: str) -> bool:
    """Say whether what a job wrote at this time has not expired."""
    age = clock.now() - clock.parse(moment)
    return age.total_seconds() <= KEPT_SECONDS


@dataclass(frozen=True)
class Job(listing.Record):
    """A job as stored; names as shown where they are shown."""

    @property
    def type(self) -> str:
        return str(self.fields["type"])

    @property
    def status(self) -> JobStatus:
        return JobStatus(self.fields["status"])

    @property
    def step(self) -> int:
        """Return how many steps have ended."""
        return int(self.fields["step"])

    @property
    def cursor(self) -> Any:
        """Return the last step's data for the next one, parsed from JSON; None before the first."""
        return json.loads(self.fields.get("cursor", "null"))

    @property
    def request(self) -> Any:
        """Return the request, parsed from JSON."""
        return json.loads(self.fields["asked"])

    @property
    def requested_by(self) -> str:
        """Return the name of the requesting key."""
        return str(self.fields["by"])

    @cached_property
    def actor(self) -> Actor:
        """Return who writes in the steps of the job."""
        name, id = self.fields.get("by"), self.fields.get("byId")
        return Actor(id, name, job_id=self.id, job_type=self.type)

    @property
    def is_dry_run(self) -> bool:
        return bool(self.fields["dryRun"])

    @property
    def has_ended(self) -> bool:
        return self.status not in OPEN_JOBS

    @property
    def is_kept(self) -> bool:
        """Say whether the log and the files of the job have not expired."""
        return is_kept_since(str(self.fields["createdAt"]))

    @property
    def has_file(self) -> bool:
        """Say whether the file of an export or a report is complete, and can be downloaded."""
        return "bytes" in self.fields and self.is_kept


@dataclass(frozen=True)
class RecordResult:
    """The result of one record, or of some that are handled together, in a step of a job."""

    counts: Mapping[RecordOutcome, int] = field(default_factory=dict)
    errors: Sequence[JobRecordError] = ()
    previews: Sequence[Mapping[str, object]] = ()

    @classmethod
    def from_outcome(cls, outcome: RecordOutcome, *errors: JobRecordError) -> "RecordResult":
        """Return the result of a record with this outcome."""
        return cls(counts={outcome: 1}, errors=errors)

    @classmethod
    def from_change(cls, is_changed: bool) -> "RecordResult":
        """Return the result of a record that was changed, or needed no change."""
        return cls.from_outcome(RecordOutcome.UPDATED if is_changed else RecordOutcome.UNCHANGED)

    @classmethod
    def from_problem(cls, id: str, problem: Problem, name: str | None = None) -> "RecordResult":
        """Return the result of a record that failed. Raises what may pass: the step is repeated."""
        if problem.may_pass:
            raise problem
        error = record_error(id, problem.code, str(problem), name)
        return cls.from_outcome(RecordOutcome.FAILED, error)


@dataclass(frozen=True)
class Step:
    """The result of one step of a job.

    `cursor`: JSON for the next step; None after the last. `counts`: results of records;
    `read`: how many were only read. `previews`: of a dry run. `set`: attributes of the job.
    `wait`: seconds until the next step, up to 900.
    """

    cursor: object = None
    counts: Mapping[RecordOutcome, int] = field(default_factory=dict)
    read: int = 0
    errors: Sequence[JobRecordError] = ()
    previews: Sequence[Mapping[str, object]] = ()
    set: Mapping[str, object] = field(default_factory=dict)
    wait: int = 0

    @classmethod
    def combine(cls, parts: Iterable[RecordResult], cursor: object, **attributes: object) -> "Step":
        """Return the step that did these parts. `attributes`: of the job."""
        done, counts = list(parts), Counter[RecordOutcome]()
        for part in done:
            counts.update(part.counts)
        errors = [error for part in done for error in part.errors]
        previews = [preview for part in done for preview in part.previews]
        return cls(cursor, counts, errors=errors, previews=previews, set=attributes)


def index_of(fields: Item) -> listing.Index:
    return listing.Index.build(sort=fields["createdAt"], facets={})


def show_as(shape: type, job: Job) -> dict[str, object]:
    """Return the members of a shape that extends JobProgress, as they are stored.

    A member that the job does not have is None.
    """
    stored = {name: job.fields.get(name) for name in shape.__annotations__}
    return {**stored, "progress": progress(job), "createdBy": job.requested_by}


def show(job: Job) -> dict[str, object]:
    """Return the job in the shape of JobSummary."""
    return {**show_as(JobSummary, job), "about": job.request}


def show_whole(
    job: Job, errors: Sequence[JobRecordError], download_url: str | None
) -> dict[str, object]:
    """Return the job in the shape of ShownJob."""
    return {
        **show(job),
        "errors": list(errors),
        "preview": json.loads(job.fields.get("preview", "[]")),
        "downloadUrl": download_url,
        "bytes": job.fields.get("bytes"),
        **{name: job.fields[name] for name in ("touched", "goneBy") if name in job.fields},
    }


@dataclass(frozen=True)
class JobView:
    """How jobs of a type are shown in a list and alone, and the shapes of both.

    `readers_get_file(job)`: whether a Reader gets the file, and the report. Others may show what
    products cost.
    """

    show: Callable[[Job], dict[str, Any]]
    show_whole: Callable[[Job], dict[str, Any]]
    summary: type = JobSummary
    whole: type = ShownJob
    readers_get_file: Callable[[Job], bool] = lambda _job: False


VIEWS: Final[dict[str, JobView]] = {}
"""Of the types that are not shown as most are: each slice's `routes.py` adds its own."""


def progress(job: Job) -> int:
    """Return how much is done, in percent."""
    if job.status is JobStatus.COMPLETED:
        return 100
    total = job.fields.get("total")
    return min(99, int(job.fields["processed"]) * 100 // int(total)) if total else 0
