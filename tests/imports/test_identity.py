"""Imports keep a product's id, its variants' ids and their stock."""

import json
from typing import Any

import pytest

from tests.support.import_desk import Desk

pytestmark = pytest.mark.thorough

SHOPIFY = "Handle,Title,Option1 Value,Variant SKU,Variant Price,Variant Inventory Qty\n"
TEE = SHOPIFY + "tee,Tee,S,T-S,9,3\ntee,,M,T-M,10,4\n"


def variants(product: Any) -> list[tuple[Any, ...]]:
    return [(v["id"], v["title"], v["sku"], v["price"], v["stock"]) for v in product["variants"]]


@pytest.mark.parametrize(
    "moved",
    [
        TEE.replace("T-", "NEW-"),
        TEE.replace("T-S", "4.00639E+12").replace("T-M", "4.00639E+12"),
        TEE.replace("tee,", "t-shirt,"),
        TEE.replace("tee,", "t-shirt,").replace("Tee", "T-shirt"),
        TEE.replace(",S,", ",Small,"),
        SHOPIFY + "tee,,M,T-M,10,4\ntee,Tee,S,T-S,9,3\n",
        SHOPIFY + "tee,,M,T-M,10,4\nmug,Mug,,MUG,3,1\ntee,Tee,S,T-S,9,3\n",
    ],
)
def test_a_product_keeps_its_id_its_variants_and_their_stock(desk: Desk, moved: str) -> None:
    desk.imported(TEE)
    before = desk.products()["tee"]
    for text in (moved, moved, TEE):
        job = desk.imported(text)
        assert job["failed"] == 0, job
        after = desk.products()["tee"]
        assert after["id"] == before["id"]
        assert {v[0]: v[3:] for v in variants(after)} == {v[0]: v[3:] for v in variants(before)}
    assert variants(after) == variants(before)
    assert len(desk.products()) == (2 if "mug" in moved else 1)


def test_two_products_with_the_same_skus_stay_separate(desk: Desk) -> None:
    """Some shops number the sizes of each product alike."""
    desk.imported(TEE)
    both = TEE + "polo,Polo,S,T-S,20,7\npolo,,M,T-M,21,8\n"
    for order in (both, SHOPIFY + "polo,Polo,S,T-S,20,7\npolo,,M,T-M,21,8\n" + TEE[len(SHOPIFY) :]):
        job = desk.imported(order)
        assert (job["failed"], job["total"]) == (0, 2)
        products = desk.products()
        assert [v["stock"] for v in products["tee"]["variants"]] == [3, 4]
        assert [v["stock"] for v in products["polo"]["variants"]] == [7, 8]
    assert desk.imported(both)["unchanged"] == 2


@pytest.mark.parametrize("between", ["", "c-1,3\n"])
def test_skus_that_differ_in_case_are_two_products(desk: Desk, between: str) -> None:
    desk.imported("name,sku,price\nA,ab-1,1\nB,AB-1,1\nC,c-1,1\n")
    job = desk.imported(f"sku,price\nab-1,5\n{between}AB-1,6\n")
    assert (job["updated"], job["failed"], job["warnings"]) == (job["total"], 0, [])
    prices = {product["sku"]: product["price"] for product in desk.products().values()}
    assert (prices["ab-1"], prices["AB-1"]) == ("5.00", "6.00")


def test_a_product_whose_sku_is_a_word_of_many_names_is_found(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.listing.lookup._ENTRIES", 1)
    monkeypatch.setattr("chalicelib.products.store._CANDIDATES", 2)
    made = [{"name": f"Glass {n} 100 ml", "price": 5} for n in range(12)]
    desk.shop.post("/api/admin/products/bulk", [*made, {"name": "Plate", "price": 5, "sku": "100"}])
    job = desk.imported("sku,price\n100,7\n")
    assert (job["updated"], job["total"]) == (1, 1), job
    assert desk.products()["plate"]["price"] == "7.00"


def test_several_products_of_a_file_do_not_overwrite_one_with_their_sku(desk: Desk) -> None:
    desk.shop.made("/api/admin/products", {"name": "Old", "price": 5, "sku": "NA"})
    rows = "".join(f"p{n},P{n},{n + 1},NA\n" for n in range(3))
    job = desk.imported("slug,name,price,sku\n" + rows)
    assert {error["code"] for error in job["errors"]} == {"ambiguous_sku"}
    assert (job["failed"], [*desk.products()]) == (3, ["old"])
    renamed = desk.imported("slug,name,price,sku\n" + rows[: rows.index("\n") + 1])
    assert (renamed["updated"], desk.products()["old"]["name"]) == (1, "P0")


def test_a_renamed_product_with_the_skus_of_two_others_is_an_error(desk: Desk) -> None:
    for name, sku in (("A", "T-M"), ("B", "T-S")):
        given = {"name": name, "variants": [{"title": "S", "sku": sku, "price": 1}]}
        desk.shop.made("/api/admin/products", given)
    (error,) = desk.imported(TEE)["errors"]
    assert error["code"] == "ambiguous_sku"
    reason = '2 products have the SKU "T-S" or another SKU of these rows: prod_'
    assert error["message"].startswith(reason)
    assert sorted(desk.products()) == ["a", "b"]


@pytest.mark.parametrize("sku", ["MUG", "MUG-S", ""])
def test_the_only_variant_becomes_the_first_option(desk: Desk, sku: str) -> None:
    desk.imported("slug,name,price,sku,stock\nmug,Mug,5,MUG,9\n")
    (whole,) = desk.products()["mug"]["variants"]
    rows = f"mug,S,{sku},5,\nmug,L,MUG-L,6,2\n"
    job = desk.imported(
        "Handle,Option1 Value,Variant SKU,Variant Price,Variant Inventory Qty\n" + rows
    )
    assert (job["updated"], job["failed"]) == (1, 0), job
    first, second = desk.products()["mug"]["variants"]
    assert (first["id"], first["title"], first["stock"]) == (whole["id"], "S", 9)
    assert (first["sku"], first["price"]) == (sku or "MUG", "5.00")
    assert (second["title"], second["price"], second["stock"]) == ("L", "6.00", 2)


def test_a_put_keeps_a_variant_with_a_new_sku_and_its_stock(desk: Desk) -> None:
    small = {"title": "S", "sku": "T-S", "price": 5, "stock": 9}
    made = desk.shop.made("/api/admin/products", {"name": "Mug", "variants": [small]})
    change = [{"title": "L", "price": 6}, {"title": "S", "sku": "NEW"}]
    path = f"/api/admin/products/{made['id']}"
    large, kept = desk.shop.put(path, {"variants": change}).json["variants"]
    assert kept == {**made["variants"][0], "sku": "NEW"}
    assert (large["stock"], large["price"]) == (None, "6.00")


def test_names_with_the_same_slug_make_two_products(desk: Desk) -> None:
    rows = "name,price\nCafé,1\nCafe,2\nT-Shirt!,3\nx,9\nT Shirt,4\n"
    job = desk.imported(rows)
    assert (job["created"], job["failed"]) == (5, 0), job
    names = {product["name"]: product["price"] for product in desk.products().values()}
    assert names == {
        "Café": "1.00", "Cafe": "2.00", "T-Shirt!": "3.00", "T Shirt": "4.00", "x": "9.00"
    }  # fmt: skip
    slugs = set(desk.products())
    assert {"cafe", "t-shirt"} < slugs
    assert desk.imported(rows)["unchanged"] == 5
    assert desk.imported(rows.replace(",4", ",5"))["updated"] == 1
    assert set(desk.products()) == slugs


@pytest.mark.parametrize(
    ("header", "mapping"),
    [
        (
            "Handle,SKU,Name,Price",
            {"Handle": "slug", "SKU": "sku", "Name": "name", "Price": "price"},
        ),
        ("url_key,sku,name,price,store_view_code,product_type", None),
    ],
)
def test_handles_that_other_systems_allow_are_products_of_their_own(
    desk: Desk, header: str, mapping: dict[str, str] | None
) -> None:
    handles = ("1/2 Loaf", "1-2-loaf", "Pâté", "pate")
    rows = [f"{handle},B-{n},Bread,{n}" for n, handle in enumerate(handles)]
    options = {"mapping": json.dumps(mapping)} if mapping else {}
    for outcome in ("created", "unchanged"):
        job = desk.imported("\n".join([header, *rows, ""]), **options)
        assert (job[outcome], job["failed"]) == (4, 0), job
        rows = [rows[0].lower().replace("b-0,bread", "B-0,Bread"), *rows[1:]]
    found = {product["sku"]: slug for slug, product in desk.products().items()}
    assert (found["B-1"], found["B-3"]) == ("1-2-loaf", "pate")
    assert found["B-0"].startswith("1-2-loaf-") and found["B-2"].startswith("pate-")


def test_a_name_in_another_case_or_unicode_form_is_the_same_product(desk: Desk) -> None:
    desk.imported("name,price\nBlue  shirt,1\n")
    assert desk.imported("name,price\nBLUE SHIRT,2\n")["updated"] == 1
    assert len(desk.products()) == 1


PICTURES = "Handle,Title,Variant Price,Image Src,Image Position\n"


def pictures(desk: Desk) -> list[str]:
    return [image["url"][-5:-4] for image in desk.products()["tee"]["images"]]


def listed(*places: tuple[str, int]) -> str:
    first, *more = places
    rows = f"tee,Tee,9,https://i.example/{first[0]}.jpg,{first[1]}\n"
    return PICTURES + rows + "".join(f"tee,,,https://i.example/{u}.jpg,{n}\n" for u, n in more)


def test_pictures_have_the_positions_of_the_file(desk: Desk) -> None:
    desk.imported(listed(("a", 1), ("b", 2), ("c", 3)))
    swapped = listed(("a", 3), ("b", 1), ("c", 2))
    assert desk.imported(swapped)["updated"] == 1
    assert pictures(desk) == ["b", "c", "a"]
    assert desk.imported(swapped)["unchanged"] == 1
    assert desk.imported(listed(("d", 0)))["updated"] == 1
    assert pictures(desk) == ["d", "b", "c", "a"]
    again = listed(("x", 1), ("y", 1), ("a", 5))
    assert desk.imported(again)["updated"] == 1
    assert pictures(desk) == ["x", "y", "d", "b", "a", "c"]
    assert desk.imported(again)["unchanged"] == 1


def test_pictures_without_positions_have_the_order_of_the_file(desk: Desk) -> None:
    def ours(*names: str) -> str:
        rows = "".join(f"tee,Tee,9,https://i.example/{name}.jpg\n" for name in names)
        return "slug,name,price,imageUrl\n" + rows

    desk.imported(ours("a", "b", "c"))
    desk.imported(ours("c", "a", "d"))
    assert pictures(desk) == ["c", "b", "a", "d"]
    assert desk.imported(ours("c", "a", "d"))["unchanged"] == 1


def test_five_hundred_variants_are_created_in_every_way_and_keep_their_ids(desk: Desk) -> None:
    listed = [{"title": f"V{n}", "sku": f"V-{n}", "price": 5, "stock": 9} for n in range(500)]
    desk.shop.made("/api/admin/products", {"name": "Api", "variants": listed})
    renamed = [{**v, "sku": f"B-{n}", "stock": 1} for n, v in enumerate(listed)]
    bulk = desk.shop.post("/api/admin/products/bulk", [{"name": "Bulk", "variants": renamed}])
    assert bulk.json["summary"] == {"created": 1, "failed": 0}
    rows = "".join(f"file,File,,V{n},F-{n},5,{n}\n" for n in range(500))
    header = "slug,name,price,variantTitle,variantSku,variantPrice,stock\n"
    job = desk.imported(header + rows)
    assert (job["created"], job["failed"]) == (1, 0), job
    before = desk.products()
    assert {slug: len(product["variants"]) for slug, product in before.items()} == dict.fromkeys(
        ("api", "bulk", "file"), 500
    )
    moved = "".join(f"moved,File,,V{n},F-{n},5,{n + 1}\n" for n in reversed(range(500)))
    job = desk.imported(header + moved)
    assert (job["updated"], job["failed"]) == (1, 0), job
    after = desk.products()["file"]["variants"]
    assert [v["id"] for v in after] == [v["id"] for v in before["file"]["variants"]]
    assert [v["stock"] for v in after] == list(range(1, 501))
