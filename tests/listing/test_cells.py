"""Totals of products by storefront, with the count cells of release 1.0.0 and of this code."""

import random
from typing import Any

import pytest

from chalicelib import listing
from chalicelib.storage import table
from chalicelib.storage.attributes import Item
from chalicelib.storage.commit import Commit
from tests.listing.things import KIND, Thing, create, delete, page, thing, update
from tests.support.dynamodb_double import Crash, Double, Fault

STOREFRONTS = ["", "eu", "us.shop", "a#b|c*", "*"]


def count_as_1_0_0(one: Thing, step: int) -> None:
    """Add a record to the cells, or remove it, as release 1.0.0 does."""
    facets = one.index.facets
    cell = "|".join(["1", *(facets[facet] for facet in KIND.counted)])
    commit = Commit()
    for pk, _ in KIND.cell_keys(facets):
        commit.count((pk, cell), {"n": step})
    commit.send()


def move_to_1_0_0(one: Thing) -> None:
    """Move the numbers of a record from the cells of this code to those of 1.0.0."""
    facets = one.index.facets
    commit = Commit()
    for pk, cell in KIND.cell_keys(facets):
        commit.count((pk, cell), {name: -n for name, n in KIND.cell_increments(pk, facets).items()})
    commit.send()
    count_as_1_0_0(one, 1)


@pytest.fixture
def old_things(dynamodb: Double) -> list[Thing]:
    """Things in all storefronts, counted by 1.0.0."""
    chance = random.Random(7)
    made = [
        thing(
            f"hat {n}",
            storefront=chance.choice(STOREFRONTS),
            status=chance.choice(["ACTIVE", "DRAFT"]),
            type=chance.choice(["hat", ""]),
        )
        for n in range(60)
    ]
    create(*made)
    for one in made:
        move_to_1_0_0(one)
    return made


def expect_totals(things: list[Thing]) -> None:
    wheres: list[dict[str, list[str]]] = [{}, {"status": ["DRAFT"]}, {"type": ["hat"]}]
    for storefront in STOREFRONTS:
        wheres += [{"storefront": [storefront]}, {"storefront": [storefront], "type": ["hat"]}]
        wheres += [{"storefront": [storefront, ""], "status": ["ACTIVE"]}]
    for where in wheres:
        expected = sum(
            all(one.facets[facet] in accepted for facet, accepted in where.items())
            for one in things
        )
        filters = {facet: frozenset(accepted) for facet, accepted in where.items()}
        assert listing.count(KIND, filters) == expected, where
        assert page(where).total == expected, where
    named = [name for name in STOREFRONTS if name]
    sizes = [sum(one.facets["storefront"] == name for one in things) for name in named]
    assert listing.count_each(KIND, "storefront", named) == sizes
    assert listing.recount(KIND).wrong == []


def merge_all() -> int:
    return sum(listing.merge_cells(KIND, f"count#thing{at}") for at in ("", "#type=hat"))


def stored_cells() -> list[Item]:
    return [*table.query_all("count#thing"), *table.query_all("count#thing#type=hat")]


def test_totals_are_right_before_and_after_the_cells_of_1_0_0_are_merged(
    old_things: list[Thing],
) -> None:
    things = old_things
    expect_totals(things)
    for one in things[:20]:
        if one.facets["status"] == "ACTIVE":
            delete(one)
            things.remove(one)
    at = next(n for n, one in enumerate(things) if one.facets["storefront"] == "eu")
    things[at] = update(things[at], facets={**things[at].facets, "storefront": "us.shop"})
    expect_totals(things)
    assert merge_all() > 6
    expect_totals(things)
    kinds = {cell["sk"].split("#")[0].rpartition("|")[2] for cell in stored_cells()}
    assert kinds == {"", "*"}
    assert merge_all() == 0


def test_release_1_0_0_may_write_beside_this_code(old_things: list[Thing]) -> None:
    things = old_things
    new = [thing("new", storefront=storefront) for storefront in STOREFRONTS]
    create(*new)
    things += new
    merge_all()
    move_to_1_0_0(new[1])
    expect_totals(things)
    assert merge_all() == 1
    expect_totals(things)


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.CRASH_AFTER])
def test_a_merge_that_crashes_is_repeated(
    dynamodb: Double, old_things: list[Thing], fault: Fault
) -> None:
    at, is_whole = 0, False
    while not is_whole:
        calls = iter(range(1_000))
        dynamodb.faults = lambda operation, request, at=at, calls=calls: (  # type: ignore[misc]
            fault if next(calls) == at else None
        )
        try:
            merge_all()
            is_whole = True
        except Crash:
            dynamodb.faults = lambda operation, request: None
            expect_totals(old_things)
        at += 1
    dynamodb.faults = lambda operation, request: None
    expect_totals(old_things)


def test_what_1_0_0_counts_during_a_merge_stays_until_the_next(
    dynamodb: Double, old_things: list[Thing]
) -> None:
    one = next(one for one in old_things if one.facets["storefront"] == "eu")
    twin = thing("twin", **one.facets)
    create(twin)
    cell = "|".join(["1", *(twin.index.facets[facet] for facet in KIND.counted)])

    def count_in_every_shard() -> None:
        move_to_1_0_0(twin)
        for step in (1, -1) * 20:
            count_as_1_0_0(twin, step)

    dynamodb.meanwhile("TransactWriteItems", count_in_every_shard, text=cell)
    merge_all()
    expect_totals([*old_things, twin])
    assert merge_all() <= 2
    expect_totals([*old_things, twin])


def test_a_roll_back_is_repaired_by_a_recount_of_either_release(old_things: list[Thing]) -> None:
    """Rolled back, 1.0.0 repairs its own cells; deployed again, this code repairs the rest."""
    merge_all()
    for one in old_things:
        if one.facets["storefront"]:
            _repair_as_1_0_0(one)
    filters = {"storefront": frozenset({"eu"})}
    assert listing.count(KIND, filters) > len([*page({"storefront": ["eu"]}).records])
    assert listing.count(KIND, {}) == len(old_things)
    listing.repair(listing.recount(KIND).wrong)
    expect_totals(old_things)
    merge_all()
    expect_totals(old_things)


def _repair_as_1_0_0(one: Thing) -> None:
    """1.0.0 misses a record in its own cell, and has one too much in the cell of `*`."""
    count_as_1_0_0(one, 1)
    commit = Commit()
    for pk, cell in KIND.cell_keys(one.index.facets):
        commit.count((pk, cell), {"n": -1})
    commit.send()


def test_a_storefront_is_counted_in_a_part_of_the_shards(dynamodb: Double) -> None:
    """Otherwise each shard would have the attributes of a hundred storefronts."""
    create(*(thing(storefront="eu") for _ in range(200)))
    shards: Any = {int(cell["sk"].rpartition("#")[2]) % 4 for cell in stored_cells()}
    assert len(shards) == 1
    assert len(stored_cells()) == 8
