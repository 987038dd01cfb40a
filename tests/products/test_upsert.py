"""Up to 500 products in one request that changes those that there are."""

from contextlib import suppress
from typing import Any

import pytest

from tests.products.build import PRODUCTS, new_product
from tests.support.dynamodb_double import Crash, Double
from tests.support.shop import Shop

BULK = f"{PRODUCTS}/bulk"
UPSERT = f"{BULK}?mode=upsert"
KEY = {"Idempotency-Key": "night"}


def rows(shop: Shop, sent: list[Any], path: str = UPSERT) -> list[dict[str, Any]]:
    answer = shop.post(path, sent)
    assert answer.status == 200, answer.json
    data: list[dict[str, Any]] = answer.json["data"]
    return data


def statuses(shop: Shop, sent: list[Any], path: str = UPSERT) -> list[str]:
    return [row["status"] for row in rows(shop, sent, path)]


def test_a_row_is_matched_by_id_external_id_or_sku_and_merged(shop: Shop) -> None:
    mug = shop.made(PRODUCTS, new_product(name="Mug", sku="MUG", price="5.00", tags=["a"]))
    cup = shop.made(PRODUCTS, {"name": "Cup", "price": "4.00", "externalId": "ERP-1"})
    variants = [{"title": t, "sku": f"S-{t}", "price": p} for t, p in (("S", "1"), ("L", "2"))]
    shirt = shop.made(PRODUCTS, {"name": "Shirt", "variants": variants})
    answer = shop.post(
        UPSERT,
        [
            {"id": mug["id"], "vendor": "Kestrel"},
            {"externalId": "ERP-1", "price": "4.50"},
            {"sku": "S-L", "price": "2.50"},
            {"variants": [{"sku": "S-S", "stock": 3}]},
            {"sku": "MUG", "tags": ["b"]},
            {"sku": "NEW", "name": "New", "price": 1},
            {"sku": "NOTHING", "price": 1},
            {"id": "prod_none", "price": 1},
            {"sku": "MUG", "prize": 1},
        ],
    ).json
    wanted = ["updated"] * 5 + ["created"] + ["error"] * 3
    assert [row["status"] for row in answer["data"]] == wanted
    assert answer["summary"] == {"created": 1, "updated": 5, "unchanged": 0, "failed": 3}
    codes = [row["error"]["code"] for row in answer["data"] if "error" in row]
    assert codes == ["validation_failed", "not_found", "validation_failed"]
    mug = shop.read(f"{PRODUCTS}/{mug['id']}")
    assert (mug["vendor"], mug["tags"], mug["price"]) == ("Kestrel", ["b"], "5.00")
    assert shop.read(f"{PRODUCTS}/{cup['id']}")["price"] == "4.50"
    shirt = shop.read(f"{PRODUCTS}/{shirt['id']}")
    shown = [(v["sku"], v["price"], v["stock"]) for v in shirt["variants"]]
    assert shown == [("S-S", "1.00", 3), ("S-L", "2.50", None)]


def test_the_same_rows_again_are_unchanged_and_write_nothing(shop: Shop, dynamodb: Double) -> None:
    sent = [{"sku": f"K-{n}", "name": f"Knife {n}", "price": n + 1} for n in range(60)]
    assert statuses(shop, sent) == ["created"] * 60
    commits = dynamodb.asked("TransactWriteItems")
    assert statuses(shop, sent) == ["unchanged"] * 60
    assert statuses(shop, [*sent, {"sku": "K-0", "price": 9}])[-1] == "updated"
    assert len(commits) == 1
    assert shop.read(PRODUCTS)["total"] == 60


def test_several_products_with_a_sku_are_an_error_of_the_row(shop: Shop) -> None:
    for name in ("One", "Two"):
        shop.post(PRODUCTS, new_product(name=name, sku="SAME"))
    one, other = rows(shop, [{"sku": "SAME", "price": 1}, {"sku": "X", "name": "X", "price": 1}])
    assert one["error"]["errors"][0]["code"] == "ambiguous_sku"
    assert other["status"] == "created"


def test_update_creates_nothing_and_a_dry_run_writes_nothing(shop: Shop, dynamodb: Double) -> None:
    shop.post(PRODUCTS, new_product(sku="MUG", price="5.00"))
    sent = [{"sku": "MUG", "price": "6.00"}, {"sku": "NEW", "name": "New", "price": 1}]
    commits = dynamodb.asked("TransactWriteItems")
    assert statuses(shop, sent, f"{UPSERT}&dryRun=true") == ["updated", "created"]
    assert commits == [] and shop.read(PRODUCTS)["data"][0]["price"] == "5.00"
    assert statuses(shop, sent, f"{BULK}?mode=update") == ["updated", "error"]
    assert shop.read(PRODUCTS)["total"] == 1


def test_rows_of_one_new_product_make_one(shop: Shop) -> None:
    sent = [{"sku": "A", "name": "A", "price": 1}, {"sku": "A", "price": 2}]
    assert statuses(shop, sent) == ["created", "updated"]
    (product,) = shop.read(PRODUCTS)["data"]
    assert product["price"] == "2.00"
    sent = [{"externalId": "E", "sku": "B", "name": "B", "price": 1}, {"sku": "B", "price": 2}]
    assert statuses(shop, [*sent, {"externalId": "E", "price": 3}]) == [
        *("created", "updated", "updated")
    ]
    assert shop.read(PRODUCTS)["total"] == 2


def shown_variants(shop: Shop, id: str) -> list[tuple[Any, ...]]:
    variants = shop.read(f"{PRODUCTS}/{id}")["variants"]
    return [(one["sku"], one["externalId"], one["price"]) for one in variants]


def test_a_row_with_sku_and_external_id_of_a_variant_sets_its_price(shop: Shop) -> None:
    sizes = [{"title": t, "sku": f"S-{t}", "externalId": f"E-{t}", "price": 1} for t in "SL"]
    shirt = shop.made(PRODUCTS, {"name": "Shirt", "externalId": "E", "variants": sizes})
    sent = [
        {"sku": "S-L", "externalId": "E-L", "price": "2.50"},
        {"sku": "S-S", "externalId": "E", "price": "3"},
        {"sku": "S-L", "externalId": "E-S", "price": "9"},
    ]
    found = rows(shop, sent)
    assert [row["status"] for row in found] == ["updated", "updated", "error"]
    assert found[2]["error"]["errors"][0]["code"] == "ambiguous_sku"
    wanted = [("S-S", "E-S", "3.00"), ("S-L", "E-L", "2.50")]
    assert shown_variants(shop, shirt["id"]) == wanted
    assert statuses(shop, sent[:2]) == ["unchanged", "unchanged"]


def test_a_row_of_one_variant_gives_that_its_ids(shop: Shop) -> None:
    sizes = [{"title": t, "sku": f"S-{t}", "price": 1} for t in "SL"]
    shirt = shop.made(PRODUCTS, {"name": "Shirt", "sku": "SHIRT", "variants": sizes})
    sent = [{"sku": "S-S", "externalId": "E-1", "price": 2}, {"sku": "S-L", "externalId": "E-2"}]
    assert statuses(shop, sent) == ["updated", "updated"]
    assert statuses(shop, sent) == ["unchanged", "unchanged"]
    assert statuses(shop, [{"externalId": "E-2", "sku": "L-NEW", "price": 3}]) == ["updated"]
    wanted = [("S-S", "E-1", "2.00"), ("L-NEW", "E-2", "3.00")]
    assert shown_variants(shop, shirt["id"]) == wanted
    product = shop.read(f"{PRODUCTS}/{shirt['id']}")
    assert (product["sku"], product["externalId"], product["price"]) == ("SHIRT", None, "2.00")


@pytest.mark.parametrize("title", [None, "Large"])
def test_a_row_by_the_id_of_the_only_variant_keeps_that_of_the_product(
    shop: Shop, title: str | None
) -> None:
    only = {"externalId": "E-V", "title": title}
    cup = shop.made(PRODUCTS, {"name": "Cup", "price": 4, "externalId": "E-P", "variants": [only]})
    assert statuses(shop, [{"externalId": "E-V", "price": 5}]) == ["updated"]
    product = shop.read(f"{PRODUCTS}/{cup['id']}")
    assert (product["externalId"], product["price"]) == ("E-P", "5.00")
    assert shown_variants(shop, cup["id"]) == [(None, "E-V", "5.00")]


def test_pictures_and_variants_that_a_row_does_not_name_stay(shop: Shop) -> None:
    front, back, new = (f"https://img.example/{name}.jpg" for name in ("front", "back", "new"))
    given = {"name": "Shirt", "price": 1, "sku": "S", "images": [{"url": front, "alt": "Front"}]}
    given["images"].append({"url": back})
    given["variants"] = [{"title": title, "stock": 3} for title in "SL"]
    shirt = shop.made(PRODUCTS, given)
    sent: list[Any] = [
        {"sku": "S", "images": [{"url": new}, {"url": front}]},
        {"sku": "S", "images": [], "variants": []},
    ]
    assert statuses(shop, sent) == ["updated", "unchanged"]
    product = shop.read(f"{PRODUCTS}/{shirt['id']}")
    shown = [(image["url"], image["alt"]) for image in product["images"]]
    assert shown == [(new, None), (back, None), (front, "Front")]
    assert [v["id"] for v in product["variants"]] == [v["id"] for v in shirt["variants"]]


@pytest.mark.parametrize(("name", "most"), [("images", 100), ("variants", 500)])
def test_rows_do_not_add_more_than_a_product_has(shop: Shop, name: str, most: int) -> None:
    def parts(first: int, number: int) -> list[Any]:
        urls = (f"https://img.example/{n}" for n in range(first, first + number))
        return [{"url": u} if name == "images" else {"title": u, "price": 1} for u in urls]

    shop.made(PRODUCTS, {"name": "A", "price": 1, "sku": "A", name: parts(0, most - 1)})
    one, two = (rows(shop, [{"sku": "A", name: parts(most, n)}])[0] for n in (2, 1))
    assert one["error"]["errors"][0]["field"] == name
    assert two["status"] == "updated" and len(two["product"][name]) == most


def test_new_products_get_a_free_slug_however_many_have_their_name(shop: Shop) -> None:
    for _ in range(3):
        shop.made(PRODUCTS, new_product(name="Hat"))
    sent = [{"sku": f"H-{n}", "name": "Hat", "price": 1} for n in range(4)]
    for path in (UPSERT, BULK):
        assert statuses(shop, sent, f"{path}{'&' if '?' in path else '?'}dryRun=true") == (
            ["created"] * 4
        )
    assert statuses(shop, sent) == statuses(shop, sent, BULK) == ["created"] * 4
    found = {product["slug"] for product in shop.read(PRODUCTS)["data"]}
    assert found == {"hat", *(f"hat-{number}" for number in range(2, 12))}


def test_a_dry_run_finds_what_the_shop_refuses(shop: Shop) -> None:
    for name in ("A", "B"):
        shop.made(PRODUCTS, new_product(name=name, sku=name, slug=name.lower(), externalId=name))
    sent: list[Any] = [
        {"sku": "N", "name": "N", "price": 1, "slug": "a"},
        {"sku": "B", "slug": "a"},
        {"id": shop.read(f"{PRODUCTS}/externalId:B")["id"], "externalId": "A"},
        {"sku": "B", "images": [{"pictureId": "pic_01JD3W0000000000000000000Z"}]},
        {"sku": "A", "slug": "a", "externalId": "A", "vendor": "Kestrel"},
        {"sku": "M", "name": "A", "price": 1, "externalId": "M"},
    ]
    foreseen = rows(shop, sent, f"{UPSERT}&dryRun=true")
    assert [row["status"] for row in foreseen] == ["error"] * 4 + ["updated", "created"]
    for row, one in zip(foreseen, sent, strict=True):
        (real,) = rows(shop, [one])
        assert real["status"] == row["status"] and real.get("error") == row.get("error")


@pytest.mark.parametrize("name", ["sku", "externalId"])
def test_two_requests_that_create_a_product_at_once_make_one(
    shop: Shop, dynamodb: Double, name: str
) -> None:
    def row(price: int) -> dict[str, Any]:
        return {name: "NEW", "name": "Mug", "price": price}

    assert shop.owner
    dynamodb.meanwhile("TransactWriteItems", lambda: rows(shop, [row(1)]))
    assert statuses(shop, [row(2)]) == ["updated"]
    (product,) = shop.read(PRODUCTS)["data"]
    assert product["price"] == "2.00"
    shop.made(PRODUCTS, new_product(variants=[{"title": "S", "externalId": "V"}]))
    taken = {"externalId": "E", "name": "B", "price": 1, "variants": [{"externalId": "V"}]}
    (refused,) = rows(shop, [taken])
    assert refused["error"]["code"] == "external_id_taken"


def test_the_same_request_twice_at_once_has_one_answer(shop: Shop, dynamodb: Double) -> None:
    shop.made(PRODUCTS, new_product(sku="MUG", price="5.00"))
    sent, first = [{"sku": "MUG", "price": "6.00"}], list[Any]()
    dynamodb.meanwhile(
        "TransactWriteItems", lambda: first.append(shop.post(UPSERT, sent, headers=KEY))
    )
    answers = [shop.post(UPSERT, sent, headers=KEY) for _ in range(2)]
    assert [answer.text for answer in answers] == [first[0].text] * 2
    assert first[0].json["data"][0]["status"] == "updated"


@pytest.mark.thorough
@pytest.mark.parametrize("calls", range(1, 11))
@pytest.mark.parametrize("after", [False, True])
def test_a_repeat_after_a_crash_creates_nothing_twice(
    shop: Shop, dynamodb: Double, calls: int, after: bool
) -> None:
    shop.post(PRODUCTS, new_product(name="Mug", sku="MUG", price="5.00"))
    sent = [
        *({"name": f"No SKU {n}", "price": 1} for n in range(3)),
        {"sku": "NEW", "name": "New", "price": 1},
        {"sku": "MUG", "price": "6.00"},
    ]
    dynamodb.crashes(nth=calls, after=after)
    with suppress(Crash):
        shop.post(UPSERT, sent, headers=KEY)
    dynamodb.faults = lambda operation, request: None
    answer = shop.post(UPSERT, sent, headers=KEY)
    assert [row["status"] for row in answer.json["data"][:4]] == ["created"] * 4
    assert answer.json["data"][4]["product"]["price"] == "6.00"
    assert shop.post(UPSERT, sent, headers=KEY).text == answer.text
    assert shop.read(PRODUCTS)["total"] == 5
    assert shop.post(BULK, sent, headers=KEY).json["code"] == "idempotency_key_reused"


def test_a_sale_and_an_edit_meanwhile_are_kept(shop: Shop, dynamodb: Double) -> None:
    mug = shop.made(PRODUCTS, new_product(sku="MUG", price="5.00"))

    def edit() -> None:
        shop.put(f"{PRODUCTS}/{mug['id']}", {"vendor": "Kestrel"})

    dynamodb.meanwhile("TransactWriteItems", edit)
    (row,) = rows(shop, [{"sku": "MUG", "price": "6.00"}])
    assert (row["status"], row["product"]["vendor"]) == ("updated", "Kestrel")


def test_records_are_read_and_changed_by_their_external_id(shop: Shop) -> None:
    mug = shop.made(PRODUCTS, new_product(externalId="ERP/1"))
    path = f"{PRODUCTS}/externalId:ERP%2F1"
    assert shop.read(path)["id"] == mug["id"]
    assert shop.put(path, {"vendor": "Kestrel"}).json["vendor"] == "Kestrel"
    ann = shop.made("/api/admin/customers", {"email": "ann@example.com", "externalId": "C1"})
    path = "/api/admin/customers/externalId:C1"
    assert shop.read(path)["id"] == ann["id"]
    assert shop.patch(path, {"firstName": "Ann"}).json["firstName"] == "Ann"
    line = {"title": "Work", "price": 1, "quantity": 1}
    order = shop.made("/api/admin/orders", {"lineItems": [line], "externalId": "O1"})
    path = "/api/admin/orders/externalId:O1"
    assert shop.read(path)["id"] == order["id"]
    assert shop.patch(path, {"note": "soon"}).json["note"] == "soon"
    missing = shop.get("/api/admin/orders/externalId:O2")
    assert (missing.status, missing.json["code"]) == (404, "not_found")


@pytest.mark.parametrize("own", [None, "PRODUCT"])
def test_null_clears_an_id_of_the_variant_that_a_row_names(shop: Shop, own: str | None) -> None:
    variants = [{"title": t, "sku": f"S-{t}", "externalId": f"E-{t}", "price": 1} for t in "SL"]
    fields = {"name": "Shirt", "sku": own, "externalId": own, "variants": variants}
    shirt = shop.made(PRODUCTS, fields)
    for row in ({"sku": "S-L", "externalId": None}, {"externalId": "E-S", "sku": None}):
        assert statuses(shop, [row]) == ["updated"]
    stored = shop.read(f"{PRODUCTS}/{shirt['id']}")
    assert (stored["sku"], stored["externalId"]) == (own, own)
    assert [(v["sku"], v["externalId"]) for v in stored["variants"]] == [
        (None, "E-S"),
        ("S-L", None),
    ]
