"""Batches to SQS, sent until every entry is accepted; and the batches that functions receive."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from itertools import islice
from typing import Final, Protocol, TypedDict, TypeVar

from chalicelib import aws, deadline

T = TypeVar("T")
_BATCH: Final = 10  # AWS: entries of one call
_SENDERS: Final = 8  # one after the other, the batches of a file of 5 GB would take minutes


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
    """All messages of the batch were handled, except these, by id."""
    return {"batchItemFailures": [{"itemIdentifier": id} for id in failed]}


class _Reply(TypedDict, total=False):
    Failed: list[dict[str, str]]


class _Call(Protocol):
    def __call__(self, *, QueueUrl: str, Entries: list[dict[str, object]]) -> _Reply: ...


class Unsent(Exception):
    """SQS did not accept all entries. Sending them all again is safe."""


def send(url: str, messages: Iterable[Mapping[str, object]]) -> None:
    """`messages`: entries of SendMessageBatch without an Id; sent in no particular order.
    Raises Unsent, or what botocore raises."""
    batches = _batches(messages)
    send = partial(_until_taken, aws.client("sqs").send_message_batch, url)
    first = next(batches, [])
    if len(first) < _BATCH:
        send(first)
        return
    with ThreadPoolExecutor(_SENDERS) as senders:
        sending = deque([senders.submit(copy_context().run, send, first)])
        for batch in batches:
            if len(sending) == 2 * _SENDERS:
                sending.popleft().result()
            sending.append(senders.submit(copy_context().run, send, batch))
        for each in sending:
            each.result()


def hide(url: str, seconds: Mapping[str, int]) -> None:
    """Hides received messages, by receipt handle, for so many seconds from now.

    Messages that cannot be hidden come back after the queue's own visibility timeout; raises
    Unsent.
    """
    for batch in _batches(seconds.items()):
        entries = [{"ReceiptHandle": handle, "VisibilityTimeout": wait} for handle, wait in batch]
        _until_taken(aws.client("sqs").change_message_visibility_batch, url, entries)


def _until_taken(call: _Call, url: str, batch: Iterable[Mapping[str, object]]) -> None:
    """Entries that SQS refused are sent again."""
    pending: list[dict[str, object]] = [
        {"Id": str(place), **entry} for place, entry in enumerate(batch)
    ]
    if not pending:
        return
    for _ in deadline.attempts():
        failed = call(QueueUrl=url, Entries=pending).get("Failed", ())
        refused = {entry["Id"]: entry.get("Code") for entry in failed}
        pending = [entry for entry in pending if entry["Id"] in refused]
        if not pending:
            return
    raise Unsent(f"SQS refused {len(pending)} entries: {sorted(set(map(str, refused.values())))}")


def _batches(entries: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(entries)
    while batch := list(islice(rest, _BATCH)):
        yield batch
