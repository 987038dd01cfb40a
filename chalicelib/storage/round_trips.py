"""Calls to DynamoDB: repeated until a deadline, and several in one round trip."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from botocore.exceptions import ClientError

from chalicelib import deadline, telemetry
from chalicelib.problems import Busy
from chalicelib.storage import dynamodb
from chalicelib.storage.dynamodb import NO_ANSWER
from chalicelib.values.batches import batches

# What codes of refusals begin with, of a call or, as a reason, of a cancelled transaction.
_THROTTLED: Final = ("ProvisionedThroughputExceeded", "RequestLimitExceeded", "Throttling")
_REPEATED: Final = (*_THROTTLED, "TransactionConflict", "TransactionInProgress")

T = TypeVar("T")


@dataclass
class Sent(Generic[T]):
    """A call that was sent; `result()` waits."""

    operation: str
    request: dict[str, Any]
    read: Callable[[Any], object] = lambda reply: reply  # makes the result, or sends the next call
    refused: Callable[[Any], Exception] = lambda error: error  # what is raised for a ClientError

    def __post_init__(self) -> None:
        self.send()

    def send(self) -> None:
        self.answer = dynamodb.send(self.operation, self.request)

    def result(self) -> T:
        """Raises Busy where DynamoDB refuses or does not answer for too long."""
        found: T = _results([self])[0]
        return found


def together(sends: Sequence[Callable[[], Sent[Any]]]) -> list[Any]:
    """The results of independent calls: all are sent, then read, and so are those that follow. When
    it raises, no write is under way."""
    found = []
    for some in batches(sends, dynamodb.AT_ONCE):
        found += _results([send() for send in some])
    return found


def _results(calls: Sequence[Sent[Any]]) -> list[Any]:
    found: list[Any] = list(calls)
    again = list(range(len(found)))
    last: Exception | None = None
    for attempt in deadline.attempts():
        for place in again if attempt else ():
            found[place].send()
        waiting, again, failures = deque(again), [], list[Exception]()
        while waiting:
            place = waiting.popleft()
            call = found[place]
            try:
                found[place] = call.read(call.answer())
            except (ClientError, *NO_ANSWER) as error:
                if may_repeat(error):
                    again.append(place)
                    last = error
                else:
                    failures.append(call.refused(error))
            else:
                if isinstance(found[place], Sent):
                    waiting.append(place)
        if failures:
            raise failures[0]
        if not again:
            return found
    telemetry.given_up(found[again[0]].operation, last)
    raise Busy


def is_throttled(codes: Iterable[str | None]) -> bool:
    """Whether one of the codes of a refusal says that the table has no capacity left."""
    return any(code and code.startswith(_THROTTLED) for code in codes)


def may_repeat(error: Exception) -> bool:
    """Whether the same request may be sent again: it was refused temporarily, or its outcome is
    unknown, as after every failure of the service itself."""
    if not isinstance(error, ClientError):
        return True
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= 500 or error.response["Error"]["Code"].startswith(_REPEATED)
