"""Recounting totals from the lists finds and repairs wrong ones, and changes no correct one."""

import random
from typing import Any

import pytest

from chalicelib import listing
from chalicelib.listing import Recount
from chalicelib.listing.recount import Counted, Stored, Wrong, find_disagreement
from chalicelib.storage import table
from chalicelib.storage.commit import Commit
from tests.listing.things import KIND, create, page, thing, update
from tests.support.dynamodb_double import Double, Fault
from tests.support.dynamodb_expressions import Wire


def some() -> None:
    create(*(thing(status="DRAFT" if n % 3 else "ACTIVE", type=f"type-{n % 4}") for n in range(30)))


def test_a_wrong_total_is_found_and_repaired(dynamodb: Double) -> None:
    some()
    table.update((KIND.count_pk(), "1|DRAFT|yes|#1"), add={"n": 5})
    table.update((KIND.count_pk("type", "type-1"), "1|DRAFT|yes|#0"), add={"n": -2})
    assert page().total == 35

    found = listing.recount(KIND)
    off = {one.cell: one.stored - one.counted for one in found.wrong}
    assert off == {
        (KIND.count_pk(), "1|DRAFT|yes|"): 5,
        (KIND.count_pk("type", "type-1"), "1|DRAFT|yes|"): -2,
    }

    listing.repair(found.wrong)
    assert listing.recount(KIND) == Recount(30, [])
    assert page().total == 30


def test_a_wrong_total_of_a_kind_without_facets_is_repaired(dynamodb: Double) -> None:
    kind = listing.Kind("plain")
    commit = Commit()
    listing.change(commit, kind, "one", None, listing.Index.build(sort="1", facets={}))
    commit.send()
    table.update((kind.count_pk(), "1#1"), add={"n": 3})
    wrong = listing.recount(kind).wrong
    assert [(one.stored, one.counted) for one in wrong] == [(4, 1)]
    listing.repair(wrong)
    assert listing.recount(kind) == Recount(1, [])


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.LOST_AFTER, Fault.THROTTLE])
def test_a_repair_whose_answer_is_lost_applies_once(dynamodb: Double, fault: Fault) -> None:
    some()
    table.update((KIND.count_pk(), "1|DRAFT|yes|#1"), add={"n": 5})
    table.put({"pk": "b", "sk": "customer", "orders": 0})
    wrong = [*listing.recount(KIND).wrong, Wrong(("b", "customer"), 0, 3, "orders", sharded=False)]
    faults = [None, fault, None, fault]
    writes = {"UpdateItem", "TransactWriteItems"}
    dynamodb.faults = lambda operation, request: (
        faults.pop() if faults and operation in writes else None
    )
    listing.repair(wrong)
    assert not faults and listing.recount(KIND) == Recount(30, [])
    assert (table.get(("b", "customer")) or {})["orders"] == 3


def test_repairing_the_total_of_a_deleted_record_does_not_recreate_it(dynamodb: Double) -> None:
    gone, there = (Wrong((id, "customer"), 0, 3, "orders", sharded=False) for id in "ab")
    table.put({"pk": "b", "sk": "customer", "orders": 0})
    listing.repair([gone, there])
    assert table.get(gone.cell) is None
    assert (table.get(there.cell) or {})["orders"] == 3


def test_a_wrong_total_is_looked_at_three_times(dynamodb: Double) -> None:
    looks = 0

    def look() -> tuple[Counted[str], Stored[str]]:
        nonlocal looks
        looks += 1
        return {"right": 2, "wrong": 2}, {"right": {"": 2}, "wrong": {"": 3}, "left": {"": 1}}

    wrong = {"wrong": (3, 2), "left": (1, 0)}
    assert find_disagreement(look) == ({"right": 2, "wrong": 2}, wrong)
    assert looks == 3


def test_constant_writes_are_no_disagreement(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New orders are created and waiting ones moved between any two calls of a recount."""
    waiting, query = [thing(status="DRAFT") for _ in range(100)], table.query
    create(*waiting)
    chance = random.Random(3)

    def busy(pk: str, **options: Any) -> Any:
        if not pk.startswith("list#"):
            return query(pk, **options)
        for _ in range(chance.randint(0, 4)):
            waiting.append(thing(status="DRAFT"))
            create(waiting[-1])
        for _ in range(chance.randint(0, 4)):
            one = waiting.pop(0)
            update(one, facets={**one.facets, "status": "ACTIVE"})
        return query(pk, **{**options, "limit": 25})

    busy.call = query.call  # type: ignore[attr-defined]
    disagreed = []
    for _ in range(4):
        with monkeypatch.context() as patched:
            patched.setattr(table, "query", busy)
            disagreed += listing.recount(KIND).wrong
        assert listing.recount(KIND).wrong == []
    assert disagreed == []
    assert page({"status": ["ACTIVE"]}).total > 10, "records were moved"


def test_a_wrong_total_is_found_while_clients_write(dynamodb: Double) -> None:
    some()
    table.update((KIND.count_pk(), "1|DRAFT|yes|#1"), add={"n": 1})

    def client(operation: str, request: Wire) -> Fault | None:
        if operation == "Query":
            dynamodb.faults = lambda operation, request: None
            create(thing(status="ACTIVE"))
            dynamodb.faults = client
        return None

    dynamodb.faults = client
    (wrong,) = listing.recount(KIND).wrong
    assert (wrong.cell[1], wrong.stored - wrong.counted) == ("1|DRAFT|yes|", 1)
    dynamodb.faults = lambda operation, request: None
    assert page().total > 31 + 10, "clients wrote"
