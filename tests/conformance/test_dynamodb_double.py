"""The double refuses what DynamoDB refuses, has its faults, and counts units as AWS bills them.
(`make conformance` compares its answers with those of AWS's own engine.)"""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError, HTTPClientError

from chalicelib import settings
from chalicelib.storage import table
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, all_of
from tests.conftest import Clock
from tests.support.dynamodb_double import Crash, Double, Fault


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as raised:
        call()
    return str(raised.value.response["Error"]["Code"])


def test_the_double_enforces_aws_limits(dynamodb: Double) -> None:
    def committed(items: int) -> None:
        puts = [
            {"Put": {"TableName": "t", "Item": {"pk": {"S": "a"}, "sk": {"S": str(number)}}}}
            for number in range(items)
        ]
        table.client().transact_write_items(TransactItems=puts)

    committed(100)
    long = {"pk": "a", "sk": "1", "text": "x" * 410_000}
    assert refusal(lambda: committed(101)) == "ValidationException"
    assert refusal(lambda: table.put({"pk": "a", "sk": "x" * 1_025})) == "ValidationException"
    assert refusal(lambda: table.put({"pk": "é" * 1_025, "sk": "1"})) == "ValidationException"
    assert refusal(lambda: table.put({"pk": "a", "sk": ""})) == "ValidationException"
    assert refusal(lambda: table.put(long)) == "ValidationException"
    many = Attr("n").is_in([str(number) for number in range(101)])
    assert refusal(lambda: table.query("a", matching=many)) == "ValidationException"

    unused = {"ExpressionAttributeNames": {"#0": "pk", "#1": "sk"}, **_put("1")}
    asked = {"ConditionExpression": "attribute_exists(#0)", **unused}
    assert refusal(lambda: table.client().put_item(**asked)) == "ValidationException"

    def filtered(comparisons: int, name: str = "n") -> Any:
        return table.query("a", matching=all_of(Attr(name).eq(n) for n in range(comparisons)))

    filtered(150)  # 299 operators
    assert refusal(lambda: filtered(151)) == "ValidationException"
    nested = ".".join("n" * 25)
    filtered(40, nested)
    assert refusal(lambda: filtered(50, nested)) == "ValidationException"  # more than 4,096 bytes


def test_a_query_reads_a_megabyte_before_it_filters(dynamodb: Double) -> None:
    for number in range(30):
        table.put({"pk": "a", "sk": f"{number:02d}", "text": "x" * 100_000})
    rows = table.query("a", matching=Attr("text").eq("y"))
    assert (rows.items, rows.after) == ([], "10")
    assert dynamodb.calls[-1].read_units == 269  # 11 items of 100,011 bytes, in steps of 4 KB


def test_concurrent_writes_to_one_item_conflict(dynamodb: Double) -> None:
    inside, outcomes = threading.Barrier(2, timeout=60), list[str]()
    first = Commit()
    first.put({"pk": "a", "sk": "1", "by": "first"})
    dynamodb.pause = inside.wait
    thread = threading.Thread(target=first.send)

    def second() -> None:
        outcomes.append(refusal(lambda: table.client().put_item(**_put("1"))))
        inside.wait()

    thread.start()
    while not dynamodb._held:
        pass
    second()
    thread.join()
    assert outcomes == ["TransactionConflictException"]
    assert table.get(("a", "1"))["by"] == "first"  # type: ignore[index]


def _put(sk: str) -> dict[str, Any]:
    item = {"pk": {"S": "a"}, "sk": {"S": sk}, "by": {"S": "second"}}
    return {"TableName": settings.table(), "Item": item}


@pytest.mark.parametrize("fault", Fault)
def test_a_fault_before_a_call_prevents_it_and_a_fault_after_does_not(
    dynamodb: Double, fault: Fault
) -> None:
    dynamodb.faults = lambda operation, request: fault
    with pytest.raises((Crash, ClientError, HTTPClientError)) as raised:
        table.client().put_item(**_put("1"))
    assert isinstance(raised.value, Crash) == (fault in {Fault.CRASH, Fault.CRASH_AFTER})
    dynamodb.faults = lambda operation, request: None
    assert (table.get(("a", "1")) is not None) == fault.after


def test_units_are_counted_as_aws_bills_them(dynamodb: Double) -> None:
    commit = Commit()
    commit.put({"pk": "a", "sk": "1", "text": "x" * 1_014})  # 1,024 bytes with its names and keys
    commit.put({"pk": "a", "sk": "2", "text": "x" * 1_015})
    commit.send()
    table.get(("a", "1"))
    table.batch_get([("a", "1"), ("a", "2"), ("a", "3")])
    table.query("a", fields=("sk",))
    table.put({"pk": "a", "sk": "2"})  # smaller than what it replaces
    table.delete(("a", "none"))
    billed = [(call.read_units, call.write_units) for call in dynamodb.calls]
    assert billed == [(0, 6), (1, 0), (3, 0), (1, 0), (0, 2), (0, 1)]


def test_an_expired_item_is_readable_for_two_more_days(
    dynamodb: Double, time_stands: Clock
) -> None:
    """AWS: "typically deleted within two days". Readers have to check `expiresAt`."""
    table.put({"pk": "a", "sk": "1", "expiresAt": time_stands.seconds - 10})
    name = settings.table()
    reads: list[Callable[[], Any]] = [
        lambda: table.get(("a", "1")),
        lambda: table.batch_get([("a", "1")]),
        lambda: table.query("a").items,
        lambda: list(dynamodb.items(name)),
        lambda: table.client().scan(TableName=name)["Items"],
    ]
    time_stands.seconds += 2 * 86_400 - 20
    assert all(read() for read in reads)
    with pytest.raises(table.ConditionFailed):
        table.put({"pk": "a", "sk": "1"}, when=table.absent)
    time_stands.seconds += 20
    assert not any(read() for read in reads)
    table.put({"pk": "a", "sk": "1"}, when=table.absent)
