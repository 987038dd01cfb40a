"""Creating, reading, changing and deleting products, over HTTP."""

from typing import Any

import pytest

from tests.products.build import new_product
from tests.support.shop import Shop


def fields_of(answer: Any) -> list[str]:
    assert answer.status == 422, answer.text
    return [error["field"] for error in answer.json["errors"]]


def test_a_created_product_is_returned_with_every_field(shop: Shop) -> None:
    sent = {
        "name": "Été shirt",
        "slug": "ete-shirt",
        "description": "Cotton.\nBlue.",
        "status": "ACTIVE",
        "price": 19.9,
        "compareAtPrice": "25",
        "sku": "SH-1",
        "vendor": "Blå AB",
        "tags": ["summer", "blue"],
        "type": "Shirts",
        "storefront": "eu",
        "published": False,
        "images": [{"url": "https://img.example/1.jpg", "alt": "front"}],
        "seo": {"title": "Shirt"},
        "lowStockThreshold": 2,
        "metadata": {"origin": {"country": "PT", "share": 0.5}},
        "variants": [
            {"title": "S", "sku": "SH-1-S", "price": 18, "stock": 3},
            {"title": "M", "sku": "SH-1-M"},
        ],
    }
    made = shop.made("/api/admin/products", sent)
    assert made["id"].startswith("prod_")
    assert made["price"] == "19.90" and made["compareAtPrice"] == "25.00"
    assert made["currency"] == "USD"
    assert made["seo"] == {"title": "Shirt", "description": None}
    assert [(v["title"], v["sku"], v["price"], v["stock"]) for v in made["variants"]] == [
        ("S", "SH-1-S", "18.00", 3),
        ("M", "SH-1-M", "19.90", None),
    ]
    same = ("slug", "description", "status", "sku", "vendor", "tags", "type", "storefront")
    same += ("published", "images", "lowStockThreshold", "metadata")
    assert {name: made[name] for name in same} == {name: sent[name] for name in same}
    assert made["createdAt"] == made["updatedAt"]
    assert shop.get(f"/api/admin/products/{made['id']}").json == made
    assert [(e["event"], e["data"]) for e in shop.events()] == [("product.created", made)]


def test_only_name_and_price_are_required(shop: Shop) -> None:
    made = shop.post("/api/admin/products", {"name": 'Éclair "Blå"', "price": 1}).json
    assert made["slug"] == "eclair-bla"
    assert made["status"] == "DRAFT"
    assert made["images"] == [] and made["tags"] == [] and made["metadata"] == {}
    assert made["seo"] == {"title": None, "description": None}
    (variant,) = made["variants"]
    assert (variant["title"], variant["price"], variant["stock"]) == ("Default", "1.00", None)


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"price": 1}, "name"),
        ({"name": "  ", "price": 1}, "name"),
        ({"name": 5, "price": 1}, "name"),
        ({"name": "x"}, "price"),
        ({"name": "x", "price": -1}, "price"),
        ({"name": "x", "price": "1.999"}, "price"),
        ({"name": "x", "price": "free"}, "price"),
        ({"name": "x", "price": True}, "price"),
        ({"name": "x", "price": 1, "status": "LIVE"}, "status"),
        ({"name": "x", "price": 1, "slug": "Not A Slug"}, "slug"),
        ({"name": "x", "price": 1, "colour": "blue"}, "colour"),
        ({"name": "x", "price": 1, "tags": "blue"}, "tags"),
        ({"name": "x", "price": 1, "tags": [""]}, "tags.0"),
        ({"name": "x", "price": 1, "images": [{"url": "javascript:alert(1)"}]}, "images.0.url"),
        ({"name": "x", "price": 1, "description": "é" * 16_385}, "description"),
        ({"name": "x", "price": 1, "variants": [{"title": "S", "stock": -1}]}, "variants.0.stock"),
        ({"name": "x", "price": 1, "variants": [{"title": "S", "stock": 1.5}]}, "variants.0.stock"),
        ({"name": "x", "price": 1, "variants": [{"sku": "a"}, {"sku": "b"}]}, "variants.0.title"),
        (
            {"name": "x", "variants": [{"title": "S", "price": 1}, {"title": "M"}]},
            "variants.1.price",
        ),
        (
            {"name": "x", "price": 1, "variants": [{"title": str(n)} for n in range(501)]},
            "variants",
        ),
    ],
)
def test_bad_input_is_refused_by_field_and_stores_nothing(
    shop: Shop, sent: dict[str, Any], field: str
) -> None:
    assert fields_of(shop.post("/api/admin/products", sent)) == [field]
    assert shop.get("/api/admin/products").json["total"] == 0
    assert shop.events() == []


def test_the_price_may_be_omitted_if_the_variants_have_one(shop: Shop) -> None:
    variants = [{"title": "S", "price": "10"}, {"title": "L", "price": "9.5"}]
    made = shop.post("/api/admin/products", {"name": "x", "variants": variants}).json
    assert made["price"] == "9.50"


def test_a_taken_slug_is_refused_if_given_and_numbered_if_generated(shop: Shop) -> None:
    for expected in ("blue-shirt", "blue-shirt-2", "blue-shirt-3"):
        made = shop.post("/api/admin/products", {"name": "Blue shirt", "price": 1})
        assert made.json["slug"] == expected
    taken = shop.post("/api/admin/products", new_product(slug="blue-shirt-2"))
    assert (taken.status, taken.json["code"]) == (409, "slug_taken")
    other = shop.post("/api/admin/products", new_product()).json
    moved = shop.put(f"/api/admin/products/{other['id']}", {"slug": "blue-shirt"})
    assert (moved.status, moved.json["code"]) == (409, "slug_taken")


def test_a_slug_is_free_after_its_product_is_renamed_or_deleted(shop: Shop) -> None:
    first = shop.post("/api/admin/products", new_product(slug="one")).json
    assert shop.put(f"/api/admin/products/{first['id']}", {"slug": "two"}).status == 200
    second = shop.post("/api/admin/products", new_product(slug="one")).json
    assert shop.delete(f"/api/admin/products/{second['id']}").json == {
        "id": second["id"],
        "deleted": True,
    }
    assert shop.post("/api/admin/products", new_product(slug="one")).status == 201


def test_put_merges_the_given_fields_and_null_clears(shop: Shop) -> None:
    made = shop.post(
        "/api/admin/products",
        new_product(vendor="Acme", tags=["a"], seo={"title": "T", "description": "D"}),
    ).json
    answer = shop.put(
        f"/api/admin/products/{made['id']}",
        {"price": "5", "vendor": None, "seo": {"title": "U"}, "status": "ACTIVE"},
    )
    assert answer.status == 200
    changed = answer.json
    assert changed["price"] == "5.00" and changed["vendor"] is None
    assert changed["tags"] == ["a"] and changed["name"] == made["name"]
    assert changed["seo"] == {"title": "U", "description": "D"}
    blank = shop.put(f"/api/admin/products/{made['id']}", {"type": "", "sku": ""}).json
    assert blank == changed, "a blank is what null is"
    assert shop.events()[-1]["event"] == "product.updated"
    assert shop.events()[-1]["data"] == changed


FULL = {
    **{"description": "D", "status": "ACTIVE", "published": False, "compareAtPrice": 99},
    **{"sku": "A", "vendor": "V", "type": "T", "storefront": "s", "tags": ["a"]},
    **{"images": [{"url": "https://img.example/1.jpg"}], "seo": {"title": "T"}},
    **{"lowStockThreshold": 9, "metadata": {"a": 1}},
}


def test_null_sets_each_field_to_its_default(shop: Shop) -> None:
    plain = shop.post("/api/admin/products", {"name": "x", "price": 1}).json
    made = shop.post("/api/admin/products", {"name": "x", "price": 1, **FULL}).json
    assert all(made[name] != plain[name] for name in FULL)
    nothing = dict.fromkeys(FULL)
    cleared = shop.put(f"/api/admin/products/{made['id']}", nothing).json
    new = shop.post("/api/admin/products", {"name": "x", "price": 1, **nothing}).json
    for product in (cleared, new):
        assert {name: product[name] for name in FULL} == {name: plain[name] for name in FULL}


def test_a_blank_sku_of_a_variant_is_null(shop: Shop) -> None:
    variants = [{"title": "S", "sku": "A"}, {"title": "M", "sku": ""}, {"title": "L", "sku": ""}]
    made = shop.post("/api/admin/products", new_product(variants=variants)).json
    path = f"/api/admin/products/{made['id']}"
    assert [variant["sku"] for variant in made["variants"]] == ["A", None, None]
    made["variants"][0]["sku"] = ""
    assert [variant["sku"] for variant in shop.put(path, made).json["variants"]] == [None] * 3


def test_sending_back_a_product_as_it_was_read_changes_nothing(shop: Shop) -> None:
    variants = [{"title": "S", "sku": "A", "stock": 5}, {"title": "M", "price": "3"}]
    sent = new_product(variants=variants, metadata={"a": 0.1, "b": [1, None]})
    made = shop.post("/api/admin/products", sent).json
    assert shop.put(f"/api/admin/products/{made['id']}", made).json == made
    derived = {"name": "x", "variants": [{"title": "S", "price": "3"}, {"title": "M", "price": 2}]}
    made = shop.post("/api/admin/products", derived).json
    path = f"/api/admin/products/{made['id']}"
    assert shop.put(path, made).json == made
    cheaper = {**made, "variants": [made["variants"][0]]}
    assert shop.put(path, cheaper).json["price"] == "3.00"
    assert [e["event"] for e in shop.events()] == [
        *("product.created", "product.created", "product.updated")
    ]


def test_a_variant_without_a_price_is_accepted_if_the_others_have_one(shop: Shop) -> None:
    variants = [{"title": "S", "price": "3"}, {"title": "M", "price": "2"}]
    made = shop.post("/api/admin/products", {"name": "x", "variants": variants}).json
    sent = {**made, "variants": [*made["variants"], {"title": "L"}]}
    answer = shop.put(f"/api/admin/products/{made['id']}", sent)
    assert answer.status == 200, answer.text
    assert answer.json["price"] == "2.00"
    assert [v["price"] for v in answer.json["variants"]] == ["3.00", "2.00", "2.00"]
    assert shop.put(f"/api/admin/products/{made['id']}", answer.json).json == answer.json
    refused = shop.put(f"/api/admin/products/{made['id']}", {"price": None})
    assert fields_of(refused) == ["variants.2.price"]


def test_the_default_variant_follows_sku_and_price(shop: Shop) -> None:
    made = shop.post("/api/admin/products", new_product(sku="A")).json
    path = f"/api/admin/products/{made['id']}"
    changed = shop.put(path, {**made, "sku": "B", "price": "7"}).json
    assert [(v["sku"], v["price"]) for v in changed["variants"]] == [("B", "7.00")]
    stocked = shop.put(path, {"variants": [{"stock": 3}]}).json
    assert stocked["variants"] == [{**changed["variants"][0], "stock": 3}]
    assert shop.put(path, {"sku": "C"}).json["variants"][0]["sku"] == "C"


def test_the_default_variant_follows_the_sku_after_other_changes(shop: Shop) -> None:
    made = shop.post("/api/admin/products", new_product(sku="A")).json
    path = f"/api/admin/products/{made['id']}"
    for given in ({}, {"price": "9"}):
        shop.put(path, {"variants": [{"id": made["variants"][0]["id"], **given}]})
        assert shop.put(path, {"sku": "B"}).json["variants"][0]["sku"] == "B"
        assert shop.put(path, {"sku": "A"}).json["variants"][0]["sku"] == "A"


def test_variants_are_matched_by_id_then_sku_then_title(shop: Shop) -> None:
    variants = [
        {"title": "S", "sku": "A", "stock": 1},
        {"title": "M", "sku": "B", "stock": 2},
        {"title": "L", "stock": 3},
    ]
    made = shop.post("/api/admin/products", new_product(variants=variants)).json
    small, medium, large = made["variants"]
    new = [
        {"title": "L", "price": "2"},
        {"sku": "B"},
        {"id": small["id"], "sku": "Z"},
        {"title": "XL", "sku": "A"},
    ]
    changed = shop.put(f"/api/admin/products/{made['id']}", {"variants": new}).json["variants"]
    assert changed[0] == {**large, "price": "2.00"}
    assert changed[1] == medium
    assert changed[2] == {**small, "sku": "Z"}
    assert changed[3]["id"] not in {small["id"], medium["id"], large["id"]}
    assert changed[3]["stock"] is None


def test_a_stale_if_match_is_refused(shop: Shop) -> None:
    created = shop.post("/api/admin/products", new_product(variants=[{"stock": 5}]))
    path, etag = f"/api/admin/products/{created.json['id']}", created.headers["ETag"]
    assert shop.get(path, headers={"If-None-Match": etag}).status == 304
    changed = shop.put(path, {"vendor": "A"}, headers={"If-Match": etag})
    assert changed.status == 200 and changed.headers["ETag"] != etag
    stale = shop.put(path, {"vendor": "B"}, headers={"If-Match": etag})
    assert (stale.status, stale.json["code"]) == (412, "precondition_failed")
    stocked = shop.put(path, {"variants": [{"stock": 4}]})
    assert stocked.headers["ETag"] != changed.headers["ETag"]
    assert shop.delete(path, headers={"If-Match": changed.headers["ETag"]}).status == 412
    assert shop.delete(path, headers={"If-Match": stocked.headers["ETag"]}).status == 200
    assert shop.get(path).status == 404


@pytest.mark.parametrize("method", ["get", "put", "delete"])
@pytest.mark.parametrize("id", ["prod_nothing", "ord_1", "%2E%2E", "x" * 500, "prod_" * 500])
def test_a_missing_product_is_not_found(shop: Shop, method: str, id: str) -> None:
    arguments = [{"name": "x"}] if method == "put" else []
    answer = getattr(shop, method)(f"/api/admin/products/{id}", *arguments)
    assert (answer.status, answer.json["code"]) == (404, "not_found")


def test_a_fall_below_the_threshold_is_announced_once(shop: Shop) -> None:
    made = shop.post("/api/admin/products", new_product(variants=[{"sku": "A", "stock": 9}])).json
    path = f"/api/admin/products/{made['id']}"
    for stock in (6, 4, 3, 8, 5, 2):
        shop.put(path, {"variants": [{"sku": "A", "stock": stock}]})
    low = [e["data"] for e in shop.events() if e["event"] == "inventory.low"]
    assert [data["stock"] for data in low] == [4, 2]
    assert low[0]["variantId"] == made["variants"][0]["id"]
    assert (low[0]["productId"], low[0]["sku"], low[0]["threshold"]) == (made["id"], "A", 5)


@pytest.mark.parametrize(
    "sent",
    [{"sku": "A"}, {"title": "S", "sku": "A"}, {"sku": "A", "price": 3}, {"sku": "A", "stock": 2}],
)
def test_a_single_variant_keeps_its_given_fields(shop: Shop, sent: dict[str, Any]) -> None:
    (made,) = shop.post("/api/admin/products", new_product(variants=[sent])).json["variants"]
    price = {"price": "3.00"} if "price" in sent else {}
    assert {name: made[name] for name in sent} == {**sent, **price}


@pytest.mark.parametrize(("levels", "status"), [(28, 201), (29, 422)])
def test_the_depth_of_metadata_fits_every_answer_and_bulk_call(
    shop: Shop, levels: int, status: int
) -> None:
    metadata: Any = {"a": 1}
    for _ in range(levels - 1):
        metadata = {"a": metadata}
    sent = new_product(metadata=metadata, status="ACTIVE")
    answer = shop.post("/api/admin/products", sent)
    assert answer.status == status
    (row,) = shop.post("/api/admin/products/bulk", {"products": [sent]}).json["data"]
    assert row["status"] == ("created" if status == 201 else "error")
    assert shop.get("/api/products").status == 200
    if status == 201:
        path = f"/api/admin/products/{answer.json['id']}"
        assert shop.get(path).json["metadata"] == metadata
        assert shop.put(path, {**answer.json, "vendor": "x"}).json["metadata"] == metadata
        assert shop.delete(path).status == 200


def low_stock(shop: Shop) -> list[tuple[str, int, int]]:
    events = (event["data"] for event in shop.events() if event["event"] == "inventory.low")
    return [(data["variantTitle"], data["stock"], data["threshold"]) for data in events]


def test_a_product_created_below_its_threshold_is_announced(shop: Shop) -> None:
    stocks = {"S": 2, "M": 5, "L": 0, "XL": None}
    variants = [{"title": title, "stock": stock} for title, stock in stocks.items()]
    made = shop.post("/api/admin/products", new_product(variants=variants)).json
    assert sorted(low_stock(shop)) == [("L", 0, 5), ("S", 2, 5)]
    grown = [*made["variants"], {"title": "XXL", "stock": 1}]
    shop.put(f"/api/admin/products/{made['id']}", {"variants": grown})
    assert low_stock(shop)[2:] == [("XXL", 1, 5)]
    grown[3] = {**grown[3], "stock": 4}  # counted from now on
    shop.put(f"/api/admin/products/{made['id']}", {"variants": grown[:4]})
    assert low_stock(shop)[3:] == [("XL", 4, 5)]


def test_a_raised_threshold_announces_the_variants_now_low(shop: Shop) -> None:
    variants = [{"title": "S", "stock": 2}, {"title": "M", "stock": 7}, {"title": "L", "stock": 9}]
    made = shop.post("/api/admin/products", new_product(variants=variants)).json
    path = f"/api/admin/products/{made['id']}"
    for threshold in (8, 3, 3, 8, 1):
        assert shop.put(path, {"lowStockThreshold": threshold}).status == 200
    assert low_stock(shop) == [("S", 2, 5), ("M", 7, 8), ("M", 7, 8)]


def test_a_negative_zero_price_is_zero(shop: Shop) -> None:
    made = shop.post("/api/admin/products", {"name": "a", "price": "-0.0"}).json
    assert made["price"] == "0.00"


def test_a_slug_reused_by_another_product_has_another_etag(shop: Shop) -> None:
    new = {"name": "Thing", "slug": "thing", "price": 1, "status": "ACTIVE"}
    first = shop.post("/api/admin/products", new).json["id"]
    known = shop.get("/api/products/thing").headers["ETag"]
    shop.delete(f"/api/admin/products/{first}")
    shop.post("/api/admin/products", {**new, "price": 2})
    again = shop.get("/api/products/thing", headers={"If-None-Match": known})
    assert (again.status, again.json["price"]) == (200, "2.00")


def test_a_change_with_more_events_than_an_item_holds_is_refused(shop: Shop) -> None:
    variants = [{"title": f"{n:03d}{'v' * 240}", "stock": 10} for n in range(98)]
    images = [{"url": f"https://img.example/{'i' * 1_440}/{n}.jpg"} for n in range(100)]
    new = {"name": "🎁" * 500, "price": 1, "variants": variants, "images": images}
    path = f"/api/admin/products/{shop.post('/api/admin/products', new).json['id']}"
    before = shop.get(path).json
    emptied = [{"id": variant["id"], "stock": 1} for variant in before["variants"]]
    answer = shop.put(path, {"variants": emptied})
    assert (answer.status, answer.json["code"]) == (422, "too_large")
    assert shop.get(path).json == before


def test_another_currency_is_refused_and_the_shops_own_is_accepted(shop: Shop) -> None:
    new = {"name": "Mug", "price": 1}
    assert fields_of(shop.post("/api/admin/products", {**new, "currency": "EUR"})) == ["currency"]
    made = shop.post("/api/admin/products", {**new, "currency": "USD"}).json
    path = f"/api/admin/products/{made['id']}"
    assert shop.put(path, made).json == made


def test_a_deletion_announces_the_last_state_of_the_product(shop: Shop) -> None:
    made = shop.post("/api/admin/products", {"name": "Mug", "price": 9.5}).json
    shop.delete(f"/api/admin/products/{made['id']}")
    last = shop.events()[-1]
    assert (last["event"], last["data"]) == ("product.deleted", made)
