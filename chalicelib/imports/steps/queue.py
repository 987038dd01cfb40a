"""The queue of import work. A message is one step of one job; each may come twice, or late.

| step | |
|---|---|
| `chunk` | a part of the file; any number at once |
| `ordered` | what a chunk left for when all are done; one after another, in the order of the file |
| `leftover` | rows whose product was never completed |
| `report` | the report, and the end of the job |
"""

import json
import time
from collections.abc import Iterable
from functools import cache
from itertools import islice
from typing import Any, Final

import botocore.session
from botocore.config import Config

from chalicelib import settings

Message = dict[str, Any]

_BATCH: Final = 10  # AWS: messages of one SendMessageBatch
_TRIES: Final = 6


@cache
def client() -> Any:
    session = botocore.session.get_session()
    return session.create_client(
        "sqs",
        config=Config(
            connect_timeout=2,
            read_timeout=10,
            retries={"mode": "standard", "total_max_attempts": 4},
        ),
    )


def send(messages: Iterable[Message]) -> None:
    """Sends them all, in batches; what SQS refuses is sent again. Raises RuntimeError at last."""
    rest = iter(messages)
    while batch := list(islice(rest, _BATCH)):
        pending = {str(place): json.dumps(message) for place, message in enumerate(batch)}
        for attempt in range(_TRIES):
            entries = [{"Id": id, "MessageBody": body} for id, body in pending.items()]
            reply = client().send_message_batch(
                QueueUrl=settings.import_queue_url(), Entries=entries
            )
            refused = {entry["Id"]: entry for entry in reply.get("Failed", [])}
            pending = {id: body for id, body in pending.items() if id in refused}
            if not pending:
                break
            time.sleep(0.05 * 2**attempt)
        else:
            raise RuntimeError(f"SQS refused import messages: {next(iter(refused.values()))}")


def show_again(receipt: str, seconds: int) -> None:
    """Lets a message that failed be received again after some seconds, not after its time-out."""
    client().change_message_visibility(
        QueueUrl=settings.import_queue_url(), ReceiptHandle=receipt, VisibilityTimeout=seconds
    )
