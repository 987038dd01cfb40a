"""A commit is made completely or not at all, and once, even if its answer is lost."""

import threading
from collections.abc import Callable
from contextlib import nullcontext
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError

from chalicelib import deadline, settings
from chalicelib.problems import Busy, Invalid
from chalicelib.storage import commit as commit_module
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import pack
from chalicelib.storage.commit import Commit, send_all
from chalicelib.storage.dynamodb import DynamoCall
from tests.support.dynamodb_double import Double, Fault
from tests.support.dynamodb_faults import cancelled
from tests.support.units import item_size


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)


@pytest.mark.parametrize("second", [Fault.THROTTLE, Fault.ERROR, Fault.UNAVAILABLE, Fault.LOST])
@pytest.mark.parametrize(
    "first",
    [Fault.LOST_AFTER, Fault.ERROR_AFTER, Fault.UNAVAILABLE_AFTER, Fault.IN_PROGRESS_AFTER],
)
def test_a_retry_after_a_lost_answer_does_not_fail_its_own_condition(
    dynamodb: Double, first: Fault, second: Fault
) -> None:
    faults = iter([first, *[second] * 4])
    dynamodb.faults = lambda operation, request: next(faults, None)
    commit = putting("a", when=table.absent)
    commit.count(("count", "a"), {"n": 1})
    commit.send()
    assert table.get(("a", "1")) is not None
    assert [cell["n"] for cell in table.query_all("count")] == [1]


@pytest.mark.parametrize("fault", [Fault.THROTTLE, Fault.ERROR, Fault.UNAVAILABLE, Fault.LOST])
@pytest.mark.parametrize(
    "call",
    [
        lambda: putting("a").send(),
        lambda: table.get(("a", "1")),
        lambda: table.put({"pk": "a", "sk": "2"}),
    ],
    ids=["a commit", "a read", "a write"],
)
def test_repeated_service_errors_raise_busy(
    dynamodb: Double, fault: Fault, call: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.01)
    dynamodb.faults = lambda operation, request: fault
    with pytest.raises(Busy):
        call()


def putting(pk: str, when: Any = None) -> Commit:
    commit = Commit()
    commit.put({"pk": pk, "sk": "1"}, when=when)
    return commit


def two() -> list[Commit]:
    """Two commits for one call. The condition of the second is never true."""
    return [putting("a"), putting("b", when=table.present)]


def sizes(dynamodb: Double, fault: Fault | None = None) -> list[int]:
    """The number of items of each following transaction."""
    found: list[int] = []

    def note(operation: str, request: Any) -> Fault | None:
        found.append(len(request.get("TransactItems", ())))
        return fault

    dynamodb.faults = note
    return found


def test_a_commit_in_a_batch_does_not_fail_because_of_another(dynamodb: Double) -> None:
    sent = sizes(dynamodb)
    fine, failed = send_all(two(), at_once=1)
    assert fine is None and isinstance(failed, table.ConditionFailed)
    assert sent == [2, 1, 1]
    assert table.get(("a", "1")) and not table.get(("b", "1"))


def test_a_single_commit_is_sent_once(dynamodb: Double) -> None:
    sent = sizes(dynamodb)
    (failed,) = send_all(two()[1:], at_once=1)
    assert isinstance(failed, table.ConditionFailed) and sent == [1]


def test_commits_with_an_unknown_outcome_are_not_repeated_one_by_one(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.01)
    sent = sizes(dynamodb, Fault.LOST)
    outcomes = send_all(two(), at_once=1)
    assert [type(one) for one in outcomes] == [Busy, Busy]
    assert set(sent) == {2}


@pytest.mark.parametrize("alone", [True, False])
def test_delete_after_deletes_only_if_the_commit_was_made(dynamodb: Double, alone: bool) -> None:
    for pk in "ab":
        table.put({"pk": pk, "sk": "left"})
    commits = two()
    for commit, pk in zip(commits, "ab", strict=True):
        commit.delete_after((pk, "left"))
    if alone:
        commits[0].send()
        with pytest.raises(table.ConditionFailed):
            commits[1].send()
    else:
        send_all(commits)
    assert table.get(("a", "left")) is None and table.get(("b", "left")) is not None


def announcing(events: int) -> Commit:
    commit = Commit()
    for _ in range(events):
        commit.announce("product.deleted", {})
    return commit


def test_a_batch_of_commits_has_at_most_the_events_of_one_item(dynamodb: Double) -> None:
    for most, fits in ((outbox.MOST_COMMIT_EVENTS, True), (outbox.MOST_COMMIT_EVENTS + 1, False)):
        first, second = announcing(most - 10), announcing(10)
        assert first.has_room_for(second) is second.has_room_for(first) is fits


def test_a_commit_has_at_most_the_events_of_one_item(dynamodb: Double) -> None:
    commit = announcing(outbox.MOST_COMMIT_EVENTS)
    assert not commit.overflows
    commit.announce("product.deleted", {})
    assert commit.overflows
    with pytest.raises(Invalid):
        commit.send()


def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The following pauses, each of its maximal length."""
    found: list[float] = []
    monkeypatch.setattr("random.uniform", lambda least, most: most)
    monkeypatch.setattr("time.sleep", found.append)
    return found


@pytest.mark.parametrize("held", ["a", "count"])
def test_a_conflict_is_retried_with_another_shard_of_the_counts(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch, held: str
) -> None:
    commit = putting("a")
    commit.count(("count", "all"), {"n": 1})
    commit.announce("product.deleted", {})
    shards = hold(dynamodb, held, times=8)
    waited = pauses(monkeypatch)
    commit.send()
    assert max(waited) == 0.6 and len(waited) == 8 and len(set(shards)) > 1


def test_a_write_that_does_not_wait_raises_its_error_on_the_first_conflict(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    for waits in (True, False):
        commit = Commit()
        taken = ValueError("taken")
        commit.update(("a", "1"), assign={"n": 1}, when=table.absent, otherwise=taken, waits=waits)
        hold(dynamodb, "a", times=1)
        waited = pauses(monkeypatch)
        if waits:
            commit.send()
            assert len(waited) == 1
            table.delete(("a", "1"))
            continue
        with pytest.raises(ValueError, match="taken"):
            commit.send()
        assert waited == [] and table.get(("a", "1")) is None


def hold(dynamodb: Double, pk: str, *, times: int) -> list[str]:
    """The item of `pk` conflicts for so many calls. Returns the shards of the counts."""
    usual, shards = dynamodb._on_TransactWriteItems, list[str]()

    def conflict(request: Any) -> Any:
        keys = [next(iter(action.values())) for action in request["TransactItems"]]
        keys = [each.get("Key") or each["Item"] for each in keys]
        shards.extend(key["sk"]["S"] for key in keys if key["pk"]["S"] == "count")
        if next(left, None) is None:
            return usual(request)
        codes = ["TransactionConflict" if key["pk"]["S"] == pk else "None" for key in keys]
        raise cancelled([{"Code": code} for code in codes])

    left = iter(range(times))
    dynamodb._on_TransactWriteItems = conflict  # type: ignore[method-assign]
    return shards


def test_an_item_is_written_once_in_a_commit(dynamodb: Double) -> None:
    with pytest.raises(ValueError, match="written twice"):
        putting("a").delete(("a", "1"))


def test_a_conflict_on_one_of_many_entries_is_retried(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = Commit()
    commit.put_each([("a", "1"), ("b", "1")], {"n": 1})
    hold(dynamodb, "a", times=1)
    commit.send()
    assert table.get(("a", "1")) == {"pk": "a", "sk": "1", "n": 1}


@pytest.mark.parametrize("reasons", [[], [{"Code": "ValidationError"}]])
def test_a_cancellation_that_is_no_conflict_is_raised_at_once(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch, reasons: list[Any]
) -> None:
    error = {"Code": "TransactionCanceledException", "Message": "Transaction cancelled"}

    def cancel(call: DynamoCall[Any]) -> Any:
        raise ClientError({"Error": error, "CancellationReasons": reasons}, call.operation)

    monkeypatch.setattr(DynamoCall, "read_reply", cancel)
    waited = pauses(monkeypatch)
    with pytest.raises(ClientError, match="Transaction cancelled"):
        putting("a").send()
    assert waited == []


def test_conflicts_are_retried_until_the_time_that_the_caller_gives(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    for patience, tries in ((0.0, 1), (60.0, 4)):
        hold(dynamodb, "a", times=3)
        waited = pauses(monkeypatch)
        with nullcontext() if patience else pytest.raises(Busy):
            putting("a").send(deadline.deadline_after(patience))
        assert len(waited) == tries - 1
        del dynamodb._on_TransactWriteItems


def of(items: int, events: int = 0, size: int = 0, name: str = "a") -> Commit:
    """A commit of so many items and events, with so many bytes of bodies."""
    commit = Commit()
    commit.put_each([(name, str(n)) for n in range(items - (events > 0))], {})
    for number in range(events):
        rest = size // events + (size % events if number == 0 else 0)
        commit.announce("e", {"d": "x" * (rest - len(outbox.body("e", {"d": ""})))})
    return commit


def test_two_commits_are_one_call_up_to_100_items_and_300_kb_of_events(dynamodb: Double) -> None:
    assert of(60).has_room_for(of(40, name="b")) and not of(60).has_room_for(of(41, name="b"))
    half = of(2, 1, 200_000)
    assert half.has_room_for(of(2, 1, 100_000, name="b"))
    assert not half.has_room_for(of(2, 1, 100_001, name="b"))
    sent = sizes(dynamodb)
    assert send_all([of(2), of(2)], at_once=1) == [None, None]
    assert sent == [2, 2], "they write the same item"


def test_a_commit_overflows_beyond_100_items_or_300_kb_of_events(dynamodb: Double) -> None:
    assert not of(100).overflows and of(101).overflows
    assert not of(2, 3, 300_000).overflows and of(2, 3, 300_001).overflows
    assert not of(2, 1_000, 50_000).overflows and of(2, 1_001, 50_000).overflows
    assert len(of(100, 2, 5_000)) == 100 and not of(100, 2, 5_000).overflows


@pytest.mark.parametrize("events", [1, 1_000])
def test_events_that_fill_an_item_of_dynamodb_are_written_and_more_are_refused(
    dynamodb: Double, events: int
) -> None:
    room = 400 * 1024 - 1_001 - 50 * events
    of(2, events, room).send()
    with pytest.raises(Invalid, match="exceeds one transaction"):
        of(2, events, room + 1).send()
    (written,) = dynamodb.items(settings.outbox_table())
    assert item_size(written) <= 400 * 1024


def test_a_count_that_does_not_change_is_no_write(dynamodb: Double) -> None:
    commit = Commit()
    commit.count(("count", "a"), {"n": 1})
    commit.count(("count", "b"), {"n": 1, "revenue": Decimal(5)})
    assert len(commit) == 2
    commit.count(("count", "a"), {"n": -1})
    assert len(commit) == 1
    commit.send()
    assert [cell["sk"][0] for cell in table.query_all("count")] == ["b"]


def test_commits_of_the_same_item_are_made_one_after_the_other(dynamodb: Double) -> None:
    arrived: list[str] = []
    during_the_first: list[int] = []

    def note(operation: str, request: Any) -> None:
        arrived.append(operation)
        if len(arrived) == 1:
            threading.Event().wait(0.05)
            during_the_first.append(len(arrived) - 1)

    commits = [Commit() for _ in range(4)]
    for number, commit in enumerate(commits):
        commit.put({"pk": "a", "sk": "1", "n": number})
    dynamodb.faults = note
    assert send_all(commits, at_once=4) == [None] * 4
    assert (table.get(("a", "1")) or {})["n"] == 3 and during_the_first == [0]


def test_sent_tells_whether_the_conditions_of_a_commit_held(dynamodb: Double) -> None:
    made, failed = two()
    assert made.try_send() is True and failed.try_send() is False


@pytest.mark.parametrize(
    ("items", "calls"),
    [
        ([60, 40, 1], [100, 1]),
        ([60, 90, 40], [60, 90, 40]),
        ([90, 60, 40], [90, 100]),
    ],
)
def test_commits_fill_one_call_after_the_other(
    dynamodb: Double, items: list[int], calls: list[int]
) -> None:
    sent = sizes(dynamodb)
    commits = [of(many, name=str(place)) for place, many in enumerate(items)]
    assert send_all(commits, at_once=1) == [None] * len(items)
    assert sent == calls


def test_each_commit_has_its_own_outcome(dynamodb: Double) -> None:
    commits = [of(90, name="a"), of(60, name="b"), of(30, name="c")]
    commits[2].check(("d", "1"), table.present)
    first, second, third = send_all(commits, at_once=1)
    assert first is second is None and isinstance(third, table.ConditionFailed)


# --- At once --------------------------------------------------------------------------------------


def test_background_work_sends_half_as_many_commits_at_once_after_a_throttle(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one more again after each that was taken."""
    monkeypatch.setattr(commit_module, "underway", commit_module._Underway())
    seen: list[int] = []

    def work(event: object, context: object) -> None:
        for refused in (1, 2, 0, 0, 0, 0):
            left = iter(range(refused))
            dynamodb.faults = lambda operation, request, left=left: (  # type: ignore[misc]
                None if next(left, None) is None else Fault.THROTTLE
            )
            putting("a").send()
            seen.append(commit_module.underway.allowed)

    deadline.in_background(work)({}, None)
    assert seen == [3, 2, 3, 4, 4, 4]
    assert commit_module.underway.allowed == 4, "a client's commits are not held back"


def test_a_repeat_that_the_service_does_not_recognise_is_busy(dynamodb: Double) -> None:
    answers = iter([None, Fault.LOST, None])
    dynamodb.faults = lambda operation, request: next(answers)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(commit_module.ids, "ulid", lambda: "of another")
        putting("b").send()
        with pytest.raises(Busy):
            putting("a").send()


def test_a_number_is_written_without_zeros_at_its_end() -> None:
    numbers = [Decimal(text) for text in ("0.00", "37.50", "100", "-2.0", "1E+2", "0.10")]
    assert [pack({"n": n})["n"] for n in numbers] == [
        {"N": text} for text in ("0", "37.5", "100", "-2", "1E+2", "0.1")
    ]


@pytest.mark.usefixtures("dynamodb")
def test_a_commit_that_is_not_allowed_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def deny(call: DynamoCall[Any]) -> Any:
        calls.append(call.operation)
        raise ClientError({"Error": {"Code": "AccessDeniedException"}}, call.operation)

    monkeypatch.setattr(DynamoCall, "read_reply", deny)
    commit = Commit()
    commit.put({"pk": "a", "sk": "a"})
    with pytest.raises(ClientError):
        commit.send()
    assert calls == ["TransactWriteItems"]
