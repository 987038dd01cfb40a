"""A record with any number of words is found by exactly these, also after failures between writing
the words and the record."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chalicelib import attributes, clock, deadline, table
from chalicelib.listing import entries, kinds, reindex, search
from chalicelib.problems import Busy, Invalid
from tests.listing import things
from tests.listing.things import KIND, RECORDS, Thing, create, delete, find, page, thing, update
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.environment import SETTINGS


def of(*numbers: int) -> tuple[str, ...]:
    """Texts of one word each, none of which begins with another."""
    return tuple(f"w{n}" for n in numbers)


MANY, FEW, OTHERS = of(*range(1_000, 1_200)), of(*range(1_000, 1_020)), of(*range(2_000, 2_200))


def check_found(one: Thing, texts: tuple[str, ...]) -> None:
    """Checks with a sample that it is found by these texts and no others."""
    for text in {*MANY[::37], *OTHERS[::37], MANY[-1], OTHERS[-1], *texts[::37], *texts[-2:]}:
        assert page(search=text).total == len(page(search=text).records) == (text in texts), text
    assert page(search="w").total == bool(texts)
    assert page(search=" ".join(texts[:3] + texts[-3:])).total == 1


def kept(dynamodb: Double) -> set[tuple[str, str]]:
    stored = dynamodb.items(SETTINGS["TABLE"])
    keys = {(item["pk"]["S"], item["sk"]["S"]) for item in stored}
    return {key for key in keys if key[0].startswith(("word#", "list#"))}


def test_each_word_and_prefix_finds_its_record_after_every_change(
    dynamodb: Double,
) -> None:
    one, beside = replace(thing(), texts=MANY), replace(thing("other"), texts=("else",))
    create(one, beside)
    check_found(one, MANY)
    for texts in (MANY[:-1], MANY[1:], OTHERS, FEW, MANY + OTHERS, OTHERS[:10], OTHERS[:60]):
        one = update(one, texts=texts)
        check_found(one, texts)
        assert kept(dynamodb) == {
            key
            for each in (one, find(beside.id))
            if each
            for key in entries.entries_of(KIND, each.id, each.index)
        }
    one = update(one, facets={**one.facets, "status": "DRAFT"}, sort="0")
    check_found(one, OTHERS[:60])
    assert page({"status": ["DRAFT"]}, search="w2000").total == 1
    assert page({"status": ["ACTIVE"]}, search="w2000").total == 0
    delete(one)
    assert page(search="w").total == 0
    assert {id.rsplit("#", 1)[1] for _, id in kept(dynamodb)} == {beside.id}


def test_a_small_change_of_many_words_writes_only_the_difference(dynamodb: Double) -> None:
    one = replace(thing(), texts=MANY)
    create(one)
    with dynamodb.metered() as calls:
        one = update(one, texts=(*MANY[1:], "w9000"))
    assert not [call for call in calls if call.operation == "BatchWriteItem"]
    assert sum(call.write_units for call in calls) < 40
    check_found(one, MANY[1:])


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.CRASH_AFTER])
def test_a_crash_leaves_the_words_of_one_version(dynamodb: Double, fault: Fault) -> None:
    """At each call of the write."""
    for at in range(100):
        one = replace(thing(), texts=MANY)
        create(one)
        before = find(one.id)
        assert before
        commit = things.writes(before, replace(before, texts=OTHERS))
        calls = iter(range(1_000))
        dynamodb.faults = lambda operation, request, at=at, calls=calls: (  # type: ignore[misc]
            fault if next(calls) == at else None
        )
        died = False
        try:
            commit.send()
        except Crash:
            died = True
        dynamodb.faults = lambda operation, request: None
        after = find(one.id)
        assert after
        check_found(after, after.texts)
        delete(after)
        assert page(search="w").total == 0
        if not died:
            return
    raise AssertionError("it takes more calls than a hundred")


def test_concurrent_writes_leave_the_words_of_the_first(dynamodb: Double) -> None:
    """Also if both write the same, and a third removes a word before the second is done."""
    one = replace(thing(), texts=FEW)
    create(one)
    before = find(one.id)
    assert before
    first, second = (things.writes(before, replace(before, texts=MANY)) for _ in range(2))
    other = things.writes(before, replace(before, texts=OTHERS))
    third: list[Callable[[], Any]] = []

    def race(operation: str, request: Any) -> None:
        if operation == "TransactWriteItems" and third:
            third.pop()()

    first.send()
    third.append(lambda: update(one, texts=MANY[1:]))
    dynamodb.faults = race  # type: ignore[assignment]
    for late in (second, other):
        with pytest.raises(table.ConditionFailed):
            late.send()
    check_found(one, MANY[1:])


def test_left_over_words_are_removed_by_a_search_an_hour_later(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(thing(), texts=FEW)
    create(one)
    before = find(one.id)
    assert before
    late = things.writes(before, replace(before, texts=MANY))
    update(one, texts=("coat",))
    clean = kept(dynamodb)
    with pytest.raises(table.ConditionFailed):
        late.send()
    garbage = kept(dynamodb) - clean
    assert len(garbage) > 150
    assert page(search="w1100").total == 0
    assert kept(dynamodb) - clean == garbage
    later = clock.unix() + 3_601
    monkeypatch.setattr(clock, "unix", lambda: later)
    for first in 40 * ["w", *"0123456789"]:
        assert page(search=first).total == 0
    assert kept(dynamodb) == clean


def test_words_of_pending_or_successful_writes_are_never_removed(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(thing(), texts=MANY)
    create(one)
    later = clock.unix() + 9_999
    monkeypatch.setattr(clock, "unix", lambda: later)
    before, stored = find(one.id), kept(dynamodb)
    assert before
    check_found(one, MANY)
    assert kept(dynamodb) == stored
    commit = things.writes(before, replace(before, texts=OTHERS))

    def look(operation: str, request: Any) -> None:
        if operation == "TransactWriteItems":
            dynamodb.faults = lambda operation, request: None
            check_found(one, MANY)

    dynamodb.faults = look  # type: ignore[assignment]
    commit.send()
    check_found(one, OTHERS)


def test_a_write_succeeds_though_its_old_words_cannot_be_removed_yet(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(thing(), texts=MANY)
    create(one)
    before = find(one.id)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.05)
    commit = things.writes(before, None)
    dynamodb.faults = lambda operation, request: (
        Fault.THROTTLE if operation == "BatchWriteItem" else None
    )
    commit.send()
    with pytest.raises(Busy):
        things.writes(None, replace(thing(), texts=MANY)).send()
    dynamodb.faults = lambda operation, request: None
    assert page(search="w").total == 0
    assert find(one.id) is None


def test_unprocessed_words_are_written_again(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = dynamodb._on_BatchWriteItem

    def half(request: Any) -> Any:
        ((name, writes),) = request["RequestItems"].items()
        _, *units = write({"RequestItems": {name: writes[: (len(writes) + 1) // 2]}})
        left = writes[(len(writes) + 1) // 2 :]
        return ({"UnprocessedItems": {name: left} if left else {}}, *units)

    monkeypatch.setattr(dynamodb, "_on_BatchWriteItem", half)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    one = replace(thing(), texts=MANY)
    create(one)
    check_found(one, MANY)


def test_an_exact_word_is_found_though_too_many_words_begin_with_it(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(*(thing(f"TS-1{n:02d}") for n in range(60)), one := thing("TS-1"))
    monkeypatch.setattr(search, "MOST_MATCHES", 20)
    found = page(search="ts-1")
    assert [each.id for each in found.records] == [one.id]
    assert found.at_least
    with pytest.raises(Invalid) as refused:
        page(search="ts-")
    assert refused.value.code == "search_too_broad"
    assert not page(search="ts-123").at_least


def test_an_unwritten_version_cannot_be_changed(dynamodb: Double) -> None:
    one = replace(thing("shirt"), stored_index=None)
    with pytest.raises(ValueError, match="never written"):
        entries.change(things.Commit(), KIND, one.id, one.index, one.index)


def test_a_record_with_another_indexing_moves_with_all_its_words(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(thing(), texts=MANY)
    create(one)
    assert not reindex(RECORDS, one.id)
    monkeypatch.setattr(kinds, "SHAPES", {1: kinds.Shape(2, 4), 2: kinds.Shape(3, 5)})
    monkeypatch.setattr(kinds, "CURRENT", 2)
    assert reindex(RECORDS, one.id)
    assert not reindex(RECORDS, one.id)
    check_found(one, MANY)
    moved = find(one.id)
    assert moved
    assert kept(dynamodb) == entries.entries_of(KIND, one.id, moved.index)


def test_a_word_rewritten_before_its_removal_stays(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(thing(), texts=FEW)
    create(one)
    before = find(one.id)
    assert before
    late = things.writes(before, replace(before, texts=MANY))
    update(one, texts=("coat",))
    with pytest.raises(table.ConditionFailed):
        late.send()
    garbage = [
        item
        for item in map(attributes.unpack, dynamodb.items(SETTINGS["TABLE"]))
        if item["pk"].startswith("word#") and "w1100" in item["sk"]
    ]
    assert garbage
    later = clock.unix() + 3_601
    monkeypatch.setattr(clock, "unix", lambda: later)

    def written_again(operation: str, request: Any) -> None:
        if operation == "DeleteItem":
            dynamodb.faults = lambda operation, request: None
            for item in garbage:
                table.put({**item, "at": later})

    dynamodb.faults = written_again
    assert page(search="w1100").total == 0
    assert {(item["pk"], item["sk"]) for item in garbage} <= kept(dynamodb)
