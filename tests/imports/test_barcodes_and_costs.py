"""Barcodes and costs of variants, from the columns of each system that has them."""

import pytest

from chalicelib.imports.formats import FORMATS
from chalicelib.imports.formats.product import Skipped
from tests.imports.test_formats import products
from tests.support.import_desk import Desk

EAN = "4006381333931"
# A product in the columns of each system. Etsy, Squarespace, Vendure and Shopify's inventory have
# neither; of Medusa's prices none is the shop's own.
ROWS = {
    "backroom": ("slug,name,price,barcode,cost", "tee,Tee,9,{code},{cost}"),
    "shopify": (
        "URL handle,Title,SKU,Price,Option1 value,Barcode,Cost per item",
        "tee,Tee,T,9,S,{code},{cost}",
    ),
    "square": (
        "Token,Item Name,Variation Name,SKU,Price,GTIN,Default Unit Cost",
        "X,Tee,Regular,T,9,{code},{cost}",
    ),
    "wix": (
        "handleId,fieldType,name,price,inventory,sku,barcode,cost",
        "tee,Product,Tee,9,3,T,{code},{cost}",
    ),
    "bigcommerce": (
        "Item,Name,Inventory Tracking,SKU,Price,GTIN,Cost Price",
        "Product,Tee,none,T,9,{code},{cost}",
    ),
    "prestashop": (
        "Active (0/1),Name *,Price tax excluded,Reference #,EAN13,Wholesale price",
        "1,Tee,9,T,{code},{cost}",
    ),
    "magento": ("sku,attribute_set_code,name,price,cost", "T,Default,Tee,9,{cost}"),
    "medusa": (
        "Product Handle,Product Title,Variant Title,Price EUR,Variant EAN",
        "tee,Tee,Default,9,{code}",
    ),
    "spree": (
        "slug,name,sku,price,inventory_count,barcode,cost_price",
        "tee,Tee,T,9,3,{code},{cost}",
    ),
    "woocommerce": (
        'ID,Type,SKU,"GTIN, UPC, EAN, or ISBN",Name,In stock?,Stock,Regular price',
        "7,simple,T,{code},Tee,1,3,9",
    ),
}
NEITHER = {"etsy", "squarespace", "vendure", "shopify_inventory"}


def read(name: str, code: str, cost: str = "4.50") -> tuple[str | None, str | None, int]:
    """The barcode and the cost of the file's only variant, and how many barcodes were left out."""
    header, row = ROWS[name]
    (product,) = products(f"{header}\n{row.format(code=code, cost=cost)}\n".encode())
    assert product.errors == []
    given = {**product.values, **product.values.get("variants", [{}])[0]}
    return given.get("barcode"), given.get("cost"), product.skipped[Skipped.BARCODES]


def test_every_format_is_considered() -> None:
    assert {"backroom", *(each.name for each in FORMATS)} == ROWS.keys() | NEITHER


@pytest.mark.parametrize("name", ROWS)
def test_the_systems_columns_of_barcodes_and_costs_are_read(name: str) -> None:
    _, row = ROWS[name]
    barcode, cost, _ = read(name, EAN)
    assert barcode == (EAN if "{code}" in row else None)
    assert cost == ("4.50" if "{cost}" in row else None)
    assert read(name, "0", "0.00") == (None, None, 0)  # which exports write for none


def test_a_barcode_that_a_spreadsheet_has_rounded_is_left_out_and_counted() -> None:
    assert read("backroom", "4.00638E+12") == (None, "4.50", 1)
    assert read("backroom", f"{EAN}.0") == (EAN, "4.50", 0)
    assert read("backroom", "9" * 51) == (None, "4.50", 1)


def test_barcodes_and_costs_of_known_variants_change_by_title_or_sku(desk: Desk) -> None:
    new = {"title": "S", "sku": "T-S", "price": "9.00", "barcode": EAN, "cost": "4.50"}
    made = desk.shop.post("/api/admin/products", {"name": "Tee", "variants": [new]}).json
    header = "slug,variantTitle,variantSku,barcode,cost\n"
    desk.imported(header + "tee,S,T-S,,5.25\n")
    small, *_ = desk.shop.get(f"/api/admin/products/{made['id']}").json["variants"]
    assert (small["barcode"], small["cost"]) == (EAN, "5.25")
    desk.imported("sku,barcode\nT-S,12345678\n")
    small, *_ = desk.shop.get(f"/api/admin/products/{made['id']}").json["variants"]
    assert (small["barcode"], small["cost"]) == ("12345678", "5.25")


def test_a_job_says_how_many_barcodes_were_left_out(desk: Desk) -> None:
    job = desk.imported("slug,name,price,barcode\na,A,1,4.00638E+12\nb,B,1,4006381333931\n")
    assert job["created"] == 2
    assert [(one["code"], one["message"][-2:]) for one in job["warnings"]] == [
        ("barcodes_skipped", "1.")
    ]


def test_a_reader_sees_no_cost_of_an_imports_file(desk: Desk) -> None:
    job = desk.imported("slug,name,price,cost\na,A,1,8.25\nb,B,x,8.25\n")
    assert job["errorReportUrl"] and "8.25" in job["columns"][-1]["samples"]
    answer = desk.shop.get(f"/api/admin/jobs/{job['id']}", key=desk.shop.as_("READER"))
    assert answer.json["errorReportUrl"] is None and "8.25" not in answer.text
    assert answer.json.keys() == job.keys()
