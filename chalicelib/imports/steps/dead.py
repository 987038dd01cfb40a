"""Dead letters: each ends its job with a reason, so that no job hangs."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from chalicelib import telemetry
from chalicelib.imports import files, store
from chalicelib.jobs import store as jobs
from chalicelib.sqs import Batch, Handled, all_but

_End = tuple[Callable[[str, str, str], None], str, str, str]  # what ends the job, and its arguments


def batch(event: Batch) -> Handled:
    """Messages of the dead-letter queues; if the job could not be ended, they come again."""
    failed = []
    for record in event["Records"]:
        try:
            _end_job(record["body"])
        except Exception as error:
            telemetry.error("dead letter not handled", error, messageId=record["messageId"])
            failed.append(record["messageId"])
    return all_but(failed)


def _end_job(body: str) -> None:
    try:
        letter = json.loads(body)
        fail, job_id, code, message = _step(letter) if "job" in letter else _upload(letter)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # Receiving it again would not help.
        telemetry.error("dead letter not understood", error, body=body[:2_000])
        return
    fail(job_id, code, message)
    telemetry.error("import failed", jobId=job_id, code=code)


def _step(letter: Mapping[str, Any]) -> _End:
    if isinstance(letter.get("step"), int):  # of a job that is no import
        message = "The job could not continue. What was written stays."
        return jobs.fail, letter["job"], "step_failed", message
    where = f" from line {letter['line']} on" if "line" in letter else ""
    message = f"A part of the file{where} could not be imported within an hour. "
    return store.fail, letter["job"], "chunk_failed", message + _again


def _upload(letter: Mapping[str, Any]) -> _End:
    """The event of an upload; Lambda wraps one on which a function failed."""
    event = letter.get("requestPayload", letter)
    job_id = files.job_of(event["detail"]["object"]["key"])
    return store.fail, job_id, "planning_failed", "The file could not be read. " + _again


_again = "Products that were written stay; retry the job to import the rest."
