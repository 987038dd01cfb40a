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
from chalicelib.imports.formats.report import make_numbering, report
from chalicelib.imports.model import ImportJob
from chalicelib.imports.upsert import FileProduct
from chalicelib.values.batches import batches

_READERS: Final = 8


def put_errors(job: ImportJob, faulty: Iterable[FileProduct]) -> None:
    """Store the errors of these products that are among the job's first 100, for showing.

    Their rows are numbered as in the first file, if the job's file is a report.
    """
    number = make_numbering(job.format, job.has_numbers_of_source)
    errors = []
    for product in faulty:
        shown = {row.line: number(row) for group, _ in product.failed for row in group}
        errors += [
            (error._replace(row=shown.get(error.row, error.row)), product.names)
            for error in product.errors
        ]
    store.put_errors(job.id, errors)


def put_failed_rows(
    job: ImportJob, chunk: str, failed: Sequence[tuple[Sequence[CsvRow], Sequence[RowError]]]
) -> bool:
    """Store the rows that failed in a chunk as a part of the report; return whether there were any.

    Repeating it stores the same. `failed`: rows and their errors, by group.
    """
    if not any(rows for rows, _ in failed):
        return False  # a product that is too large has none
    _, *pieces = report(job.format, failed, make_numbering(job.format, job.has_numbers_of_source))
    files.put_kept(job.id, _name_part(chunk), b"".join(pieces))
    return True


def assemble_report(job: ImportJob) -> None:
    """Write the report of all failed rows from its parts, and note it with the job.

    Nothing is written if there are no parts. Repeating it writes the same.
    """
    parts = _read_parts(job)
    first = next(parts, None)
    if first is not None:
        files.put_report(job.id, chain(report(job.format, []), [first], parts))
        store.note_report(job.id)


def _read_parts(job: ImportJob) -> Iterator[bytes]:
    """Yield the parts of the report. A few are read at a time, to limit memory."""
    names = map(_name_part, store.list_report_parts(job))
    for wave in batches(names, _READERS):
        yield from threads.run_together([partial(files.read_kept, job.id, name) for name in wave])


def _name_part(chunk: str) -> str:
    """Return the name of a chunk's part."""
    return f"chunk-{chunk}"
