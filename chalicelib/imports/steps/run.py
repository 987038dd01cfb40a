"""The worker: one message, one step of an import (`queue.py`).

A step may stop at any line, run twice, late, or at the same time as itself. The products store
what it wrote (`upsert.py`), and its results are counted in the transaction that marks it as
finished (`store.finish`).
"""

import gc
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from chalicelib import telemetry
from chalicelib.imports import files, store
from chalicelib.imports.formats.product import Skipped
from chalicelib.imports.model import ImportJob
from chalicelib.imports.steps import advance, backlog, queue, report
from chalicelib.imports.steps.queue import ChunkMessage
from chalicelib.imports.steps.reader import Reader
from chalicelib.imports.upsert import ProductRows, Superseded, Upsert
from chalicelib.jobs.model import JobStatus
from chalicelib.sqs import Batch, Handled, Received, all_but
from chalicelib.storage.actor import acting

_RETRY_SECONDS: Final = (5, 20, 60, 180)


def batch(event: Batch) -> Handled:
    """Messages of the import queue; those that failed are received again."""
    # The many small objects of a chunk have no cycles and are freed without the collector, which
    # would scan them, and all of botocore, again and again: half of a chunk's CPU.
    gc.disable()
    try:
        failed = [record["messageId"] for record in event["Records"] if not _handle(record)]
    finally:
        gc.enable()
    return all_but(failed)


def _handle(record: Received) -> bool:
    """Whether the message is finished."""
    message = json.loads(record["body"])
    received = int(record["attributes"]["ApproximateReceiveCount"])
    try:
        _STEPS[message["step"]](message, received > 1)
    except files.FileChanged:
        advance.end_without_file(message["job"])
    except Exception as error:
        telemetry.error("import step failed", error, received=received, **_named(message))
        wait = _RETRY_SECONDS[min(received, len(_RETRY_SECONDS)) - 1]
        queue.show_again(record["receiptHandle"], wait)
        return False
    return True


def _named(message: ChunkMessage) -> dict[str, object]:
    return {"jobId": message["job"], "step": message["step"], "number": message.get("number")}


# --- The steps ------------------------------------------------------------------------------------


def _copy(message: ChunkMessage, again: bool) -> None:
    """Copies the file of an earlier job, or its failed rows, or its own file, to this job's upload;
    S3 then sends an event as for any upload. A repeated copy is the same file."""
    job = store.find(message["job"])
    if job is not None and job.status is JobStatus.QUEUED:
        files.copy_to_upload(message["from"], job.id, report=message["report"])


def _chunk(message: ChunkMessage, again: bool) -> None:
    """Some products of the file, with all of their rows."""
    job_id, chunk = message["job"], f"chunk#{message['number']}"
    job, is_done = store.standing(job_id, chunk)
    if job is None:
        return
    # If the job has ended, an earlier run may have written products that are not counted yet.
    if not is_done and (again or job.status is JobStatus.RUNNING):
        reader = Reader(job)
        rows = reader.products(message)
        upsert = Upsert(job, partial(_is_running, job_id, chunk), reader.is_in_file)
        with suppress(Superseded), acting(lambda: job.actor):
            upsert.run(rows)
            store.put_previews(job_id, upsert.previews)
            _finish(job, chunk, rows)
    if job.status is JobStatus.RUNNING:
        # Also if another worker finished the chunk: it may have crashed before this.
        backlog.send_next_page(message)
    advance.after_chunks(job_id)


def _report(message: ChunkMessage, again: bool) -> None:
    job = store.find(message["job"])
    if job is not None and job.status is JobStatus.RUNNING:
        report.assemble(job)
        advance.end(job)


_STEPS: Final[Mapping[str, Callable[[ChunkMessage, bool], None]]] = {
    "copy": _copy,
    "chunk": _chunk,
    "report": _report,
}


# --- Parts of them --------------------------------------------------------------------------------


def _is_running(job_id: str, chunk: str) -> bool:
    job, is_done = store.standing(job_id, chunk)
    if is_done:
        raise Superseded
    return job is not None and job.status is JobStatus.RUNNING


def _finish(job: ImportJob, chunk: str, rows: Sequence[ProductRows]) -> None:
    """Stores failed rows, and counts, unless done already."""
    # A product without an outcome was not written, as the job has ended.
    ended = [row for row in rows if row.outcome is not None]
    faulty = [row for row in ended if row.errors]
    report.put_errors(job, faulty)
    repeated = [(each, row.named) for row in ended for each in row.imported.repeated]
    store.put_errors(job.id, repeated, store.NOTICES)
    has_part = report.put_part(job, chunk, [each for row in faulty for each in row.failed])
    counts = Counter(row.outcome for row in ended if row.outcome is not None)
    skips = (row.imported.skipped for row in ended)
    skipped = sum(filter(None, skips), Counter[Skipped]())  # most have none
    store.finish(job.id, chunk, counts, with_errors=len(faulty), skipped=skipped, has_part=has_part)
