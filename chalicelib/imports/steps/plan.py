"""From a file in S3 to chunks on the queue: the file is streamed once.

A planner that runs again after a crash cuts the same chunks and sends the same messages; finished
chunks ignore them.
"""

import time
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final

from chalicelib import telemetry
from chalicelib.imports import columns, files, store
from chalicelib.imports.csv import workbooks
from chalicelib.imports.csv.encodings import Undecided
from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.csv.groups import Chunk, Unreadable, plan
from chalicelib.imports.csv.opening import open_csv
from chalicelib.imports.csv.seen import Seen
from chalicelib.imports.model import (
    LONGEST_HEADER,
    ImportJob,
    ProductOutcome,
    UnknownColumnsMode,
)
from chalicelib.imports.steps import advance
from chalicelib.imports.steps.lanes import Plan
from chalicelib.imports.steps.queue import ChunkMessage
from chalicelib.jobs.model import JobStatus
from chalicelib.products import store as products

# Lambda ends a function after 900 s. docs/import.md#the-job says how long 5 GB take.
_PLANNING_SECONDS: Final = 840
_SAMPLED: Final = 30  # rows used for a proposal


def uploaded(event: Mapping[str, Any]) -> None:
    """An object was created below `imports/` (EventBridge: S3, Object Created)."""
    job_id = files.job_of(event["detail"]["object"]["key"])
    job = store.find(job_id)
    if job is None:
        telemetry.warning("upload without a job", key=event["detail"]["object"]["key"])
        return
    if job.status not in {JobStatus.QUEUED, JobStatus.NEEDS_MAPPING, JobStatus.RUNNING}:
        return
    try:
        _plan(job)
    except FileRejected as rejected:
        store.fail(job_id, rejected.code, rejected.message, rejected.row)
        telemetry.info("import rejected", jobId=job_id, code=rejected.code)
    except files.FileChanged:
        advance.end_without_file(job_id)


def _plan(waiting: ImportJob) -> None:
    job_id = waiting.id
    etag, size, pieces = files.opened(job_id)
    head = next(pieces, b"")
    pieces = chain([head], pieces)
    if workbooks.is_workbook(head):
        _convert(waiting, size, pieces)
        return
    options = waiting.options

    def again() -> Iterator[bytes]:
        return files.opened(job_id, etag)[2]

    try:
        table = open_csv(pieces, options.encoding, options.delimiter, again)
    except Undecided as undecided:
        if options.on_unknown_columns is UnknownColumnsMode.FAIL:
            raise
        store.put_columns(job_id, {"encodings": [each._asdict() for each in undecided.readings]})
        if store.ask(waiting, None):
            telemetry.info("import asks for an encoding", jobId=job_id)
        return
    header, records = table.format.header, table.records()
    if sum(map(len, header)) > LONGEST_HEADER:
        message = f"The header has more than {LONGEST_HEADER} characters."
        raise FileRejected("bad_header", message, table.header_line)
    first = list(islice(records, _SAMPLED))
    samples = [record.cells for record in first if record.problem is None]
    file_format = columns.chosen(header, options, table.header_line)
    store.put_columns(job_id, columns.shown(header, samples, file_format, options))
    if file_format is None or options.review:
        if store.ask(waiting, table.format, file_format):
            telemetry.info("import asks for a mapping", jobId=job_id)
        return
    job = store.begin(
        waiting,
        etag,
        form=table.format,
        csv_format=file_format,
        met_products=not products.is_empty(),
    )
    if job is None:
        now = store.find(job_id)
        if now and now.status is JobStatus.RUNNING and now.answers == waiting.answers:
            # The workers read by ETag, and that file is gone.
            raise files.FileChanged
        return
    if not job.is_read:
        cut, seen, lanes = _Cut(job), Seen.for_file(size), Plan(job_id)
        for part in cut.messages(plan(chain(first, records), file_format, seen=seen)):
            lanes.add(part)
        files.put_keys(job_id, bytes(seen.bits))
        if cut.repeats:
            assert seen.again is not None
            files.put_keys(job_id, seen.again.packed(), "again")
        lanes.send()
        store.planned(job_id, cut.chunks, cut.products, cut.groups, repeats=cut.repeats > 0)
        telemetry.info("import planned", jobId=job_id, chunks=cut.chunks, products=cut.products)
    advance.after_chunks(job_id, is_mine=True)


def _convert(job: ImportJob, size: int, pieces: Iterator[bytes]) -> None:
    """Replaces a workbook by its sheet as CSV, for which S3 sends another event."""
    workbooks.refuse_large(size)
    options = job.options
    files.put(job.id, workbooks.converted(pieces, options.sheet, options.delimiter))
    telemetry.info("workbook converted", jobId=job.id, size=size)


class _Cut:
    """The parts of a file, numbered; unreadable ones are finished here."""

    def __init__(self, job: ImportJob) -> None:
        self._job = job
        self._deadline = time.monotonic() + _PLANNING_SECONDS
        self.chunks = 0
        self.products = 0
        self.repeats = 0

    @property
    def groups(self) -> int:
        return self.products + self.repeats

    def messages(self, parts: Iterator[Chunk | Unreadable]) -> Iterator[ChunkMessage]:
        for part in parts:
            if time.monotonic() > self._deadline:
                message = "The file has too many rows for one import: split it."
                raise FileRejected("too_many_rows", message, part.line)
            number = f"{self.chunks:08d}"
            self.chunks += 1
            if isinstance(part, Unreadable):
                self.products += 1
                store.put_errors(self._job.id, [(part.error, {})])
                store.finish(self._job.id, f"chunk#{number}", {ProductOutcome.FAILED: 1})
                continue
            self.products += part.products
            self.repeats += len(part.repeated)
            yield {
                "job": self._job.id,
                "step": "chunk",
                "number": number,
                "offset": part.offset,
                "length": part.length,
                "line": part.line,
                "repeated": list(part.repeated),
            }
