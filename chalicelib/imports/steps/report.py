"""The report: every row of every product that failed, as a CSV that can be fixed and imported.

Each chunk stores a part of it in S3; the last step of a job joins them, in pieces of at least 5 MB
(S3), and continues in another message after some time.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from chalicelib.imports import files, store
from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.rows import CsvRow
from chalicelib.imports.formats.report import numbers, report
from chalicelib.imports.model import ImportJob
from chalicelib.imports.upsert import ProductRows
from chalicelib.values.batches import batches

_PIECE: Final = 8 << 20  # bytes; S3 takes 10,000 pieces, of at least 5 MB
_PATIENCE_SECONDS: Final = 30
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


def assemble(job: ImportJob, state: Mapping[str, Any]) -> Mapping[str, object] | None:
    """Joins the report. None: it is complete, or empty; otherwise the state to continue with. At
    most a piece and a few parts are in memory."""
    started = time.monotonic()
    upload, etags = state.get("upload"), list(state.get("etags", ()))
    held = bytearray() if etags else bytearray(next(report(job.format, [])))
    is_empty = not etags
    for chunk, data in _parts(job.id, state.get("after")):
        held += data
        is_empty = False
        if len(held) < _PIECE:
            continue
        upload = upload or files.begin_report(job.id)
        etag = files.add_to_report(job.id, upload, len(etags) + 1, bytes(held))
        if etag is None:
            return _pieces_are_gone(job)
        etags.append(etag)
        held.clear()
        if time.monotonic() - started > _PATIENCE_SECONDS:
            return {"upload": upload, "etags": etags, "after": chunk}
    if is_empty:
        return None
    if upload is None:
        files.put_report(job.id, bytes(held))
    else:
        if held:
            etag = files.add_to_report(job.id, upload, len(etags) + 1, bytes(held))
            if etag is None:
                return _pieces_are_gone(job)
            etags.append(etag)
        files.end_report(job.id, upload, etags)
    store.has_report(job.id)
    return None


def _pieces_are_gone(job: ImportJob) -> Mapping[str, object] | None:
    """A crashed worker has completed the report; or it was not continued for a day, and is started
    again."""
    if not files.is_there(job.id, report=True):
        return {}
    store.has_report(job.id)
    return None


def _parts(job_id: str, after: str | None) -> Iterator[tuple[str, bytes]]:
    """Each part after that of a chunk, with its own chunk. A few are read at a time, to limit
    memory."""
    with ThreadPoolExecutor(_READERS) as readers:
        more = True
        while more:
            chunks, last = store.parts(job_id, after)
            for some in batches(chunks, _READERS):
                read = readers.map(partial(files.read_kept, job_id), map(_name, some))
                yield from zip(some, read, strict=True)
            more, after = last is not None, last


def _name(chunk: str) -> str:
    """A chunk's name as part of a key in S3."""
    return chunk.replace("#", "-")
