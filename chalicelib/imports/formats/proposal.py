"""Proposes what the columns of an unknown file mean, for a user to confirm.

The proposal uses the columns' names, in eight languages, and their values. Unclear columns are
proposed as not read: a user notices a missing column, but may not notice a wrong price.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from chalicelib.imports.formats.cells import BadCell, decimal_mark, stock, urls
from chalicelib.imports.formats.mapped import MULTI_COLUMN
from chalicelib.imports.formats.ours import Ours
from chalicelib.imports.formats.sheet import REPORT_COLUMNS, plain
from chalicelib.imports.formats.synonyms import AROUND, NAMES

SAMPLES: Final = 3
_LONGEST_SAMPLE: Final = 200
_OPTIONS: Final = ("option1", "option2", "option3")
_AMOUNT: Final = re.compile(r"\D{0,4}\s?-?\d[\d.,' ]{0,20}\s?\D{0,4}")
_NUMBERS: Final = ("price", "salePrice", "compareAtPrice", "variantPrice")


def propose(columns: Sequence[str], samples: Sequence[Sequence[str]]) -> list[str | None]:
    """The field that each column may be, None: not read. `samples` are the cells of some of the
    first rows.

    A field is proposed once, but pictures and categories; the sureset column has it.
    """
    values = [_values(at, samples) for at in range(len(columns))]
    judged = [_judged(name, found) for name, found in zip(columns, values, strict=True)]
    given: dict[int, str] = {}
    taken: set[str] = set()
    free = iter(_OPTIONS)
    for at in sorted(range(len(columns)), key=lambda at: judged[at][1]):
        field = judged[at][0]
        if field == "option":
            field = next(free, None)
        if field and (field in MULTI_COLUMN or field not in taken):
            given[at] = field
            taken.add(field)
    given = _numbered(given)
    if "price" not in taken:
        _promote(given, ("salePrice", "variantPrice", "compareAtPrice"), "price")
    return [given.get(at) for at in range(len(columns))]


def _numbered(given: dict[int, str]) -> dict[int, str]:
    """The options in the order of their columns."""
    options = iter(_OPTIONS)
    return {at: next(options) if given[at] in _OPTIONS else given[at] for at in sorted(given)}


def _promote(given: dict[int, str], fields: Sequence[str], to: str) -> None:
    """The only price there is is the price, whatever it is called."""
    prices = [at for at, field in given.items() if field in fields]
    if len(prices) == 1 and given[prices[0]] != "variantPrice":
        given[prices[0]] = to


def samples_of(at: int, rows: Sequence[Sequence[str]]) -> list[str]:
    """Up to three different values of a column."""
    return [value[:_LONGEST_SAMPLE] for value in _values(at, rows)[:SAMPLES]]


def _values(at: int, samples: Sequence[Sequence[str]]) -> list[str]:
    cells = (row[at].strip() for row in samples if at < len(row))
    return list(dict.fromkeys(cell for cell in cells if cell))


def _judged(name: str, values: list[str]) -> tuple[str | None, int]:
    """The field of a column, and how far its name is from one that is known: 0 is one of ours."""
    if plain(name) in map(plain, REPORT_COLUMNS):
        return None, 9
    own = Ours.field(name)
    if own is not None and plain(name) == plain(own):
        return _suited(own, values), 0
    for distance, spelt in enumerate(_spellings(name), 1):
        field = _known().get(spelt)
        if field is not None:
            return _suited(field, values), distance
    return _by_values(values), 8


def _suited(field: str, values: list[str]) -> str | None:
    """The field, if the values can be what it holds."""
    field = {"size": "option", "color": "option", "image": "imageUrl"}.get(field, field)
    if not field or not values:
        return field or None
    if field in {*_NUMBERS, "stock", "lowStockThreshold"}:
        return field if _share(values, _is_number) > 0.5 else None
    if field == "imageUrl":
        return field if _share(values, _is_address) > 0.5 else None
    return field


def _by_values(values: list[str]) -> str | None:
    """Only pictures can be recognised by their values alone: a number may be anything."""
    is_picture = values and _share(values, _is_picture) > 0.5
    return "imageUrl" if is_picture else None


def _share(values: list[str], test: Callable[[str], object]) -> float:
    return sum(bool(test(value[:500])) for value in values) / len(values)


def _is_number(value: str) -> bool:
    if _AMOUNT.fullmatch(value[:60]) is not None or decimal_mark(value):
        return True
    try:
        return stock(value) >= 0
    except BadCell:
        return False


def _is_address(value: str) -> bool:
    return all(re.match(r"https?://\S", url, re.IGNORECASE) for url in urls(value))


def _is_picture(value: str) -> bool:
    ends = r"https?://\S+\.(?:jpe?g|png|webp|gif|avif|svg)(?:\?\S*)?"
    return all(re.fullmatch(ends, url, re.IGNORECASE) for url in urls(value))


@cache
def _known() -> dict[str, str]:
    known: dict[str, str] = {}
    for field, names in NAMES.items():
        for name in names.split(","):
            known.setdefault(_spelt(name), field)
    return known


@cache
def _around() -> frozenset[str]:
    return frozenset(map(str.strip, AROUND.split(",")))


def _spellings(name: str) -> list[str]:
    """The name as it is, without what is in brackets, and without the words around it."""
    name = name[:_LONGEST_SAMPLE]
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    bare = re.sub(r"[(\[].*?[)\]]", " ", split)
    words = [word for word in re.split(r"[\W_]+", _folded(bare)) if word]
    core = [word for word in words if word not in _around()]
    whole = "".join(core)
    spelt = [_spelt(name), _spelt(bare), whole, whole.rstrip("0123456789")]
    return [each for each in dict.fromkeys(spelt) if each]


def _spelt(name: str) -> str:
    return re.sub(r"[\W_]+", "", _folded(name))


def _folded(name: str) -> str:
    """Without capitals and accents: Größe is grosse, ilość is ilosc."""
    text = name.casefold().replace("ł", "l").replace("ø", "o").replace("œ", "oe")
    apart = unicodedata.normalize("NFKD", text)
    return "".join(c for c in apart if not unicodedata.combining(c))
