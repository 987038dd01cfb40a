"""Amounts: decimals from the request to the table and back, never a float.

An amount is a Decimal with at most the currency's number of decimals; it is answered as a string
with exactly those (`"19.90"`, in JPY `"1990"`, in KWD `"19.900"`).
"""

import math
import re
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import Final

from chalicelib import settings

# ISO 4217: the currencies whose minor unit is not two decimals.
_DECIMALS: Final = {
    code: decimals
    for decimals, codes in {
        0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
        3: "BHD IQD JOD KWD LYD OMR TND",
        4: "CLF UYW",
    }.items()
    for code in codes.split()
}
# DynamoDB keeps 38 digits; a larger amount is a typing mistake.
LARGEST: Final = Decimal(10) ** 12
_EXACT: Final = Context(prec=100)
# A sum of doubles, such as 30.299999999999997, means the nearest amount.
_RENDERED: Final = re.compile(r"(?:0|[1-9][0-9]{0,11})(?:\.([0-9]+))?")
_NOISE: Final = Decimal("1e-6")


def decimals(currency: str | None = None) -> int:
    """Return the number of decimals of a currency, by default the shop's."""
    return _DECIMALS.get(currency or settings.currency(), 2)


def parse(value: object) -> Decimal:
    """Return the amount of a number or a numeric string.

    A number within 1e-6 of an amount with the currency's decimals is that amount. Raises ValueError
    with a message for the client: not a number, too many decimals, too large.
    """
    text = str(value).strip()  # of 19.99 what the client wrote; of true, null and lists no number
    try:
        amount = Decimal(text if len(text) <= 64 and "_" not in text else "NaN")
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise ValueError("must be an amount: a number or a numeric string")
    too_large = f"must be below {LARGEST:f}"
    if amount and amount.adjusted() >= LARGEST.adjusted():  # no arithmetic with 1e9999999
        raise ValueError(too_large)
    exact = amount.quantize(Decimal(1).scaleb(-decimals()), context=_EXACT)
    if abs(exact - amount) > _NOISE:
        raise ValueError(f"must have at most {decimals()} decimals ({settings.currency()})")
    if abs(exact) >= LARGEST:
        raise ValueError(too_large)
    return exact or abs(exact)  # zero has no sign


def is_rendered(value: object) -> bool:
    """Return whether the value is an amount as `render` writes it."""
    match = _RENDERED.fullmatch(value) if isinstance(value, str) else None
    return match is not None and len(match[1] or "") == decimals()


def render(amount: Decimal) -> str:
    """Return the amount as the API shows it: a string with exactly the currency's decimals."""
    return f"{amount:.{decimals()}f}"


def round_half_up(amount: Fraction, currency: str | None = None) -> Decimal:
    """Round an amount to the decimals of a currency, by default the shop's, half up."""
    unit = Decimal(1).scaleb(-decimals(currency))
    return unit * math.floor(amount / Fraction(unit) + Fraction(1, 2))


def percent_of(amount: Decimal, percent: str) -> Decimal:
    """Return the percentage of an amount, rounded half up."""
    return round_half_up(Fraction(amount) * Fraction(percent) / 100)


def sort_key(amount: str | Decimal) -> str:
    """Return an amount that is not negative as a text; texts sort as their amounts do."""
    return f"{Decimal(amount):018.4f}"
