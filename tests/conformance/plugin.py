"""pytest -p tests.conformance.plugin: each call of a test to DynamoDB is sent to two engines.

DynamoDB Local answers the test, and the project's double gets the same request. The run fails if an
answer differs. With `-n`, each worker has its own engine.
"""

import json
import threading
from collections import Counter
from typing import Any

import pytest

from tests.conformance.compare import Answer, difference
from tests.conformance.engine import Engine
from tests.support import dynamodb_double
from tests.support.dynamodb_double import ANSWER_BYTES, Double
from tests.support.dynamodb_expressions import Wire
from tests.support.dynamodb_faults import Refused

_ITEM_BYTES = 1_000  # what an item is taken for, where a test says how long a page of a scan is


class Found:
    """How many answers were compared, and what differed: (operation, difference)."""

    def __init__(self) -> None:
        self.compared = 0
        self.differences: Counter[tuple[str, str]] = Counter()
        self.examples: dict[tuple[str, str], str] = {}

    def note(self, operation: str, request: Wire, engine: Answer, double: Answer) -> None:
        self.compared += 1
        if (what := difference(engine, double, operation)) is not None:
            key = (operation, what[:300])
            self.differences[key] += 1
            text = f"{json.dumps(request)[:1_500]}\n  engine {engine}\n  double {double}"
            self.examples.setdefault(key, text[:4_000])

    def summary(self) -> Any:
        """The results of a worker."""
        differed = [[*key, n, self.examples[key]] for key, n in self.differences.items()]
        return {"compared": self.compared, "differed": differed}

    def add(self, summary: Any) -> None:
        self.compared += summary["compared"]
        for operation, what, number, example in summary["differed"]:
            self.differences[operation, what] += number
            self.examples.setdefault((operation, what), example)


class Both:
    """The double, which also sends each request to the engine."""

    def __init__(self, found: Found) -> None:
        self.engine, self.found = Engine(), found
        self._lock = threading.RLock()
        self._spaces = 0
        self._own_performed, self._own_load = Double._performed, Double.load
        self._own_empty = Double.empty

    def install(self) -> None:
        both = self

        def performed(double: Double, operation: str, request: Wire) -> Wire:
            return both.perform(double, operation, request)

        def load(double: Double, actions: list[Wire]) -> None:
            both._own_load(double, actions)
            for at in range(0, len(actions), 100):
                part = actions[at : at + 100]
                status, reply = both.engine.answer(
                    both.space(double), "TransactWriteItems", {"TransactItems": part}
                )
                assert status == 200, reply

        def empty(double: Double) -> None:
            both._own_empty(double)
            double.__dict__.pop("space", None)

        # The engine has its own clock, and never deletes what expires by the test's.
        dynamodb_double.EXPIRES_LATE = 10**12
        Double._performed, Double.load, Double.empty = performed, load, empty  # type: ignore[method-assign]

    def space(self, double: Double) -> str:
        if "space" not in double.__dict__:
            self._spaces += 1
            double.__dict__["space"] = f"s{self._spaces}-"
        return str(double.__dict__["space"])

    def perform(self, double: Double, operation: str, request: Wire) -> Wire:
        """What the engine answers, or its refusal."""
        with self._lock:
            by_double = self._by_double(double, operation, request)
            if by_double[1].get("__type") == "TransactionConflictException" or _is_held(by_double):
                # Two threads met, which no engine that is asked one by one can know.
                return _value(by_double)
            space = self.space(double)
            if operation == "Scan" and double.scan_bytes < ANSWER_BYTES:
                # A test wants short pages: the engine makes them by number, in its own order.
                limit = max(1, double.scan_bytes // _ITEM_BYTES)
                return _value(self.engine.answer(space, operation, request | {"Limit": limit}))
            by_engine = self.engine.answer(space, operation, request)
            self.found.note(operation, request, by_engine, by_double)
        return _value(by_engine)

    def _by_double(self, double: Double, operation: str, request: Wire) -> Answer:
        try:
            return 200, self._own_performed(double, operation, request)
        except Refused as refused:
            return refused.status, {
                "__type": refused.code,
                "message": refused.message,
                **refused.more,
            }


def _is_held(answer: Answer) -> bool:
    codes = [reason.get("Code") for reason in answer[1].get("CancellationReasons", ())]
    return "TransactionConflict" in codes


def _value(answer: Answer) -> Wire:
    status, reply = answer
    if status == 200:
        return reply
    code = str(reply.pop("__type")).rpartition("#")[2]
    message = reply.pop("message", reply.pop("Message", ""))
    raise Refused(code, message, status, **reply)


_found = Found()
_both: list[Both] = []


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        _both.append(Both(_found))
        _both[0].install()
        config.add_cleanup(_both[0].engine.stop)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    if error is None:
        _found.add(node.workeroutput["conformance"])


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["conformance"] = _found.summary()
    elif _found.differences and session.exitstatus == 0:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter: Any) -> None:
    write = terminalreporter.write_line
    write(f"{_found.compared:,} answers of the double were compared with those of DynamoDB Local")
    for key, number in _found.differences.most_common():
        write(f"DIFFERENT: {key[0]}, {number} times: {key[1]}")
        write(_found.examples[key])
