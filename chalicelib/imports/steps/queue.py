"""The queue of import work. A message is one step of one job; each may come twice, or late.

| step | |
|---|---|
| `copy` | makes the file of one job, or its report, the upload of another |
| `chunk` | a part of the file; any number at once |
| `ordered` | what a chunk left for when all are done; one after another, in the order of the file |
| `leftover` | rows whose product was never completed |
| `report` | the report, and the end of the job |
"""

import json
from collections.abc import Iterable
from typing import Any

from chalicelib import aws, settings, sqs

ChunkMessage = dict[str, Any]


def send(messages: Iterable[ChunkMessage]) -> None:
    """Raises sqs.Unsent, or what botocore raises."""
    entries = ({"MessageBody": json.dumps(message)} for message in messages)
    sqs.send(settings.import_queue_url(), entries)


def show_again(receipt: str, seconds: int) -> None:
    """Lets a message that failed be received again after some seconds, not after its time-out."""
    aws.client("sqs").change_message_visibility(
        QueueUrl=settings.import_queue_url(), ReceiptHandle=receipt, VisibilityTimeout=seconds
    )
