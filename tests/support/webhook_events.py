"""The events of the functions: records of the outbox's stream, and messages of queues."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib import aws


@dataclass
class Waiting:
    """A message on a queue."""

    id: str
    body: str
    visible: datetime
    received: int = 0

    @property
    def content(self) -> dict[str, Any]:
        return dict(json.loads(self.body))


def stream(items: list[dict[str, Any]], kind: str = "INSERT") -> dict[str, Any]:
    """The fan-out's event from the outbox's stream."""
    image = "OldImage" if kind == "REMOVE" else "NewImage"
    return {
        "Records": [
            {"eventName": kind, "dynamodb": {image: item, "SequenceNumber": item["pk"]["S"]}}
            for item in items
        ]
    }


def received(url: str) -> list[dict[str, Any]]:
    """The messages that wait on a queue of the account, as Lambda receives them."""
    asked = {"MaxNumberOfMessages": 10, "AttributeNames": ["All"], "VisibilityTimeout": 600}
    reply = aws.client("sqs").receive_message(QueueUrl=url, **asked)
    return [
        {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": message["Attributes"],
        }
        for message in reply.get("Messages", [])
    ]


def batch_of(url: str, messages: list[Waiting]) -> dict[str, Any]:
    """The sender's event from a queue."""
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
