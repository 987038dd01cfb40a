"""Import jobs in the table, and their progress.

| item | pk | sk |
|---|---|---|
| job | `job_…` | `job` |
| columns of its file | `job_…` | `columns` |
| row error | `job_…` | `error#<line>#<n>` |
| row that repeats another with other values | `job_…` | `notice#<line>#<n>` |
| product of a dry run that changes | `job_…` | `preview#<line>` |
| finished chunk | `job_…` | `chunk#rows-<line>` |

A chunk counts in the transaction that marks it as finished, so a chunk that runs twice counts once.
All items except the job expire with its files.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any, Final

from chalicelib import __version__
from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.rows import FileFormat
from chalicelib.imports.formats.product import Skipped
from chalicelib.imports.model import ImportJob, Options, ProductOutcome
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import INLINE_ERRORS, JobStatus, JobType
from chalicelib.storage import table
from chalicelib.storage.attributes import Item
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, Condition
from chalicelib.values import clock, ids

if TYPE_CHECKING:
    from chalicelib.imports.formats import Format
    from chalicelib.values.forgetting import Person

MOST_PREVIEWS: Final = 50
NOTICES: Final = "notice#"
_ERRORS: Final = "error#"
_PREVIEWS: Final = "preview#"
_KEPT: Final = {_ERRORS: INLINE_ERRORS, NOTICES: INLINE_ERRORS, _PREVIEWS: MOST_PREVIEWS}
_NAMES: Final = ("slug", "sku", "name")
_COUNTERS: Final = ("withErrors", "partsDone", *ProductOutcome)
_SHOWN_COLUMNS: Final = ("columns", "savedMapping", "fields", "encodings")

_waiting = Attr("status").is_in([JobStatus.QUEUED, JobStatus.NEEDS_MAPPING])
_running = Attr("status").eq(JobStatus.RUNNING)


# --- The job --------------------------------------------------------------------------------------


def create_job(
    file_name: str,
    options: Options,
    upload_seconds: int,
    source: Mapping[str, object] | None = None,
    id: str | None = None,
) -> ImportJob:
    """Create a job that waits for its file `upload_seconds` long, QUEUED, and return it.

    `source`: further fields of a job that imports another job's file again. `id`: derived from a
    repeatable request; if a job with it exists, that is returned as it is, and nothing is written.
    """
    own = {
        "fileName": file_name,
        **options.to_attributes(),
        **(source or {}),
        "uploadBy": clock.iso(clock.seconds_from_now(upload_seconds)),
    }
    commit, id = Commit(), id or ids.new_id("job")
    job = ImportJob(jobs.insert(commit, id, JobType.PRODUCT_IMPORT, own, _COUNTERS))
    return job if commit.try_send() else get_job(id)


def find_job(job_id: str) -> ImportJob | None:
    """Return a job, None if it is not there."""
    job = jobs.find(job_id)
    return ImportJob(job.fields) if job else None


def get_job(job_id: str) -> ImportJob:
    """Return a job. Raises NotFound."""
    return ImportJob(jobs.get(job_id).fields)


def begin_job(
    waiting: ImportJob,
    etag: str,
    *,
    form: FileFormat,
    csv_format: "Format",
    met_products: bool,
    doubt: str | None,
) -> ImportJob | None:
    """Mark a job as RUNNING on the file with this ETag, and return it; None if it must not run.

    It must not if it has ended, already runs on another file, or has other answers of the user than
    `waiting`. A planner that runs again gets the job as the first one left it; nothing is written
    then. `form`, `csv_format`: how the text and the columns are read. `met_products`: whether the
    catalogue had products. `doubt`: why the mapping may not be what was meant. `cutBy` is set to
    the release that runs, `startedAt` to now.
    """
    started = {
        "status": JobStatus.RUNNING,
        "etag": etag,
        "metProducts": met_products,
        "doubt": doubt,
        "cutBy": __version__,
        "startedAt": clock.now_iso(),
        **_format_fields(form, csv_format),
    }
    try:
        return ImportJob(
            table.update(jobs.key(waiting.id), assign=started, when=_is_unanswered(waiting))
        )
    except table.ConditionFailed as failed:
        job = ImportJob(failed.old) if failed.old else None
        is_same = job and job.status is JobStatus.RUNNING and job.etag == etag
        return job if is_same and job and job.answers == waiting.answers else None


def ask_user(
    waiting: ImportJob, form: FileFormat | None, csv_format: "Format | None" = None
) -> bool:
    """Set a job to NEEDS_MAPPING: it waits for a mapping of its columns, or for an encoding.

    That is asked without `form`. Return False, with nothing changed, if it was answered meanwhile
    or no longer waits.
    """
    question = {
        "status": JobStatus.NEEDS_MAPPING,
        "askedAt": clock.now_iso(),
        **_format_fields(form, csv_format),
    }
    return jobs.update_if(waiting.id, _is_unanswered(waiting), assign=question)


def _format_fields(form: FileFormat | None, csv_format: "Format | None") -> dict[str, object]:
    """Return the attributes of a job that say how its text and its columns are read.

    Always all four: `format` (the form as a dict, {} for None), `dialect` (the format's name or
    None), `ignoredColumns` (at most 200 names) and `missedColumns` (at most 50), cut to 200
    characters each, [] for None.
    """
    return {
        "format": form._asdict() if form else {},
        "dialect": csv_format.name if csv_format else None,
        "ignoredColumns": [name[:200] for name in csv_format.ignored_columns[:200]]
        if csv_format
        else [],
        "missedColumns": [name[:200] for name in csv_format.missed_columns[:50]]
        if csv_format
        else [],
    }


def _is_unanswered(job: ImportJob) -> Condition:
    """Return the condition that the job waits, with no more answers than when it was read."""
    return _waiting & (Attr("answers").eq(job.answers) | Attr("answers").not_exists())


def store_answer(job_id: str, options: Options, seconds: int) -> ImportJob | None:
    """Store an answer about how the file is read; return the job, QUEUED until it is read again.

    The answer is counted, and has an audit entry unless the job is a dry run. The job then waits
    `seconds` for its file, which the caller sends for. None, with nothing stored, if the job was
    not asked, or does not wait.
    """
    upload_by = clock.iso(clock.seconds_from_now(seconds))
    changed = {"status": JobStatus.QUEUED, "uploadBy": upload_by, **options.to_attributes()}
    is_asked = _waiting & Attr("askedAt").exists()
    commit = Commit()
    commit.update(jobs.key(job_id), assign=changed, add={"answers": 1}, when=is_asked)
    if not options.dry_run:
        jobs.audit(commit, "mapped", job_id, JobType.PRODUCT_IMPORT)
    return get_job(job_id) if commit.try_send() else None


def put_columns(job_id: str, shown: Mapping[str, object]) -> None:
    """Store what was found out about a file's columns, or its possible encodings, for showing.

    `shown`: the result of `columns.describe_columns`, or `{"encodings": […]}`. It replaces what was
    stored.
    """
    table.put({"pk": job_id, "sk": "columns", **shown, "expiresAt": jobs.expires()})


def get_columns(job_id: str) -> dict[str, object]:
    """Return what `put_columns` stored; {} if nothing was."""
    item = table.get((job_id, "columns")) or {}
    return {name: item[name] for name in _SHOWN_COLUMNS if name in item}


def mark_planned(job_id: str, parts: int, rows: int, total: int) -> None:
    """Store that a job's whole file was read: its numbers of chunks (`parts`), rows and products.

    Nothing happens if that is stored already, or the job does not run. The status stays.
    """
    when = _running & Attr("parts").not_exists()
    jobs.update_if(job_id, when, assign={"parts": parts, "rows": rows, "total": total})


def restart_job(job: ImportJob, seconds: int) -> bool:
    """Make a running job that release 1.0.0 planned QUEUED again; return whether this call did.

    Its counters begin with 0 again. It waits `seconds` for its file, which the caller sends for.
    Any other job stays.
    """
    anew = {
        "status": JobStatus.QUEUED,
        "uploadBy": clock.iso(clock.seconds_from_now(seconds)),
        **dict.fromkeys(("processed", *_COUNTERS), 0),
    }
    when = _running & Attr("chunks").exists()
    return jobs.update_if(job.id, when, assign=anew, remove=["chunks", *Skipped])


def note_left_out(job_id: str, far: str) -> None:
    """Store that blank cells of a workbook were left out; `far` is the last of them."""
    jobs.update_if(job_id, table.present, assign={"blankUpTo": far})


def note_report(job_id: str) -> None:
    """Store that a job has a report of its failed rows. Nothing if the job is gone."""
    jobs.update_if(job_id, table.present, assign={"report": True})


def forget_mappings(person: "Person") -> int:
    """Delete the saved mappings that mention a person who is erased; return how many."""
    from chalicelib.imports import mappings  # which loads the formats

    return mappings.forget(person)


# --- Chunks ---------------------------------------------------------------------------------------


def load_with_chunk(job_id: str, chunk: str) -> tuple[ImportJob | None, bool]:
    """Load a job, None if it is gone, and whether this chunk of it is finished, in one call."""
    done = (job_id, f"chunk#{chunk}")
    items = table.batch_get([jobs.key(job_id), done])
    job = items.get(jobs.key(job_id))
    return (ImportJob(job) if job else None), done in items


def finish_chunk(
    job_id: str,
    chunk: str,
    counts: Mapping[ProductOutcome, int],
    *,
    with_errors: int = 0,
    skipped: Mapping[Skipped, int] | None = None,
    has_part: bool = False,
) -> bool:
    """Add a chunk's products to the job's counters and mark it as finished, in one commit.

    Return False, with nothing counted, if it was finished already, or the job is gone. `counts`:
    products by outcome; `with_errors`: how many have errors; `skipped`: what was left out;
    `has_part`: whether there is a part of the report. The status of the job does not matter, and
    stays.
    """
    commit = Commit()
    item = {"pk": job_id, "sk": f"chunk#{chunk}", "part": has_part, "expiresAt": jobs.expires()}
    commit.put(item, when=table.absent)
    added = {str(name): n for name, n in (*counts.items(), *(skipped or {}).items())}
    added |= {"processed": sum(counts.values()), "withErrors": with_errors, "partsDone": 1}
    # In any state of the job: finished work is counted.
    commit.update(jobs.key(job_id), add=added, when=table.present)
    return commit.try_send()


def list_report_parts(job: ImportJob) -> Iterator[str]:
    """Yield the names of the finished chunks of a job that have a part of its report, in order."""
    prefix = "chunk#" if job.was_read_by_1_0 else "chunk#rows-"
    options = {"where": table.sk.begins_with(prefix), "matching": Attr("part").eq(True)}
    for items in table.pages(job.id, **options, fields=("sk",)):
        yield from (item["sk"].removeprefix("chunk#") for item in items)


# --- The first errors, notices and previews -------------------------------------------------------


def put_errors(
    job_id: str,
    errors: Iterable[tuple[RowError, Mapping[str, str | None]]],
    kind: str = _ERRORS,
) -> None:
    """Store the errors, or notices, that are among the job's first 100 so far, by row of the file.

    Each comes with the names of its product (`_NAMES`, cut to 200 characters). An error of an
    earlier row is stored also when there are 100 of later rows; these stay, but are no longer among
    those that are loaded. The same errors stored again change nothing.
    """
    first = sorted(errors, key=lambda pair: pair[0])[:INLINE_ERRORS]
    rows = {
        f"{error.row:09d}#{number:03d}": {
            **error._asdict(),
            **{name: (text := product.get(name)) and text[:200] for name in _NAMES},
            "field": error.field[:200],
        }
        for _, of_row in groupby(first, key=lambda pair: pair[0].row)
        for number, (error, product) in enumerate(of_row)
    }
    _put_first(job_id, kind, rows)


def list_errors(job_id: str, kind: str = _ERRORS) -> list[dict[str, Any]]:
    """Return the first errors of a job, or its first notices, in the shape of ImportRowError."""
    names = (*RowError._fields, *_NAMES)
    return [{name: item.get(name) for name in names} for item in _load_first(job_id, kind)]


def put_previews(job_id: str, previews: Sequence[Mapping[str, Any]]) -> None:
    """Store the previews of a dry run that are among its first 50 so far, by row of the file."""
    rows = {f"{preview['row']:09d}": {"preview": preview} for preview in previews}
    _put_first(job_id, _PREVIEWS, rows)


def list_previews(job_id: str) -> list[dict[str, Any]]:
    """Return the previews of a dry run, in the shape of ImportPreview."""
    return [item["preview"] for item in _load_first(job_id, _PREVIEWS)]


def _put_first(job_id: str, kind: str, rows: Mapping[str, Mapping[str, object]]) -> None:
    """Store those of `rows` that are among the job's first of this kind; repeating changes nothing.

    What is stored already stays, also if it is no longer among the first. `rows`: attributes by the
    end of the sort key, which begins with the line in the file.
    """
    known = _load_first(job_id, kind) if rows else []
    last = known[-1]["sk"] if len(known) == _KEPT[kind] else f"{kind}~"
    expires = {"expiresAt": jobs.expires()}
    table.batch_write(
        {"pk": job_id, "sk": f"{kind}{line}", **rows[line], **expires}
        for line in sorted(rows)[: _KEPT[kind]]
        if f"{kind}{line}" <= last
    )


def _load_first(job_id: str, kind: str) -> list[Item]:
    """Read the first items of a kind, as many as are shown (`_KEPT`), by row of the file."""
    pages = table.pages(job_id, where=table.sk.begins_with(kind), limit=_KEPT[kind])
    return list(islice(chain.from_iterable(pages), _KEPT[kind]))
