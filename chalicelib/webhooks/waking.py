"""Step Functions as an alarm clock: `redrive.py` runs for an endpoint at a time.

One execution serves all deliveries of an endpoint that are due in one slot of five minutes, so a
dead endpoint with a million deliveries costs a few transitions.
"""

import json
from datetime import datetime, timedelta
from typing import Final

from botocore.exceptions import ClientError

from chalicelib import clock, ids, settings
from chalicelib.webhooks import aws, retry

_SOON: Final = 30  # seconds; a request that starts one and then writes what it will find has ended


def at(endpoint_id: str, due: datetime) -> None:
    """In the slot of `due`. Starting what runs already, or has run, is no error."""
    scale = settings.webhook_schedule_scale()
    slot = retry.slot(endpoint_id, due, clock.now(), scale)
    _start(slot.name, endpoint_id, slot.at)


def soon(endpoint_id: str) -> None:
    """In half a minute, for everything that is due by then."""
    wait = max(2, _SOON * settings.webhook_schedule_scale())
    _start(f"{endpoint_id}-{ids.ulid()}", endpoint_id, clock.now() + timedelta(seconds=wait))


def _start(name: str, endpoint_id: str, due: datetime) -> None:
    try:
        aws.client("stepfunctions").start_execution(
            stateMachineArn=settings.redrive_state_machine_arn(),
            name=name,
            input=json.dumps({"endpoint": endpoint_id, "due": clock.iso(due)}),
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != "ExecutionAlreadyExists":
            raise
