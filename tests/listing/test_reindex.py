"""A change of the words moves every record while the shop is in use."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chalicelib
from chalicelib import deadline, listing
from chalicelib.listing import words
from chalicelib.orders import store as orders
from chalicelib.products import store as products
from chalicelib.reindexing.store import ALL, LISTED
from chalicelib.storage import table
from tests.listing import things
from tests.listing.things import (
    RECORDS,
    WORDS_BEFORE,
    Thing,
    create,
    delete,
    deploy,
    names,
    page,
    thing,
    update,
)
from tests.orders import build
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS
from tests.support.reindexing import reindex
from tests.support.shop import Shop

pytestmark = pytest.mark.thorough


@pytest.fixture
def stock(dynamodb: Double) -> list[Thing]:
    """Oldest first; every third one is a draft, and `shirt` finds all."""
    made = [
        thing(f"shirt no {20_000 + n}", status="ACTIVE" if n % 3 else "DRAFT") for n in range(250)
    ]
    create(*made)
    return made


def run(**options: float) -> int:
    return reindex(RECORDS, **options)


def all_pages(where: Any = None, search: str = "") -> list[str]:
    found, number = list[str](), 1
    while some := page(where, search, page=number).records:
        found += [one.id for one in some]
        number += 1
    return found


def agree(records: list[Thing]) -> None:
    """Every list, search and total matches these records."""
    newest_first = [one.id for one in sorted(records, key=lambda one: one.sort, reverse=True)]
    drafts = {one.id for one in records if one.facets["status"] == "DRAFT"}
    assert all_pages() == all_pages(search="shirt") == newest_first
    assert all_pages({"status": ["DRAFT"]}) == [id for id in newest_first if id in drafts]
    assert page({"status": ["DRAFT"]}, search="shirt").total == len(drafts)
    assert page().total == len(records)


def entries_left(dynamodb: Double) -> set[str]:
    """The partitions of lists and words that are not empty."""
    sizes = dynamodb.partition_sizes(SETTINGS["TABLE"])
    return {pk for pk, size in sizes.items() if size and pk.startswith(("list#", "word#"))}


def test_lists_and_searches_are_right_before_during_and_after_a_move(
    dynamodb: Double, stock: list[Thing], monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(monkeypatch)
    agree(stock)
    assert page(search="upgraded").total == 0

    shop, steps = {one.id: one for one in stock}, Counter[str]()

    def used_meanwhile(seconds: float) -> None:
        steps["all"] += 1
        if steps["all"] % 60 == 0:
            new = thing("shirt new", status="DRAFT")
            create(new)
            gone, changed = list(shop)[3], list(shop)[-5]
            delete(shop.pop(gone))
            shop[new.id] = new
            facets = {**shop[changed].facets, "status": "ARCHIVED"}
            shop[changed] = update(shop[changed], facets=facets)
            agree(list(shop.values()))

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("time.sleep", used_meanwhile)
        assert run() >= 200
    assert steps["all"] >= 240
    agree(list(shop.values()))
    assert page(search="upgraded").total == len(shop)
    for one in shop.values():
        delete(one)
    assert entries_left(dynamodb) == set()
    assert run() == 0


def test_a_hundred_records_are_read_in_one_call(
    dynamodb: Double, stock: list[Thing], monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(monkeypatch)
    run()
    calls = Counter[str]()
    dynamodb.faults = lambda operation, request: calls.update([operation])  # type: ignore[assignment]
    assert run() == 0
    dynamodb.faults = lambda operation, request: None
    sizes = [len(list(table.query_all(pk))) for pk in RECORDS.kind.list_pks("*")]
    assert sum(sizes) == 250
    assert calls["BatchGetItem"] == sum(-(-size // 100) for size in sizes)
    assert calls["GetItem"] == 1, "the item of the release"


def test_records_that_change_after_they_were_read_are_read_again(
    dynamodb: Double, stock: list[Thing], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them changes, or is deleted, between the read of its hundred and its own move."""
    deploy(monkeypatch)
    shop = {one.id: one for one in stock}
    read = dynamodb._on_BatchGetItem

    def then_write(request: Any) -> Any:
        answer = read(request)
        monkeypatch.setattr(words, "index_words", WORDS_BEFORE)  # of the previous release
        for id in [id for id in shop if id in str(request)]:
            one = shop.pop(id)
            if len(shop) % 2:
                delete(one)
            else:
                written.append(update(one, facets={**one.facets, "status": "DRAFT"}))
        deploy(monkeypatch)
        return answer

    written: list[Thing] = []
    monkeypatch.setattr(dynamodb, "_on_BatchGetItem", then_write)
    assert run() == len(written) == 125
    agree(written)
    assert page(search="upgraded").total == 125


def test_a_write_based_on_a_record_before_its_move_is_refused(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = thing("shirt 20417")
    create(one)
    read = things.find(one.id)
    deploy(monkeypatch)
    assert listing.reindex(RECORDS, one.id)
    with pytest.raises(table.ConditionFailed):
        things.writes(read, None).send()
    delete(one)
    assert entries_left(dynamodb) == set()


def test_a_record_written_during_its_move_is_read_again(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = thing("shirt 20417")
    create(one)
    deploy(monkeypatch)
    dynamodb.meanwhile("TransactWriteItems", lambda: update(one, texts=("coat 20418",)))
    listing.reindex(RECORDS, one.id)
    assert names(page(search="coat upgraded")) == ["coat 20418"]
    assert page(search="shirt").total == 0


def test_a_change_visible_only_in_the_new_words_is_not_lost(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(thing(), texts=("coat", "x" * words.LONGEST_WORD + "a"))
    create(one)

    def rename() -> None:
        monkeypatch.setattr(words, "LONGEST_WORD", 40)
        update(one, texts=("coat", "x" * 40 + "b"))
        monkeypatch.setattr(words, "LONGEST_WORD", 60)

    monkeypatch.setattr(words, "LONGEST_WORD", 60)
    dynamodb.meanwhile("TransactWriteItems", rename)
    listing.reindex(RECORDS, one.id)
    assert page(search="x" * 40 + "b").total == 1
    assert page(search="x" * 40 + "a").total == 0


def test_reindexing_keeps_to_its_rate(
    dynamodb: Double, stock: list[Thing], monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(monkeypatch)
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 1.0)
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    assert run(rate=5.0) == 250
    assert sum(slept) >= 250 / 5.0


def test_every_listed_kind_can_be_reindexed_or_is_a_log() -> None:
    root = Path(chalicelib.__file__).parent
    sources = [path.read_text() for path in root.rglob("*.py")]
    kinds = {name for text in sources for name in re.findall(r'listing\.Kind\(\s*"(\w+)"', text)}
    assert {kind.name for kind in LISTED} == kinds
    logs = [kind for kind in LISTED if kind not in [records.kind for records in ALL]]
    parts_of_orders = {"transaction", "shipment", "due", "work", "worked"}
    assert {kind.name for kind in logs if not kind.since} == {*parts_of_orders, "movement", "audit"}


def test_reindexing_the_shop_keeps_its_lists(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop()
    sold = [build.variant(shop, 9, name=f"Shirt {n}", type="shirt") for n in range(3)]
    for variant in sold:
        build.placed(shop, build.line(variant))
    assert shop.post("/api/admin/products/import/uploads", {"fileName": "shirts.csv"}).status == 201
    paths = (
        "/api/admin/products?search=shirt&type=shirt",
        "/api/admin/orders?search=ada&status=PENDING",
        "/api/admin/customers?search=lovelace",
        "/api/admin/jobs",
    )
    before = [shop.get(path).json for path in paths]
    assert [answer["total"] for answer in before] == [3, 3, 3, 1]
    assert reindex() == 0
    deploy(monkeypatch)
    assert reindex(products.RECORDS, orders.RECORDS) == 6
    assert reindex() == 3  # the customers; jobs have no words
    assert reindex() == 0
    assert [shop.get(path).json for path in paths] == before
    sent = shop.put(f"/api/admin/products/{before[0]['data'][0]['id']}", {"name": "Coat"})
    assert sent.status == 200
    assert shop.get(paths[0]).json["total"] == 2
