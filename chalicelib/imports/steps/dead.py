"""Dead letters: each ends its job with a reason, so that no job hangs.

Lambda runs a planner three times within minutes. That is enough for one that is killed; one that
AWS refused is started again for an hour, as the messages of queues are.
"""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from chalicelib import aws, settings, telemetry
from chalicelib.imports import files
from chalicelib.imports.chunks import PREFIX
from chalicelib.jobs import store as jobs
from chalicelib.problems import Busy
from chalicelib.sqs import Batch, Handled, handle_each
from chalicelib.values import clock

_REFUSED: Final = timedelta(hours=1)  # that long a refused planner is started again

_End = tuple[str, str, str]  # the job, the code and the message


def batch(event: Batch) -> Handled:
    """End the jobs of dead letters as FAILED; return the messages of those that could not be ended.

    They are received again.
    """
    return handle_each(event["Records"], _end_job, "dead letter not handled")


def _end_job(body: str) -> None:
    """Mark the job of a dead letter as FAILED, unless it has ended, and log it.

    A letter that is not understood is only logged; a refused planner is started again instead, for
    an hour (`_explain_upload`).
    """
    try:
        letter = json.loads(body)
        end = _explain_step(letter) if "job" in letter else _explain_upload(letter)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # Receiving it again would not help.
        telemetry.error("dead letter not understood", error, body=body[:2_000])
        return
    if end is None:
        return
    job_id, code, message = end
    jobs.fail(job_id, code, message)
    telemetry.error("import failed", jobId=job_id, code=code)


def _explain_step(letter: Mapping[str, Any]) -> _End:
    """Return the job, code and message of a step that failed too often.

    A letter of a job that is no import, whose step is a number, has another code.
    """
    if isinstance(letter.get("step"), int):  # of a job that is no import
        message = "The job could not continue. What was written stays. "
        again = "Undo a bulk edit or a count before you make it again."
        return letter["job"], "step_failed", message + again
    line = str(letter.get("chunk", "")).removeprefix(PREFIX).lstrip("0")
    where = f" from line {line} on" if line else ""
    message = f"A part of the file{where} could not be imported within an hour. "
    return letter["job"], "chunk_failed", message + _again


def _explain_upload(letter: Mapping[str, Any]) -> _End | None:
    """Return why the job of an upload has failed; None after starting its planner again.

    That is done for an hour, if AWS refused its calls (Busy). `letter`: the event, which Lambda
    wraps if a function failed on it; `refusedSince` is added to the event.
    """
    event = letter.get("requestPayload", letter)
    job_id = files.job_of_key(event["detail"]["object"]["key"])
    if letter.get("responsePayload", {}).get("errorType") == Busy.__name__:
        now = clock.now()
        since = event.setdefault("refusedSince", clock.iso(now))
        if now < clock.parse(since) + _REFUSED:
            telemetry.warning("planning was refused", jobId=job_id, since=since)
            aws.client("lambda").invoke(
                FunctionName=settings.planner(), InvocationType="Event", Payload=json.dumps(event)
            )
            return None
    return job_id, "planning_failed", "The file could not be read. " + _again


_again = "Products that were written stay; retry the job to import the rest."
