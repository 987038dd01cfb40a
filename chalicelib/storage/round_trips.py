"""Calls to DynamoDB: repeated until a deadline, and several in one round trip, in threads."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import cache
from typing import Any, Final, TypeVar

from botocore.exceptions import ClientError

from chalicelib import deadline, telemetry
from chalicelib.problems import Busy
from chalicelib.storage import dynamodb
from chalicelib.storage.dynamodb import NO_ANSWER

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

T = TypeVar("T")


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(dynamodb.AT_ONCE - 1, thread_name_prefix="dynamodb")


def begin(call: Callable[[], T]) -> Future[T]:
    """Makes a call in another thread, in the same context; `result()` waits for it."""
    return _pool().submit(copy_context().run, call)


def together(calls: Sequence[Callable[[], object]]) -> list[Any]:
    """The results of independent calls, made at the same time: one round trip instead of several.

    This thread makes the first, and afterwards those that no other has begun: so a call may itself
    use `together`, however many wait.
    """
    if not calls:
        return []
    first, *rest = calls
    begun = [begin(call) for call in rest]
    try:
        return [
            first(),
            *(
                call() if other.cancel() else other.result()
                for call, other in zip(rest, begun, strict=True)
            ),
        ]
    except BaseException:
        # None of them runs on after this has failed: its work may be done again at once.
        wait([other for other in begun if not other.cancel()])
        raise


def ask(operation: str, request: dict[str, object]) -> Any:
    """The reply. Raises Busy where DynamoDB refuses or does not answer for too long."""
    codes: list[str] = []
    last: Exception | None = None
    for _ in deadline.attempts(longest=lambda: longest_pause(codes)):
        try:
            return dynamodb.call(operation, request)
        except ClientError as error:
            if not may_repeat(error):
                raise
            codes[:], last = [error.response["Error"]["Code"]], error
        except NO_ANSWER as error:
            codes.clear()
            last = error
    telemetry.given_up(operation, last)
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
