"""A file whose columns a user has mapped to fields, and the fields they can be mapped to."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final, NamedTuple

from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format
from chalicelib.imports.formats.ours import Ours
from chalicelib.imports.formats.sheet import ColumnTable, Row, name_columns, plain
from chalicelib.imports.formats.synonyms import find_field
from chalicelib.values import slugs

# Every field, with its description. Fields in `MULTI_COLUMN` take more than one column.
FIELDS: Final[Mapping[str, str]] = {
    "name": "Name of the product",
    "slug": "Handle: the product's name in addresses",
    "description": "Description",
    "sku": "SKU of the product, or of the row's variant where options are mapped",
    "price": "Price",
    "salePrice": "Reduced price; the other price is then the compare-at price",
    "saleStarts": "First day of the reduced price",
    "saleEnds": "Last day of the reduced price",
    "salePeriod": "First and last day of the reduced price, with a slash between",
    "compareAtPrice": "Price before a reduction",
    "stock": "Pieces in stock",
    "barcode": "Barcode, such as an EAN",
    "cost": "What a piece costs the shop",
    "lowStockThreshold": "Stock below which it is low",
    "imageUrl": "Addresses of pictures",
    "imageAlt": "Text of the picture",
    "vendor": "Brand or maker",
    "type": "Kind of product",
    "category": "Categories: the first is the type, the others are tags",
    "tags": "Tags, separated by commas",
    "status": "ACTIVE, DRAFT or ARCHIVED",
    "published": "Whether the shop shows it: yes or no",
    "storefront": "Storefront",
    "currency": "Currency of the prices; must be the shop's",
    "storeView": "Store view of the row; only rows of the default one are read",
    "option1": "First option of a variant, such as its size",
    "option2": "Second option",
    "option3": "Third option",
    "variantTitle": "Title of a variant",
    "variantSku": "SKU of a variant",
    "variantPrice": "Price of a variant",
    "parentSku": "SKU of the product that the row's variant is of",
    "seoTitle": "Title for search engines",
    "seoDescription": "Description for search engines",
}
MULTI_COLUMN: Final = frozenset({"imageUrl", "category"})
_ONE: Final = FIELDS.keys() - MULTI_COLUMN
# A product of eBay lists all values of its options; that is no variant.
_LISTS_OPTIONS: Final = re.compile(r"[^=;|]+=[^=;|]+;")
_KEYS: Final = ("slug", "name", "sku", "variantSku", "parentSku")
_OTHER_KEYS: Final = ("id", "parent")  # only formats have these
# Fields that have another name in a format's table than in a mapping.
_WORDS: Final[Mapping[str, str]] = {"image": "imageUrl"}
_FIELDS: Final = {word: field for field, word in _WORDS.items()}


class Fault(NamedTuple):
    """What is wrong with a mapping: the column, or none for the whole, a code and a sentence."""

    column: str
    code: str
    message: str


class Mapped(Ours):
    """Reads by a mapping from columns to fields; what is not in it is not read."""

    name = "mapped"
    title = "Mapped columns"
    readings: ClassVar = {  # of any other system
        **Ours.readings,
        **dict.fromkeys(("tags", "category"), reading.listed_by_any_mark),
        "slug": slugs.of_key,
        "saleStarts": reading.first_day,
        "saleEnds": reading.last_day,
    }

    def __init__(self, columns: Sequence[str], mapping: Mapping[str, str | None]) -> None:
        names = name_columns(columns)
        super().__init__(names, _table(names, mapping))

    def is_variant(self, row: Row) -> bool:
        """Return whether the row is of a variant; one whose option lists all of them is not."""
        return super().is_variant(row) and not _LISTS_OPTIONS.match(row["option"])


def fields_of(file_format: type[Format]) -> list[str]:
    """Return the fields that a column can give in a format, in the words of a mapping."""
    if issubclass(file_format, Ours):
        return list(FIELDS)
    return [_WORDS.get(field, field) for field in file_format.table]


def field_of(file_format: Format, at: int) -> str | None:
    """Return the field that the column at a position gives, in the words of a mapping.

    None: not read.
    """
    field = file_format.sheet.field(at)
    return _WORDS.get(field, field) if field else None


def remap_format(
    file_format: type[Format], columns: Sequence[str], mapping: Mapping[str, str | None]
) -> Format:
    """Return a format that reads some columns of a file otherwise than it does by itself.

    Of our own format it is a Mapped with all its fields; another one keeps its class, with
    `instead` for the columns that differ.
    """
    columns = name_columns(columns)
    own = file_format(columns)
    usual = {plain(column): field_of(own, at) for at, column in reversed([*enumerate(columns)])}
    if file_format is Ours:  # a mapping has all of its fields, and more
        return Mapped(columns, {**usual, **{plain(c): field for c, field in mapping.items()}})
    instead = {
        column: _FIELDS.get(field, field) if field else None
        for column, field in mapping.items()
        if field != usual[plain(column)]
    }
    return file_format(columns, instead=instead)


def faults(
    columns: Sequence[str],
    mapping: Mapping[str, str | None],
    file_format: type[Format] | None = None,
) -> list[Fault]:
    """Return what is wrong with a mapping for a file with these columns.

    [] if the file can be read. It is judged by itself, or as a change of a format. Only if each
    column can be what it is mapped to: that one identifies the product, that there is something
    else, and then that no column which decides something is left out.
    """
    errors = []
    columns = name_columns(columns)
    plain_columns = [plain(column) for column in columns]
    fields = fields_of(file_format or Mapped)
    column_by_field: dict[str, str] = {}
    if file_format is not None:
        named, own = {plain(column) for column in mapping}, file_format(columns)
        others = ((column, field_of(own, at)) for at, column in enumerate(columns))
        column_by_field = {field: c for c, field in others if field and plain(c) not in named}
    for column, field in mapping.items():
        if plain(column) not in plain_columns:
            errors.append(Fault(column, "unknown_column", f'The file has no column "{column}".'))
        elif field is not None and plain_columns.count(plain(column)) > 1:
            message = f'There are two columns "{column}": which one is meant?'
            errors.append(Fault(column, "duplicate_column", message))
        elif field is not None and field not in fields:
            errors.append(Fault(column, "unknown_field", f'"{field}" is not a field of a product.'))
        elif field in column_by_field and field in _ONE and not _is_own(file_format, column, field):
            message = f'"{column_by_field[field]}" and "{column}" cannot both be {field}.'
            errors.append(Fault(column, "duplicate_field", message))
        elif field is not None:
            column_by_field[field] = column
    keys = _KEYS if file_format is None else (*_KEYS, *_OTHER_KEYS)
    if not errors and not any(field in column_by_field for field in keys):
        message = "No column identifies the product: map a name, a SKU or a handle."
        errors.append(Fault("", "missing_key", message))
    elif not errors and len(column_by_field) < 2:
        message = "Only the product's identity is mapped, so nothing would change."
        errors.append(Fault("", "missing_value", message))
    if not errors:
        named = {plain(column) for column in mapping}
        bound = (
            remap_format(file_format, columns, mapping) if file_format else Mapped(columns, mapping)
        )
        left_out = [column for column in bound.undecided_columns if plain(column) not in named]
        errors = find_undecided(left_out)
    return errors


def find_undecided(columns: Iterable[str]) -> list[Fault]:
    """Return a fault for each of these columns, which decide something and are not mapped."""
    return [
        Fault(
            column,
            "undecided_column",
            f'"{column}" seems to give {find_field(column)}: map it, or map it to null.',
        )
        for column in columns
    ]


def _is_own(file_format: type[Format] | None, column: str, field: str) -> bool:
    """Return whether a format reads the column as this field without a mapping."""
    return (
        file_format is not None and _WORDS.get(own := file_format.field(column) or "", own) == field
    )


def _table(columns: Sequence[str], mapping: Mapping[str, str | None]) -> ColumnTable:
    """Return the columns by the field of the format that each gives.

    Columns of one field are in the order of the file: the first picture is the main one. All
    options are one field; a period gives both of its days. A column that is mapped to None is not
    in it.
    """
    places = {plain(column): at for at, column in enumerate(columns)}
    table: dict[str, tuple[str, ...]] = {}
    mapped = [(field, places[plain(column)], column) for column, field in mapping.items() if field]
    for field, _, column in sorted(mapped):
        target = _FIELDS.get(field, field)
        target = "option" if field.startswith("option") else target
        for each in ("saleStarts", "saleEnds") if target == "salePeriod" else (target,):
            table[each] = (*table.get(each, ()), column)
    return table
