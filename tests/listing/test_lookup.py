"""Lookup by SKU is exact, also among SKUs with the same prefix."""

import random
from dataclasses import replace

import pytest

from chalicelib.listing import Index, lookup
from tests.listing import things
from tests.listing.things import KIND, Thing, create, thing
from tests.support.dynamodb_double import Double


def having(*skus: str) -> Thing:
    return replace(thing(), texts=skus)


@pytest.fixture(autouse=True)
def every_text_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    def indexed(one: Thing) -> Index:
        return Index.build(sort=one.sort, facets=one.facets, texts=one.texts, exact=one.texts)

    monkeypatch.setattr(things, "indexed", indexed)


def holding(*skus: str) -> dict[str, set[str]]:
    return lookup.find_records_by_text(KIND, skus)


def test_a_sku_that_is_a_prefix_of_others_is_found(dynamodb: Double) -> None:
    made = {f"TS-{n}": having(f"TS-{n}", *(f"TS-{n}-{size}" for size in "SML")) for n in range(150)}
    create(*made.values())
    found = holding(*made)
    assert all(one.id in found[sku] for sku, one in made.items())


def test_skus_in_any_alphabet_are_matched_exactly(dynamodb: Double) -> None:
    chance = random.Random(3)
    made = [
        having(*("".join(chance.choices('a#$%!"-1ß', k=chance.randint(1, 3))) for _ in range(3)))
        for _ in range(400)
    ]
    create(*made)
    by_sku: dict[str, set[str]] = {}
    for one in made:
        for sku in one.texts:
            by_sku.setdefault(sku, set()).add(one.id)
    found = holding(*by_sku)
    assert all(found[sku] & ids for sku, ids in by_sku.items())
    assert holding("zzz") == {"zzz": set()}


def test_a_sku_of_invisible_characters_matches_nothing(dynamodb: Double) -> None:
    create(having("A-1"))
    assert holding("\u200b", "\x00", "A-1")["\u200b"] == set()


@pytest.mark.thorough
def test_a_sku_is_found_among_hundreds_with_the_same_prefix(dynamodb: Double) -> None:
    alike = [having(f"TS-1{sign}{n}") for n in range(300) for sign in '!"-']
    create(*alike, one := having("TS-1"), other := having("TS-2 B"), third := having("TS-2", "B"))
    assert holding("TS-1", "TS-2 B", "TS-2", "TS-3") == {
        "TS-1": {one.id},
        "TS-2 B": {other.id},
        "TS-2": {third.id},
        "TS-3": set(),
    }


@pytest.mark.thorough
def test_all_of_many_records_with_the_same_texts_are_found(dynamodb: Double) -> None:
    """The first query of a shard ends among those with the second, the next among those with the
    third."""
    numbers = {"A1": 60, "A2": 60, "A3": 150}
    alike = {
        text: [having(text) for _ in range(number * KIND.word_shards)]
        for text, number in numbers.items()
    }
    for made in alike.values():
        create(*made)
    assert holding(*alike) == {text: {one.id for one in made} for text, made in alike.items()}
