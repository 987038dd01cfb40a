"""The worker: one message, one step of an import (`queue.py`).

A step may stop at any line, run twice, late, or at the same time as itself. The products store
what it wrote (`upsert.py`), and its results are counted in the transaction that marks it as
finished (`store.finish`).
"""

import gc
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from chalicelib import telemetry
from chalicelib.imports import files, store
from chalicelib.imports.model import ImportJob, ProductOutcome
from chalicelib.imports.steps import advance, lanes, queue, report, tally
from chalicelib.imports.steps.begin import AllHere, NothingMore, WaitingRows, waiting_row
from chalicelib.imports.steps.queue import ChunkMessage
from chalicelib.imports.steps.reader import Reader, is_in_file
from chalicelib.imports.steps.waiting import Waiting, first_waiting, put_waiting, settle
from chalicelib.imports.upsert import ProductRows, Superseded, Upsert
from chalicelib.jobs.model import JobStatus
from chalicelib.sqs import Batch, Handled, Received, all_but
from chalicelib.values.batches import batches

_LEFTOVER_ROWS: Final = 60  # at once: each is a write of the transaction that counts it
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
    except advance.StepNotFinished:
        queue.show_again(record["receiptHandle"], _RETRY_SECONDS[0])
        return False
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
    """A part of the file: all its products except those that came before or are incomplete."""
    job_id, chunk = message["job"], f"chunk#{message['number']}"
    job, is_done = store.standing(job_id, chunk)
    if job is None:
        return
    was_first = False
    # If the job has ended, an earlier run may have written products that are not counted yet.
    if not is_done and (again or job.status is JobStatus.RUNNING):
        reader = Reader(job)
        rows = reader.rows(message)
        repeated = set(message["repeated"])
        upsert = Upsert(job, chunk, partial(_is_running, job_id, chunk))
        with suppress(Superseded):
            upsert.run([row for row in rows if row.line not in repeated], AllHere())
            store.put_previews(job_id, upsert.previews)
            was_first = _finish(job, chunk, rows, message)
    if job.status is JobStatus.RUNNING:
        # Also if another worker finished the chunk: it may have crashed before this.
        lanes.send_next_page(message)
    advance.after_chunks(job_id, is_mine=was_first or again)


def _ordered(message: ChunkMessage, again: bool) -> None:
    """The groups left for later by a chunk, in the order of the file; of two rows the later
    wins."""
    job_id, number = message["job"], message["number"]
    chunk = f"ordered#{number}"
    job, is_done = store.standing(job_id, chunk)
    if job is None:
        return
    was_first = False
    if not is_done and (again or job.status is JobStatus.RUNNING):
        left = store.deferred(job_id, number)
        assert left is not None, "a chunk keeps what it left until the job's files go"
        reader = Reader(job)
        lines = set(left["lines"])
        rows = [row for row in reader.rows(left) if row.line in lines]
        is_running = partial(_is_running, job_id, chunk)
        upsert = Upsert(job, chunk, is_running, is_in_file(reader))
        waiting = WaitingRows(reader)
        with suppress(Superseded):
            upsert.run(rows, waiting)
            for row in rows:
                if row.outcome is ProductOutcome.CREATED:
                    settle(job_id, waiting.of(row), ProductOutcome.UPDATED)
            for some in batches(waiting.applied(), _LEFTOVER_ROWS):
                _finish_waiting(job, [each for each, _ in some], [row for _, row in some])
            store.put_previews(job_id, upsert.previews)
            put_waiting(job_id, [waiting_row(row) for row in rows if row.outcome is None])
            was_first = _finish(job, chunk, rows)
    if job.status is JobStatus.RUNNING:
        advance.after_ordered(job, number, is_mine=was_first or again)


def _leftover(message: ChunkMessage, again: bool) -> None:
    """Rows whose product was never completed: they fail, unless it exists by now."""
    job = store.find(message["job"])
    if job is None or job.status is not JobStatus.RUNNING:
        return
    waiting = first_waiting(job.id, _LEFTOVER_ROWS)
    if not waiting:
        advance.after_leftover(job)
        return
    reader = Reader(job)
    rows = reader.waiting(waiting)
    chunk = _chunk_of(waiting)
    is_running = partial(_is_running, job.id, chunk)
    with suppress(Superseded):
        Upsert(job, chunk, is_running, is_in_file(reader)).run(rows, NothingMore())
        _finish_waiting(job, waiting, rows)
    advance.more_leftover(job)


def _report(message: ChunkMessage, again: bool) -> None:
    job = store.find(message["job"])
    if job is None or job.status is not JobStatus.RUNNING:
        return
    # A worker that crashed here may have completed the report.
    rest = None if job.has_report else report.assemble(job, message.get("state", {}))
    if rest is None:
        advance.end(job)
    else:
        advance.more_report(job, rest)


_STEPS: Final[Mapping[str, Callable[[ChunkMessage, bool], None]]] = {
    "copy": _copy,
    "chunk": _chunk,
    "ordered": _ordered,
    "leftover": _leftover,
    "report": _report,
}


# --- Parts of them --------------------------------------------------------------------------------


def _is_running(job_id: str, chunk: str) -> bool:
    job, is_done = store.standing(job_id, chunk)
    if is_done:
        raise Superseded
    return job is not None and job.status is JobStatus.RUNNING


def _chunk_of(waiting: Sequence[Waiting]) -> str:
    return f"swept#{waiting[0].line:09d}"


def _finish_waiting(
    job: ImportJob, waiting: Sequence[Waiting], rows: Sequence[ProductRows]
) -> None:
    """Counts the rows, which no longer wait."""
    _finish(job, _chunk_of(waiting), rows, settled=waiting)


def _finish(
    job: ImportJob,
    chunk: str,
    all_rows: Sequence[ProductRows],
    message: ChunkMessage | None = None,
    settled: Iterable[Waiting] = (),
) -> bool:
    """Stores failed rows, and counts, unless done already. With a `message`, groups without an
    outcome, or whose product came before, are left for later."""
    later = set(message["repeated"]) if message else set()
    rows = [row for row in all_rows if row.line not in later]
    failed = [row for row in rows if row.outcome is ProductOutcome.FAILED]
    report.put_errors(job, failed)
    has_part = report.put_part(job, chunk, [(row.records, row.errors) for row in failed])
    tally.count(job.id, chunk, [row for row in rows if row.names])
    counts = Counter(row.outcome for row in rows if row.outcome and not row.names)
    lines = [row.line for row in all_rows if row.outcome is None or row.line in later]
    deferred = None
    if message and lines:
        place = {name: message[name] for name in ("offset", "length", "line")}
        deferred = {**place, "lines": lines}
    return store.finish(
        job.id,
        chunk,
        counts,
        has_part=has_part,
        deferred=deferred,
        settled=[row.key(job.id) for row in settled],
    )
