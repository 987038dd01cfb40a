"""A file whose columns somebody has mapped to fields, and what they can be mapped to."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from chalicelib.imports.formats.ours import Ours
from chalicelib.imports.formats.sheet import Table, plain

# Every field, with what it is in words. Those that `SEVERAL` names take more than one column.
FIELDS: Final[Mapping[str, str]] = {
    "name": "Name of the product",
    "slug": "Handle: the product's name in addresses",
    "description": "Description",
    "sku": "SKU of the product, or of the row's variant where options are mapped",
    "price": "Price",
    "salePrice": "Reduced price; the price is then the one before the reduction",
    "compareAtPrice": "Price before a reduction",
    "stock": "Pieces in stock",
    "lowStockThreshold": "Stock from which on it is low",
    "imageUrl": "Addresses of pictures",
    "imageAlt": "Text of the picture",
    "vendor": "Brand or maker",
    "type": "Kind of product",
    "category": "Categories: the first is the type, the others are tags",
    "tags": "Tags, separated by commas",
    "status": "ACTIVE, DRAFT or ARCHIVED",
    "published": "Whether the shop shows it: yes or no",
    "storefront": "Storefront",
    "currency": "Currency of the prices; it has to be the shop's",
    "option1": "First option of a variant, such as its size",
    "option2": "Second option",
    "option3": "Third option",
    "variantTitle": "Title of a variant",
    "variantSku": "SKU of a variant",
    "variantPrice": "Price of a variant",
    "seoTitle": "Title for search engines",
    "seoDescription": "Description for search engines",
}
SEVERAL: Final = frozenset({"imageUrl", "category"})
_KEYS: Final = ("slug", "name", "sku", "variantSku")


class Fault(NamedTuple):
    """What is wrong with a mapping: the column, or none for the whole, a code and a sentence."""

    column: str
    code: str
    message: str


class Mapped(Ours):
    """Reads by a mapping from columns to fields; what is not in it is not read."""

    name = "mapped"
    title = "Mapped columns"

    def __init__(self, columns: Sequence[str], mapping: Mapping[str, str | None]) -> None:
        super().__init__(columns, _table(mapping))


def faults(columns: Sequence[str], mapping: Mapping[str, str | None]) -> list[Fault]:
    """What is wrong with a mapping for a file with these columns; nothing, if it can be read."""
    found = []
    there = [plain(column) for column in columns]
    given: dict[str, str] = {}
    for column, field in mapping.items():
        if plain(column) not in there:
            found.append(Fault(column, "unknown_column", f'The file has no column "{column}".'))
        elif field is not None and there.count(plain(column)) > 1:
            message = f'There are two columns "{column}": which one is meant?'
            found.append(Fault(column, "duplicate_column", message))
        elif field is not None and field not in FIELDS:
            found.append(Fault(column, "unknown_field", f'"{field}" is no field of a product.'))
        elif field in given and field not in SEVERAL:
            message = f'"{given[field]}" and "{column}" cannot both be {field}.'
            found.append(Fault(column, "duplicate_field", message))
        elif field is not None:
            given[field] = column
    if not found and not any(field in given for field in _KEYS):
        message = "Nothing says which product a row is: map a name, a SKU or a handle."
        found.append(Fault("", "missing_key", message))
    elif not found and len(given) < 2:
        message = "Only the product's identity is mapped: nothing would change."
        found.append(Fault("", "missing_value", message))
    return found


def _table(mapping: Mapping[str, str | None]) -> Table:
    table: dict[str, tuple[str, ...]] = {}
    ordered = sorted((field, column) for column, field in mapping.items() if field)
    for field, column in ordered:
        target = {"imageUrl": "image"}.get(field, field)
        target = "option" if field.startswith("option") else target
        table[target] = (*table.get(target, ()), column)
    return table
