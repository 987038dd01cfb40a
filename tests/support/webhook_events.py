"""What AWS hands to the functions: records of the outbox's stream, and messages of a queue."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass
class Waiting:
    """A message on a queue."""

    id: str
    body: str
    visible: datetime
    received: int = 0
    received_at: datetime = datetime.max

    @property
    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.body)
        return content


def stream(items: list[dict[str, Any]], kind: str = "INSERT") -> dict[str, Any]:
    """What the outbox's stream hands to the fan-out."""
    return {
        "Records": [
            {"eventName": kind, "dynamodb": {"NewImage": item, "SequenceNumber": item["pk"]["S"]}}
            for item in items
        ]
    }


def batch_of(url: str, messages: list[Waiting]) -> dict[str, Any]:
    """What a queue hands to the sender."""
    return {
        "Records": [
            {
                "messageId": one.id,
                "receiptHandle": one.id,
                "body": one.body,
                "attributes": {"ApproximateReceiveCount": str(one.received)},
                "eventSourceARN": f"arn:aws:sqs:us-east-1:000000000000:{url.rpartition('/')[2]}",
            }
            for one in messages
        ]
    }
