"""Batches to SQS, sent until every entry is accepted; and the batches that functions receive."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol, TypedDict, TypeVar

from chalicelib import aws, deadline, telemetry, threads

T = TypeVar("T")
_BATCH: Final = 10  # AWS: entries of one call


class Received(TypedDict):
    """A message as a function gets it."""

    messageId: str
    receiptHandle: str
    body: str
    attributes: dict[str, str]
    eventSourceARN: str


class Batch(TypedDict):
    """The event of a function that a queue triggers."""

    Records: list[Received]


class _Again(TypedDict):
    itemIdentifier: str


class Handled(TypedDict):
    """What such a function answers: the messages that come again."""

    batchItemFailures: list[_Again]


def all_but(failed: Iterable[str]) -> Handled:
    """Return the answer that all messages of the batch were handled, except these, by id."""
    return {"batchItemFailures": [{"itemIdentifier": id} for id in failed]}


def handle_each(
    records: Iterable[Received], handle_body: Callable[[str], object], failure: str
) -> Handled:
    """Handle the body of each message; return the answer, with those that raised anything.

    `failure`: what the log says of such a message.
    """
    failed = []
    for record in records:
        try:
            handle_body(record["body"])
        except Exception as error:
            telemetry.error(failure, error, messageId=record["messageId"])
            failed.append(record["messageId"])
    return all_but(failed)


def handle_steps(
    records: Iterable[Received],
    do_step: Callable[[dict[str, Any], int], bool],
    show_again: Callable[[str, int], None],
    waits: Sequence[int],
    failure: str,
) -> Handled:
    """Do the step of each message; return the answer, with those that are received again.

    `do_step`: gets the message, parsed, and how often it was received; returns whether the step is
    finished. If it is not, or raises anything, `show_again` gets the receipt and one of `waits`, in
    seconds, by how often it was received. `failure`: what the log says of a step that raised.
    """
    failed = []
    for record in records:
        message, is_finished = json.loads(record["body"]), False
        received = int(record["attributes"]["ApproximateReceiveCount"])
        try:
            is_finished = do_step(message, received)
        except Exception as error:
            about = {name: message[name] for name in ("step", "chunk") if name in message}
            telemetry.error(failure, error, received=received, jobId=message["job"], **about)
        if not is_finished:
            show_again(record["receiptHandle"], waits[min(received, len(waits)) - 1])
            failed.append(record["messageId"])
    return all_but(failed)


class _Reply(TypedDict, total=False):
    Failed: list[dict[str, str]]


class _Call(Protocol):
    def __call__(self, *, QueueUrl: str, Entries: list[dict[str, object]]) -> _Reply: ...


class Unsent(Exception):
    """SQS did not accept all entries. Sending them all again is safe."""


def send(url: str, messages: Iterable[Mapping[str, object]]) -> None:
    """Send messages in no particular order.

    `messages`: entries of SendMessageBatch without an Id. Raises Unsent, or what botocore raises.
    """
    send = partial(_send_until_taken, aws.client("sqs").send_message_batch, url)
    threads.run_together([partial(send, batch) for batch in _batches([*messages])])


def hide(url: str, seconds: Mapping[str, int]) -> None:
    """Hide received messages for so many seconds from now, by receipt handle.

    Messages that cannot be hidden come back after the queue's own visibility timeout; raises
    Unsent.
    """
    for batch in _batches([*seconds.items()]):
        entries = [{"ReceiptHandle": handle, "VisibilityTimeout": wait} for handle, wait in batch]
        _send_until_taken(aws.client("sqs").change_message_visibility_batch, url, entries)


def _send_until_taken(call: _Call, url: str, batch: Iterable[Mapping[str, object]]) -> None:
    """Send a batch; the entries that SQS refused are sent again. Raises Unsent."""
    pending: list[dict[str, object]] = [
        {"Id": str(place), **entry} for place, entry in enumerate(batch)
    ]
    for _ in deadline.attempts():
        failed = call(QueueUrl=url, Entries=pending).get("Failed", ())
        refused = {entry["Id"]: entry.get("Code") for entry in failed}
        pending = [entry for entry in pending if entry["Id"] in refused]
        if not pending:
            return
    raise Unsent(f"SQS refused {len(pending)} entries: {sorted(set(map(str, refused.values())))}")


def _batches(entries: Sequence[T]) -> list[Sequence[T]]:
    return [entries[at : at + _BATCH] for at in range(0, len(entries), _BATCH)]
