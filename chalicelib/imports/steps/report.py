"""The report: every row of every product that failed, as a CSV that can be fixed and imported.

Each chunk stores a part of it in S3; the last step of a job joins them.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Final

from chalicelib import threads
from chalicelib.imports import files, store
from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.rows import CsvRow
from chalicelib.imports.formats.report import numbers, report
from chalicelib.imports.model import ImportJob
from chalicelib.imports.upsert import ProductRows
from chalicelib.values.batches import batches

_READERS: Final = 8


def put_errors(job: ImportJob, failed: Iterable[ProductRows]) -> None:
    """Stores the errors that the job shows of a chunk's failed rows."""
    number = numbers(job.format, job.has_numbers_of_source)
    errors = []
    for row in failed:
        shown = {each.line: number(each) for group in row.groups for each in group}
        errors += [
            (error._replace(row=shown.get(error.row, error.row)), row.named) for error in row.errors
        ]
    store.put_errors(job.id, errors)


def put_part(
    job: ImportJob, chunk: str, failed: Sequence[tuple[Sequence[CsvRow], Sequence[RowError]]]
) -> bool:
    """Stores the rows that failed in a chunk; returns whether there were any. Repeatable."""
    if not failed:
        return False
    _, *pieces = report(job.format, failed, numbers(job.format, job.has_numbers_of_source))
    files.keep(job.id, _name(chunk), b"".join(pieces))
    return True


def assemble(job: ImportJob) -> None:
    """Joins the report, if there is anything in it. Repeating it writes the same."""
    parts = _parts(job.id)
    first = next(parts, None)
    if first is not None:
        files.put_report(job.id, chain(report(job.format, []), [first], parts))
        store.has_report(job.id)


def _parts(job_id: str) -> Iterator[bytes]:
    """A few are read at a time, to limit memory."""
    names = map(_name, store.parts(job_id))
    for some in batches(names, _READERS):
        yield from threads.together([partial(files.read_kept, job_id, name) for name in some])


def _name(chunk: str) -> str:
    """A chunk's name as part of a key in S3."""
    return chunk.replace("#", "-")
