"""The double answers as moto does, and also refuses what only DynamoDB refuses."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, HTTPClientError
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from chalicelib import settings as shop_settings
from chalicelib.storage import table
from chalicelib.storage.commit import COUNT_SHARDS, Commit
from chalicelib.storage.conditions import Attr, all_of
from tests.conftest import Clock
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.dynamodb_partition import DEFINITION
from tests.support.environment import account

KEYS = [("a", "1"), ("a", "2"), ("a", "2#x"), ("b", "1")]

numbers = st.sampled_from([-3, -2, 2, 3])  # moto takes 0 and 1 for false and true
names = st.sampled_from(["n", "color", "size"])
values = st.one_of(numbers, st.sampled_from(["", "red", "rot", "é", "🙂"]), st.booleans())
# Moto cannot order values of different types, so "n" is always a number.
others = st.sampled_from(["color", "size"])
conditions = st.recursive(
    st.one_of(
        st.builds(lambda name, value: Attr(name).eq(value), names, values),
        st.builds(lambda name, value: Attr(name).gt(value), st.just("n"), numbers),
        st.builds(lambda name, value: Attr(name).lte(value), st.just("n"), numbers),
        st.builds(
            lambda name, a, b: Attr(name).between(min(a, b), max(a, b)),
            st.just("n"),
            numbers,
            numbers,
        ),
        st.builds(
            lambda name, options: Attr(name).is_in(options),
            names,
            st.lists(values, min_size=1, max_size=3),
        ),
        st.builds(
            lambda name, text: Attr(name).begins_with(text),
            names,
            st.sampled_from(["r", "re", "é"]),
        ),
        st.builds(lambda name: Attr(name).exists(), names),
        st.builds(lambda name: Attr(name).not_exists(), names),
        st.just(table.absent),
    ),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        st.builds(lambda a: ~a, inner),
    ),
    max_leaves=3,
)
keys = st.sampled_from(KEYS)
fields = st.builds(
    lambda other, n: other if n is None else {**other, "n": n},
    st.dictionaries(others, values, max_size=2),
    st.none() | numbers,
)
steps = st.one_of(
    st.tuples(st.just("put"), keys, fields, st.none() | conditions),
    st.tuples(st.just("update"), keys, fields, st.none() | conditions),
    st.tuples(st.just("add"), keys, numbers, st.none() | conditions),
    st.tuples(st.just("delete"), keys, st.none(), st.none() | conditions),
    st.tuples(
        st.just("commit"), st.lists(keys, min_size=1, unique=True), fields, st.none() | conditions
    ),
    st.tuples(st.just("query"), st.sampled_from("ab"), st.integers(1, 3), st.none() | conditions),
    st.tuples(st.just("search"), st.sampled_from(["1", "2", "2#"]), st.booleans(), st.none()),
)


def done(step: Any) -> Any:
    """The result of a step through `table` and `Commit`: a value, or the error raised."""
    verb, at, what, when = step
    try:
        match verb:
            case "put":
                table.put({"pk": at[0], "sk": at[1], **what}, when)
            case "update":
                return table.update(at, assign=what or {"n": 2}, remove=["gone"], when=when)
            case "add":
                return table.update(at, add={"total": what}, when=when)
            case "delete":
                table.delete(at, when)
            case "commit":
                commit = Commit()
                for pk, sk in at:
                    commit.put({"pk": pk, "sk": sk, **what}, when=when)
                commit.count("counts", "c", 1)
                commit.send()
            case "query":
                # Where a limit ends at the last item, the service says that there may be more.
                return table.query(at, matching=when, limit=what).items
            case "search":
                return table.query("a", where=table.sk.begins_with(at), forward=what).items
    except table.ConditionFailed as failed:
        return "condition failed", failed.key, failed.old
    except ClientError as error:
        return error.response["Error"]["Code"]
    return None


def state() -> Any:
    found = table.batch_get(KEYS)
    return sorted(found.items()), sum(cell["n"] for cell in table.everything("counts"))


@pytest.fixture
def moto(configured: None) -> Iterator[None]:
    with account():
        table.client().create_table(TableName=shop_settings.table(), **DEFINITION)
        yield


@pytest.mark.usefixtures("moto")
@settings(
    phases=[Phase.explicit, Phase.generate],
    max_examples=60,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(steps, max_size=12))
def test_the_double_answers_as_moto_does(script: list[Any]) -> None:
    for key in [*KEYS, *[("counts", f"c#{shard}") for shard in range(COUNT_SHARDS)]]:
        table.delete(key)
    by_moto = [(done(step), state()) for step in script]
    with Double():
        by_double = [(done(step), state()) for step in script]
    for step, double, moto in zip(script, by_double, by_moto, strict=True):
        assert double == moto, step


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
    return {"TableName": shop_settings.table(), "Item": item}


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
    name = shop_settings.table()
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
