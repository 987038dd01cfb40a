"""Faults of the double at the nth call of an operation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.dynamodb_double import Crash, Double, Fault

__all__ = ["Crash", "Faults"]


class Faults:
    """Makes the nth call of an operation fail, `times` in a row, before or after its effect.

        faults.timeout("TransactWriteItems", after=True)
        with pytest.raises(Crash): …   # faults.crash("UpdateItem", nth=2)

    `calls` are the operations that were sent, in their order, retries included.
    """

    def __init__(self, dynamodb: Double) -> None:
        self.calls: list[str] = []
        self._planned: list[_Plan] = []
        dynamodb.faults = self._next

    def conflict(self, operation: str, **when: int) -> None:
        """The call is refused, as if another call were writing one of its items."""
        self._planned.append(_Plan(operation, Fault.CONFLICT, **when))

    def timeout(self, operation: str, *, after: bool = False, **when: int) -> None:
        """The answer is lost; with `after`, the call has taken effect."""
        self._planned.append(_Plan(operation, Fault.LOST_AFTER if after else Fault.LOST, **when))

    def crash(self, operation: str, *, after: bool = False, **when: int) -> None:
        self._planned.append(_Plan(operation, Fault.CRASH_AFTER if after else Fault.CRASH, **when))

    def meanwhile(self, operation: str, action: Callable[[], object], *, nth: int = 1) -> None:
        """Calls `action` just before the call arrives."""
        self._planned.append(_Plan(operation, None, nth, action=action))

    def pending(self) -> list[str]:
        """The operations of the planned faults that have not happened."""
        return [plan.operation for plan in self._planned if plan.nth > 0]

    def _next(self, operation: str, request: Any) -> Fault | None:
        self.calls.append(operation)
        found = None
        for plan in self._planned:
            if plan.operation == operation and plan.applies():
                plan.action()
                found = found or plan.fault
        return found


@dataclass
class _Plan:
    operation: str
    fault: Fault | None
    nth: int = 1
    times: int = 1
    action: Callable[[], object] = lambda: None

    def applies(self) -> bool:
        self.nth -= 1
        return -self.times < self.nth <= 0
