"""The worker: one message, one step of an import (`queue.py`).

Any step may be cut off at any line, come twice, late, or beside itself. What it wrote is found by
what the products remember (`upsert.py`), and what it did is counted in the transaction that says it
is finished (`store.finish`).
"""

import gc
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, Final

from chalicelib import clock, settings, table, telemetry
from chalicelib.imports import files, store
from chalicelib.imports.apply import missing
from chalicelib.imports.csv.groups import grouped
from chalicelib.imports.csv.records import Record, read
from chalicelib.imports.formats import Dialect, Shop, read_as
from chalicelib.imports.model import Job, Outcome, Status
from chalicelib.imports.steps import advance, queue, report
from chalicelib.imports.steps.queue import Message
from chalicelib.imports.steps.waiting import (
    Waiting,
    first_waiting,
    put_waiting,
    settle,
    waiting_for,
)
from chalicelib.imports.upsert import Held, Rows, Superseded, Upsert

_LEFTOVER_ROWS: Final = 60  # at once: each is a write of the transaction that counts it
_RETRY_SECONDS: Final = (5, 20, 60, 180)


def batch(event: Mapping[str, Any]) -> dict[str, Any]:
    """Messages of the import queue; those that failed are received again."""
    # The many small objects of a chunk are in no cycles, and go without the collector, which would
    # look through them, and through all of botocore, again and again: half of a chunk's CPU.
    gc.disable()
    try:
        failed = [record["messageId"] for record in event["Records"] if not _handle(record)]
    finally:
        gc.enable()
    return {"batchItemFailures": [{"itemIdentifier": id} for id in failed]}


def _handle(record: Mapping[str, Any]) -> bool:
    """Whether the message is done with."""
    message = json.loads(record["body"])
    received = int(record["attributes"]["ApproximateReceiveCount"])
    try:
        _STEPS[message["step"]](message, received > 1)
    except files.FileChanged:
        advance.end_without_file(message["job"])
    except advance.NotYet:
        queue.show_again(record["receiptHandle"], _RETRY_SECONDS[0])
        return False
    except Exception as error:
        telemetry.error("import step failed", error, received=received, **_named(message))
        wait = _RETRY_SECONDS[min(received, len(_RETRY_SECONDS)) - 1]
        queue.show_again(record["receiptHandle"], wait)
        return False
    return True


def _named(message: Message) -> dict[str, Any]:
    return {"jobId": message["job"], "step": message["step"], "number": message.get("number")}


# --- The steps ------------------------------------------------------------------------------------


def _chunk(message: Message, again: bool) -> None:
    """A part of the file: all its products but those which came before, or are not complete."""
    job_id, chunk = message["job"], f"chunk#{message['number']}"
    job, is_done = store.standing(job_id, chunk)
    if job is None:
        return
    was_first = False
    # Of a job that has ended, an earlier run may have written what nobody has counted.
    if not is_done and (again or job.status is Status.RUNNING):
        reader = _Reader(job)
        rows = reader.rows(message)
        repeated = set(message["repeated"])
        upsert = Upsert(job, chunk, partial(_goes_on, job_id, chunk))
        with suppress(Superseded):
            upsert.run(
                [row for row in rows if row.line not in repeated],
                held=lambda rows: rows[0].is_incomplete,
            )
            was_first = _finish(job, chunk, rows, message)
    advance.after_chunks(job_id, is_mine=was_first or again)


def _ordered(message: Message, again: bool) -> None:
    """What a chunk left for later, in the order of the file; of two rows the later wins."""
    job_id, number = message["job"], message["number"]
    chunk = f"ordered#{number}"
    job, is_done = store.standing(job_id, chunk)
    if job is None:
        return
    was_first = False
    if not is_done and (again or job.status is Status.RUNNING):
        left = store.deferred(job_id, number)
        assert left is not None, "a chunk keeps what it left until the job's files go"
        reader = _Reader(job)
        lines = set(left["lines"])
        rows = [row for row in reader.rows(left) if row.line in lines]
        upsert = Upsert(job, chunk, partial(_goes_on, job_id, chunk))
        waiting = _WaitingRows(reader, rows)
        with suppress(Superseded):
            upsert.run(rows, held=waiting.hold)
            for row in rows:
                if row.outcome is Outcome.CREATED:
                    settle(job_id, waiting.of[row.product], Outcome.UPDATED)
            put_waiting(job_id, [_waiting(row) for row in rows if row.outcome is None])
            was_first = _finish(job, chunk, rows)
    if job.status is Status.RUNNING:
        advance.after_ordered(job, number, is_mine=was_first or again)


def _leftover(message: Message, again: bool) -> None:
    """Rows whose product was never completed: they fail, unless it has come some other way."""
    job = store.find(message["job"])
    if job is None or job.status is not Status.RUNNING:
        return
    waiting = first_waiting(job.id, _LEFTOVER_ROWS)
    if not waiting:
        advance.after_leftover(job)
        return
    rows = _Reader(job).waiting(waiting)
    chunk = f"swept#{waiting[0].line:09d}"
    with suppress(Superseded):
        Upsert(job, chunk, partial(_goes_on, job.id, chunk)).run(rows, held=lambda rows: True)
        for row in rows:
            if row.outcome is None:
                row.fail([missing(row.line, "name" if row.imported.continues else "price")])
        _finish(job, chunk, rows, settled=waiting)
    advance.more_leftover(job)


def _report(message: Message, again: bool) -> None:
    job = store.find(message["job"])
    if job is None or job.status is not Status.RUNNING:
        return
    rest = report.assemble(job, message.get("state", {}))
    if rest is None:
        advance.end(job)
    else:
        advance.more_report(job, rest)


_STEPS: Final[Mapping[str, Callable[[Message, bool], None]]] = {
    "chunk": _chunk,
    "ordered": _ordered,
    "leftover": _leftover,
    "report": _report,
}


# --- Parts of them --------------------------------------------------------------------------------


class _Reader:
    """The file of a job, as groups of rows."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.dialect: Dialect = read_as(job.format.header)
        self.shop = Shop(settings.currency(), clock.now().date())

    def rows(self, part: Mapping[str, Any]) -> list[Rows]:
        """The groups of a byte range that begins and ends between products."""
        return [self._rows(records) for records in self._groups(part)]

    def waiting(self, waiting: Sequence[Waiting]) -> list[Rows]:
        groups = table.together([partial(self._groups, vars(row)) for row in waiting])
        return [self._rows(records) for (records,) in groups]

    def whole(self, waiting: Sequence[Waiting], rows: Sequence[Rows]) -> Rows:
        """One product of rows from several places of the file."""
        records = [record for row in (*self.waiting(waiting), *rows) for record in row.records]
        return self._rows(records)

    def _rows(self, records: Sequence[Record]) -> Rows:
        return Rows.of(records, self.dialect, self.shop)

    def _groups(self, part: Mapping[str, Any]) -> list[list[Record]]:
        offset, length, line = int(part["offset"]), int(part["length"]), int(part["line"])
        data = files.read(self.job.id, self.job.etag, offset, length)
        return list(grouped(read(data, self.job.format, offset, line), self.dialect))


class _WaitingRows:
    """The rows that wait for the products of a step."""

    def __init__(self, reader: _Reader, rows: Iterable[Rows]) -> None:
        self._reader = reader
        self._products = {row.product for row in rows}

    @cached_property
    def of(self) -> dict[str, list[Waiting]]:
        """By product, all read at once: nothing is put there before the step has ended."""
        job_id, products = self._reader.job.id, list(self._products)
        reads = [partial(waiting_for, job_id, product) for product in products]
        return dict(zip(products, table.together(reads), strict=True))

    def hold(self, rows: list[Rows]) -> Held:
        """Whether rows of a product that does not exist wait for more, or complete what waits."""
        if not self._reader.job.has_repeats:
            return False  # nothing else in the file can complete them
        waiting = self.of[rows[0].product]
        if not waiting and not rows[0].is_incomplete:
            return False
        together = [*waiting, *map(_waiting, rows)]
        if not any(row.named for row in together) or not any(row.priced for row in together):
            return True
        whole = self._reader.whole(waiting, rows)
        return True if whole.outcome or whole.is_incomplete else whole.imported


def _waiting(row: Rows) -> Waiting:
    first, last = row.records[0], row.records[-1]
    length = last.offset + last.length - first.offset
    named, priced = not row.imported.continues, not row.imported.awaits_variants
    return Waiting(row.product, first.offset, length, row.line, named, priced)


def _goes_on(job_id: str, chunk: str) -> bool:
    job, is_done = store.standing(job_id, chunk)
    if is_done:
        raise Superseded
    return job is not None and job.status is Status.RUNNING


def _finish(
    job: Job,
    chunk: str,
    rows: Iterable[Rows],
    message: Message | None = None,
    settled: Iterable[Waiting] = (),
) -> bool:
    """Keeps what failed, and counts, unless somebody has. With a `message`, groups that have no
    outcome are left for later."""
    failed = [row for row in rows if row.outcome is Outcome.FAILED]
    store.put_errors(job.id, (error for row in failed for error in row.errors))
    has_part = report.put_part(job, chunk, [(row.records, row.errors) for row in failed])
    counts = Counter(row.outcome for row in rows if row.outcome)
    lines = [row.line for row in rows if row.outcome is None]
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
