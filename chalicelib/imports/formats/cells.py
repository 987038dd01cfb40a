"""What people write into cells, and what it means.

Every reader takes the stripped text of a cell that is not blank and raises BadCell otherwise. The
rules are in docs/formats.md.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Final

import orjson

from chalicelib.products.schemas import BARCODE_CHARACTERS
from chalicelib.values import clock, money, spreadsheets

# Unicode's white space, which the API too removes around texts. Python's also has U+001C to U+001F.
# Marks without a width follow: people paste them with a text, and cannot see them.
INVISIBLE: Final = "".join(
    map(chr, (0xAD, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065)))
) + "".join(map(chr, (*range(0x2066, 0x206A), 0xFEFF)))
BLANKS: Final = (
    "".join(c for c in map(chr, range(0x3001)) if c.isspace() and c not in "\x1c\x1d\x1e\x1f")
    + INVISIBLE
)
# The escape of a NUL in JSON; the backslash before it is not itself escaped.
_HAS_NUL: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
_WORDS: Final = {
    True: "true t 1 yes y on x ja j wahr oui vrai si sí sim da tak",
    False: "false f 0 no n off nein falsch non faux não nao nej nie",
}
_BOOLEANS: Final = {word: value for value, words in _WORDS.items() for word in words.split()}
_STATUS_WORDS: Final = {
    "ACTIVE": """
        active published publish enabled live aktiv actif activo attivo actief ativo aktywny""",
    "DRAFT": """
        draft unpublished inactive disabled pending entwurf inaktiv brouillon inactif borrador
        inactivo bozza inattivo concept inactief rascunho inativo szkic nieaktywny""",
    "ARCHIVED": "archived archive discontinued archiviert archivé archivado archiviato",
}
_STATUSES: Final = {word: to for to, words in _STATUS_WORDS.items() for word in words.split()}
# Currencies by sign. One that several share only excludes the other currencies.
SIGNS: Final = {
    "€": "EUR",
    "£": "GBP GIP FKP SHP EGP",
    "$": "USD CAD AUD NZD SGD HKD TWD MXN ARS CLP COP UYU BBD BSD BZD JMD TTD NAD FJD XCD",
    "US$": "USD",
    "C$": "CAD",
    "CA$": "CAD",
    "A$": "AUD",
    "AU$": "AUD",
    "NZ$": "NZD",
    "S$": "SGD",
    "HK$": "HKD",
    "NT$": "TWD",
    "MX$": "MXN",
    "R$": "BRL",
    "¥": "JPY CNY",
    "￥": "JPY CNY",
    "円": "JPY",
    "元": "CNY",
    "₹": "INR",
    "₩": "KRW",
    "₽": "RUB",
    "₺": "TRY",
    "₴": "UAH",
    "₪": "ILS",
    "₫": "VND",
    "฿": "THB",
    "₱": "PHP",
    "₦": "NGN",
    "zł": "PLN",
    "Kč": "CZK",
    "Ft": "HUF",
    "kr": "SEK NOK DKK ISK",
    "kr.": "DKK",
    "Fr.": "CHF",
    "lei": "RON",
    "лв": "BGN",
}
_AMOUNT: Final = re.compile(
    r"(?P<before>[^\d\s.,+-]{1,4}\.?)?\s*(?P<number>[+-]?(?:[0-9][0-9.,' ]*|[.,][0-9]+))"
    r"(?:(?<=[.,])[-–—]{1,2})?\s*(?P<after>[^\d\s.,+-]{1,4}\.?)?"
)
_GROUPED: Final = re.compile(r"[0-9]{1,3}(?:[.,' ][0-9]{3})+")
# What a list counts in.
_UNITS: Final = re.compile(
    r"(?<=[\d ])\s*(?:pcs|pieces|units|pc|ea|stk|stück|st|uds|pezzi|pz|stuks|szt|шт)\.?$",
    re.IGNORECASE,
)
# `0.000` and `9769.000` have decimals: no thousands are written so.
_WHOLE: Final = re.compile(r"[+-]?(?:\d+(?:[.,]0{1,2}|[.,]0{4,})?|(?:0|\d{4,})[.,]000)")
_THOUSANDS: Final = re.compile(r"([+-]?\d{1,3}(?:([.,' ])\d{3})(?:\2\d{3})*)((?!\2)[.,]0+)?")
_DECIMALS: Final = re.compile(r"\d([.,])\d{1,2}(?!\d)(?![.,]\d)")
# A separator or spaces before the start of a URL, or a separator and spaces, as in "a.jpg, b.jpg".
_BETWEEN_URLS: Final = re.compile(r"[,;|](?=https?://)|[,;|]?[\s]+(?=\S)|[|;]", re.IGNORECASE)
# Marks without a width are removed: people paste them with a number, and cannot see them.
_SPACES: Final = str.maketrans(
    {"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'"}
    | dict.fromkeys("\u200b\u200e\u200f\u2060\ufeff", "")
)
_PERIOD: Final = re.compile(r"(\d{4}-\d\d-\d\d[^/]*?) */ *(\d{4}-\d\d-\d\d[^/]*)")
_WHOLE_BARCODE: Final = re.compile(r"([0-9]{8,14})\.0+")
_SPOILT: Final = re.compile(spreadsheets.SPOILT)


class BadCell(ValueError):
    """The text cannot be read as what its column holds: a code and a sentence for the shop."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Shop:
    """What a reading depends on besides the file. `today` decides which sale prices are running."""

    currency: str
    today: date
    location: str = ""  # the location whose stock is read; empty: all locations


# Longer cells are refused without parsing.
_LONGEST: Final = 60


def text(cell: str) -> str:
    """Return a cell's text with its line breaks as LF, otherwise as it is."""
    return cell.replace("\r\n", "\n")


def barcode(cell: str) -> str | None:
    """Return the barcode, "" if the cell has none (blank or only zeros), or None if it is unusable.

    It is unusable if it is too long, or a spreadsheet has rounded its digits. The decimals of a
    whole number are cut off; otherwise the cell is the barcode as it is, with its spaces and signs.
    """
    whole = _WHOLE_BARCODE.fullmatch(cell) if len(cell) <= _LONGEST else None
    text = (whole[1] if whole else cell) if cell.strip("0") else ""
    return None if is_spoilt(text) or len(text) > BARCODE_CHARACTERS else text


def amount(cell: str, shop: Shop) -> str:
    """Parse an amount; return it as a decimal string with the currency's decimals. Raises BadCell.

    It is read from `12.5`, `1.299,00`, `€ 12.50`, `12 EUR`. One separator before exactly three
    digits could be either: it is refused, not guessed, unless the currency has three decimals, or
    none, and then `1,200` can only be thousands. An amount below zero, or in another currency, is
    refused too.
    """
    match = None if len(cell) > _LONGEST else _AMOUNT.fullmatch(cell.translate(_SPACES).strip())
    if not match:
        raise BadCell("not_an_amount", f"{_quote_cell(cell)} is not an amount.")
    for mark in (match["before"], match["after"]):
        if mark:
            _refuse_other_currency(mark, cell, shop)
    number = match["number"].strip()
    if number.startswith("-") and number.strip("-0., '"):
        raise BadCell("negative_amount", f"{_quote_cell(cell)} is below zero.")
    places = money.decimals(shop.currency)
    value = Decimal(_plain(number.lstrip("+-"), cell, places))
    if value >= money.LARGEST:
        raise BadCell("amount_too_large", f"{_quote_cell(cell)} is not below {money.LARGEST:f}.")
    rounded = round(value, places)
    if rounded != value:
        raise BadCell(
            "too_many_decimals",
            f"{_quote_cell(cell)} has too many decimals: {shop.currency} has {places}.",
        )
    return f"{rounded:.{places}f}"


def percent(cell: str) -> Decimal:
    """Parse a percentage such as `12.5`, `12,5` or `12.5 %`. Raises BadCell."""
    match = re.fullmatch(r"([0-9]{1,3}(?:[.,][0-9]{1,6})?) ?%?", cell)
    if not match:
        raise BadCell("not_an_amount", f"{_quote_cell(cell)} is not a percentage.")
    return Decimal(match[1].replace(",", "."))


def part(amount: Decimal, percents: Decimal, shop: Shop) -> Decimal:
    """Return so many percent of an amount, so that what is left of it is rounded half up."""
    left = Fraction(amount) * (100 - Fraction(percents)) / 100
    return amount - money.round_half_up(left, shop.currency)


def currency(cell: str, shop: Shop) -> str:
    """Return the shop's currency, if the cell is its code in whatever case.

    Raises BadCell for any other.
    """
    if cell.upper() != shop.currency:
        raise _other_currency(cell, shop)
    return shop.currency


def stock(cell: str, decimal: str = "") -> int:
    """Parse a number of pieces; below zero (sold before it was counted) it is 0. Raises BadCell.

    `decimal`: as of `parse_whole`.
    """
    return max(parse_whole(cell, decimal), 0)


def parse_whole(cell: str, decimal: str = "") -> int:
    """Parse a whole number, perhaps below zero. Raises BadCell.

    `decimal`: the mark that the row's other numbers have before their decimals, if that is known:
    `1,000` is a thousand where it is a point, and refused where that is unknown.
    """
    number = "" if len(cell) > _LONGEST else _UNITS.sub("", cell.translate(_SPACES))
    if _WHOLE.fullmatch(number) or (decimal and _in_thousandths(number, decimal)):
        digits = re.split("[.,]", number)[0]
    elif match := _THOUSANDS.fullmatch(number):
        grouped, mark, decimals = match.groups()
        if mark == decimal and not decimals:
            raise BadCell("not_a_whole_number", f"{_quote_cell(cell)} is not a whole number.")
        digits = grouped.replace(mark, "")
        if mark in ".," and not (decimal or decimals) and grouped.count(mark) == 1:
            message = (
                f"{_quote_cell(cell)} can be read as {digits} or with decimals."
                f" Write {digits} if it is that many."
            )
            raise BadCell("ambiguous_number", message)
    else:
        raise BadCell("not_a_whole_number", f"{_quote_cell(cell)} is not a whole number.")
    if len(digits) > 10:
        raise BadCell("number_too_large", f"{_quote_cell(cell)} is too large.")
    return int(digits)


def _in_thousandths(number: str, decimal: str) -> bool:
    """Return whether a number has three decimals, which are 000."""
    whole, mark, rest = number.partition(decimal)
    return bool(mark) and re.fullmatch(r"[+-]?\d+", whole) is not None and rest == "000"


def decimal_mark(cell: str) -> str:
    """Return the mark before an amount's decimals, where one or two leave no doubt; else ""."""
    match = None if len(cell) > _LONGEST else _DECIMALS.search(cell)
    return match[1] if match else ""


def boolean(cell: str) -> bool:
    """Parse TRUE or FALSE, or a word for them. Raises BadCell."""
    value = _BOOLEANS.get(_word(cell))
    if value is None:
        raise BadCell("not_a_boolean", f"{_quote_cell(cell)} is neither TRUE nor FALSE.")
    return value


def lead_days(cell: str) -> int:
    """Parse a number of days, which is not below zero. Raises BadCell."""
    days = parse_whole(cell)
    if days < 0:
        raise BadCell("out_of_range", f"{_quote_cell(cell)} is below zero.")
    return days


def specification(cell: str) -> list[object]:
    """Parse a JSON list; what is in it, the product's own rules check. Raises BadCell.

    It has no NUL, no half of a surrogate pair, and is not nested deeply: as a body of the API.
    """
    try:
        found = orjson.loads(cell)
    except ValueError:
        found = None
    if not isinstance(found, list) or _HAS_NUL.search(cell):
        example = '[{"name": "Ring size", "required": true}]'
        raise BadCell("invalid", f"{_quote_cell(cell)} is no JSON list, such as {example}.")
    return found


def status(cell: str) -> str:
    """Parse the status of a product, or a word of another system for it. Raises BadCell."""
    value = _STATUSES.get(_word(cell))
    if value is None:
        raise BadCell(
            "unknown_status", f"{_quote_cell(cell)} is not a status: ACTIVE, DRAFT or ARCHIVED."
        )
    return value


def handle(cell: str) -> str:
    """Return a slug as its shop has it: it knows no capitals."""
    return cell.lower()


def handle_of_address(cell: str) -> str:
    """Return the last part of a product's address, in small letters: `/p/Mug/` → `mug`."""
    return cell.rstrip("/").rsplit("/", 1)[-1].lower()


def single(cell: str) -> list[str]:
    """Return the cell, even an empty one, as a list of one entry."""
    return [cell]


_ENTRIES: Final = re.compile(r"(?:\\[\\,]|[^,])+")
_ESCAPED: Final = re.compile(r"\\([\\,])")


def parse_list(cell: str) -> list[str]:
    r"""Return the entries of a list separated by commas, each once, without blanks around.

    Blank entries are left out. Within an entry, `\,` is a comma, `\\` is `\`.
    """
    parts = (_ESCAPED.sub(r"\1", part).strip(BLANKS) for part in _ENTRIES.findall(cell))
    return list(dict.fromkeys(part for part in parts if part))


def split(separators: str) -> Callable[[str], list[str]]:
    """Return a function that splits a cell at any of these characters.

    It returns the entries that are not blank, stripped, each once, in order.
    """

    def split_entries(cell: str) -> list[str]:
        """Return the different entries of a cell that are not blank, in order."""
        plain = cell.translate({ord(mark): separators[0] for mark in separators[1:]})
        parts = map(str.strip, plain.split(separators[0]))
        return list(dict.fromkeys(part for part in parts if part))

    return split_entries


def listed_by_any_mark(cell: str) -> list[str]:
    """Return a list's entries, separated by commas, or else by semicolons, bars and lines."""
    return parse_list(cell) if "," in cell else split(";|\n")(cell)


def urls(cell: str) -> list[str]:
    """Return the texts in a cell, each once, that commas, semicolons, bars or blanks separate.

    They should be addresses of pictures, but are not checked. A comma within an address separates
    nothing.
    """
    parts = (part.strip(" ,;|\r\n\t") for part in _BETWEEN_URLS.split(cell))
    return list(dict.fromkeys(part for part in parts if part))


def leaf(cell: str) -> str:
    """Return the last step of a category path such as `Men -> Shirts` or `Clothing > Shirts`."""
    return cell.replace("->", ">").rsplit(">", 1)[-1].strip()


def day(cell: str) -> date:
    """Parse a day, such as 2026-11-20 or 20.11.2026; a time after it is ignored. Raises BadCell."""
    match = re.match(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", cell)
    with_points = re.match(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)", cell)
    try:
        if with_points:
            return date(*map(int, reversed(with_points.groups())))
        return date(*map(int, match.groups())) if match else clock.parse(cell[:10]).date()
    except ValueError:
        raise BadCell(
            "not_a_date", f"{_quote_cell(cell)} is not a date such as 2026-11-20."
        ) from None


def first_day(cell: str) -> date:
    """Parse a day, or the first of a period such as 2026-11-20/2026-12-24. Raises BadCell."""
    return day(_split_period(cell)[0])


def last_day(cell: str) -> date:
    """Parse a day, or the last of a period such as 2026-11-20/2026-12-24. Raises BadCell."""
    return day(_split_period(cell)[-1])


def _split_period(cell: str) -> list[str]:
    """Return the two days of a period of ISO 8601, or the cell alone."""
    match = None if len(cell) > _LONGEST else _PERIOD.fullmatch(cell)
    return list(match.groups()) if match else [cell]


def is_spoilt(sku: str) -> bool:
    """Return whether a spreadsheet has turned a number into 4.00638E+12, losing its digits."""
    return len(sku) <= _LONGEST and _SPOILT.fullmatch(sku) is not None


def _word(cell: str) -> str:
    """Return a cell in small letters for a look-up; "" if it is too long."""
    return cell.casefold() if len(cell) <= _LONGEST else ""


def _plain(number: str, cell: str, places: int) -> str:
    """Return a number without separators of thousands, with a point before its decimals.

    Raises BadCell if it is no number, or may be read in two ways. `cell`: for the message.
    """
    kinds = {mark for mark in number if mark in ".,"}
    bare = number.replace("'", "").replace(" ", "")
    if "'" in number or " " in number:
        whole, *decimals = re.split("[.,]", number)
        fits = re.fullmatch("[0-9]*", "".join(decimals)) and len(decimals) < 2
        if not fits or not _GROUPED.fullmatch(whole.strip()):
            raise BadCell("not_an_amount", f"{_quote_cell(cell)} is not an amount.")
        return bare.replace(",", ".")
    if len(kinds) == 2:
        decimal = max(kinds, key=number.rindex)
        whole, _, rest = number.rpartition(decimal)
        if decimal in whole or not _GROUPED.fullmatch(whole):
            raise BadCell("not_an_amount", f"{_quote_cell(cell)} is not an amount.")
        return re.sub("[.,]", "", whole) + "." + rest
    if not kinds:
        return number
    mark = kinds.pop()
    if number.count(mark) > 1:
        if not _GROUPED.fullmatch(number):
            raise BadCell("not_an_amount", f"{_quote_cell(cell)} is not an amount.")
        return number.replace(mark, "")
    whole, _, rest = number.partition(mark)
    if len(rest) == 3 != places and len(whole) <= 3 and whole.strip("0"):
        if not places and (mark == "," or rest != "000"):
            return whole + rest  # 380.000 may be 380
        raise BadCell(
            "ambiguous_amount",
            f"{_quote_cell(cell)} can be read as {whole}{rest} or as {whole}.{rest}. "
            f"Write {whole}{rest}{'.00' if places else ''}, or the amount with {places or 'no'}"
            " decimals.",
        )
    return f"{whole or 0}.{rest or 0}"


def _refuse_other_currency(mark: str, cell: str, shop: Shop) -> None:
    """Raise BadCell unless the mark at an amount is a sign or a code of the shop's currency.

    A mark that is neither a known sign nor three letters, such as `kg`, is `not_an_amount`.
    """
    codes = SIGNS.get(mark) or SIGNS.get(mark.upper()) or SIGNS.get(mark.lower())
    if codes is None:
        if not re.fullmatch("[A-Za-z]{3}", mark):
            raise BadCell("not_an_amount", f"{_quote_cell(cell)} is not an amount.")
        codes = mark.upper()
    if shop.currency not in codes.split():
        raise _other_currency(cell, shop)


def _other_currency(cell: str, shop: Shop) -> BadCell:
    """Return the error that a cell is not in the shop's currency."""
    return BadCell(
        "currency_mismatch", f"{_quote_cell(cell)} is not in the shop's currency, {shop.currency}."
    )


def _quote_cell(cell: str) -> str:
    """Return a cell in quotes, cut to 40 characters."""
    return f'"{cell if len(cell) <= 40 else cell[:39] + "…"}"'
