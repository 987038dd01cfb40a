"""From a file in S3 to chunks on the queue: the file is streamed once.

A planner that runs again after a crash writes the same chunks and sends the same messages; finished
chunks ignore them.
"""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import chain, islice
from tempfile import TemporaryDirectory
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib import __version__, telemetry, threads
from chalicelib.imports import chunks, columns, files, foreseen, store
from chalicelib.imports.csv import workbooks
from chalicelib.imports.csv.encodings import Undecided
from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.csv.groups import group_rows
from chalicelib.imports.csv.opening import Table, open_csv
from chalicelib.imports.csv.rows import CsvRow
from chalicelib.imports.formats import Format
from chalicelib.imports.joining import Joining
from chalicelib.imports.model import (
    LARGEST_HEADER,
    LARGEST_UPLOAD,
    LARGEST_WORKBOOK,
    ImportJob,
    Options,
    UnknownColumnsMode,
    is_large,
)
from chalicelib.imports.steps import advance, backlog
from chalicelib.jobs import store as jobs
from chalicelib.jobs.model import JobStatus
from chalicelib.problems import Busy
from chalicelib.products import store as products
from chalicelib.sqs import Unsent
from chalicelib.values.batches import batches

# Lambda ends a function after 900 s. docs/import.md#the-job says how long 1 GB takes.
_PLANNING_SECONDS: Final = 780
_WRITTEN_AT_ONCE: Final = 16  # chunks
_SAMPLED: Final = 30  # rows used for a proposal


def plan_upload(event: Mapping[str, Any]) -> None:
    """Plan the import of an object that was created below `imports/` (EventBridge, S3).

    A file that cannot be imported, or was replaced meanwhile, fails its job. Nothing happens for a
    job that is gone or has ended. Raises Busy if AWS refused calls for too long: then it is started
    again (`dead.py`).
    """
    job_id = files.job_of_key(event["detail"]["object"]["key"])
    job = store.find_job(job_id)
    if job is None:
        telemetry.warning("upload without a job", key=event["detail"]["object"]["key"])
        return
    if job.status not in {JobStatus.QUEUED, JobStatus.NEEDS_MAPPING, JobStatus.RUNNING}:
        return
    try:
        _plan_job(job)
    except FileRejected as rejected:
        jobs.fail(job_id, rejected.code, rejected.message, row=rejected.row)
        telemetry.info("import rejected", jobId=job_id, code=rejected.code)
    except files.FileChanged:
        advance.fail_without_file(job_id)
    except (BotoCoreError, ClientError, Unsent) as error:
        raise Busy from error


def _plan_job(waiting: ImportJob) -> None:
    """Read a job's file: begin the job and send its chunks, or ask the user how it is read.

    What its columns mean is stored in either case. A job that was cut already has its messages sent
    again. A workbook is only converted to CSV, which starts the planner again. Raises FileRejected,
    FileChanged.
    """
    job_id = waiting.id
    upload = files.Upload(job_id)
    is_workbook = workbooks.is_workbook(upload.head)
    _refuse_large(upload.size, is_workbook)
    if is_workbook:
        _convert_workbook(waiting, upload)
        return
    options, etag = waiting.options, upload.etag
    try:
        table, file_format = _open_table(upload, options)
    except Undecided as undecided:
        if options.on_unknown_columns is UnknownColumnsMode.FAIL:
            raise
        store.put_columns(job_id, {"encodings": [each._asdict() for each in undecided.readings]})
        if store.ask_user(waiting, None):
            telemetry.info("import asks for an encoding", jobId=job_id)
        return
    rows = table.rows()
    first = list(islice(rows, _SAMPLED))
    header = table.format.header
    samples = [each.cells for each in first if each.problem is None]
    proposed = file_format or columns.find_format_to_change(table.format, options)
    store.put_columns(job_id, columns.describe_columns(header, samples, proposed, options))
    if file_format is None or options.review:
        if store.ask_user(waiting, table.format, proposed):
            telemetry.info("import asks for a mapping", jobId=job_id)
        return
    doubt = None
    if options.mapping is not None:
        doubt = foreseen.foresee(waiting, table.format, options, etag)["question"]
    job = store.begin_job(
        waiting,
        etag,
        form=table.format,
        csv_format=file_format,
        met_products=not products.has_none(),
        doubt=doubt,
    )
    if job is None:
        now = store.find_job(job_id)
        if now and now.status is JobStatus.RUNNING and now.answers == waiting.answers:
            # Another file was uploaded in its place.
            raise files.FileChanged
        return
    if not job.is_read:
        _cut_file(job, chain(first, rows), file_format)
    backlog.send_first_pages(job_id)
    advance.start_next_step(job_id)


def _open_table(upload: files.Upload, options: Options) -> tuple[Table, Format | None]:
    """Open a file with the header line of the options, or the one that fits best.

    Choose its format. The format is None if the user must be asked. Another header is tried if no
    format fits the first: the row below it, or none at all. Raises FileRejected, and Undecided for
    its encoding.
    """
    table = open_csv(upload, options.encoding, options.delimiter, options.header_row)
    form = table.format
    if is_large(form.header):
        message = f"The header has more than {LARGEST_HEADER:,} bytes."
        raise FileRejected("bad_header", message, form.header_row)
    file_format = columns.choose_format(form, options)
    if file_format is not None or options.header_row is not None:
        return table, file_format
    first = next(table.rows(), None)
    other = None
    if columns.is_data(form.header):
        other = 0  # there is no header
    elif first and columns.is_better_header(form.header, first.cells):
        other = first.line
    table = open_csv(upload, form.encoding, form.delimiter, other)
    return table, columns.choose_format(table.format, options)


def _cut_file(job: ImportJob, rows: Iterator[CsvRow], file_format: Format) -> None:
    """Read the whole file, store its products in chunks, and mark the job as planned.

    The hashes of its keys are stored, too (`chunks.has_key`). No message is sent. Raises
    FileRejected if it takes too long, or another release began.
    """
    if job.fields.get("cutBy") != __version__:
        # What the other release has written may be cut elsewhere.
        message = "The service was upgraded while the file was read. Retry the import."
        raise FileRejected("planning_failed", message)
    ends = time.monotonic() + _PLANNING_SECONDS
    count = total = parts = 0
    with (
        TemporaryDirectory() as folder,
        closing(Joining(folder, lambda: time.monotonic() > ends)) as joining,
    ):
        try:
            for group in group_rows(rows, file_format):
                joining.add(group)
                count += group.count
            chunks.write_keys(job.id, joining.join())
            for wave in batches(chunks.cut(joining.products()), _WRITTEN_AT_ONCE):
                threads.run_together([partial(chunks.write, job.id, chunk) for chunk in wave])
                parts += len(wave)
                total += sum(map(len, wave))
        except sqlite3.OperationalError as error:
            why = "The file has too many rows for one import: split it."
            raise FileRejected("too_many_rows", why) from error
    store.mark_planned(job.id, parts, count, total)
    telemetry.info("import planned", jobId=job.id, chunks=parts, products=total)


def _refuse_large(size: int, is_workbook: bool) -> None:
    """Raise FileRejected for too large a file. The form of an upload takes no larger CSV."""
    if is_workbook and size > LARGEST_WORKBOOK:
        message = f"A workbook may have {LARGEST_WORKBOOK >> 20} MB, a CSV 1 GB. Save it as CSV."
        raise FileRejected("workbook_too_large", message)
    if size > LARGEST_UPLOAD:
        raise FileRejected("file_too_large", "A file may have 1 GB. Split it.")


def _convert_workbook(job: ImportJob, upload: files.Upload) -> None:
    """Replace a workbook in S3 by its sheet as CSV, for which S3 sends another event.

    If blank cells far away were left out, that is stored with the job. Raises FileRejected.
    """
    options = job.options
    data, far = workbooks.convert_workbook(upload, options.sheet, options.delimiter)
    if far:
        store.note_left_out(job.id, far)
    files.put_upload(job.id, data)
    telemetry.info("workbook converted", jobId=job.id, size=upload.size)
