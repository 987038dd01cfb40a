"""The queue of import work. A message is one step of one job; each may come twice, or late.

| step | |
|---|---|
| `copy` | copies the file of one job, or its report, to the upload of another |
| `chunk` | a part of the file; any number at once |
| `ordered` | groups left for later by a chunk; one step after another, in the order of the file |
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
    """Makes a failed message visible again after some seconds instead of its visibility timeout."""
    aws.client("sqs").change_message_visibility(
        QueueUrl=settings.import_queue_url(), ReceiptHandle=receipt, VisibilityTimeout=seconds
    )
