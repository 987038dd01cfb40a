"""Imports of existing products: given values change, others stay."""

import json
from typing import Any

import pytest

from tests.support.import_desk import Desk

pytestmark = pytest.mark.thorough

OURS = (
    "slug,name,price,compareAtPrice,sku,stock,"
    "variantTitle,variantSku,variantPrice,imageUrl,imageAlt"
)
SHOPIFY = "Handle,Title,Option1 Value,Variant SKU,Variant Price,Variant Inventory Qty\n"


def shirt(desk: Desk, **fields: Any) -> Any:
    given = {
        "name": "Shirt",
        "slug": "shirt",
        "price": 20,
        "description": "Cotton",
        "tags": ["a"],
        "images": [{"url": "https://img.example/1.jpg", "alt": "front"}],
        "variants": [
            {"title": "S", "sku": "SH-S", "price": 18, "stock": 3},
            {"title": "M", "sku": "SH-M", "stock": 4},
        ],
        **fields,
    }
    return desk.shop.made("/api/admin/products", given)


def test_values_without_a_column_stay(desk: Desk) -> None:
    before = shirt(desk)
    job = desk.imported(f"{OURS}\nshirt,,,25,,,M,,21,https://img.example/2.jpg,back\n")
    assert job["updated"] == 1, job
    after = desk.products()["shirt"]
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"compareAtPrice", "variants", "images", "updatedAt"}
    assert [v["price"] for v in after["variants"]] == ["18.00", "21.00"]
    assert [v["id"] for v in after["variants"]] == [v["id"] for v in before["variants"]]
    assert [image["url"][-5:] for image in after["images"]] == ["1.jpg", "2.jpg"]


@pytest.mark.parametrize("title", [None, "Large"])
def test_a_spree_product_without_options_changes_the_variant_that_has_its_sku(
    desk: Desk, title: str | None
) -> None:
    variant = {"sku": "MUG-1", "price": 5, "stock": 1, **({"title": title} if title else {})}
    desk.shop.made("/api/admin/products", {"name": "Mug", "variants": [variant]})
    job = desk.imported("slug,name,sku,price,inventory_count\nmug,Mug,MUG-1,6,4\n")
    assert job["updated"] == 1, job
    (after,) = desk.products()["mug"]["variants"]
    assert (after["price"], after["stock"]) == ("6.00", 4)


def test_a_new_text_for_an_existing_picture_is_stored(desk: Desk) -> None:
    shirt(desk)
    desk.imported(f"{OURS}\nshirt,,,,,,,,,https://img.example/1.jpg,from before\n")
    (image,) = desk.products()["shirt"]["images"]
    assert image["alt"] == "from before"


def test_a_new_variant_without_a_title_gets_its_sku_as_title(desk: Desk) -> None:
    shirt(desk)
    job = desk.imported(f"{OURS}\nshirt,,,,,2,,SH-L,,,\n")
    assert job["updated"] == 1, job
    variants = desk.products()["shirt"]["variants"]
    assert [(v["title"], v["sku"], v["stock"]) for v in variants][2] == ("SH-L", "SH-L", 2)
    assert desk.imported(f"{OURS}\nshirt,,,,,2,,SH-L,,,\n")["unchanged"] == 1


@pytest.mark.parametrize(
    ("file", "column"),
    [
        (f"{OURS}\nshirt,,,,,9,,,,,\n", "stock"),
        (f"{OURS}\nshirt,,,,,9,,,,,\nshirt,,,,,4,S,,,,\nshirt,,,,,6,L,,,,\n", "stock"),
        (f"{SHOPIFY}shirt,,Default Title,X-1,6,2\n", "Variant SKU"),
        (f"{SHOPIFY}shirt,,Default Title,,6,2\n", "Variant Inventory Qty"),
        (f"{SHOPIFY}shirt,,Default Title,,6,\n", "Variant Price"),
    ],
)
def test_a_value_for_one_of_several_variants_must_name_it(
    desk: Desk, file: str, column: str
) -> None:
    shirt(desk)
    assert desk.faults(file) == [(2, column, "unknown_variant")]


def test_a_product_s_own_stock_may_be_the_sum_of_its_variants(desk: Desk) -> None:
    file = "slug,name,price,variantTitle,stock\ncap,Cap,5,,{}\ncap,,,S,4\ncap,,,M,\ncap,,,L,6\n"
    assert desk.faults(file.format(9)) == [(2, "stock", "unknown_variant")]
    assert desk.imported(file.format(10))["created"] == 1
    assert desk.imported(file.format(0))["unchanged"] == 1
    assert [v["stock"] for v in desk.products()["cap"]["variants"]] == [4, None, 6]


def test_a_row_without_title_and_sku_is_of_the_only_variant(desk: Desk) -> None:
    rows = f"{OURS}\nmug,Mug,5,,,,,,6,,\n"
    desk.imported(rows)
    assert desk.imported(rows)["unchanged"] == 1
    assert desk.imported(f"{OURS}\nmug,,,,,8,,,,,\n")["updated"] == 1
    assert desk.products()["mug"]["variants"][0]["stock"] == 8


def test_a_shopify_product_without_options_changes_its_only_variant(desk: Desk) -> None:
    desk.imported(SHOPIFY + "mug,Mug,Default Title,MUG,5,1\n")
    job = desk.imported(SHOPIFY + "mug,Mug,Default Title,MUG-2,6,2\n")
    assert job["updated"] == 1, job
    product = desk.products()["mug"]
    (variant,) = product["variants"]
    assert (product["sku"], product["price"]) == ("MUG-2", "6.00")
    assert (variant["sku"], variant["price"], variant["stock"]) == ("MUG-2", "6.00", 2)


def prices(desk: Desk, slug: str) -> tuple[str, list[str]]:
    product = desk.products()[slug]
    return product["price"], [variant["price"] for variant in product["variants"]]


def test_the_price_of_a_shopify_product_and_of_a_variant_without_one_is_the_lowest(
    desk: Desk,
) -> None:
    job = desk.imported(SHOPIFY + "tee,Tee,S,T-S,9,\ntee,,M,T-M,,\ntee,,L,T-L,8,\n")
    assert job["created"] == 1, job
    assert prices(desk, "tee") == ("8.00", ["9.00", "8.00", "8.00"])
    desk.imported(SHOPIFY + "tee,,L,T-L,10,\ntee,,M,T-M,11,\n")
    assert prices(desk, "tee") == ("9.00", ["9.00", "11.00", "10.00"])
    desk.imported(SHOPIFY + "mug,Mug,S,M-S,5,\nmug,,M,M-M,6,\n")
    job = desk.imported(SHOPIFY + "mug,,M,M-M,7,\nmug,,L,M-L,,\n")
    assert job["updated"] == 1, job
    assert prices(desk, "mug") == ("5.00", ["5.00", "7.00", "5.00"])


def test_a_product_whose_variants_follow_its_price_keeps_it(desk: Desk) -> None:
    shirt(desk)
    desk.imported(SHOPIFY + "shirt,,S,SH-S,17,\n")
    assert prices(desk, "shirt") == ("20.00", ["17.00", "20.00"])


def test_an_error_in_a_variant_is_reported_on_its_row(desk: Desk) -> None:
    shirt(desk)
    long = "x" * 101
    job = desk.imported(f"{OURS}\nshirt,,,,,,S,,17,,\nshirt,,,,,,XL,{long},,,\n")
    (error,) = job["errors"]
    assert (error["row"], error["field"], error["code"]) == (3, "variantSku", "too_long")
    assert error["message"].startswith("variantSku must have"), error
    assert desk.products()["shirt"]["variants"][0]["price"] == "18.00"


def test_a_sale_during_an_import_is_kept(desk: Desk) -> None:
    made = shirt(desk)
    variant = made["variants"][0]["id"]
    order = {"lineItems": [{"variantId": variant, "quantity": 2}]}
    desk.started(f"{OURS}\nshirt,,30,,,,,,,,\n")
    desk.meanwhile("TransactWriteItems", lambda: desk.shop.post("/api/admin/orders", order))
    desk.work()
    product = desk.products()["shirt"]
    assert (product["price"], product["variants"][0]["stock"]) == ("30.00", 1)


def test_an_edit_during_an_import_is_merged_with_it(desk: Desk) -> None:
    made = shirt(desk)
    job_id = desk.started(f"{OURS}\nshirt,,30,,,,,,,,\n")
    path = f"/api/admin/products/{made['id']}"
    desk.meanwhile("TransactWriteItems", lambda: desk.shop.put(path, {"vendor": "Blå AB"}))
    desk.work()
    product = desk.products()["shirt"]
    assert (product["price"], product["vendor"]) == ("30.00", "Blå AB")
    assert desk.job(job_id)["updated"] == 1


@pytest.mark.parametrize("slug", ["hat", ""])
def test_a_row_with_a_taken_name_and_a_new_sku_is_a_new_product_unless_it_gives_the_slug(
    desk: Desk, slug: str
) -> None:
    desk.shop.post("/api/admin/products", {"name": "Hat", "price": 1, "sku": "OLD"})
    job = desk.imported(f"slug,name,price,sku\n{slug},Hat,2,NEW\n")
    assert (job["updated"], job["created"]) == ((1, 0) if slug else (0, 1))
    assert len(desk.products()) == (1 if slug else 2)


def test_an_imported_price_replaces_the_inherited_price_of_a_variant(desk: Desk) -> None:
    variants = [{"title": "S", "sku": "SH-S"}, {"title": "M", "sku": "SH-M"}]
    shirt(desk, variants=variants)
    rows = f"{OURS}\nshirt,,30,,,,,,,,\nshirt,,,,,,S,,20,,\n"
    assert desk.imported(rows)["updated"] == 1
    assert [v["price"] for v in desk.products()["shirt"]["variants"]] == ["20.00", "30.00"]
    assert desk.imported(rows)["unchanged"] == 1


def test_rows_in_another_currency_are_another_price_list(desk: Desk) -> None:
    header = "slug,name,price,sku,currency\n"
    rows = "".join(f"p{n},P,{n}.00,S-{n},USD\n" for n in range(1, 4))
    other = "".join(f"p{n},P,{n}.50,S-{n},EUR\n" for n in range(1, 4))
    mapping = {name: name for name in header.strip().split(",")}
    for _ in range(2):
        job = desk.imported(header + rows + other + "q,Q,5,,EUR\n", mapping=json.dumps(mapping))
        assert (job["failed"], job["withErrors"], job["total"]) == (1, 1, 4)
        assert [error["code"] for error in job["errors"]] == ["currency_mismatch"]
        (notice,) = job["warnings"]
        assert notice["code"] == "other_currency" and notice["message"].endswith(": 3.")
    assert job["unchanged"] == 3
    assert {p["slug"]: p["price"] for p in desk.products().values()} == {
        f"p{n}": f"{n}.00" for n in range(1, 4)
    }


def test_a_picture_without_an_address_is_a_warning(desk: Desk) -> None:
    file = "slug,name,price,imageUrl\na,A,1,test-image.png\na,,,https://img.example/a.jpg\n"
    job = desk.imported(file)
    assert (job["created"], job["withErrors"]) == (1, 0)
    assert [notice["code"] for notice in job["warnings"]] == ["pictures_skipped"]
    assert [image["url"] for image in desk.products()["a"]["images"]] == [
        "https://img.example/a.jpg"
    ]
    assert desk.imported(file)["unchanged"] == 1


@pytest.mark.parametrize("first", ["variations", "parent"])
def test_pictures_of_a_parent_come_first_wherever_its_row_is(desk: Desk, first: str) -> None:
    header = "ID,Type,SKU,Name,Regular price,Parent,Attribute 1 value(s),Images\n"
    parent = "1,variable,TEE,Tee,,,,https://img.example/tee.jpg\n"
    variations = "".join(
        f"{n},variation,T-{n},,9,TEE,V{n},https://img.example/{n}.jpg\n" for n in (2, 3)
    )
    others = "".join(f"{n},simple,O-{n},Other,3,,,\n" for n in range(10, 260))
    parts = [variations, parent] if first == "variations" else [parent, variations]
    file = header + others.join(parts)
    assert desk.imported(file)["created"] == 251
    images = [image["url"][20:] for image in desk.products()["tee"]["images"]]
    assert images == ["tee.jpg", "2.jpg", "3.jpg"]
    assert desk.imported(file)["unchanged"] == 251
