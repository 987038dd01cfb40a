"""Measures a piece of work: calls to DynamoDB, round trips, units, CPU."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any
from unittest.mock import patch

import boto3

from chalicelib.storage.dynamodb import DynamoCall
from tests.support.round_trips import in_a_row
from tests.support.units import READ_PRICE, WRITE_PRICE, item_size, read_units, write_units

Params = dict[str, Any]


@dataclass
class Work:
    """One piece of work. `trips`: calls that waited for one another. CPU in seconds: of the
    process, and of that what was spent inside the calls. Units: `tests/support/units.py`."""

    calls: list[str] = field(default_factory=list)
    spans: list[tuple[float, float]] = field(default_factory=list)
    cpu: float = 0.0
    botocore: float = 0.0
    read: float = 0.0
    write: float = 0.0

    @property
    def trips(self) -> int:
        return in_a_row(self.spans)

    @property
    def dollars(self) -> float:
        return self.read * READ_PRICE + self.write * WRITE_PRICE


class Meter:
    """Watches the calls to DynamoDB; what it asks for its own purposes is not counted.

    `units`: bills each call.
    """

    def __init__(self, *, units: bool) -> None:
        self._units = units
        self._raw = boto3.client("dynamodb")
        self._work: Work | None = None
        self._started: dict[
            DynamoCall[Any], tuple[float, Any]
        ] = {}  # when, and what was stored then

    @contextmanager
    def watching(self) -> Iterator[None]:
        send, read_reply = DynamoCall.send, DynamoCall.read_reply
        with (
            patch.object(DynamoCall, "send", lambda call: self._send(call, send)),
            patch.object(DynamoCall, "read_reply", lambda call: self._read_reply(call, read_reply)),
        ):
            yield

    def of(self, work: Callable[[], object]) -> Work:
        self._work = found = Work()
        with self.watching():
            began = time.process_time()
            work()
            found.cpu = time.process_time() - began
        self._work = None
        return found

    def _send(self, call: DynamoCall[Any], send: Callable[[DynamoCall[Any]], None]) -> None:
        assert self._work is not None
        before = self._stored(call.request) if self._units else {}
        self._started[call] = time.perf_counter(), before
        cpu = time.thread_time()
        send(call)
        self._work.botocore += time.thread_time() - cpu
        self._work.calls.append(call.operation)

    def _read_reply(
        self, call: DynamoCall[Any], read_reply: Callable[[DynamoCall[Any]], Params]
    ) -> Params:
        assert self._work is not None
        start, before = self._started.pop(call)
        cpu = time.thread_time()
        reply = read_reply(call)
        self._work.botocore += time.thread_time() - cpu
        self._work.spans.append((start, time.perf_counter()))
        if self._units:
            self._bill(self._work, call.operation, call.request, reply, before)
        return reply

    # --- Units ------------------------------------------------------------------------------------

    def _bill(self, work: Work, operation: str, params: Params, reply: Any, before: Any) -> None:
        match operation:
            case "GetItem":
                work.read += read_units([item_size(reply.get("Item", {}))])
            case "BatchGetItem":
                asked = sum(len(each["Keys"]) for each in params["RequestItems"].values())
                found = [item for items in reply["Responses"].values() for item in items]
                units = sum(read_units([item_size(item)]) for item in found)
                work.read += units + asked - len(found)
            case "Query":
                units = read_units(self._looked_at(params))  # before it is added: threads do so too
                work.read += units
            case _:
                after = self._stored(params)
                transaction = operation == "TransactWriteItems"
                for key in before:
                    units = write_units(before[key], after[key], transaction=transaction)
                    work.write += units

    def _looked_at(self, params: Params) -> list[int]:
        """The sizes of all items that a query read, by the same query without a filter."""
        names = params.get("ExpressionAttributeNames", {})
        values = params.get("ExpressionAttributeValues", {})
        condition = params["KeyConditionExpression"]
        plain = {
            name: value
            for name, value in params.items()
            if name not in {"FilterExpression", "ProjectionExpression", "Select"}
        }
        plain["ExpressionAttributeNames"] = {k: v for k, v in names.items() if k in condition}
        plain["ExpressionAttributeValues"] = {k: v for k, v in values.items() if k in condition}
        return [item_size(item) for item in self._raw.query(**plain)["Items"]]

    def _stored(self, params: Params) -> dict[tuple[str, str, str], Any]:
        """The current state of the items that a request writes."""
        actions = [next(iter(a.values())) for a in params.get("TransactItems", ())] or [params]
        found: dict[tuple[str, str, str], Any] = {}
        for action in actions:
            if "TableName" not in action or "KeyConditionExpression" in action:
                continue
            source = action.get("Key") or action["Item"]
            key = {"pk": source["pk"], "sk": source["sk"]}
            name = action["TableName"]
            item = self._raw.get_item(TableName=name, Key=key, ConsistentRead=True).get("Item")
            found[name, key["pk"]["S"], key["sk"]["S"]] = item
        return found


def middle(works: Sequence[Work]) -> Work:
    """The median of each figure, over several runs of the same work."""
    typical = min(works, key=lambda work: abs(work.cpu - median(w.cpu for w in works)))
    return Work(
        calls=typical.calls,
        spans=typical.spans,
        cpu=median(work.cpu for work in works),
        botocore=median(work.botocore for work in works),
        read=median(work.read for work in works),
        write=median(work.write for work in works),
    )
