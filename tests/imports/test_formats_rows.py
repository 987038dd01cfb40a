"""Rows of each format become the API's product fields, and each value knows its cell."""

import csv
import io
from datetime import date
from typing import Any

import pytest

from chalicelib.imports.csv.faults import FileRejected, RowError
from chalicelib.imports.csv.groups import group_rows
from chalicelib.imports.csv.opening import open_csv
from chalicelib.imports.formats import ImportedProduct, Shop, read_as
from chalicelib.imports.formats.report import report
from tests.imports.test_formats import products as read

pytestmark = pytest.mark.thorough

SHOP = Shop("USD", date(2026, 11, 20))

SHOPIFY_OLD = (
    "Handle,Title,Body (HTML),Vendor,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Value,"
    "Variant SKU,Variant Inventory Tracker,Variant Inventory Qty,Variant Price,"
    "Variant Compare At Price,Image Src,Image Position,Image Alt Text,SEO Title,SEO Description,"
    "Status"
)
SHOPIFY_NEW = (
    "Title,URL handle,Description,Vendor,Type,Tags,Published on online store,Status,SKU,"
    "Option1 name,Option1 value,Price,Compare-at price,Inventory tracker,Inventory quantity,"
    "Product image URL,Image alt text,SEO title"
)
WOO = (
    "ID,Type,SKU,Name,Published,Description,Date sale price ends,In stock?,Stock,Sale price,"
    "Regular price,Categories,Tags,Images,Parent,Attribute 1 name,Attribute 1 value(s),"
    "Attribute 2 name,Attribute 2 value(s)"
)
HIDING = f"{WOO},Visibility in catalog"
SPREE = (
    "slug,sku,name,status,description,price,compare_at_price,currency,track_inventory,"
    "inventory_count,image1_src,option1_name,option1_value,option2_value,category1,category2"
)
OURS = (
    "slug,name,description,status,price,compareAtPrice,sku,tags,variantTitle,variantSku,"
    "variantPrice,stock,imageUrl,imageAlt,published"
)


def csv_of(header: str, *rows: dict[str, Any]) -> bytes:
    """A file with this header; each row gives some columns."""
    out = io.StringIO()
    writer = csv.DictWriter(out, header.split(","))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def products(data: bytes) -> list[ImportedProduct]:
    return read(data, SHOP)


def product(header: str, *rows: dict[str, Any]) -> ImportedProduct:
    (only,) = products(csv_of(header, *rows))
    return only


def faults(product: ImportedProduct) -> list[tuple[int, str, str]]:
    return [(error.row, error.field, error.code) for error in product.errors]


# --- recognising ---------------------------------------------------------------------------------


def test_unknown_columns_are_named_with_the_nearest_known_ones():
    with pytest.raises(FileRejected) as caught:
        read_as(["Artikel", "Prices", "Descripton"])
    assert caught.value.code == "unknown_columns"
    for hint in ('"Artikel"', '"Prices" may be "price"', '"Descripton" may be "description"'):
        assert hint in caught.value.message


def test_a_duplicate_column_is_refused():
    with pytest.raises(FileRejected) as caught:
        read_as(["slug", "name", "Price", "price"])
    assert caught.value.code == "duplicate_column"


def test_unread_columns_are_listed_except_those_of_the_report():
    remarks = ["error row", "error field", "error code", "error message"]
    file_format = read_as(["URL handle", "Title", "warehouse", *remarks])
    assert file_format.ignored_columns == ["warehouse"]


# --- our own format -----------------------------------------------------------------------------


def test_either_price_column_on_a_variants_row_is_the_variants_price():
    mug = product(
        OURS,
        {"slug": "mug", "name": "Mug", "price": "9", "variantTitle": "Small"},
        {"slug": "mug", "price": "10", "variantTitle": "Large"},
        {"slug": "mug", "variantPrice": "11", "variantTitle": "Huge"},
    )
    assert [v["price"] for v in mug.values["variants"]] == ["9.00", "10.00", "11.00"]
    assert mug.values["price"] == "9.00"


def test_a_stock_list_by_variant_sku_changes_nothing_else():
    counted = product("slug,variantSku,stock", {"slug": "mug", "variantSku": "M-1", "stock": 4})
    assert counted.values == {"slug": "mug", "variants": [{"sku": "M-1", "stock": 4}]}
    assert not counted.lowest_price


def test_a_zero_compare_at_price_is_none_and_a_blank_one_unchanged():
    assert product(OURS, {"slug": "a", "compareAtPrice": "0.0"}).values["compareAtPrice"] is None
    assert "compareAtPrice" not in product(OURS, {"slug": "a"}).values


def test_every_wrong_cell_is_reported_by_row_and_column():
    bad, good = products(
        csv_of(
            OURS,
            {"slug": "a", "name": "A", "price": "cheap", "status": "sold"},
            {"slug": "a", "variantTitle": "S", "stock": "some"},
            {"slug": "b", "name": "B", "price": "1"},
        )
    )
    assert sorted(faults(bad)) == [
        (2, "price", "not_an_amount"),
        (2, "status", "unknown_status"),
        (3, "stock", "not_a_whole_number"),
    ]
    assert not good.errors


def test_each_value_has_the_row_and_column_of_its_cell():
    url = "https://img.example/u"
    mug = product(
        OURS,
        {"slug": "mug", "name": "Mug", "variantTitle": "S", "variantSku": "1", "imageUrl": url},
        {"slug": "mug", "variantTitle": "L", "variantSku": "2", "variantPrice": "3"},
    )
    assert mug.locate("name") == (2, "name")
    assert mug.locate("variants.1.price") == (3, "variantPrice")
    assert mug.locate("variants.1.title") == (3, "")
    assert mug.locate("images.0.url") == (2, "imageUrl")
    assert mug.locate("vendor") == (2, "")


def test_a_sku_in_scientific_notation_is_kept():
    spoilt = {"slug": "mug", "sku": "4.00638E+12"}
    assert product("slug,sku,price", spoilt).values["sku"] == "4.00638E+12"


@pytest.mark.parametrize(
    ("header", "row", "fault"),
    [
        ("slug,name,price", {"price": "5"}, (2, "", "missing_key")),
        ("sku,price", {"sku": "4.00638E+12", "price": "1"}, (2, "sku", "spoilt_sku")),
        (WOO, {"Type": "grouped", "SKU": "G"}, (2, "Type", "unsupported_type")),
        (WOO, {"Type": "variation", "SKU": "V"}, (2, "Parent", "missing_key")),
        (SPREE, {"slug": "mug", "currency": "EUR"}, (2, "currency", "currency_mismatch")),
    ],
    ids=["no key", "a spoilt SKU", "a group", "no parent", "another currency"],
)
def test_a_row_that_is_no_product_of_the_shop_is_an_error(header, row, fault):
    assert faults(product(header, row))[0] == fault


@pytest.mark.parametrize(
    "error", ["#N/A", "#NV", " #REF!", "#NAME?", "#DIV/0!", "#VALEUR!", "########", "Err:502"]
)
@pytest.mark.parametrize("column", [0, 1, 2])
def test_an_error_of_a_spreadsheet_is_no_sku_and_no_name(error, column):
    cells = ["A-1", "Mug", "5"]
    cells[column] = error
    broken, good = products(f"sku,name,price\n{','.join(cells)}\nZ-1,#1 Dad Mug!,1\n".encode())
    assert faults(broken) == [(2, ("sku", "name", "price")[column], "spreadsheet_error")]
    assert not good.errors


def test_an_error_of_a_spreadsheet_in_a_column_that_is_not_read_is_none():
    (mug,) = products(b"Handle,Title,Variant SKU,Variant Price,Cost\nmug,Mug,A,5,#N/A\n")
    assert not mug.errors


# --- Shopify -------------------------------------------------------------------------------------


def test_the_shopify_default_title_is_a_product_without_options():
    own = {"Title": "Mug", "URL handle": "mug", "SKU": "M-1", "Price": "9.5", "Status": "Draft"}
    option = {"Option1 name": "Title", "Option1 value": "Default Title"}
    stock = {"Inventory tracker": "shopify", "Inventory quantity": "-2"}
    mug = product(SHOPIFY_NEW, own | option | stock)
    assert mug.single
    assert (mug.values["sku"], mug.values["price"], mug.values["stock"]) == ("M-1", "9.50", 0)
    assert "variants" not in mug.values


def test_shopify_products_are_active_if_the_file_has_no_status():
    header = SHOPIFY_OLD.removesuffix(",Status")
    row = {"Handle": "tee", "Title": "Tee", "Variant Price": "1", "Published": "false"}
    tee = product(header, row)
    assert tee.if_new == {"status": "ACTIVE"}
    assert tee.values["published"] is False


@pytest.mark.parametrize(
    ("header", "visibility", "status", "published"),
    [
        (SHOPIFY_NEW, {"Status": "Unlisted"}, "ACTIVE", False),
        (WOO, {"Published": "0"}, "ACTIVE", False),
        (WOO, {"Published": "-1"}, "DRAFT", None),
        (WOO, {"Published": "2"}, "DRAFT", None),
        (HIDING, {"Published": "1", "Visibility in catalog": "hidden"}, "ACTIVE", False),
        (HIDING, {"Published": "1", "Visibility in catalog": "visible"}, "ACTIVE", True),
    ],
    ids=["unlisted", "private", "a draft", "pending", "hidden", "visible"],
)
def test_a_product_that_another_shop_hides_is_not_published(header, visibility, status, published):
    of_shopify = {"URL handle": "mug", "Title": "Mug", "Price": "1"}
    of_woocommerce = {"Type": "simple", "SKU": "M", "Name": "Mug", "Regular price": "20"}
    row = of_shopify if header == SHOPIFY_NEW else of_woocommerce
    values = product(header, row | visibility).values
    assert values["status"] == status
    assert published is None or values["published"] is published


def test_variants_without_options_are_distinguished_by_sku():
    rows = [{"Handle": "tee", "Variant SKU": sku, "Variant Price": "1"} for sku in ("A", "B")]
    tee = product(SHOPIFY_OLD, *rows)
    assert [v["sku"] for v in tee.values["variants"]] == ["A", "B"]


@pytest.mark.parametrize(
    ("header", "row", "price", "total"),
    [
        (SHOPIFY_OLD, {"Handle": "a", "Title": "A"}, "Variant Price", {"Variant Price": "5"}),
        (SHOPIFY_NEW, {"URL handle": "a", "Title": "A"}, "Price", {"Inventory quantity": "5"}),
        (SPREE, {"slug": "a", "name": "A"}, "price", {"price": "5", "description": "Total"}),
        (OURS, {"slug": "a", "name": "A"}, "price", {"price": "5"}),
    ],
)
def test_a_total_row_at_the_end_is_an_error(header, row, price, total):
    summed = product(header, {**row, price: "1"}, total)
    assert faults(summed) == [(3, next(iter(total)), "names_nothing")]


# --- WooCommerce ---------------------------------------------------------------------------------


def test_skus_that_differ_in_punctuation_make_different_slugs():
    rows = [{"Type": "simple", "SKU": s, "Name": "X", "Regular price": "1"} for s in ("A/1", "A-1")]
    first, second = products(csv_of(WOO, *rows))
    assert first.slug != second.slug


def test_a_woocommerce_parent_without_a_sku_is_identified_by_its_id():
    parent = {"ID": "44", "Type": "variable", "Name": "Tee"}
    other = {"ID": "9", "Type": "simple", "Name": "Mug", "Regular price": "1"}
    red = {"Type": "variation", "Parent": "id:44", "Name": "Tee - Red", "Regular price": "2"}
    first, mug, rest = products(csv_of(WOO, parent, other, red))
    assert first.slug == rest.slug == "product-44"
    assert mug.slug == "mug-9"


def test_a_sale_price_counts_during_the_sale():
    row = {"Type": "simple", "SKU": "M", "Name": "Mug", "Regular price": "20", "Sale price": "15"}
    running = product(WOO, row).values
    assert (running["price"], running["compareAtPrice"]) == ("15.00", "20.00")
    over = product(WOO, {**row, "Date sale price ends": "2026-11-19"}).values
    assert over["price"] == "20.00"
    assert over["compareAtPrice"] is None


@pytest.mark.parametrize("sale", ["20", "25"])
@pytest.mark.parametrize(
    "header",
    [
        "Type,SKU,Name,In stock?,Regular price,Sale price",
        "product_type,sku,name,attribute_set_code,price,special_price",
        "Token,SKU,Item Name,GTIN,Price,Online Sale Price",
        "Item,SKU,Name,Image URL (Import),Price,Sale Price",
    ],
)
def test_a_sale_price_that_is_no_reduction_does_not_raise_the_price(header, sale):
    kind = "Product" if header.startswith("Item,") else "simple"
    (mug,) = products(f"{header}\n{kind},M,Mug,1,20,{sale}\n".encode())
    assert not mug.errors
    assert (mug.values["price"], mug.values["compareAtPrice"]) == ("20.00", None)


def test_the_escapes_of_woocommerce_are_removed():
    parent = {"Type": "variable", "SKU": "'-T", "Name": "'@home, '20s", "Published": "'-1"}
    parent["Description"] = "one\\ntwo C:\\\\new"
    variation = {"Type": "variation", "Parent": "'-T", "Published": "'-1", "Regular price": "9"}
    red = {"SKU": "'+T1", "Stock": "'-3", "Attribute 1 value(s)": "Red\\, dark"}
    blue = {"SKU": "T2", "Stock": "7", "Attribute 1 value(s)": "Blue"}
    tee = product(WOO, parent, variation | red, variation | blue)
    assert tee.errors == []
    assert (tee.values["sku"], tee.values["name"]) == ("-T", "@home, '20s")
    assert (tee.values["status"], tee.values["description"]) == ("DRAFT", "one\ntwo C:\\new")
    # A variation of a draft is a draft, and keeps its stock.
    assert [(v["title"], v["sku"], v["stock"]) for v in tee.values["variants"]] == [
        ("Red, dark", "+T1", 0),
        ("Blue", "T2", 7),
    ]


# --- Spree ---------------------------------------------------------------------------------------


def test_a_spree_product_without_options_is_its_master_and_infinite_stock_not_tracked():
    row = {"slug": "mug", "sku": "M", "name": "Mug", "price": "5", "currency": "usd"}
    mug = product(SPREE, row | {"inventory_count": "∞"})
    assert mug.single
    assert (mug.values["price"], mug.values["stock"]) == ("5.00", None)


def test_a_spree_product_without_its_variants_has_no_price():
    assert "price" not in product(SPREE, {"slug": "mug", "name": "Mug", "price": "0.0"}).values


# --- the report ----------------------------------------------------------------------------------


def test_a_report_has_unreadable_rows_and_the_rows_that_failed_with_them():
    data = b'slug,name,price\na,"A,1\nb,B,1,2\n'
    table = open_csv([data])
    file_format = read_as(table.format.header)
    broken, ragged = (group.rows for group in group_rows(table.rows(), file_format))
    later = RowError(3, "price", "refused", "The price is refused.")
    out = b"".join(report(table.format, [(broken, [broken[0].problem]), (ragged, [later])]))
    rows = list(csv.reader(io.StringIO(out.decode("utf-8-sig"))))
    assert rows[1][:3] == ["a", '"A', "1"]
    assert "line 2" in rows[1][6]
    assert rows[2] == ["b", "B", "1,2", "3", "price", "refused", "The price is refused."]
