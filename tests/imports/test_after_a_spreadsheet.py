"""What a spreadsheet does to a CSV that it opens and saves hurts nothing."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.exports.cells import Text, cell
from chalicelib.imports.formats import sheet
from chalicelib.values.spreadsheets import is_date_of, is_number_of, is_retyped
from tests.support.import_desk import Desk, counts


@pytest.mark.parametrize(
    ("text", "saved"),
    [
        *(("00831757110", "831757110"), ("0012345678905", "12345678905"), ("007", "7")),
        *(("1.750", "1.75"), ("1.50", "1.5"), ("2.0", "2"), ("010.20", "10.2")),
        *(
            ("4102810954E5", "4.1E+14"),
            ("4102810954E5", "4.10E+14"),
            ("4006381333931", "4.00638E+12"),
        ),
        *(("831757.750", "831757,75"), ("1.750", "1750")),
    ],
)
def test_a_number_that_a_spreadsheet_wrote_otherwise_is_recognised(text: str, saved: str) -> None:
    assert is_number_of(saved, text)
    assert is_retyped(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("7", "7"),
        ("7", "8"),
        ("10", "100"),
        ("A7", "A07"),
        ("1.5", "15"),
        ("", "0"),
        ("4.1E+14", "41"),
    ],
)
def test_another_number_is_not(one: str, other: str) -> None:
    assert not is_number_of(one, other)


@pytest.mark.parametrize(
    ("text", "saved"),
    [
        *(("1-2", "02-Jan"), ("1-2", "01. Feb"), ("1/2", "02-Jan"), ("3-4", "2026-04-03")),
        *(
            ("1-2", "2026-01-02 00:00:00"),
            ("5.6", "05. Jun"),
            ("1/2", "01.02.2026"),
            ("1-2", "Jan-02"),
        ),
    ],
)
def test_a_date_that_was_a_size_is_recognised(text: str, saved: str) -> None:
    assert is_date_of(saved, text)
    assert not is_date_of(saved, "7-8")
    assert not is_date_of("Large", text)


@given(st.from_regex(r"[0-9]{1,16}([.,/-][0-9]{1,4})?([eE][0-9]{1,2})?", fullmatch=True))
def test_a_marked_cell_is_read_back_as_it_was(text: str) -> None:
    assert sheet.cell([cell(Text(text))], 0) == text


PRODUCT: dict[str, Any] = {
    "name": "Sizes",
    "slug": "sizes",
    "price": 5,
    "variants": [
        {"title": "1-2", "sku": "00831757110", "barcode": "0012345678905", "stock": 8},
        {"title": "3-4", "sku": "1.750", "stock": 9},
        {"title": "010", "stock": 3},
    ],
}


OURS = "slug,variantTitle,variantSku,variantPrice,stock,barcode\n"


def test_what_a_spreadsheet_made_of_skus_keeps_those_of_the_shop(desk: Desk) -> None:
    before = desk.shop.made("/api/admin/products", PRODUCT)
    job = desk.imported(
        f"{OURS}sizes,1-2,831757110,,7,12345678905\nsizes,3-4,1.75,,9,\nsizes,10,,,3,\n"
    )
    assert counts(job) == [0, 1, 0, 0, 1], job["errors"]
    after = desk.products()["sizes"]
    kept = ("id", "title", "sku", "barcode")
    assert [[v[name] for name in kept] for v in after["variants"]] == [
        [v[name] for name in kept] for v in before["variants"]
    ]
    assert [v["stock"] for v in after["variants"]] == [7, 9, 3]


def test_a_size_that_became_a_date_is_an_error_of_its_row(desk: Desk) -> None:
    desk.shop.made("/api/admin/products", PRODUCT)
    before = desk.products()
    job = desk.imported(f"{OURS}sizes,02-Jan,,,8,\n")
    assert [(e["row"], e["code"]) for e in job["errors"]] == [(2, "spreadsheet_date")]
    assert '"1-2"' in job["errors"][0]["message"]
    assert desk.products() == before


def test_a_single_variant_keeps_its_sku(desk: Desk) -> None:
    desk.imported("slug,name,sku,barcode,price\nmug,Mug,'007,'00123456,5.00\n")
    assert desk.products()["mug"]["sku"] == "007"
    job = desk.imported("slug,name,sku,price\nmug,Mug,7,6.00\n")
    assert (job["updated"], desk.products()["mug"]["sku"]) == (1, "007")


def test_a_new_sku_is_not_taken_for_another(desk: Desk) -> None:
    desk.shop.made("/api/admin/products", PRODUCT)
    job = desk.imported(f"{OURS}sizes,5-6,831757111,6.00,7,\n")
    assert job["updated"] == 1
    assert [v["sku"] for v in desk.products()["sizes"]["variants"]][-1] == "831757111"
