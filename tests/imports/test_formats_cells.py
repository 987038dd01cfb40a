"""How cells are read: amounts, stock, booleans, statuses and lists."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.imports.formats import cells
from chalicelib.imports.formats.cells import BadCell, Shop

pytestmark = pytest.mark.thorough

EUROS = Shop("EUR", date(2026, 11, 20))
DOLLARS = Shop("USD", date(2026, 11, 20))
YEN = Shop("JPY", date(2026, 11, 20))
DINARS = Shop("KWD", date(2026, 11, 20))


@pytest.mark.parametrize(
    ("cell", "amount"),
    [
        ("12.5", "12.50"),
        ("12,5", "12.50"),
        ("12", "12.00"),
        (".5", "0.50"),
        ("0", "0.00"),
        ("12.5000", "12.50"),
        ("1.299,00", "1299.00"),
        ("1,299.00", "1299.00"),
        ("1.234.567,89", "1234567.89"),
        ("1.299.000", "1299000.00"),
        ("1'299.00", "1299.00"),
        ("1 299,5", "1299.50"),
        ("1\u00a0299,00 €", "1299.00"),
        ("€ 12.50", "12.50"),
        ("12.50€", "12.50"),
        ("12.50 EUR", "12.50"),
        ("eur 12.50", "12.50"),
        ("12,-", "12.00"),
        ("12.—", "12.00"),
        ("\u200b12,50\u200e", "12.50"),
    ],
)
def test_an_amount_is_read_in_every_notation(cell, amount):
    assert cells.amount(cell, EUROS) == amount


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("1.299", "ambiguous_amount"),
        ("1,299", "ambiguous_amount"),
        ("0.125", "too_many_decimals"),
        ("-5", "negative_amount"),
        ("$12", "currency_mismatch"),
        ("12.50 USD", "currency_mismatch"),
        ("1E3", "not_an_amount"),
        ("on request", "not_an_amount"),
        ("1,299,00", "not_an_amount"),
        ("12 12", "not_an_amount"),
        ("NaN", "not_an_amount"),
        ("1000000000000", "amount_too_large"),
    ],
)
def test_an_ambiguous_or_invalid_amount_is_refused(cell, code):
    with pytest.raises(BadCell) as caught:
        cells.amount(cell, EUROS)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("cell", "amount"),
    [
        *(("¥1,200", "1200"), ("￥3,000", "3000"), ("12,800円", "12800"), ("12.990", "12990")),
        *(("380.00", "380"), ("1,200,000", "1200000")),
    ],
)
def test_an_amount_without_decimals_is_read_with_its_thousands(cell, amount):
    assert cells.amount(cell, YEN) == amount


@pytest.mark.parametrize(
    ("cell", "code"), [("380.000", "ambiguous_amount"), ("1200,5", "too_many_decimals")]
)
def test_an_amount_without_decimals_that_may_have_some_is_refused(cell, code):
    with pytest.raises(BadCell) as caught:
        cells.amount(cell, YEN)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "cell", ["1 234,5,6", "1'234.5.6", "1 234,5 6", "1,2,3 ", "1.2'3", "1 2 3"]
)
def test_an_amount_with_inconsistent_separators_is_refused(cell):
    for shop in (EUROS, YEN, DINARS):
        with pytest.raises(BadCell):
            cells.amount(cell, shop)


def test_signs_and_decimals_are_those_of_the_currency():
    assert cells.amount("$12", DOLLARS) == "12.00"
    assert cells.amount("¥1200", YEN) == "1200"
    assert cells.amount("1.299", DINARS) == "1.299"
    with pytest.raises(BadCell):
        cells.amount("¥1200", DOLLARS)


@given(st.decimals(0, 10**9, places=2))
def test_every_plain_amount_is_read_unchanged(value: Decimal):
    assert cells.amount(str(value), EUROS) == f"{value:.2f}"
    assert cells.amount(f"{value:,.2f}", EUROS) == f"{value:.2f}"


@pytest.mark.parametrize(
    ("cell", "decimal", "stock"),
    [
        *(("5", "", 5), ("5.0", "", 5), ("-3", "", 0), ("0", "", 0)),
        *(("1,000", ".", 1000), ("1.000", ",", 1000), ("1.000", ".", 1), ("1,250", ".", 1250)),
        *(("1,000,000", "", 1_000_000), ("12 500", "", 12_500), ("1'000", "", 1000)),
        *(("0.000", "", 0), ("-0,000", "", 0), ("9769.000", "", 9769), ("9769.000", ".", 9769)),
        *(("26.067,00", "", 26_067), ("1,144.0", "", 1144), ("12 500,00", ".", 12_500)),
        *(("1.144,00", ".", 1144), ("-1.144,00", "", 0), ("1.144.000,00", "", 1_144_000)),
    ],
)
def test_stock_is_a_whole_number_and_prices_show_what_its_separator_means(cell, decimal, stock):
    assert cells.stock(cell, decimal) == stock


@pytest.mark.parametrize(
    ("cell", "decimal"),
    [
        *((cell, "") for cell in ("5.5", "1,000", "1.250", "1e3", "many", "²", "1.144,50")),
        *(
            ("1.250", "."),
            ("1.250.000", "."),
            ("1.144.00", ""),
            ("1.144 000", ""),
            ("11.44,00", ""),
        ),
    ],
)
def test_stock_that_is_not_a_whole_number_or_ambiguous_is_refused(cell, decimal):
    with pytest.raises(BadCell):
        cells.stock(cell, decimal)


def test_yes_and_no_are_read_in_several_languages_and_other_words_refused():
    assert {cells.boolean(cell) for cell in ("TRUE", "true", "1", "yes", "ja")} == {True}
    assert cells.boolean("Nein") is False
    with pytest.raises(BadCell):
        cells.boolean("maybe")


@pytest.mark.parametrize(
    ("cell", "status"),
    [
        *(("Active", "ACTIVE"), ("published", "ACTIVE"), ("Activo", "ACTIVE")),
        *(("draft", "DRAFT"), ("inaktiv", "DRAFT"), ("ARCHIVED", "ARCHIVED")),
    ],
)
def test_status_words_of_other_systems_are_read(cell, status):
    assert cells.status(cell) == status


def test_a_list_has_each_entry_once_and_may_escape_commas():
    assert cells.parse_list(r"red, blue,red, Hello\, World,") == ["red", "blue", "Hello, World"]


@pytest.mark.parametrize(
    ("cell", "pictures"),
    [
        ("a.jpg, b.jpg", ["a.jpg", "b.jpg"]),
        *((f"https://x/a.jpg{mark}https://x/b.jpg", ["https://x/a.jpg", "https://x/b.jpg"])
          for mark in (",", ", ", ";", " ; ", "|", "\n", " ")),
        ("https://x/a,b.jpg", ["https://x/a,b.jpg"]),
        ("https://x/a.jpg, https://x/a.jpg,", ["https://x/a.jpg"]),
    ],
)  # fmt: skip
def test_a_cell_may_have_several_pictures(cell, pictures):
    assert cells.urls(cell) == pictures
