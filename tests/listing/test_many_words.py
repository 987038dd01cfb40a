"""A record with any number of words is found by exactly these, also after failures between writing
the words and the record."""

import random
from dataclasses import replace
from typing import Any

import pytest

from chalicelib import deadline, listing
from chalicelib.listing import entries, search
from chalicelib.problems import Busy, Invalid
from chalicelib.storage import attributes, table
from chalicelib.storage.commit import Commit
from tests.listing import things
from tests.listing.things import (
    KIND,
    RECORDS,
    Thing,
    create,
    delete,
    find,
    page,
    thing,
    update,
)
from tests.orders.build import before_the_commit
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.environment import SETTINGS


def of(*numbers: int) -> tuple[str, ...]:
    """Texts of one word each, none of which begins with another."""
    return tuple(f"w{n}" for n in numbers)


MANY, FEW, OTHERS = of(*range(1_000, 1_200)), of(*range(1_000, 1_020)), of(*range(2_000, 2_200))


def words(dynamodb: Double, word: str) -> list[Any]:
    """The stored items of a word."""
    stored = map(attributes.unpack, dynamodb.items(SETTINGS["TABLE"]))
    return [item for item in stored if item["pk"].startswith("word#") and word in item["sk"]]


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


def entries_of(*things: Thing) -> set[tuple[str, str]]:
    """All that these have in lists and words."""
    return {key for one in things for key in entries.entries_of(KIND, one.id, one.index)}


def created(one: Thing) -> Thing:
    """As it is stored."""
    create(one)
    return current(one)


def current(one: Thing) -> Thing:
    found = find(one.id)
    assert found
    return found


def raced(late: Commit) -> None:
    """Another write of the record was first."""
    with pytest.raises(table.ConditionFailed):
        late.send()


@pytest.mark.thorough
def test_each_word_and_prefix_finds_its_record_after_every_change(dynamodb: Double) -> None:
    one = created(replace(thing(), texts=MANY))
    other = created(replace(thing("other"), texts=("else",)))
    check_found(one, MANY)
    for texts in (MANY[:-1], MANY[1:], OTHERS, FEW, MANY + OTHERS, OTHERS[:10], OTHERS[:60]):
        one = update(one, texts=texts)
        check_found(one, texts)
        assert kept(dynamodb) == entries_of(one, other)
    one = update(one, facets={**one.facets, "status": "DRAFT"}, sort="0")
    check_found(one, OTHERS[:60])
    assert page({"status": ["DRAFT"]}, search="w2000").total == 1
    assert page({"status": ["ACTIVE"]}, search="w2000").total == 0
    delete(one)
    assert page(search="w").total == 0
    assert {id.rsplit("#", 1)[1] for _, id in kept(dynamodb)} == {other.id}


def test_each_of_many_tags_finds_its_record_after_every_change(dynamodb: Double) -> None:
    one, other = created(thing()), created(replace(thing(), tags=MANY[:3]))
    for count in (6, 7, 20, 7, 6, 0):
        one = update(one, tags=MANY[:count])
        for place, tag in enumerate(MANY[:21:4]):
            expected = {one.id} if place * 4 < count else set()
            expected |= {other.id} if place == 0 else set()
            for where in ({"tag": [tag]}, {"tag": [tag], "status": ["ACTIVE"]}):
                found = page(where)
                assert {each.id for each in found.records} == expected
                assert found.total == len(expected)
        assert page({"tag": MANY[:21]}).total == 1 + bool(count)
        # Up to half of what is written with a record are tags with a list of their own.
        named = [pk.split("#")[2] for pk, sk in kept(dynamodb) if sk.endswith(f"#{one.id}")]
        tags = [name for name in named if name.startswith("tag")]
        assert sorted(tags) == sorted(f"tag={tag}" for tag in MANY[:count]) or tags == ["tag*"]
        assert (tags == ["tag*"]) == (count > 6)
    one = update(one, tags=MANY[:20], sort="9")
    one = update(one, tags=MANY[:4], sort="8")
    assert kept(dynamodb) == entries_of(one, other)


def test_many_words_combine_with_ranges_filters_and_each_other(dynamodb: Double) -> None:
    one = replace(thing(sort="5", status="DRAFT"), texts=MANY)
    create(one, replace(thing(sort="7"), texts=MANY[:10]))
    for first, end, inside in (("4", "6", 1), ("5", "", 1), ("", "5", 0), ("51", "", 0)):
        between = listing.Range(first, end)
        for asked in (MANY[150], f"{MANY[20]} {MANY[150]}", f"{MANY[150]} {MANY[160]}"):
            found = page(search=asked, between=between)
            assert (len(found.records), found.total) == (inside, inside), (asked, between)
    for status, total in (("DRAFT", 1), ("ACTIVE", 0)):
        for asked in (MANY[150], f"{MANY[2]} {MANY[150]}"):
            assert page({"status": [status]}, search=asked).total == total
        assert page({"status": [status]}, search=MANY[2]).total == 1


def created_with_a_pending_change(one: Thing) -> Commit:
    """Creates it. The change, to many words, is not sent yet."""
    before = created(one)
    return things.writes(before, replace(before, texts=MANY))


def test_words_of_different_writes_do_not_match_together(dynamodb: Double) -> None:
    one = replace(thing(), texts=FEW)
    late = created_with_a_pending_change(one)
    update(one, texts=OTHERS)
    raced(late)
    for asked, total in ((f"{MANY[150]} {OTHERS[150]}", 0), (f"{OTHERS[150]} {OTHERS[151]}", 1)):
        found = page(search=asked)
        assert (len(found.records), found.total) == (total, total)
    assert page(search=MANY[150]).total == page(search=f"{MANY[150]} {MANY[151]}").total == 0


def test_words_of_a_failed_write_are_discarded_and_no_others(dynamodb: Double) -> None:
    one = replace(thing(), texts=FEW)
    late = created_with_a_pending_change(one)
    update(one, texts=(*FEW, "coat"))
    clean = kept(dynamodb)
    raced(late)
    (left,), (own,) = words(dynamodb, "w1100"), words(dynamodb, "coat")
    garbage = kept(dynamodb) - clean
    assert not listing.discard_words(RECORDS, "w1100", left["at"] - 1)  # perhaps still written
    assert not listing.discard_words(RECORDS, "coat", own["at"])
    another = replace(RECORDS, kind=replace(KIND, name="other"))
    assert not listing.discard_words(another, "w1100", left["at"])
    assert listing.discard_words(RECORDS, "w1100", left["at"]) == 1
    assert garbage - (kept(dynamodb) - clean) == {(left["pk"], left["sk"])}
    delete(one)
    assert listing.discard_words(RECORDS, "w1101", left["at"]) == 1  # of nobody
    assert listing.discard_words(RECORDS, "w110", left["at"]) > 1  # by their beginning


def test_a_word_that_its_record_gets_meanwhile_is_not_discarded(dynamodb: Double) -> None:
    one = replace(thing(), texts=("coat",))
    create(one)
    (own,) = [key for key in kept(dynamodb) if key[0][:5] == "word#" and key[1][:5] == "coat#"]
    left: Any = {"pk": own[0], "sk": own[1].replace("coat", "cape"), "at": 1}
    table.put(left)
    before_the_commit(dynamodb, lambda: update(one, texts=("coat", "cape")))
    assert not listing.discard_words(RECORDS, "cape", 1)
    assert page(search="cape").total == 1 and (left["pk"], left["sk"]) in kept(dynamodb)


def test_a_small_change_of_many_words_writes_only_the_difference(dynamodb: Double) -> None:
    one = replace(thing(), texts=MANY)
    create(one)
    with dynamodb.metered() as calls:
        one = update(one, texts=(*MANY[1:], "w9000"))
    assert not [call for call in calls if call.operation == "BatchWriteItem"]
    assert sum(call.write_units for call in calls) < 40
    check_found(one, MANY[1:])


def test_a_transaction_has_room_for_every_change_of_words_and_values(dynamodb: Double) -> None:
    chance = random.Random(4)
    for _ in range(500):
        before: listing.Index | None = None
        for _ in range(4):
            texts = chance.sample(MANY[:60], chance.choice([0, 5, 12, 25, 60]))
            tags = chance.sample(OTHERS[:12], chance.choice([0, 2, 6, 7]))
            made = replace(thing(sort=chance.choice("001")), texts=tuple(texts), tags=tuple(tags))
            commit = Commit()
            after = listing.change(commit, KIND, "thing", before, made.index)
            others = {
                key
                for index in (before, after)
                if index
                for key in entries.list_entries(KIND, "thing", replace(index, several=()))
            }
            cells = 0 if before else len(list(KIND.cell_keys(made.facets)))
            assert len(commit) <= len(others) + cells + KIND.room
            before = after


@pytest.mark.thorough
@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.CRASH_AFTER])
def test_a_crash_leaves_the_words_of_one_version(dynamodb: Double, fault: Fault) -> None:
    """At each call of the write."""
    for at in range(100):
        one = before = created(replace(thing(), texts=MANY))
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
        after = current(one)
        check_found(after, after.texts)
        delete(after)
        assert page(search="w").total == 0
        if not died:
            assert at > 5, "words are written before and removed after the record"
            return
    raise AssertionError("it takes more calls than a hundred")


def test_concurrent_writes_leave_the_words_of_the_first(dynamodb: Double) -> None:
    """Also if both write the same, and a third removes a word before the second is done."""
    one = before = created(replace(thing(), texts=FEW))
    first, second = (things.writes(before, replace(before, texts=MANY)) for _ in range(2))
    other = things.writes(before, replace(before, texts=OTHERS))
    first.send()
    dynamodb.meanwhile("TransactWriteItems", lambda: update(one, texts=MANY[1:]))
    for late in (second, other):
        raced(late)
    check_found(one, MANY[1:])


def test_a_search_during_a_write_finds_the_words_before(dynamodb: Double) -> None:
    one = before = created(replace(thing(), texts=MANY))
    commit = things.writes(before, replace(before, texts=OTHERS))
    dynamodb.meanwhile("TransactWriteItems", lambda: check_found(one, MANY))
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
