"""Creating, reading, changing and deleting products, over HTTP."""

from typing import Any

import pytest

from tests.products.build import PRODUCTS, new_product, path_of, stored
from tests.support.shop import Shop


def test_a_created_product_is_returned_with_every_field(shop: Shop) -> None:
    sent = {
        **{"name": "Été shirt", "slug": "ete-shirt", "description": "Cotton.\nBlue."},
        **{"status": "ACTIVE", "price": 19.9, "compareAtPrice": "25", "sku": "SH-1"},
        **{"vendor": "Blå AB", "tags": ["summer", "blue"], "type": "Shirts", "storefront": "eu"},
        **{"published": False, "seo": {"title": "Shirt"}, "lowStockThreshold": 2},
        "images": [{"url": "https://img.example/1.jpg", "alt": "front"}],
        "metadata": {"origin": {"country": "PT", "share": 0.5}},
        "variants": [
            {"title": "S", "sku": "SH-1-S", "price": 18, "stock": 3},
            {"title": "M", "sku": "SH-1-M"},
        ],
    }
    made = shop.made(PRODUCTS, sent)
    assert made["id"].startswith("prod_")
    assert made["price"] == "19.90" and made["compareAtPrice"] == "25.00"
    assert made["currency"] == "USD"
    assert made["seo"] == {"title": "Shirt", "description": None}
    assert [(v["title"], v["sku"], v["price"], v["stock"]) for v in made["variants"]] == [
        ("S", "SH-1-S", "18.00", 3),
        ("M", "SH-1-M", "19.90", None),
    ]
    same = ("slug", "description", "status", "sku", "vendor", "tags", "type", "storefront")
    same += ("published", "lowStockThreshold", "metadata")
    assert {name: made[name] for name in same} == {name: sent[name] for name in same}
    (image,) = sent["images"]
    assert made["images"] == [{**image, "pictureId": None, "sizes": None}]
    assert made["createdAt"] == made["updatedAt"]
    assert shop.get(path_of(made)).json == made
    assert [(e["event"], e["data"]) for e in shop.events()] == [("product.created", made)]


def test_only_name_and_price_are_required(shop: Shop) -> None:
    made = shop.post(PRODUCTS, {"name": 'Éclair "Blå"', "price": 1}).json
    assert made["slug"] == "eclair-bla"
    assert made["status"] == "DRAFT"
    assert made["images"] == [] and made["tags"] == [] and made["metadata"] == {}
    assert made["seo"] == {"title": None, "description": None}
    (variant,) = made["variants"]
    assert (variant["title"], variant["price"], variant["stock"]) == ("Default", "1.00", None)


MEDIUM = {"title": "M"}


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"price": 1}, "name"),
        ({"name": "  ", "price": 1}, "name"),
        ({"name": 5, "price": 1}, "name"),
        ({"name": "x"}, "price"),
        ({"name": "x", "price": "1.999"}, "price"),
        ({"name": "x", "price": "free"}, "price"),
        ({"name": "x", "price": True}, "price"),
        ({"name": "x", "price": 1, "status": "LIVE"}, "status"),
        ({"name": "x", "price": 1, "slug": "Not A Slug"}, "slug"),
        ({"name": "x", "price": 1, "colour": "blue"}, "colour"),
        ({"name": "x", "price": 1, "tags": "blue"}, "tags"),
        ({"name": "x", "price": 1, "tags": [""]}, "tags.0"),
        ({"name": "x", "price": 1, "images": [{"url": "javascript:alert(1)"}]}, "images.0.url"),
        ({"name": "x", "price": 1, "variants": [{"title": "S", "stock": 1.5}]}, "variants.0.stock"),
        ({"name": "x", "price": 1, "variants": [{"sku": "a"}, {"sku": "b"}]}, "variants.0.title"),
        ({"name": "x", "variants": [{"title": "S", "price": 1}, MEDIUM]}, "variants.1.price"),
    ],
)
def test_bad_input_is_refused_by_field_and_stores_nothing(
    shop: Shop, sent: dict[str, Any], field: str
) -> None:
    assert shop.post(PRODUCTS, sent).refused == [field]
    assert shop.get(PRODUCTS).json["total"] == 0
    assert shop.events() == []


def test_a_taken_slug_is_refused_if_given_and_numbered_if_generated(shop: Shop) -> None:
    for expected in ("blue-shirt", "blue-shirt-2", "blue-shirt-3"):
        made = shop.post(PRODUCTS, {"name": "Blue shirt", "price": 1})
        assert made.json["slug"] == expected
    taken = shop.post(PRODUCTS, new_product(slug="blue-shirt-2"))
    assert (taken.status, taken.json["code"]) == (409, "slug_taken")
    other = stored(shop)
    moved = shop.put(path_of(other), {"slug": "blue-shirt"})
    assert (moved.status, moved.json["code"]) == (409, "slug_taken")


def test_a_slug_is_free_after_its_product_is_renamed_or_deleted(shop: Shop) -> None:
    first = stored(shop, slug="one")
    assert shop.put(path_of(first), {"slug": "two"}).status == 200
    second = stored(shop, slug="one")
    assert shop.delete(path_of(second)).json == {"id": second["id"], "deleted": True}
    assert shop.post(PRODUCTS, new_product(slug="one")).status == 201


def test_put_merges_the_given_fields_and_null_clears(shop: Shop) -> None:
    made = stored(shop, vendor="Acme", tags=["a"], seo={"title": "T", "description": "D"})
    sent = {"price": "5", "vendor": None, "seo": {"title": "U"}, "status": "ACTIVE"}
    changed = shop.put(path_of(made), sent).json
    assert changed["price"] == "5.00" and changed["vendor"] is None
    assert changed["tags"] == ["a"] and changed["name"] == made["name"]
    assert changed["seo"] == {"title": "U", "description": "D"}
    blank = shop.put(path_of(made), {"type": "", "sku": ""}).json
    assert blank == changed, "a blank is what null is"
    last = shop.events()[-1]
    assert (last["event"], last["data"]) == ("product.updated", changed)
    assert shop.put(path_of(made), {"tags": ["a", "b", "a"]}).json["tags"] == ["a", "b"]


FULL = {
    **{"description": "D", "status": "ACTIVE", "published": False, "compareAtPrice": 99},
    **{"sku": "A", "vendor": "V", "type": "T", "storefront": "s", "tags": ["a"]},
    **{"images": [{"url": "https://img.example/1.jpg"}], "seo": {"title": "T"}},
    **{"lowStockThreshold": 9, "metadata": {"a": 1}},
}


def test_null_sets_each_field_to_its_default(shop: Shop) -> None:
    plain = shop.post(PRODUCTS, {"name": "x", "price": 1}).json
    made = shop.post(PRODUCTS, {"name": "x", "price": 1, **FULL}).json
    assert all(made[name] != plain[name] for name in FULL)
    nothing = dict.fromkeys(FULL)
    cleared = shop.put(path_of(made), nothing).json
    new = shop.post(PRODUCTS, {"name": "x", "price": 1, **nothing}).json
    for product in (cleared, new):
        assert {name: product[name] for name in FULL} == {name: plain[name] for name in FULL}


def test_a_blank_sku_of_a_variant_is_null(shop: Shop) -> None:
    variants = [{"title": "S", "sku": "A"}, {"title": "M", "sku": ""}, {"title": "L", "sku": ""}]
    made = stored(shop, variants=variants)
    path = path_of(made)
    assert [variant["sku"] for variant in made["variants"]] == ["A", None, None]
    made["variants"][0]["sku"] = ""
    assert [variant["sku"] for variant in shop.put(path, made).json["variants"]] == [None] * 3


def test_sending_back_a_product_as_it_was_read_changes_nothing(shop: Shop) -> None:
    variants = [{"title": "S", "sku": "A", "stock": 5}, {"title": "M", "price": "3"}]
    sent = new_product(variants=variants, metadata={"a": 0.1, "b": [1, None]})
    made = shop.post(PRODUCTS, sent).json
    assert shop.put(path_of(made), made).json == made
    derived = {"name": "x", "variants": [{"title": "S", "price": "3"}, {"title": "M", "price": 2}]}
    made = shop.post(PRODUCTS, derived).json
    path = path_of(made)
    assert shop.put(path, made).json == made
    cheaper = {**made, "variants": [made["variants"][0]]}
    assert shop.put(path, cheaper).json["price"] == "3.00"
    assert [e["event"] for e in shop.events()] == [
        *("product.created", "product.created", "product.updated")
    ]


def test_a_variant_without_a_price_is_accepted_if_the_others_have_one(shop: Shop) -> None:
    variants = [{"title": "S", "price": "3"}, {"title": "M", "price": "2"}]
    made = shop.post(PRODUCTS, {"name": "x", "variants": variants}).json
    sent = {**made, "variants": [*made["variants"], {"title": "L"}]}
    answer = shop.put(path_of(made), sent)
    assert answer.status == 200, answer.text
    assert answer.json["price"] == "2.00"
    assert [v["price"] for v in answer.json["variants"]] == ["3.00", "2.00", "2.00"]
    assert shop.put(path_of(made), answer.json).json == answer.json
    refused = shop.put(path_of(made), {"price": None})
    assert refused.refused == ["variants.2.price"]


def test_the_default_variant_follows_sku_and_price(shop: Shop) -> None:
    made = stored(shop, sku="A")
    path = path_of(made)
    changed = shop.put(path, {**made, "sku": "B", "price": "7"}).json
    assert [(v["sku"], v["price"]) for v in changed["variants"]] == [("B", "7.00")]
    stocked = shop.put(path, {"variants": [{"stock": 3}]}).json
    assert stocked["variants"] == [{**changed["variants"][0], "stock": 3}]
    assert shop.put(path, {"sku": "C"}).json["variants"][0]["sku"] == "C"


def test_the_default_variant_follows_the_sku_after_other_changes(shop: Shop) -> None:
    made = stored(shop, sku="A")
    path = path_of(made)
    for given in ({}, {"price": "9"}):
        shop.put(path, {"variants": [{"id": made["variants"][0]["id"], **given}]})
        assert shop.put(path, {"sku": "B"}).json["variants"][0]["sku"] == "B"
        assert shop.put(path, {"sku": "A"}).json["variants"][0]["sku"] == "A"


def test_variants_are_matched_by_id_then_sku_then_title(shop: Shop) -> None:
    known = [{"title": "S", "sku": "A", "stock": 1}, {"title": "M", "sku": "B", "stock": 2}]
    made = stored(shop, variants=[*known, {"title": "L", "stock": 3}])
    small, medium, large = made["variants"]
    by_title, by_sku, by_id = {"title": "L", "price": "2"}, {"sku": "B"}, {"id": small["id"]}
    new = [by_title, by_sku, {**by_id, "sku": "Z"}, {"title": "XL", "sku": "A"}]
    *changed, other = shop.put(path_of(made), {"variants": new}).json["variants"]
    assert changed == [{**large, "price": "2.00"}, medium, {**small, "sku": "Z"}]
    assert other["id"] not in {small["id"], medium["id"], large["id"]}
    assert other["stock"] is None


def test_a_change_of_stock_changes_the_etag(shop: Shop) -> None:
    path = path_of(stored(shop, variants=[{"stock": 5}]))
    before = shop.get(path).headers["ETag"]
    assert shop.put(path, {"variants": [{"stock": 4}]}).headers["ETag"] != before


def test_a_fall_below_the_threshold_is_announced_once(shop: Shop) -> None:
    made = stored(shop, variants=[{"sku": "A", "stock": 9}])
    path = path_of(made)
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
    (made,) = stored(shop, variants=[sent])["variants"]
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
    answer = shop.post(PRODUCTS, sent)
    assert answer.status == status
    (row,) = shop.post(f"{PRODUCTS}/bulk", {"products": [sent]}).json["data"]
    assert row["status"] == ("created" if status == 201 else "error")
    assert shop.get("/api/products").status == 200
    if status == 201:
        path = f"{PRODUCTS}/{answer.json['id']}"
        assert shop.get(path).json["metadata"] == metadata
        assert shop.put(path, {**answer.json, "vendor": "x"}).json["metadata"] == metadata
        assert shop.delete(path).status == 200


def low_stock(shop: Shop) -> list[tuple[str, int, int]]:
    events = (event["data"] for event in shop.events() if event["event"] == "inventory.low")
    return [(data["variantTitle"], data["stock"], data["threshold"]) for data in events]


def test_a_product_created_below_its_threshold_is_announced(shop: Shop) -> None:
    stocks = {"S": 2, "M": 5, "L": 0, "XL": None}
    variants = [{"title": title, "stock": stock} for title, stock in stocks.items()]
    made = stored(shop, variants=variants)
    assert sorted(low_stock(shop)) == [("L", 0, 5), ("S", 2, 5)]
    grown = [*made["variants"], {"title": "XXL", "stock": 1}]
    shop.put(path_of(made), {"variants": grown})
    assert low_stock(shop)[2:] == [("XXL", 1, 5)]
    grown[3] = {**grown[3], "stock": 4}  # counted from now on
    shop.put(path_of(made), {"variants": grown[:4]})
    assert low_stock(shop)[3:] == [("XL", 4, 5)]


def test_a_raised_threshold_announces_the_variants_now_low(shop: Shop) -> None:
    variants = [{"title": "S", "stock": 2}, {"title": "M", "stock": 7}, {"title": "L", "stock": 9}]
    made = stored(shop, variants=variants)
    path = path_of(made)
    for threshold in (8, 3, 3, 8, 1):
        assert shop.put(path, {"lowStockThreshold": threshold}).status == 200
    assert low_stock(shop) == [("S", 2, 5), ("M", 7, 8), ("M", 7, 8)]


def test_a_slug_reused_by_another_product_has_another_etag(shop: Shop) -> None:
    new = {"name": "Thing", "slug": "thing", "price": 1, "status": "ACTIVE"}
    first = shop.post(PRODUCTS, new).json["id"]
    known = shop.get("/api/products/thing").headers["ETag"]
    shop.delete(f"{PRODUCTS}/{first}")
    shop.post(PRODUCTS, {**new, "price": 2})
    again = shop.get("/api/products/thing", headers={"If-None-Match": known})
    assert (again.status, again.json["price"]) == (200, "2.00")


def test_a_change_with_more_events_than_an_item_holds_is_refused(shop: Shop) -> None:
    variants = [{"title": f"{n:03d}{'v' * 240}", "stock": 10} for n in range(98)]
    images = [{"url": f"https://img.example/{'i' * 1_440}/{n}.jpg"} for n in range(100)]
    new = {"name": "🎁" * 500, "price": 1, "variants": variants, "images": images}
    path = f"{PRODUCTS}/{shop.post('/api/admin/products', new).json['id']}"
    before = shop.get(path).json
    emptied = [{"id": variant["id"], "stock": 1} for variant in before["variants"]]
    gone = [{"variantId": one["id"], "by": -9, "reason": "DAMAGED"} for one in emptied]
    for refused, field in (
        (shop.put(path, {"variants": emptied}), "variants"),
        (shop.post(f"{path}/stock", {"moves": gone}), "moves"),
    ):
        assert (refused.refused, refused.json["code"]) == ([field], "too_large")
    assert shop.get(path).json == before
    assert shop.post(f"{path}/stock", {"moves": gone[:40]}).status == 200


def test_another_currency_is_refused_and_the_shops_own_is_accepted(shop: Shop) -> None:
    new = {"name": "Mug", "price": 1}
    assert shop.post(PRODUCTS, {**new, "currency": "EUR"}).refused == ["currency"]
    made = shop.post(PRODUCTS, {**new, "currency": "USD"}).json
    path = path_of(made)
    assert shop.put(path, made).json == made


def test_a_deletion_announces_the_last_state_of_the_product(shop: Shop) -> None:
    made = shop.post(PRODUCTS, {"name": "Mug", "price": 9.5}).json
    shop.delete(path_of(made))
    last = shop.events()[-1]
    assert (last["event"], last["data"]) == ("product.deleted", made)
