"""Totals are counted again from the list: a wrong one is found and repaired, a right one never."""

from chalicelib import listing, table
from chalicelib.listing import Recount
from tests.dynamodb_double import Double, Fault
from tests.dynamodb_expressions import Wire
from tests.listing.things import KIND, create, delete, page, thing, update


def some() -> None:
    create(*(thing(status="DRAFT" if n % 3 else "ACTIVE", type=f"type-{n % 4}") for n in range(30)))


def test_a_shop_that_only_its_own_code_wrote_agrees(dynamodb: Double) -> None:
    some()
    one = thing(status="ACTIVE", type="mug")
    create(one)
    update(one, facets={**one.facets, "status": "DRAFT", "type": "hat"})
    gone = thing()
    create(gone)
    delete(gone)
    assert listing.recount(KIND) == Recount(31, [])


def test_a_wrong_total_is_found_and_repaired(dynamodb: Double) -> None:
    some()
    table.update((KIND.count_pk(), "DRAFT|yes|#1"), add={"n": 5})
    table.update((KIND.count_pk("type-1"), "DRAFT|yes|#0"), add={"n": -2})
    assert page().total == 35

    found = listing.recount(KIND)
    off = {one.cell: one.stored - one.counted for one in found.wrong}
    assert off == {
        (KIND.count_pk(), "DRAFT|yes|"): 5,
        (KIND.count_pk("type-1"), "DRAFT|yes|"): -2,
    }

    listing.repair(found.wrong)
    assert listing.recount(KIND) == Recount(30, [])
    assert page().total == 30


def test_what_clients_write_meanwhile_is_no_disagreement(dynamodb: Double) -> None:
    some()
    looks = 0

    def client(operation: str, request: Wire) -> Fault | None:
        nonlocal looks
        if operation == "Query":
            looks += 1
            dynamodb.faults = lambda operation, request: None
            create(thing(status="ACTIVE"))
            dynamodb.faults = client
        return None

    dynamodb.faults = client
    assert listing.recount(KIND).wrong == []
    assert looks > 10


def test_a_wrong_total_is_found_while_clients_write(dynamodb: Double) -> None:
    some()
    table.update((KIND.count_pk(), "DRAFT|yes|#1"), add={"n": 1})

    def client(operation: str, request: Wire) -> Fault | None:
        if operation == "Query":
            dynamodb.faults = lambda operation, request: None
            create(thing(status="ACTIVE"))
            dynamodb.faults = client
        return None

    dynamodb.faults = client
    (wrong,) = listing.recount(KIND).wrong
    assert (wrong.cell[1], wrong.stored - wrong.counted) == ("DRAFT|yes|", 1)
