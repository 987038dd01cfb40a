"""The queue of import work. A message is one step of one job; each may come twice, or late.

| step | |
|---|---|
| `copy` | copies the file of one job, or its report, to the upload of another |
| `chunk` | some products of the file; any number at once |
| `report` | the report, and the end of the job |
"""

import json
from collections.abc import Iterable
from typing import Any

from chalicelib import settings, sqs

ChunkMessage = dict[str, Any]


def send(messages: Iterable[ChunkMessage]) -> None:
    """Put messages on the import queue. Raises sqs.Unsent, or what botocore raises."""
    entries = ({"MessageBody": json.dumps(message)} for message in messages)
    sqs.send(settings.import_queue_url(), entries)


def show_again(receipt: str, seconds: int) -> None:
    """Make a received message visible again after `seconds`, instead of its visibility timeout."""
    sqs.hide(settings.import_queue_url(), {receipt: seconds})
