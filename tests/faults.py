"""What goes wrong in the network and in DynamoDB, injected below botocore's front."""

import json
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError, ReadTimeoutError
from moto.core.models import botocore_stubber


class Crash(BaseException):
    """The function ended here. Not an Exception: no code may handle it."""


class Faults:
    """Lets the nth call of an operation fail, `times` in a row, before or after it took effect.

        faults.conflict("TransactWriteItems")
        faults.timeout("TransactWriteItems", after=True)
        with pytest.raises(Crash): …   # faults.crash("UpdateItem", nth=2)

    `calls` are the operations that were sent, in their order, retries included.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._planned: list[_Plan] = []
        self._done: dict[str, Any] = {}  # moto knows no request tokens, by which a repeat is known

    def conflict(self, operation: str = "TransactWriteItems", **when: Any) -> None:
        """Somebody else is writing one of the items: the whole call is refused."""

        def fail() -> Exception:
            if operation != "TransactWriteItems":
                return _refusal("TransactionConflictException", operation)
            return _refusal(
                "TransactionCanceledException",
                operation,
                CancellationReasons=[{"Code": "TransactionConflict"}],
            )

        self._plan(operation, fail, **when)

    def throttle(self, operation: str, **when: Any) -> None:
        self._plan(operation, lambda: _refusal("ThrottlingException", operation), **when)

    def timeout(self, operation: str, **when: Any) -> None:
        """The answer never comes; with `after` the call did what it should."""
        self._plan(operation, lambda: ReadTimeoutError(endpoint_url="https://dynamodb"), **when)

    def crash(self, operation: str, **when: Any) -> None:
        self._plan(operation, lambda: Crash(operation), **when)

    def meanwhile(self, operation: str, action: Callable[[], object], *, nth: int = 1) -> None:
        """Somebody else is faster: `action` happens just before the call arrives."""

        def happen() -> None:
            action()

        self._plan(operation, happen, nth=nth)

    def refuse(self, operation: str, code: str, **when: Any) -> None:
        """The service answers with an error of that code."""
        self._plan(operation, lambda: _refusal(code, operation), **when)

    def _plan(
        self,
        operation: str,
        fail: Callable[[], BaseException | None],
        *,
        after: bool = False,
        nth: int = 1,
        times: int = 1,
    ) -> None:
        self._planned.append(_Plan(operation, fail, after, nth - 1, times))

    def before_send(self, event_name: str, request: Any, **_: Any) -> Any:
        operation = event_name.rpartition(".")[2]
        self.calls.append(operation)
        token = json.loads(request.body or b"{}").get("ClientRequestToken", "")
        if token in self._done:
            return self._done[token]
        for plan in self._planned:
            if plan.operation == operation and plan.strikes():
                if plan.after:
                    self._done[token] = botocore_stubber(event_name, request)
                    self._done.pop("", None)
                failure = plan.fail()
                if failure is not None:
                    raise failure
        return None


class _Plan:
    def __init__(
        self,
        operation: str,
        fail: Callable[[], BaseException | None],
        after: bool,
        pass_first: int,
        times: int,
    ) -> None:
        self.operation, self.fail, self.after = operation, fail, after
        self._pass_first, self._times = pass_first, times

    def strikes(self) -> bool:
        if self._pass_first:
            self._pass_first -= 1
            return False
        self._times -= 1
        return self._times >= 0


def _refusal(code: str, operation: str, **more: Any) -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": "injected"},
        "ResponseMetadata": {"HTTPStatusCode": 400},
        **more,
    }
    return ClientError(response, operation)
