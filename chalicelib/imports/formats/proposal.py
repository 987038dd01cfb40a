"""Proposes what the columns of an unknown file mean, for a user to confirm.

The proposal uses the columns' names, in eight languages, and their values. Unclear columns are
proposed as not read: a user notices a missing column, but may not notice a wrong price.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

from chalicelib import settings
from chalicelib.imports.formats import cells
from chalicelib.imports.formats.cells import BadCell, decimal_mark, urls
from chalicelib.imports.formats.mapped import MULTI_COLUMN
from chalicelib.imports.formats.ours import Ours
from chalicelib.imports.formats.sheet import REPORT_COLUMNS, is_other_measure, plain
from chalicelib.imports.formats.synonyms import (
    AROUND,
    CURRENCIES,
    EITHER,
    IN_BRACKETS,
    MONEY,
    ODOO,
    ODOO_PRICES,
    fields_by_name,
    fold,
    spell,
    spell_all,
)

SAMPLES: Final = 3
_LONGEST_SAMPLE: Final = 200
_OPTIONS: Final = ("option1", "option2", "option3")
_AMOUNT: Final = re.compile(r"\D{0,4}\s?-?\d[\d.,' ]{0,20}\s?\D{0,4}")
_AMOUNTS: Final = ("price", "salePrice", "compareAtPrice", "variantPrice", "cost")
_COUNTS: Final = ("stock", "lowStockThreshold")
# Fields that are proposed only if another column has no better name.
_VAGUE: Final = {"listPrice": "price", "quantity": "stock"}
_MEANT: Final = {"size": "option", "color": "option", "image": "imageUrl", **_VAGUE}
_STYLES: Final = ("style", "parentstyle")  # what a maker of clothes calls a product
_NAME_LENGTH: Final = 150
_PRICE: Final = re.compile("price|preis|prix|preci|prezz|prij|preco|cena")
# How far names are that other columns may have better.
_WEAK, _UNKNOWN = 6, 9


def propose(columns: Sequence[str], samples: Sequence[Sequence[str]]) -> list[str | None]:
    """Return the field that each column may be, in their order, None: not read.

    `samples` are the cells of some of the first rows. A field is proposed once, but pictures and
    categories; the surest column has it. Options are numbered. The column of sales itself is not
    read; if there is one, a `quantity` is not the stock. A sole sale or compare-at price is the
    price, if no unread column may be one. A sole short description is the name.
    """
    columns = _without_place(columns)
    values = [_values(at, samples) for at in range(len(columns))]
    judged = _judge_columns(columns, values, samples)
    fields: dict[int, str] = {}
    taken: set[str] = set()
    free = iter(_OPTIONS)
    for at in sorted(range(len(columns)), key=lambda at: judged[at][1]):
        field = judged[at][0]
        if field == "option":
            field = next(free, None)
        if field and (field in MULTI_COLUMN or field not in taken):
            fields[at] = field
            taken.add(field)
    if "sale" in taken:
        sold = ("stock", _WEAK)  # a quantity; what is called stock is none that was sold
        fields = {at: f for at, f in fields.items() if f != "sale" and (f, judged[at][1]) != sold}
    fields = _number_options(fields)
    if "price" not in taken:
        # The only price there is is the price, whatever it is called.
        only = _sole_column(fields, ("salePrice", "variantPrice", "compareAtPrice"))
        unread = (name for at, name in enumerate(columns) if at not in fields)
        is_clear = not any(_PRICE.search(spell(name)) for name in unread)
        if only is not None and fields[only] != "variantPrice" and is_clear:
            fields[only] = "price"
    if "name" not in taken:
        only = _sole_column(fields, ("description",))
        if only is not None and all(len(value) <= _NAME_LENGTH for value in values[only]):
            fields[only] = "name"
    return [fields.get(at) for at in range(len(columns))]


def _judge_columns(
    columns: Sequence[str], values: Sequence[list[str]], samples: Sequence[Sequence[str]]
) -> list[tuple[str | None, int]]:
    """Return (field or None, how far its name is from a known one) of each column by itself.

    In a file of Odoo some prices are known by their names. A style's code that repeats is the
    parent's SKU.
    """
    judged = [_judge_column(name, texts) for name, texts in zip(columns, values, strict=True)]
    is_odoo = bool(set(ODOO) & set(map(spell, columns)))
    for at, name in enumerate(columns):
        if is_odoo and (field := ODOO_PRICES.get(spell(name))):
            judged[at] = _suitable_field(field, values[at], name), 1
        elif spell(name).startswith(_STYLES) and _is_repeated_code(at, samples):
            judged[at] = "parentSku", 1
    return judged


def _is_repeated_code(at: int, samples: Sequence[Sequence[str]]) -> bool:
    """Return whether all filled cells of a column are codes, and some are the same.

    Then they are of the product, not of its variants. `at`: of the column in each row.
    """
    codes = [cell for row in samples if at < len(row) and (cell := row[at].strip())]
    return len({*codes}) < len(codes) and all(map(_is_code, codes))


def _without_place(columns: Sequence[str]) -> Sequence[str]:
    """Return the columns' names without the text in brackets that several of them have.

    An example is the shop in `Price [Main street]`. If there are several such texts, all stay.
    """
    asides = Counter(re.findall(r"\[.*?\]", "\n".join(columns)))
    places = [aside for aside, many in asides.items() if many > 1]
    return [name.replace(places[0], "") for name in columns] if len(places) == 1 else columns


def _number_options(fields: dict[int, str]) -> dict[int, str]:
    """Return the fields by column, with the options numbered in the order of their columns."""
    options = iter(_OPTIONS)
    return {at: next(options) if fields[at] in _OPTIONS else fields[at] for at in sorted(fields)}


def _sole_column(field_by_column: Mapping[int, str], fields: Sequence[str]) -> int | None:
    """Return the position of the only column that has one of these fields.

    None for none or several.
    """
    columns = [at for at, field in field_by_column.items() if field in fields]
    return columns[0] if len(columns) == 1 else None


def samples_of(at: int, rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the first three different values of a column that are not blank, cut if long."""
    return [value[:_LONGEST_SAMPLE] for value in _values(at, rows)[:SAMPLES]]


def _values(at: int, samples: Sequence[Sequence[str]]) -> list[str]:
    """Return the different values of a column that are not blank, in order."""
    texts = (row[at].strip() for row in samples if at < len(row))
    return list(dict.fromkeys(cell for cell in texts if cell))


def _judge_column(name: str, values: list[str]) -> tuple[str | None, int]:
    """Return the field of a column (None: unknown), and how far its name is from a known one.

    0: it is the name of our own column; the more had to be left out of the name, the higher. Values
    that do not fit a field, or that need it to be another, are looked at too.
    """
    if plain(name) in map(plain, REPORT_COLUMNS):
        return None, _UNKNOWN
    own = Ours.field(name)
    if own is not None and plain(name) == plain(own):
        return _suitable_field(own, values, name), 0
    for distance, (spelt, is_loose) in enumerate(_spellings(name).items(), 1):
        field = fields_by_name().get(spelt)
        if is_loose and _MEANT.get(field or "", field) in {*_AMOUNTS, *_COUNTS, "sku"}:
            return None, _UNKNOWN
        if field == "name" and spelt in spell_all(EITHER):
            return ("sku" if values and _share(values, _is_code) > 0.5 else "name"), _WEAK
        if field is not None:
            far = _WEAK if field in _VAGUE else distance
            far = 0 if field == "sku" and field in spelt else far  # an item number may be another
            return _suitable_field(field, values, name), far
    return _by_values(values), _UNKNOWN


def _suitable_field(field: str, values: list[str], name: str) -> str | None:
    """Return the field as it is proposed; None if the column's name or values cannot be of it.

    An amount or count whose name has another currency, or values of which half or fewer fit,
    cannot. `listPrice` is proposed as `price`, `quantity` as `stock`.
    """
    field = _MEANT.get(field, field)
    if field in {*_AMOUNTS, *_COUNTS} and _is_other_money(name):
        return None
    fits = _fit_tests().get(field)
    return field if field and (not values or not fits or _share(values, fits) > 0.5) else None


@cache
def _fit_tests() -> Mapping[str, Callable[[str], object]]:
    """Return by field a function that tells whether a value can be what the field holds.

    Fields that hold any text have none.
    """
    return {
        **dict.fromkeys(_AMOUNTS, _is_number),
        **dict.fromkeys(_COUNTS, _is_whole),
        "option": lambda value: "," not in value,  # a list of all sizes is no size
        "imageUrl": _is_address,
        "status": _reads(cells.status),
        "published": _reads(cells.boolean),
        **dict.fromkeys(("saleStarts", "saleEnds", "salePeriod"), _reads(cells.last_day)),
    }


def _by_values(values: list[str]) -> str | None:
    """Return imageUrl if most of the values are pictures; otherwise None.

    Nothing else can be recognised by its values alone: a number may be anything.
    """
    is_picture = values and _share(values, _is_picture) > 0.5
    return "imageUrl" if is_picture else None


def _share(values: list[str], test: Callable[[str], object]) -> float:
    """Return the part of the values that pass a test, from 0 to 1; there has to be one."""
    return sum(bool(test(value[:500])) for value in values) / len(values)


def _is_number(value: str) -> bool:
    """Return whether a value is an amount, perhaps with a currency, or a whole number."""
    is_amount = _AMOUNT.fullmatch(value[:60]) is not None or bool(decimal_mark(value))
    return is_amount or _is_whole(value)


def _reads(read: Callable[[str], object]) -> Callable[[str], bool]:
    """Return a function that tells whether `read` accepts a value, or finds it only ambiguous."""

    def can_read(value: str) -> bool:
        """Return whether a value can be read; one that is an ambiguous number can."""
        try:
            read(value)
        except BadCell as bad:
            return bad.code == "ambiguous_number"
        return True

    return can_read


_is_whole: Final = _reads(cells.stock)


def _is_other_money(name: str) -> bool:
    """Return whether a header names another currency than the shop's, or a share (`%`)."""
    shop = settings.currency()
    upper = (word.upper() for word in _words(name))
    codes = [MONEY.get(word.lower(), word if word in _currencies() else shop) for word in upper]
    return any(is_other_measure(mark, shop) for mark in name) or any(
        shop not in codes_found for codes_found in codes
    )


def _is_code(value: str) -> bool:
    """Return whether a text is a number of an article rather than its name.

    It has no blank, and digits or capitals joined by a mark.
    """
    return re.fullmatch(r"(?=.*\d|[A-Z]+[-_./])[\w./#-]{1,40}", value) is not None


def _is_address(value: str) -> bool:
    """Return whether all of a value's parts are addresses."""
    return all(re.match(r"https?://\S", url, re.IGNORECASE) for url in urls(value))


def _is_picture(value: str) -> bool:
    """Return whether all of a value's parts are addresses that end as those of pictures."""
    ends = r"https?://\S+\.(?:jpe?g|png|webp|gif|avif|svg)(?:\?\S*)?"
    return all(re.fullmatch(ends, url, re.IGNORECASE) for url in urls(value))


@cache
def _currencies() -> frozenset[str]:
    """Return the codes of all currencies, in capitals."""
    return frozenset(CURRENCIES.split())


def _words(name: str) -> list[str]:
    """Return the words of a name as `fold` writes them; `unitPrice` has two."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[\W_]+", fold(split)) if word]


def _spellings(name: str) -> dict[str, bool]:
    """Return the spellings of a name by which it may be known, the nearest first.

    They are the name as it is, without its brackets, and without the words around it. The value of
    each says whether something is left out that says which price, stock or SKU it is, as in `Price
    (10 pieces)`.
    """
    name = re.sub("[#№]", " no ", name[:_LONGEST_SAMPLE])
    bare = re.sub(r"[(\[].*?[)\]]", " ", name)
    money = {settings.currency().lower(), *MONEY}
    core = [word for word in _words(bare) if word not in spell_all(AROUND) and word not in money]
    whole = "".join(core)
    beside = (_words(aside) for aside in re.findall(r"[(\[](.*?)[)\]]", name))
    left_out = {"".join(word for word in words if word not in money) for words in beside}
    is_loose = not left_out <= {"", *spell_all(IN_BRACKETS)}
    spelt = {spell(name): False}
    for each, loose in ((spell(bare), is_loose), (whole, is_loose)):
        spelt.setdefault(each, loose)
    spelt.setdefault(whole.rstrip("0123456789"), True)
    return {each: loose for each, loose in spelt.items() if each}
