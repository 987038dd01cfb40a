"""Sorted lists with filters, ranges and searches give the same as a simple sort."""

import random
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from chalicelib import listing
from chalicelib.listing import positions
from tests.listing.things import KIND, Thing, create, names, page, passes, thing
from tests.support.dynamodb_double import Double


@pytest.fixture
def stock(dynamodb: Double) -> list[Thing]:
    chance = random.Random(5)
    titles = [f"{chance.choice('ÄabZéñ')}{n:02d} shirt" for n in range(40)]
    made = [
        thing(title, status="DRAFT" if n % 3 else "ACTIVE", owner="ann" if n % 4 else "bob")
        for n, title in enumerate(titles)
    ]
    create(*made)
    return made


@pytest.mark.parametrize("few", [0, 300])
def test_every_order_combines_with_filters_ranges_searches_pages_and_cursors(
    stock: list[Thing], monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(positions, "_FEW", few)
    between = listing.Range(stock[5].sort, stock[30].sort)
    wheres: list[dict[str, Any]] = [{}, {"status": ["DRAFT"]}, {"owner": ["ann"]}]
    wheres.append({"status": ["ACTIVE"], "owner": ["bob"]})
    for where, search, ranged, forward in product(
        wheres, ("", "shirt"), (listing.Range(), between), (True, False)
    ):
        options = {"order": "name", "forward": forward, "between": ranged, "search": search}
        accepted = {facet: frozenset(values) for facet, values in where.items()}
        expected = [
            one.texts[0]
            for one in sorted(stock, key=lambda one: one.index.orders["name"], reverse=not forward)
            if passes(accepted)(one) and ranged.holds(one.sort)
        ]
        first = page(where, limit=7, **options)
        assert (names(first), first.total) == (expected[:7], len(expected)), options
        assert names(page(where, limit=7, page=2, **options)) == expected[7:14]
        walked, cursor = list[str](), first.next
        while cursor:
            some = page(where, limit=7, cursor=cursor, **options)
            walked, cursor = walked + names(some), some.next
        assert walked == expected[7:]


def test_sorting_by_name_ignores_case_and_accents(dynamodb: Double) -> None:
    create(*map(thing, ["zebra", "Éclair", "apple", "#1 mug", "", "École"]))
    found = page(order="name", forward=True).records
    assert [one.name for one in found] == ["", "#1 mug", "apple", "Éclair", "École", "zebra"]


def test_a_page_takes_as_many_round_trips_during_reindexing(
    dynamodb: Double, rounds: list[int]
) -> None:
    create(*(thing(status="ACTIVE") for _ in range(5)))
    rounds.clear()
    usual = page({"status": ["ACTIVE"]})
    before = rounds.copy()
    rounds.clear()
    assert page({"status": ["ACTIVE"]}, kind=replace(KIND, since={"vendor": 2})) == usual
    assert rounds == before
