"""Step Functions as a timer: starts `redrive.py` for an endpoint at a time.

One execution serves all deliveries of an endpoint that are due in one slot of five minutes, so a
dead endpoint with a million deliveries costs a few transitions.
"""

import json
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from botocore.exceptions import ClientError

from chalicelib import aws, settings
from chalicelib.values import clock, ids
from chalicelib.webhooks import retry
from chalicelib.webhooks.retry import Slot

_KNOWN: Final = 10_000  # names that this process remembers
_SOON: Final = 30  # seconds; a request that starts one and then writes what it will find has ended


def at(endpoint_id: str, due: datetime) -> None:
    """In the slot of `due`. An execution that already exists is no error."""
    scale = settings.webhook_schedule_scale()
    _start_once(endpoint_id, retry.slot(endpoint_id, due, clock.now(), scale))


@lru_cache(maxsize=_KNOWN)
def _start_once(endpoint_id: str, slot: Slot) -> None:
    """An account may start a few hundred executions a second, but thousands of messages wait for
    the same one: a started name is not started again. Failures are not remembered."""
    _start(slot.name, endpoint_id, slot.at, slot.until)


def back(endpoint_id: str) -> None:
    """Within two minutes, for everything parked, because the endpoint answers again. At most one a
    minute, however many functions see it."""
    length = max(1, round(retry.MINUTE * settings.webhook_schedule_scale()))
    _start_back(endpoint_id, (clock.unix() // length + 1) * length)


@lru_cache(maxsize=_KNOWN)
def _start_back(endpoint_id: str, minute: int) -> None:
    due = datetime.fromtimestamp(minute, UTC) + _shortly()
    _start(f"{endpoint_id}-back-{minute}", endpoint_id, due, due, back=True)


def again(endpoint_id: str, slot: Slot) -> None:
    """In that slot, though an execution has its name already."""
    _start(f"{endpoint_id}-{ids.ulid()}", endpoint_id, slot.at, slot.until)


def forget() -> None:
    """As in a new process."""
    _start_once.cache_clear()
    _start_back.cache_clear()


def soon(endpoint_id: str) -> None:
    """In half a minute, for everything due until a slot later: the execution of the current slot
    may have found the endpoint paused."""
    due = clock.now() + _shortly()
    slot = timedelta(seconds=retry.slot_seconds(settings.webhook_schedule_scale()))
    _start(f"{endpoint_id}-{ids.ulid()}", endpoint_id, due, due + slot)


def _shortly() -> timedelta:
    return timedelta(seconds=max(2, _SOON * settings.webhook_schedule_scale()))


def _start(
    name: str, endpoint_id: str, due: datetime, until: datetime, *, back: bool = False
) -> None:
    payload = {
        "endpoint": endpoint_id,
        "due": clock.iso(due),
        "until": clock.iso(until),
        "back": back,
    }
    try:
        aws.client("stepfunctions").start_execution(
            stateMachineArn=settings.redrive_state_machine_arn(),
            name=name,
            input=json.dumps(payload),
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != "ExecutionAlreadyExists":
            raise
