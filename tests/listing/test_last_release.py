"""Records of the last release work before, during and after `infra/reindex.py`.

`data/last_release.json.gz`: the items of a shop, as the code of commit b5372a0 wrote them. Its
deliveries: `webhooks/test_last_release.py`.
"""

from typing import Any

import pytest

from chalicelib import listing
from chalicelib.listing import kinds
from chalicelib.orders import store as orders
from chalicelib.products import store as products
from chalicelib.storage import table
from infra import counts, reindex
from tests.support import last_release
from tests.support.dynamodb_double import Double
from tests.support.environment import SETTINGS
from tests.support.shop import Shop

PRODUCTS, ORDERS, CUSTOMERS = (f"/api/admin/{name}" for name in ("products", "orders", "customers"))

# Queries of the last release: its filters, totals and searches, newest first.
ALWAYS = {
    PRODUCTS: ["Secret hat", "Shirt of many", "Old hat", "Red shirt", "Blue shirt"],
    f"{PRODUCTS}?status=ACTIVE": ["Secret hat", "Shirt of many", "Blue shirt"],
    f"{PRODUCTS}?type=Shirts&status=DRAFT": ["Red shirt"],
    f"{PRODUCTS}?storefront=eu": ["Red shirt"],
    f"{PRODUCTS}?search=shirt": ["Shirt of many", "Red shirt", "Blue shirt"],
    f"{PRODUCTS}?search=shirt&status=ACTIVE": ["Shirt of many", "Blue shirt"],
    f"{PRODUCTS}?search=SH-07": ["Shirt of many"],
    f"{PRODUCTS}?search=SH-59": ["Shirt of many"],
    f"{PRODUCTS}?search=SH-59&status=ACTIVE": ["Shirt of many"],
    f"{PRODUCTS}?search=SH-59&status=DRAFT": [],
    f"{PRODUCTS}?search=SH-59&limit=1&page=2": [],
    f"{PRODUCTS}?published=false": ["Secret hat", "Old hat"],
    f"{PRODUCTS}?sort=createdAt&limit=2": ["Blue shirt", "Red shirt"],
    "/api/products": ["Shirt of many", "Blue shirt"],
    ORDERS: ["1004", "1003", "1002", "1001"],
    f"{ORDERS}?status=PROCESSING": ["1002"],
    f"{ORDERS}?excludeStatus=CANCELLED&source=OTHER": ["1001"],
    f"{ORDERS}?search=lovelace": ["1003", "1001"],
    f"{ORDERS}?from=2026-11-01&to=2026-11-01": ["1002"],
    f"{ORDERS}?to=2026-11-02&sort=orderDate": ["1001", "1002", "1003"],
    CUSTOMERS: ["EMIL@example.org", "ada.lovelace@example.com"],
    f"{CUSTOMERS}?search=lovelace": ["ada.lovelace@example.com"],
    "/api/admin/jobs": ["shirts.csv"],
}
# Queries that it did not have.
LATER = {
    f"{PRODUCTS}?vendor=Acme": ["Red shirt", "Blue shirt"],
    f"{PRODUCTS}?tag=sale&status=DRAFT": ["Red shirt"],
    f"{PRODUCTS}?sort=name&limit=2": ["Blue shirt", "Old hat"],
    f"{PRODUCTS}?sort=-updatedAt&limit=1": ["Secret hat"],
    f"{ORDERS}?paymentStatus=PAID": ["1003", "1002"],
    f"{ORDERS}?salesRepId=emp_ann": ["1004", "1002"],
    f"{ORDERS}?tag=vip&from=2026-11-01": ["1004"],
    f"{CUSTOMERS}?sort=name": ["ada.lovelace@example.com", "EMIL@example.org"],
}
FOUND_LATER = {f"{PRODUCTS}?search=SH-5": ["Shirt of many"], f"{ORDERS}?search=rush": ["1004"]}


@pytest.fixture
def dynamodb(dynamodb: Double) -> Double:
    last_release.load(dynamodb, last_release.dump())
    return dynamodb


@pytest.fixture
def shop(dynamodb: Double) -> Shop:
    return Shop()


def name_of(record: dict[str, Any]) -> str:
    names = ("number", "name", "email", "fileName")
    return str(next(record[name] for name in names if name in record))


def answers(shop: Shop, lists: dict[str, list[str]]) -> None:
    for path, expected in lists.items():
        answer = shop.get(path)
        assert answer.status == 200, (path, answer.text)
        assert [name_of(record) for record in answer.json["data"]] == expected, path
        assert "limit=" in path or answer.json["total"] == len(expected), path


def refuses(shop: Shop) -> None:
    for path in LATER:
        answer = shop.get(path)
        assert (answer.status, answer.json["code"]) == (503, "reindexing"), path
        assert answer.headers["Retry-After"] == "60"


def upgrade(monkeypatch: pytest.MonkeyPatch, *more: str) -> None:
    monkeypatch.setattr(reindex.keys, "connect", lambda stage, endpoint_url: None)
    reindex.main(["--stage", "test", "--rate", "1e9", "--settle", "0", *more])


def test_lists_are_right_before_during_and_after_reindexing(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(shop, ALWAYS)
    refuses(shop)
    assert [one.fields["name"] for one in products.by_sku(["SH-59"])["SH-59"]] == ["Shirt of many"]
    assert len(products.by_sku(["TS-1"])["TS-1"]) == 1
    looked = 0

    def observe(seconds: float) -> None:
        nonlocal looked
        looked += 1
        answers(shop, ALWAYS)
        refuses(shop)

    for records in reindex.ALL:
        reindex.move_all(records, 1e9, sleep=observe)
    assert looked > 20
    refuses(shop)
    upgrade(monkeypatch)
    answers(shop, ALWAYS | LATER | FOUND_LATER)
    upgrade(monkeypatch)
    answers(shop, ALWAYS | LATER | FOUND_LATER)
    for records in reindex.ALL:
        assert listing.recount(records.kind).wrong == []
    assert [one.fields["name"] for one in products.by_sku(["SH-59"])["SH-59"]] == ["Shirt of many"]


def test_writes_before_reindexing_are_listed_correctly(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_name = {one["name"]: one for one in shop.get(f"{PRODUCTS}?limit=100").json["data"]}
    by_number = {one["number"]: one for one in shop.get(f"{ORDERS}?limit=100").json["data"]}
    shop.put(f"{PRODUCTS}/{by_name['Red shirt']['id']}", {"status": "ACTIVE", "vendor": "Bolt"})
    shop.delete(f"{PRODUCTS}/{by_name['Shirt of many']['id']}")
    shop.patch(f"{ORDERS}/{by_number['1001']['id']}", {"status": "PAID"})
    shop.delete(f"{ORDERS}/{by_number['1003']['id']}")
    now = {
        f"{PRODUCTS}?status=ACTIVE": ["Secret hat", "Red shirt", "Blue shirt"],
        f"{PRODUCTS}?search=SH-07": [],
        f"{ORDERS}?status=PAID": ["1001"],
        f"{ORDERS}?search=lovelace": ["1001"],
    }
    answers(shop, now)
    refuses(shop)
    # Old entries may lack the customer, so no customer's totals are reported as wrong.
    assert orders.recount_customers() == listing.Recount(0, [])
    upgrade(monkeypatch)
    answers(shop, now | {f"{PRODUCTS}?vendor=Bolt": ["Old hat", "Red shirt"]})
    answers(shop, {f"{ORDERS}?paymentStatus=PAID": ["1002", "1001"]})
    for records in reindex.ALL:
        assert listing.recount(records.kind).wrong == []


def test_leftovers_of_functions_of_the_last_release_are_removed(
    shop: Shop,
    dynamodb: Double,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They delete and change records of this release without its lists and cells."""
    made = [
        shop.post(PRODUCTS, {"name": f"New {n}", "price": 1, "vendor": "Acme", "tags": ["sale"]})
        for n in range(3)
    ]
    deleted, changed, _ = (answer.json["id"] for answer in made)
    for id in (deleted, changed):
        stored = products.get(id).index
        for name in ("*", "status=DRAFT"):
            key = products.KIND.entry_key(name, id, stored.sort, 2)
            table.delete(key)
        for word in stored.words:
            pk = products.KIND.word_pk(word, kinds.shard_of(id, 4), 4)
            table.delete((pk, f"{word}#{stored.sort}#{id}"))
        for pk in ("count#product", "count#product#type="):
            table.update((pk, "DRAFT|yes|#3"), add={"n": -1})
    table.delete((deleted, "product"))
    old = {"v": 1, "sort": stored.sort, "words": "new", "facets": dict(stored.facets)}
    del old["facets"]["vendor"]
    old["facets"]["status"] = "ACTIVE"
    table.update(
        (changed, "product"), assign={"index": old, "status": "ACTIVE"}, add={"version": 1}
    )
    for name in ("*", "status=ACTIVE", "live"):
        pk, sk = products.KIND.entry_key(name, changed, stored.sort, 2)
        table.put({"pk": pk, "sk": sk, **old["facets"]})
    for pk in ("count#product", "count#product#type="):
        table.update((pk, "ACTIVE|yes|#3"), add={"n": 1})
    assert shop.get(f"{PRODUCTS}?status=ACTIVE").json["total"] == 4
    assert shop.get(PRODUCTS).json["total"] == 7
    upgrade(monkeypatch)
    assert "product: 4 stale entries removed" in capsys.readouterr().out
    answers(shop, {f"{PRODUCTS}?vendor=Acme": ["New 2", "New 1", "Red shirt", "Blue shirt"]})
    answers(shop, {f"{PRODUCTS}?tag=sale": ["New 2", "New 1", "Red shirt", "Blue shirt"]})
    assert shop.get(PRODUCTS).json["total"] == 7
    assert listing.recount(products.KIND).wrong == []
    keys = {(item["pk"]["S"], item["sk"]["S"]) for item in dynamodb.items(SETTINGS["TABLE"])}
    assert not [sk for pk, sk in keys if pk.startswith("list#") and deleted in sk]


def test_a_new_shop_has_nothing_to_reindex(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    with Double():
        shop = Shop()
        assert shop.get(f"{PRODUCTS}?vendor=Acme").json["total"] == 0
        shop.post(PRODUCTS, {"name": "New", "price": 1, "vendor": "Acme"})
        assert shop.get(f"{PRODUCTS}?vendor=Acme").json["total"] == 1


def test_a_new_time_zone_recounts_the_sales_of_all_days(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(counts.keys, "connect", lambda stage, endpoint_url: None)
    monkeypatch.setattr(counts.record, "settings", lambda stage: {})

    def days() -> dict[str, int]:
        cells = table.everything("sales")
        found: dict[str, int] = {}
        for cell in cells:
            day = cell["sk"].split("#")[0]
            found[day] = found.get(day, 0) + int(cell["n"])
        return {day: n for day, n in found.items() if n}

    assert days() == {"2026-10-31": 1, "2026-11-01": 1, "2026-11-02": 1}
    arguments = ["--stage", "test", "--repair", "--all-days", "--timezone"]
    counts.main([*arguments, "America/New_York"])
    assert days() == {"2026-10-31": 1, "2026-11-01": 2}
    counts.main([*arguments, "Asia/Tokyo"])
    assert days() == {"2026-11-01": 2, "2026-11-02": 1}
