"""What a spreadsheet makes of a cell: errors, numbers without their digits, other texts.

Read as text, `#N/A` would be the SKU of several products: the import refuses it, and the export
marks it as text. `00123` becomes 123, `1-2` becomes 02-Jan: the export marks such texts too, and
the import recognises what a spreadsheet has made of a text of the shop.
"""

import re
from decimal import Decimal
from typing import Final

# In the languages in which the import proposes columns.
ERROR: Final = (
    r"(?:#(?:N/[ABD]!?|NV|REF!|BEZUG!|¡REF!|RIF!|VERW!|ADR!|VALUE!|WERT!|VALEUR!|¡?VALOR!|VALORE!"
    r"|WAARDE!|ARG!|NAME\?|NOM\?|¿NOMBRE\?|NOME\?|NAAM\?|NAZWA\?|¡?DIV/0!|DEEL/0!|DZIEL/0!"
    r"|¡?NUM!|ZAHL!|NOMBRE!|GETAL!|LICZBA!|NULL!|NUL!|¡?NULO!|NULLO!|LEEG!|ZERO!|ERROR!|SPILL!"
    r"|CALC!|#{3,})|Err:5[0-9]{2})"
)
# A long number that has lost its digits, such as 4.00638E+12.
SPOILT: Final = r"[+-]?\d(?:[.,]\d+)?[eE]\+?\d{1,2}"
_ERROR: Final = re.compile(ERROR)


def is_error(text: str) -> bool:
    return _ERROR.fullmatch(text) is not None


# Texts that a spreadsheet takes for a number or a date, and writes otherwise.
RETYPED: Final = (
    r"(?:0[0-9]+|[0-9]{12,}|[0-9]+[.,][0-9]*0|0[0-9]+[.,][0-9]+|[0-9]+[.][0-9]{3}"
    r"|[0-9]+(?:[.][0-9]+)?[eE][+-]?[0-9]+|[0-9]{1,4}[-/.][0-9]{1,2}(?:[-/.][0-9]{1,4})?)"
)
_RETYPED: Final = re.compile(RETYPED)
_NUMBER: Final = re.compile(r"([0-9]{1,60})(?:[.,]([0-9]{1,60}))?")
_EXPONENT: Final = re.compile(r"([0-9]{1,20})(?:[.,]([0-9]{1,20}))?[eE]\+?([0-9]{1,3})")
_PAIR: Final = re.compile(r"([0-9]{1,2})[-/.]([0-9]{1,2})")
_DATE: Final = re.compile(
    r"(?P<day>[0-9]{1,2})[-. /]{1,2}[^\W\d_]{3,9}\.?|[^\W\d_]{3,9}\.?[-. /](?P<other>[0-9]{1,2})"
    r"|[0-9]{4}-(?P<month>[0-9]{2})-(?P<of_month>[0-9]{2})(?: 00:00:00)?"
    r"|(?P<first>[0-9]{1,2})[./](?P<second>[0-9]{1,2})[./][0-9]{2,4}"
)


def is_retyped(text: str) -> bool:
    """Return whether a spreadsheet that opens a CSV changes a text, as a number or a date."""
    return _RETYPED.fullmatch(text) is not None


def is_number_of(text: str, stored: str) -> bool:
    """Return whether a spreadsheet writes the stored text as the given number.

    Such as `123` of `00123`, `1.5` of `1.50`, `4.1E+14` of `4102810954E5`.
    """
    if text == stored:
        return False
    exponent = _EXPONENT.fullmatch(text)
    if exponent is None:
        return not _readings(text).isdisjoint(_readings(stored))
    whole, places, power = exponent[1], exponent[2] or "", int(exponent[3])
    for reading in _readings(stored) | _readings_of_power(stored):
        value = Decimal(reading)
        shown = value.scaleb(-power).quantize(Decimal(1).scaleb(-len(places)))
        if shown == Decimal(f"{whole}.{places or 0}"):
            return True
    return False


def is_date_of(text: str, stored: str) -> bool:
    """Return whether a spreadsheet may write a stored text as the given date: `02-Jan` of `1-2`."""
    pair, match = _PAIR.fullmatch(stored), _DATE.fullmatch(text)
    if not pair or not match:
        return False
    numbers = sorted(map(int, filter(None, match.groups())))
    there = sorted(map(int, pair.groups()))
    return numbers == there or (len(numbers) == 1 and numbers[0] in there)


def _readings(text: str) -> set[str]:
    """Return the numbers that a text may be, without zeros that say nothing."""
    match = _NUMBER.fullmatch(text)
    if not match:
        return set()
    whole, places = match[1].lstrip("0") or "0", (match[2] or "").rstrip("0")
    readings = {f"{whole}.{places}" if places else whole}
    return readings | {whole + match[2]} if match[2] and len(match[2]) == 3 else readings


def _readings_of_power(text: str) -> set[str]:
    match = _EXPONENT.fullmatch(text)
    return {f"{Decimal(text.replace(',', '.')):f}"} if match else set()
