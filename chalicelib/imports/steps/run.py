"""The worker: one message, one step of an import (`queue.py`).

A step may stop at any line, run twice, late, or at the same time as itself. The products store
what it wrote (`upsert.py`), and its results are counted in the transaction that marks it as
finished (`store.finish`).
"""

import gc
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final

from chalicelib.imports import chunks, columns, files, store
from chalicelib.imports.formats.product import Skipped
from chalicelib.imports.model import ImportJob
from chalicelib.imports.steps import advance, backlog, queue, report
from chalicelib.imports.steps.queue import ChunkMessage
from chalicelib.imports.upsert import Results, Superseded, Upsert, own_keys
from chalicelib.jobs.model import JobStatus
from chalicelib.sqs import Batch, Handled, handle_steps
from chalicelib.storage.actor import act_as

_RETRY_SECONDS: Final = (5, 20, 60, 180)
_PLANNED_SECONDS: Final = 7_200  # until a job that starts anew has its file again


def batch(event: Batch) -> Handled:
    """Do the steps of messages of the import queue.

    Return the messages that failed, as SQS expects. They are received again. The garbage collector
    is off meanwhile.
    """
    # The many small objects of a chunk have no cycles and are freed without the collector, which
    # would scan them, and all of botocore, again and again: half of a chunk's CPU.
    gc.disable()
    try:
        records = event["Records"]
        return handle_steps(
            records, _do_step, queue.show_again, _RETRY_SECONDS, "import step failed"
        )
    finally:
        gc.enable()


def _do_step(message: ChunkMessage, received: int) -> bool:
    """Do the step of a message; return True, since it has ended.

    The step gets a flag, whether the message was received before. If the job's file is gone, the
    job is FAILED, and the message done.
    """
    try:
        _STEPS[message["step"]](message, received > 1)
    except files.FileChanged:
        advance.fail_without_file(message["job"])
    return True


# --- The steps ------------------------------------------------------------------------------------


def _copy_file(message: ChunkMessage, again: bool) -> None:
    """Copy the file of an earlier job, or its failed rows, or its own file, to the job's upload.

    S3 then sends an event as for any upload. A repeated copy is the same file. Nothing is copied
    for a job that is gone or no longer QUEUED. `again` (whether the message was received before)
    is not needed. Raise FileChanged if S3 no longer has the source as it was.
    """
    job = store.find_job(message["job"])
    if job is not None and job.status is JobStatus.QUEUED:
        files.copy_to_upload(message["from"], job.id, report=message["report"])


def _import_chunk(message: ChunkMessage, again: bool) -> None:
    """Import the products of a chunk, count them once, and start what follows.

    That is the next page of chunks, and at the end the report or the job's end. A chunk that is
    finished, or whose job has ended, is not imported, unless an earlier run may have written some
    of it (`again`: the message was received before). A message of release 1.0.0 lets the file be
    planned again.
    """
    if "chunk" not in message:
        _plan_again(message["job"], again)
        return
    job_id, chunk = message["job"], message["chunk"]
    job, is_done = store.load_with_chunk(job_id, chunk)
    if job is None:
        return
    # If the job has ended, an earlier run may have written products that are not counted yet.
    if not is_done and (again or job.status is JobStatus.RUNNING):
        file_format, shop = columns.load_format(job), columns.make_shop(job)
        upsert = Upsert(
            job,
            lambda rows: file_format.read_rows(rows, shop),
            partial(_is_running, job_id, chunk),
            lambda product: chunks.has_key(job_id, own_keys(product)),
        )
        with suppress(Superseded), act_as(lambda: job.actor):
            results = upsert.run(chunks.read(job_id, chunk))
            store.put_previews(job_id, upsert.previews)
            _finish_chunk(job, chunk, results)
    if job.status is JobStatus.RUNNING:
        # Also if another worker finished the chunk: it may have crashed before this.
        backlog.send_next_page(message)
    advance.start_next_step(job_id)


def _plan_again(job_id: str, again: bool) -> None:
    """Let the planner read the file of a job again whose chunks release 1.0.0 has cut.

    That release kept the chunks in its messages, as ranges of the file. Products that were written
    are counted again as they were.
    """
    job = store.find_job(job_id)
    if job is None:
        return
    # The first message does it; if it comes again, its worker may have crashed in between.
    if store.restart_job(job, _PLANNED_SECONDS) or (again and job.status is JobStatus.QUEUED):
        queue.send([{"job": job_id, "step": "copy", "from": job_id, "report": False}])


def _write_report(message: ChunkMessage, again: bool) -> None:
    """Write the report of a running job, and end the job. `again` is not needed."""
    job = store.find_job(message["job"])
    if job is not None and job.status is JobStatus.RUNNING:
        report.assemble_report(job)
        advance.end_job(job)


_STEPS: Final[Mapping[str, Callable[[ChunkMessage, bool], None]]] = {
    "copy": _copy_file,
    "chunk": _import_chunk,
    "report": _write_report,
}


# --- Parts of them --------------------------------------------------------------------------------


def _is_running(job_id: str, chunk: str) -> bool:
    """Return whether the job still runs. Raises Superseded if another has finished the chunk."""
    job, is_done = store.load_with_chunk(job_id, chunk)
    if is_done:
        raise Superseded
    return job is not None and job.status is JobStatus.RUNNING


def _finish_chunk(job: ImportJob, chunk: str, results: Results) -> None:
    """Store a chunk's errors, notices and failed rows, and then count its products, once."""
    faulty = [product for product, _ in results if product.errors]
    report.put_errors(job, faulty)
    repeated = [
        (each, product.names) for product, _ in results for each in product.imported.repeated
    ]
    store.put_errors(job.id, repeated, store.NOTICES)
    has_part = report.put_failed_rows(
        job, chunk, [each for product in faulty for each in product.failed]
    )
    counts = Counter(outcome for _, outcome in results)
    skips = (product.imported.skipped for product, _ in results)
    skipped = sum(filter(None, skips), Counter[Skipped]())  # most have none
    store.finish_chunk(
        job.id, chunk, counts, with_errors=len(faulty), skipped=skipped, has_part=has_part
    )
