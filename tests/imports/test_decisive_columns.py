"""A column that decides money, visibility or identity is read, asked about, or its rows fail."""

import json
from typing import Any

import pytest

from chalicelib.imports.formats import FORMATS, Format, recognise
from chalicelib.imports.formats.proposal import propose
from tests.support.import_desk import Desk, counts

SQUARE = "Item Name,Variation Name,SKU,Price"
SHOPIFY = "Handle,Title,Variant SKU,Variant Price"
MAGENTO_1 = "sku,store,websites,name,url_key,price,qty,status"


@pytest.mark.parametrize(
    "header",
    [
        f"{SQUARE},Status",
        f"{SQUARE},Active",
        f"{SQUARE},Sichtbarkeit",
        f"{SQUARE},Bestand",
        f"{SQUARE},Item status",
        f"{SQUARE},Availability",  # in stock, out of stock
        f"{SQUARE},Published (yes/no)",
        "Item Name,Variation Name,SKU,Price USD,Token",
        "Item Name,Variation Name,SKU,Price,Token,Price currency",
        "Handle,Title,Variant SKU,Variant Price (USD)",
        "Handle,Title,Variant SKU,Price (USD)",
        f"{SQUARE},Online Sale Price,Sale end date",
        f"{SHOPIFY},Store view",
        f"{SHOPIFY},Parent SKU",
        "Handle,Title,Variant SKU,Price (£)",
        "sku,attribute_set_code,name,price,status",
        # Magento 1, and a list with its names
        "sku,url_key,name,price,qty,status",
        MAGENTO_1,
        # of another till than BigCommerce
        "Item,Name,Current Stock,Price",
    ],
)
def test_a_file_with_another_deciding_column_is_asked_about(header: str) -> None:
    assert recognise(header.split(",")) is None


@pytest.mark.parametrize(
    "file_format", [f for f in FORMATS if f.reads_currencies], ids=lambda each: each.name
)
def test_every_format_reads_a_currency(file_format: type[Format]) -> None:
    columns = list(file_format.table["currency"])
    assert file_format(columns).sheet.field(0) == "currency"


@pytest.mark.parametrize(
    "sheet",
    [
        f"{SHOPIFY},Currency\nmug,Mug,A1,5.00,EUR\n",
        f"{SQUARE},Currency\nMug,Regular,A1,5.00,EUR\n",
        "Item,Name,SKU,Price,Inventory Tracking,Currency code\nProduct,Mug,A1,5.00,none,EUR\n",
        "sku,attribute_set_code,name,price,currency\nA1,Default,Mug,5.00,EUR\n",
        "Title,Product URL,SKU,Price,Hosted Image URLs,Currency\nMug,mug,A1,5.00,,EUR\n",
        "handle,fieldType,name,sku,price,currency\nmug,Product,Mug,A1,5.00,EUR\n",
    ],
)
def test_a_price_in_another_currency_fails_in_every_format(desk: Desk, sheet: str) -> None:
    job = desk.imported(sheet)
    assert (job["status"], job["created"]) == ("COMPLETED", 0)
    assert [error["code"] for error in job["errors"]] == ["currency_mismatch"]
    assert desk.imported(sheet.replace("EUR", "USD"))["created"] == 1


@pytest.mark.parametrize(
    "sheet",
    [
        f"{SQUARE},Sellable\nMug,Regular,A1,5.00,{{}}\n",
        f"{SQUARE},Enabled Main St,Enabled Depot\nMug,Regular,A1,5.00,{{}},N\n",
        "Item Type,Product Name,Product Code/SKU,Price,Product Visible?,Allow Purchases?\n"
        "Product,Mug,A1,5.00,Y,{}\n",
        "Name *;Reference #;Price tax included;Available for order (0 = No, 1 = Yes)\n"
        "Mug;A1;5.00;{}\n",
    ],
    ids=["square", "square's locations", "bigcommerce", "prestashop"],
)
def test_what_nobody_may_buy_is_not_published(desk: Desk, sheet: str) -> None:
    assert desk.imported(sheet.format("N"))["created"] == 1
    assert desk.products()["mug"]["published"] is False
    assert desk.imported(sheet.format("N"))["unchanged"] == 1


def test_one_of_squares_variants_that_is_not_sold_cannot_be_bought(desk: Desk) -> None:
    header = f"{SQUARE},Sellable,Current Quantity Main"
    desk.imported(f"{header}\nMug,Red,A1,5.00,Y,3\nMug,Blue,A2,5.00,N,4\n")
    mug = desk.products()["mug"]
    assert mug["published"] is True
    assert [(v["title"], v["stock"]) for v in mug["variants"]] == [("Red", 3), ("Blue", 0)]


MAGENTO = "sku,product_type,attribute_set_code,name,visibility,price,qty,configurable_variations"


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("Not Visible Individually", "Catalog, Search"),
        ("Nicht einzeln sichtbar", "Katalog, Suche"),
        ("Niet afzonderlijk zichtbaar", "Catalogus"),
        ("1", "4"),
        ("", ""),
        ("Catalog, Search", "Search"),
    ],
)
def test_magentos_variants_are_those_that_a_product_names_whatever_their_visibility(
    desk: Desk, hidden: str, shown: str
) -> None:
    rows = [
        f'T-R,simple,Top,Tee-Red,"{hidden}",20,3,',
        f'M,simple,Top,Mug,"{shown}",5,9,',
        f'T-B,simple,Top,Tee-Blue,"{hidden}",21,4,',
        f'T,configurable,Top,Tee,"{shown}",,,"sku=T-R,color=Red|sku=T-B,color=Blue"',
    ]
    for order in (rows, rows[::-1]):
        job = desk.imported("\n".join([MAGENTO, *order]) + "\n")
        assert (job["total"], job["errors"]) == (2, [])
    products = desk.products()
    assert {slug: product["published"] for slug, product in products.items()} == {
        "tee": True,
        "mug": True,
    }
    assert [
        (v["title"], v["sku"], v["price"], v["stock"]) for v in products["tee"]["variants"]
    ] == [
        ("Red", "T-R", "20.00", 3),
        ("Blue", "T-B", "21.00", 4),
    ]


@pytest.mark.parametrize(
    "both", ["カタログ、検索", "Søg", "Arama", "Catalog; Search", "Katalog", "检索，目录"]
)
def test_magento_products_that_are_visible_in_any_language_are_published(
    desk: Desk, both: str
) -> None:
    rows = "".join(f"{sku},simple,Top,{sku},{both},5,1,\n" for sku in ("A", "B"))
    assert desk.imported(f"{MAGENTO}\n{rows}")["errors"] == []
    assert [product["status"] for product in desk.products().values()] == ["ACTIVE"] * 2


def test_a_magento_product_whose_variants_the_one_before_has_fails_alone(desk: Desk) -> None:
    variants = '"sku=T-R,color=Red|sku=T-B,color=Blue"'
    rows = [f'{sku},configurable,Top,{sku},"Catalog, Search",,,{variants}' for sku in "TO"]
    rows += [f"T-{c},simple,Top,Tee-{c},Not Visible Individually,20,3," for c in "RB"]
    job = desk.imported("\n".join([MAGENTO, *rows]) + "\n")
    assert {error["row"] for error in job["errors"]} == {3}
    assert [product["name"] for product in desk.products().values()] == ["T"]


def test_a_variant_of_two_magento_products_is_of_the_first(desk: Desk) -> None:
    rows = [
        "T-R,simple,Top,Tee-Red,Not Visible Individually,20,3,",
        'T,configurable,Top,Tee,"Catalog, Search",,,"sku=T-R,color=Red|sku=T-B,color=Blue"',
        "T-B,simple,Top,Tee-Blue,Not Visible Individually,21,4,",
        'O,configurable,Top,Outfit,"Catalog, Search",,,"sku=T-R,color=Red"',
    ]
    job = desk.imported("\n".join([MAGENTO, *rows]) + "\n")
    assert [(error["row"], error["code"]) for error in job["errors"]] == [(5, "missing_price")]
    (tee,) = desk.products().values()
    assert [(v["title"], v["price"]) for v in tee["variants"]] == [
        ("Red", "20.00"),
        ("Blue", "21.00"),
    ]


def test_a_magento_product_that_is_not_visible_in_any_language_is_not_created(desk: Desk) -> None:
    job = desk.imported(f"{MAGENTO}\nPART,simple,Top,Part,Nicht einzeln sichtbar,1.50,5,\n")
    assert [error["code"] for error in job["errors"]] == ["not_found"]


def test_a_deciding_column_is_answered_by_a_field_or_by_null(desk: Desk) -> None:
    sheet = f"{SQUARE},Status\nMug,Regular,A1,5.00,inactive\n"
    job = desk.waiting(sheet)
    path = f"/api/admin/jobs/{job['id']}/mapping"
    columns: dict[str, Any] = {"Item Name": "name", "SKU": "sku", "Price": "price"}
    refused = desk.shop.post(path, {"columns": columns})
    assert refused.status == 422
    assert [(e["field"], e["code"]) for e in refused.json["errors"]] == [
        ("columns.Status", "undecided_column")
    ]
    assert desk.shop.post(path, {"format": "square"}).status == 422
    assert desk.shop.post(path, {"columns": columns | {"Status": "status"}}).status == 200
    desk.finished(job["id"])
    assert desk.products()["mug"]["status"] == "DRAFT"
    job = desk.waiting(sheet)
    again = desk.answered(job, columns={"Status": None}, format="square")
    assert counts(again) == [0, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("columns", "days", "price"),
    [
        ("sale_price_effective_date", "2020-01-01T00:00+0100/2020-02-01T00:00+0100", "20.00"),
        ("sale_price_effective_date", "2020-01-01T00:00+0100/2099-02-01T00:00+0100", "15.00"),
        ("sale_price_effective_date", "2099-01-01/2099-02-01", "20.00"),
        ("Sale end date", "2020-02-01", "20.00"),
        ("Aktionspreis von,Aktionspreis bis", "01.01.2020,31.12.2099", "15.00"),
        ("Aktionspreis von,Aktionspreis bis", "01.01.2020,31.01.2020", "20.00"),
        ("Aktionspreis von,Aktionspreis bis", "01.01.2099,", "20.00"),
    ],
)
def test_a_sale_price_counts_by_the_days_that_the_file_says(
    desk: Desk, columns: str, days: str, price: str
) -> None:
    job = desk.waiting(f"Title,Our Price,Sale price,{columns}\nMug,20.00,15.00,{days}\n")
    fields = {column["column"]: column["field"] for column in job["columns"]}
    others = {name: field for name, field in fields.items() if name not in columns.split(",")}
    refused = desk.shop.post(f"/api/admin/jobs/{job['id']}/mapping", {"columns": others})
    assert [(e["field"], e["code"]) for e in refused.json["errors"]] == [
        (f"columns.{name}", "undecided_column") for name in columns.split(",")
    ]
    assert counts(desk.answered(job, columns=fields)) == [1, 0, 0, 0, 1]
    assert desk.products()["mug"]["price"] == price


def test_a_mapping_that_names_no_deciding_column_is_asked_about_or_refused(desk: Desk) -> None:
    sheet = "Article,Our Price,Currency\nMug,5.00,EUR\n"
    mapping = json.dumps({"Article": "name", "Our Price": "price"})
    assert desk.waiting(sheet, mapping=mapping)
    job = desk.imported(sheet, mapping=mapping, onUnknownColumns="fail")
    assert job["error"]["code"] == "mapping_does_not_fit"
    assert '"Currency"' in job["error"]["message"]


def test_a_second_price_or_stock_is_no_deciding_column(desk: Desk) -> None:
    """Files have several of them, and one is read."""
    found = recognise([*SHOPIFY.split(","), "Unit price", "Sichtbar ab"])
    assert found is not None and found.name == "shopify"


def test_only_rows_of_the_main_store_view_are_read(desk: Desk) -> None:
    sheet = (
        f"{MAGENTO_1}\n"
        "A,admin,base,Mug,mug,100,3,Enabled\n"
        "A,russian,base,Kruzhka,mug-ru,7000,,\n"
        "B,russian,base,Chashka,cup,500,,\n"
    )
    mapping = {
        **{"sku": "sku", "store": "storeView", "name": "name", "price": "price"},
        **{"qty": "stock", "status": "status", "websites": None, "url_key": None},
    }
    job = desk.imported(sheet, mapping=json.dumps(mapping))
    (mug,) = desk.products().values()
    assert (mug["name"], mug["price"]) == ("Mug", "100.00")
    assert [(e["row"], e["code"]) for e in job["errors"]] == [(4, "other_store_view")]
    assert {"code", "message", "column"} <= job["warnings"][-1].keys()
    assert "other_store_view" in [each["code"] for each in job["warnings"]]


TILL = """\
Handle,SKU,Name,Available for sale [Main St],Price [Main St],In stock [Main St],Low stock
mug,M1,Mug,N,100.00,13.000,5.000
"""


def test_a_column_that_is_called_sku_is_proposed_as_it_before_a_number_of_the_item() -> None:
    header = ["Item number", "Title", "Custom label (SKU)", "Start price"]
    proposed = propose(header, [["123456789012", "Mug", "MUG", "5.00"]])
    assert proposed == [None, "name", "sku", "price"]


def test_a_tills_columns_of_stock_and_sale_are_decided_though_they_name_its_shop(
    desk: Desk,
) -> None:
    job = desk.waiting(TILL)
    fields = {column["column"]: column["field"] for column in job["columns"]}
    assert fields["In stock [Main St]"] == "stock"
    assert fields["Available for sale [Main St]"] == "published"
    for column in ("In stock [Main St]", "Available for sale [Main St]"):
        mapping = {name: field for name, field in fields.items() if name != column}
        assert desk.refused_answer(job, columns=mapping) == (
            f"columns.{column}",
            "undecided_column",
        )
    assert counts(desk.answered(job, columns=fields)) == [1, 0, 0, 0, 1]
    mug = desk.products()["mug"]
    assert (mug["published"], mug["variants"][0]["stock"]) == (False, 13)
    assert mug["lowStockThreshold"] == 5
