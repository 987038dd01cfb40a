"""Faults of calls to DynamoDB, and the service's answers to them."""

from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError, ReadTimeoutError

from chalicelib import deadline
from tests.support.dynamodb_expressions import Wire


class Crash(BaseException):
    """The function crashed here. A BaseException, so that no code handles it."""


class Fault(Enum):
    """What happens instead of an answer; `…_AFTER`: after the call has taken effect."""

    CONFLICT = "conflict"
    THROTTLE = "throttle"
    LOST = "lost"
    LOST_AFTER = "lost after"
    ERROR = "error"
    ERROR_AFTER = "error after"
    UNAVAILABLE = "unavailable"
    UNAVAILABLE_AFTER = "unavailable after"
    IN_PROGRESS_AFTER = "in progress after"
    CRASH = "crash"
    CRASH_AFTER = "crash after"

    @property
    def after(self) -> bool:
        return self.name.endswith("_AFTER")


class Refused(Exception):
    def __init__(self, code: str, message: str = "", status: int = 400, **more: Any) -> None:
        super().__init__(code)
        self.code, self.message, self.status, self.more = code, message, status, more


def refused_after(transactions: int) -> Callable[[str, Wire], Fault | None]:
    """For `Double.faults`: with 0, every call is refused; otherwise every call after so many
    transactions."""
    seen = 0

    def faults(operation: str, request: Wire) -> Fault | None:
        nonlocal seen
        if seen >= transactions:
            return Fault.THROTTLE
        seen += operation == "TransactWriteItems"
        return None

    return faults


def refused_for_an_hour(
    handler: Callable[[Any, None], Any], message: Wire, queue: Any, most: int
) -> None:
    """A message whose handler fails is given back each time, at most so often, by waits of at least
    an hour in all. `queue`: the module that gives it back."""
    waits = list[int]()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(deadline, "PATIENCE_SECONDS", -1.0)  # one attempt
        patched.setattr(queue, "show_again", lambda receipt, seconds: waits.append(seconds))
        for received in range(1, most):
            message["attributes"]["ApproximateReceiveCount"] = str(received)
            assert handler({"Records": [message]}, None)["batchItemFailures"]
    assert sum(waits) >= 3_600


def inject(fault: Fault, operation: str, request: Wire) -> None:
    match fault:
        case Fault.CRASH | Fault.CRASH_AFTER:
            raise Crash(operation)
        case Fault.LOST:
            raise ConnectionClosedError(endpoint_url="https://dynamodb")
        case Fault.LOST_AFTER:
            raise ReadTimeoutError(endpoint_url="https://dynamodb")
        case Fault.ERROR | Fault.ERROR_AFTER:
            raise Refused("InternalServerError", status=500)
        case Fault.UNAVAILABLE | Fault.UNAVAILABLE_AFTER:
            raise Refused("ServiceUnavailable", status=503)
        case Fault.IN_PROGRESS_AFTER if operation == "TransactWriteItems":
            raise Refused("TransactionInProgressException")
        case Fault.IN_PROGRESS_AFTER:  # only transactions are ever in progress
            raise Refused("InternalServerError", status=500)
        case Fault.CONFLICT if operation == "TransactWriteItems":
            others = [{"Code": "None"}] * (len(request["TransactItems"]) - 1)
            raise cancelled([*others, {"Code": "TransactionConflict"}])
        case Fault.CONFLICT:
            raise Refused("TransactionConflictException")
        case Fault.THROTTLE:
            raise Refused("ProvisionedThroughputExceededException")


def cancelled(reasons: list[Wire]) -> Refused:
    codes = ", ".join(reason["Code"] for reason in reasons)
    message = f"Transaction cancelled, please refer cancellation reasons: [{codes}]"
    return Refused("TransactionCanceledException", message, CancellationReasons=reasons)
