"""Who has a SKU is told exactly, whatever other SKUs begin like it."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from chalicelib import table
from chalicelib.listing import entries, holders, reindex
from tests.dynamodb_double import Double
from tests.listing.things import KIND, RECORDS, Thing, create, thing


def having(*skus: str) -> Thing:
    one = thing()
    return Thing(one.id, one.sort, one.facets, skus)


def told(*skus: str) -> dict[str, set[str]]:
    found, crowded = holders.holders(KIND, skus)
    alike = holders.alike(KIND, crowded)
    return {sku: ids | alike.get(sku, set()) for sku, ids in found.items()}


def test_a_sku_that_its_own_variants_begin_with_is_found_among_many_that_begin_alike(
    dynamodb: Double,
) -> None:
    made = {f"TS-{n}": having(f"TS-{n}", *(f"TS-{n}-{size}" for size in "SML")) for n in range(150)}
    create(*made.values())
    found = told(*made)
    assert all(one.id in found[sku] for sku, one in made.items())


def test_skus_of_any_alphabet_are_told_exactly(dynamodb: Double) -> None:
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
    found = told(*by_sku)
    assert all(found[sku] & ids for sku, ids in by_sku.items())
    assert told("zzz") == {"zzz": set()}


def test_a_sku_without_anything_to_be_seen_is_nobodys(dynamodb: Double) -> None:
    create(having("A-1"))
    assert told("\u200b", "\x00", "A-1")["\u200b"] == set()


def test_names_are_written_though_dynamodb_leaves_some_of_them_at_first(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {(f"name#thing#a#{n % 4}of4", f"a-{n}#id") for n in range(60)}
    write = dynamodb._on_BatchWriteItem

    def half(request: Any) -> Any:
        ((name, writes),) = request["RequestItems"].items()
        _, *units = write({"RequestItems": {name: writes[: (len(writes) + 1) // 2]}})
        left = writes[(len(writes) + 1) // 2 :]
        return ({"UnprocessedItems": {name: left} if left else {}}, *units)

    monkeypatch.setattr(dynamodb, "_on_BatchWriteItem", half, raising=False)
    holders.write_names(names)
    assert table.batch_get(names).keys() == names
    table.batch_write(deletes=names)
    assert not table.batch_get(names)


def test_a_record_that_moves_while_it_is_looked_for_is_found(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "SHAPES", {1: entries.Shape(2, 4), 2: entries.Shape(3, 5)})
    one = having("SKU-77")
    create(one)
    monkeypatch.setattr(entries, "CURRENT", 2)
    calls = iter(range(1_000))

    def move(operation: str, request: Any) -> None:
        """Once as many partitions were read as words are spread over now."""
        if next(calls) == 5:
            reindex(RECORDS, one.id)

    def last_first(asked: list[Callable[[], Any]]) -> list[Any]:
        """What is asked for at the same time is answered in any order."""
        return [call() for call in asked[::-1]][::-1]

    dynamodb.faults = move  # type: ignore[assignment]
    monkeypatch.setattr(table, "together", last_first)
    assert told("SKU-77") == {"SKU-77": {one.id}}
    assert next(calls) > 6
