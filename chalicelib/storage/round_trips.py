"""Calls to DynamoDB: repeated until a deadline, and several in one round trip."""

from collections.abc import Callable, Iterable, Sequence
from functools import update_wrapper
from typing import Any, Final, Generic, ParamSpec, TypeVar

from botocore.exceptions import ClientError

from chalicelib import deadline, telemetry
from chalicelib.problems import Busy
from chalicelib.storage import dynamodb
from chalicelib.storage.dynamodb import NO_ANSWER
from chalicelib.values.batches import batches

_THROTTLED: Final = frozenset(
    {
        "ProvisionedThroughputExceeded",  # as the reason of a cancellation
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingError",  # as the reason of a cancellation
        "ThrottlingException",
    }
)
# The refusals after which a write surely did not happen, and may be sent again.
REFUSED: Final = frozenset({"TransactionConflictException", *_THROTTLED})

P = ParamSpec("P")
T = TypeVar("T")


class Sent(Generic[T]):
    """A call that was sent, perhaps with others that depend on its reply; `result()` waits.

    Each of `reads` makes of a reply, or of what the one before made, a value or the next call.
    `refused` says what is raised instead of a ClientError.
    """

    def __init__(
        self,
        operation: str,
        request: dict[str, object],
        *reads: Callable[[Any], object],
        refused: Callable[[ClientError], Exception] = lambda error: error,
    ) -> None:
        self.operation, self.request, self.refused = operation, request, refused
        self._reads = reads
        self.replies: list[Any] = []
        self.answer = dynamodb.send(operation, request)

    def then(self, *reads: Callable[[Any], object]) -> "Sent[Any]":
        self._reads += reads
        return self

    def takes(self, reply: Any) -> bool:
        """Whether it is complete; otherwise what was not processed, because of a throttle, is what
        is sent again."""
        self.replies.append(reply)
        left = reply.get("UnprocessedKeys") or reply.get("UnprocessedItems")
        self.request = {"RequestItems": left} if left else self.request
        return not left

    def read(self) -> "T | Sent[T]":
        value = self.replies[-1]
        for place, read in enumerate(self._reads, 1):
            value = read(value)
            if isinstance(value, Sent):
                return value.then(*self._reads[place:])
        return value  # type: ignore[no-any-return]

    def result(self) -> T:
        """Raises Busy where DynamoDB refuses or does not answer for too long."""
        found: T = _results([self])[0]
        return found


class Sendable(Generic[P, T]):
    """A function that asks DynamoDB: `read(…)`, or `read.send(…)`, which returns its Sent."""

    def __init__(self, send: Callable[P, Sent[T]]) -> None:
        self.send = send
        update_wrapper(self, send)

    def __call__(self, *args: P.args, **options: P.kwargs) -> T:
        return self.send(*args, **options).result()


def together(sends: Sequence[Callable[[], Sent[Any]]]) -> list[Any]:
    """The results of independent calls: all are sent, then read, and so are the calls that depend
    on their replies. When it raises, none of them is under way."""
    found = []
    for some in batches(sends, dynamodb.AT_ONCE):
        found += _results([send() for send in some])
    return found


def _results(calls: Sequence[Sent[Any]]) -> list[Any]:
    found: list[Any] = list(calls)
    while waiting := {place: one for place, one in enumerate(found) if isinstance(one, Sent)}:
        _answer(waiting.values())
        for place, call in waiting.items():
            found[place] = call.read()
    return found


def _answer(calls: Iterable[Sent[Any]]) -> None:
    """Waits for the reply of each; sends those again that may be repeated."""
    waiting, codes = list(calls), list[str]()
    last: Exception | None = None
    for attempt in deadline.attempts(longest=lambda: longest_pause(codes)):
        if attempt:
            for call in waiting:
                call.answer = dynamodb.send(call.operation, call.request)
        again, failed = list[Sent[Any]](), list[Exception]()
        codes.clear()
        for call in waiting:
            try:
                if not call.takes(call.answer()):
                    again.append(call)
                    codes.append("ThrottlingException")
            except NO_ANSWER as error:
                again.append(call)
                last = error
            except ClientError as error:
                if may_repeat(error):
                    again.append(call)
                    codes.append(error.response["Error"]["Code"])
                    last = error
                else:
                    failed.append(call.refused(error))
        if failed:
            raise failed[0]
        if not again:
            return
        waiting = again
    telemetry.given_up(waiting[0].operation, last)
    raise Busy


def is_throttled(codes: Sequence[str | None]) -> bool:
    """Whether one of the codes of a refusal says that the table has no capacity left."""
    return not _THROTTLED.isdisjoint(codes)


def longest_pause(codes: Sequence[str | None]) -> float:
    return deadline.patience().pause if is_throttled(codes) else deadline.LONGEST_PAUSE


def may_repeat(error: ClientError) -> bool:
    """Whether the same request may be sent again: it was refused temporarily, or its outcome is
    unknown, as after every failure of the service itself."""
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    code = error.response["Error"]["Code"]
    return status >= 500 or code in REFUSED or code == "TransactionInProgressException"
