"""The report: every row of every product that failed, as a CSV that can be mended and imported.

Each chunk leaves a part of it in S3; the last step of a job puts them together, in pieces of at
least 5 MB (S3), and hands on to another message when it has worked for some time.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from chalicelib.imports import files, store
from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.records import Record
from chalicelib.imports.formats.report import report
from chalicelib.imports.model import Job

_STEPS: Final = ("chunk", "ordered", "swept")
_PIECE: Final = 8 << 20  # bytes; S3 takes 10,000 pieces, of at least 5 MB
_PATIENCE_SECONDS: Final = 30
_READERS: Final = 8


def put_part(
    job: Job, chunk: str, failed: Sequence[tuple[Sequence[Record], Sequence[RowError]]]
) -> bool:
    """Keeps the rows that failed in a chunk; whether there were any. Again is no harm."""
    if not failed:
        return False
    _, *pieces = report(job.format, failed)
    files.put_part(job.id, _name(chunk), b"".join(pieces))
    return True


def assemble(job: Job, state: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Puts the report together. None: it is there, or there is nothing in it; else the state with
    which to go on."""
    started = time.monotonic()
    upload, etags = state.get("upload"), list(state.get("etags", ()))
    held = bytearray() if etags else bytearray(next(report(job.format, [])))
    if not etags:
        state = {"step": _STEPS[0], "after": None}
    is_empty = not etags
    for at, parts in _batches(job.id, str(state["step"]), state["after"]):
        for data in parts:
            held += data
            is_empty = False
        if len(held) < _PIECE:
            continue
        upload = upload or files.begin_report(job.id)
        etags.append(files.add_to_report(job.id, upload, len(etags) + 1, bytes(held)))
        held.clear()
        if at and time.monotonic() - started > _PATIENCE_SECONDS:
            return {"upload": upload, "etags": etags, **at}
    if is_empty:
        return None
    if upload is None:
        files.put_report(job.id, bytes(held))
    else:
        if held:
            etags.append(files.add_to_report(job.id, upload, len(etags) + 1, bytes(held)))
        files.end_report(job.id, upload, etags)
    store.has_report(job.id)
    return None


def _batches(
    job_id: str, step: str, after: str | None
) -> Iterator[tuple[Mapping[str, Any] | None, Iterable[bytes]]]:
    """The parts from a place on, with the place behind them."""
    with ThreadPoolExecutor(_READERS) as readers:
        for each in _STEPS[_STEPS.index(step) :]:
            more = True
            while more:
                chunks, after = store.parts(job_id, each, after)
                more = after is not None
                place = {"step": each, "after": after} if more else _next(each)
                read = partial(files.read_part, job_id)
                yield place, _each(readers, read, [*map(_name, chunks)])


def _each(
    readers: ThreadPoolExecutor, read: Callable[[str], bytes], names: list[str]
) -> Iterator[bytes]:
    """A few at a time: what was read and is not yet used takes memory."""
    for at in range(0, len(names), _READERS):
        yield from readers.map(read, names[at : at + _READERS])


def _next(step: str) -> Mapping[str, Any] | None:
    rest = _STEPS[_STEPS.index(step) + 1 :]
    return {"step": rest[0], "after": None} if rest else None


def _name(chunk: str) -> str:
    """A chunk's name as part of a key in S3."""
    return chunk.replace("#", "-")
