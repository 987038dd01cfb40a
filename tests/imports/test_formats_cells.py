"""How cells are read: amounts, stock, booleans, statuses and lists."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.imports.formats import cells
from chalicelib.imports.formats.cells import BadCell, Shop

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


def test_a_shared_currency_sign_is_accepted_for_its_currencies_only():
    assert cells.amount("$12", DOLLARS) == "12.00"
    assert cells.amount("¥1200", YEN) == "1200"
    with pytest.raises(BadCell):
        cells.amount("¥1200", DOLLARS)


def test_three_decimals_are_read_if_the_currency_has_three():
    assert cells.amount("1.299", DINARS) == "1.299"


@given(st.decimals(0, 10**9, places=2))
def test_every_plain_amount_is_read_unchanged(value: Decimal):
    assert cells.amount(str(value), EUROS) == f"{value:.2f}"
    assert cells.amount(f"{value:,.2f}", EUROS) == f"{value:.2f}"


@pytest.mark.parametrize(("cell", "stock"), [("5", 5), ("5.0", 5), ("-3", 0), ("0", 0)])
def test_stock_is_a_whole_number_of_at_least_zero(cell, stock):
    assert cells.stock(cell) == stock


@pytest.mark.parametrize("cell", ["5.5", "1,000", "1e3", "many", "²"])
def test_stock_that_is_not_a_whole_number_is_refused(cell):
    with pytest.raises(BadCell):
        cells.stock(cell)


@pytest.mark.parametrize("cell", ["TRUE", "true", "1", "yes", "ja"])
def test_yes_in_several_languages_is_true(cell):
    assert cells.boolean(cell) is True


def test_a_cell_that_is_neither_yes_nor_no_is_refused():
    assert cells.boolean("Nein") is False
    with pytest.raises(BadCell):
        cells.boolean("maybe")


@pytest.mark.parametrize(
    ("cell", "status"),
    [("Active", "ACTIVE"), ("published", "ACTIVE"), ("draft", "DRAFT"), ("ARCHIVED", "ARCHIVED")],
)
def test_status_words_of_other_systems_are_read(cell, status):
    assert cells.status(cell) == status


def test_a_list_has_each_entry_once_and_may_escape_commas():
    assert cells.listed(r"red, blue,red, Hello\, World,") == ["red", "blue", "Hello, World"]


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
