"""Step Functions as a timer: an execution waits, and then runs `redrive.py` for one endpoint.

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
from chalicelib.webhooks.model import Endpoint

_KNOWN: Final = 10_000  # names that this process remembers
_SOON: Final = 30  # seconds; a request that starts one and then writes what it will find has ended


def schedule_redrive(endpoint_id: str, due: datetime) -> None:
    """Start the execution that sends an endpoint's parked messages in the slot of `due`.

    Nothing is sent now: it waits by itself until the slot begins. Once for a slot: an execution
    that exists already is no error.
    """
    scale = settings.webhook_schedule_scale()
    slot = retry.slot(endpoint_id, due, clock.now(), scale)
    _start(slot.name, endpoint_id, slot.at, slot.until)


def schedule_redrive_soon(endpoint_id: str) -> None:
    """Start an execution that sends an endpoint's parked messages in half a minute.

    It sends all that is due until a slot later. It has a name of its own, because the execution of
    the current slot may have found the endpoint paused.
    """
    due = clock.now() + _soonest_delay()
    slot = timedelta(seconds=retry.slot_seconds(settings.webhook_schedule_scale()))
    _start(f"{endpoint_id}-{ids.ulid()}", endpoint_id, due, due + slot)


def schedule_recovery(endpoint: Endpoint) -> None:
    """Start an execution that sends a failing endpoint's parked messages, because it answers again.

    It begins within two minutes, but an hour after the endpoint's last recovery at the earliest;
    the recovery is stored then, not here. There is at most one a minute, however many functions see
    the answer.
    """
    scale = settings.webhook_schedule_scale()
    earliest, minute = clock.now(), max(1, round(retry.MINUTE * scale))
    if endpoint.recovery:
        hour = timedelta(seconds=retry.HOUR * scale)
        earliest = max(earliest, clock.parse(endpoint.recovery["startedAt"]) + hour)
    begin = (int(earliest.timestamp()) // minute + 1) * minute
    due = datetime.fromtimestamp(begin, UTC) + _soonest_delay()
    _start(f"{endpoint.id}-recovery-{begin}", endpoint.id, due, due, recover=True)


def forget_started() -> None:
    """Forget which executions this process has started, so that each would be started again."""
    _start.cache_clear()


def _soonest_delay() -> timedelta:
    """Return the shortest time in which an execution begins: half a minute, scaled."""
    return timedelta(seconds=max(2, _SOON * settings.webhook_schedule_scale()))


@lru_cache(maxsize=_KNOWN)
def _start(
    name: str, endpoint_id: str, due: datetime, until: datetime, *, recover: bool = False
) -> None:
    """Start an execution for `due`, unless one of this name was started before, by any process.

    The names that this process started are remembered (`forget_started`): an account may start a
    few hundred executions a second, but thousands of messages wait for the same one. Failures are
    raised, and not remembered.
    """
    payload = {
        "endpoint": endpoint_id,
        "due": clock.iso(due),
        "until": clock.iso(until),
        "recover": recover,
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
