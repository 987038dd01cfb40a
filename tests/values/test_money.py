"""Amounts: what is one, and how it is written."""

from decimal import Decimal

import pytest

from chalicelib.values import money


@pytest.fixture(autouse=True)
def euro(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURRENCY", "EUR")


@pytest.mark.parametrize(
    ("sent", "amount"),
    [
        (19.99, "19.99"),
        (" 19.9 ", "19.90"),
        (Decimal("1e2"), "100.00"),
        (7, "7.00"),
        ("-0", "0.00"),
        (30.299999999999997, "30.30"),
        ("1.000001", "1.00"),
        ("999999999999.99", "999999999999.99"),
        ("0" * 63 + "5", "5.00"),
    ],
)
def test_an_amount_has_the_decimals_of_the_currency(sent: object, amount: str) -> None:
    found = money.parse(sent)
    assert money.render(found) == amount and not found.is_signed()


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (True, "must be an amount"),
        (None, "must be an amount"),
        ([1], "must be an amount"),
        ("", "must be an amount"),
        ("1_0", "must be an amount"),
        ("NaN", "must be an amount"),
        ("Infinity", "must be an amount"),
        ("0" * 64 + "5", "must be an amount"),
        ("1.0000011", "at most 2 decimals"),
        ("1.005", "at most 2 decimals"),
        ("1e12", "must be below 1000000000000"),
        ("999999999999.9999999", "must be below 1000000000000"),  # so near that it is 1e12
        ("-999999999999.9999999", "must be below 1000000000000"),
        ("-1e9999999", "must be below 1000000000000"),
    ],
)
def test_anything_else_is_refused_with_the_reason(sent: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        money.parse(sent)


@pytest.mark.parametrize(
    ("currency", "decimals"),
    [("EUR", 2), ("JPY", 0), ("ISK", 0), ("KWD", 3), ("BHD", 3), ("CLF", 4), ("XYZ", 2)],
)
def test_a_currency_has_its_decimals_in_iso_4217(
    currency: str, decimals: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert money.decimals(currency) == decimals
    monkeypatch.setenv("CURRENCY", currency)
    assert money.decimals() == decimals
