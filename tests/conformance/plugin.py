"""pytest -p tests.conformance.plugin: each call of a test to DynamoDB is sent to three engines.

DynamoDB Local answers the test. The project's double, and moto while its tables are small, get the
same request. A different answer is recorded, and the run fails unless the difference is in
`known.py`, whose table is docs/conformance.md. With `-n`, each worker has its own engine.
"""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.awsrequest import AWSRequest
from moto import mock_aws
from moto.core.models import botocore_stubber

from tests.conformance.compare import Answer, difference
from tests.conformance.engine import AUTHORIZATION, Engine
from tests.conformance.known import KNOWN
from tests.support.dynamodb_double import ANSWER_BYTES, Double
from tests.support.dynamodb_expressions import Wire
from tests.support.dynamodb_faults import Refused

MOTO_WRITES = 60  # moto copies a table for each item of a transaction
_ITEM_BYTES = 1_000  # what an item is taken for, where a test says how long a page of a scan is


class Found:
    """How many answers were compared, and what differed."""

    def __init__(self) -> None:
        self.compared: Counter[str] = Counter()
        self.differences: Counter[tuple[str, str, str]] = Counter()
        self.examples: dict[tuple[str, str, str], str] = {}

    def note(self, who: str, operation: str, request: Wire, engine: Answer, other: Answer) -> None:
        self.compared[who] += 1
        if (what := difference(engine, other, operation)) is not None:
            key = (who, operation, what[:300])
            self.differences[key] += 1
            text = f"{json.dumps(request)[:1_500]}\n  engine {engine}\n  {who} {other}"
            self.examples.setdefault(key, text[:4_000])

    @property
    def unknown(self) -> list[tuple[str, str, str]]:
        return [each for each in self.differences if not any(k.covers(*each) for k in KNOWN)]

    def summary(self) -> Any:
        """The results of a worker."""
        differed = [[*key, n, self.examples[key]] for key, n in self.differences.items()]
        return {"compared": dict(self.compared), "differed": differed}

    def add(self, summary: Any) -> None:
        self.compared.update(summary["compared"])
        for *key, number, example in summary["differed"]:
            who, operation, what = key
            self.differences[who, operation, what] += number
            self.examples.setdefault((who, operation, what), example)


class Three:
    """The double, which also sends each request to the other two."""

    def __init__(self, found: Found) -> None:
        self.engine, self.found = Engine(), found
        self._lock = threading.RLock()
        self._spaces = 0
        self.moto_tables: set[str] = set()
        self._own_performed, self._own_load = Double._performed, Double.load
        self._own_empty = Double.empty

    def install(self) -> None:
        three = self

        def performed(double: Double, operation: str, request: Wire) -> Wire:
            return three.perform(double, operation, request)

        def load(double: Double, actions: list[Wire]) -> None:
            three._own_load(double, actions)
            double.__dict__["moto_writes"] = MOTO_WRITES
            for at in range(0, len(actions), 100):
                part = actions[at : at + 100]
                status, reply = three.engine.answer(
                    three.space(double), "TransactWriteItems", {"TransactItems": part}
                )
                assert status == 200, reply

        def empty(double: Double) -> None:
            three._own_empty(double)
            double.__dict__.pop("space", None)
            double.__dict__["moto_writes"] = MOTO_WRITES

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
            self.found.note("the double", operation, request, by_engine, by_double)
            if (by_moto := self._by_moto(double, space, operation, request)) is not None:
                self.found.note("moto", operation, request, by_engine, by_moto)
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

    def _by_moto(self, double: Double, space: str, operation: str, request: Wire) -> Answer | None:
        writes = double.__dict__.setdefault("moto_writes", 0)
        if writes >= MOTO_WRITES:
            return None
        double.__dict__["moto_writes"] = writes + len(request.get("TransactItems", "1"))
        named = json.loads(json.dumps(request))
        for part in [named, *(v for a in named.get("TransactItems", ()) for v in a.values())]:
            if "TableName" in part:
                part["TableName"] = self._moto_table(space + part["TableName"])
        if "RequestItems" in named:
            asked = named["RequestItems"].items()
            named["RequestItems"] = {self._moto_table(space + name): each for name, each in asked}
        status, reply = self._moto(operation, named)
        if "Responses" in reply:
            reply["Responses"] = {n.removeprefix(space): v for n, v in reply["Responses"].items()}
        return status, reply

    def _moto_table(self, name: str) -> str:
        if name not in self.moto_tables:
            self.moto_tables.add(name)
            keys = [("pk", "HASH"), ("sk", "RANGE")]
            self._moto(
                "CreateTable",
                {
                    "TableName": name,
                    "BillingMode": "PAY_PER_REQUEST",
                    "KeySchema": [{"AttributeName": n, "KeyType": kind} for n, kind in keys],
                    "AttributeDefinitions": [
                        {"AttributeName": n, "AttributeType": "S"} for n, _ in keys
                    ],
                },
            )
        return name

    def _moto(self, operation: str, request: Wire) -> Answer:
        prepared = AWSRequest(
            "POST",
            "https://dynamodb.us-east-1.amazonaws.com/",
            {
                "Content-Type": "application/x-amz-json-1.0",
                "X-Amz-Target": f"DynamoDB_20120810.{operation}",
                "Authorization": AUTHORIZATION,
            },
            json.dumps(request).encode(),
        ).prepare()
        reply: Any = botocore_stubber(f"before-send.dynamodb.{operation}", prepared)
        return reply.status_code, json.loads(reply.content or b"{}")


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
_three: list[Three] = []


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        _three.append(Three(_found))
        _three[0].install()
        config.add_cleanup(_three[0].engine.stop)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Keeps an outer moto account, which the end of a test's own does not remove."""
    with mock_aws():
        _three[0].moto_tables.clear()
        return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    if error is None:
        _found.add(node.workeroutput["conformance"])


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["conformance"] = _found.summary()
    elif _found.unknown and session.exitstatus == 0:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter: Any) -> None:
    write = terminalreporter.write_line
    for who, number in _found.compared.items():
        write(f"{number:,} answers of {who} were compared with those of DynamoDB Local")
    for key, number in _found.differences.most_common():
        who, operation, what = key
        state = "UNKNOWN" if key in _found.unknown else "known"
        write(f"{state}: {who}, {operation}, {number} times: {what}")
        if key in _found.unknown:
            write(_found.examples[key])
