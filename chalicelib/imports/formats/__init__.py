"""The formats: which format a file has, and how its rows become products.

`recognise(columns)` returns the format of a file, if there is no doubt; its `key` groups rows, and
its `product` reads one group into the API's product fields. Nothing here reads or writes anything
else.

- `format`: what every format is; `product`, `sheet`, `cells`: a group of rows, a row, a cell
- one module for each: `bigcommerce`, `etsy`, `magento`, `medusa`, `ours`, `prestashop`, `shopify`,
  `shopify_inventory`, `spree`, `square`, `squarespace`, `vendure`, `wix`, `woocommerce` (with
  `woocommerce_columns`)
- files that are not known: `proposal` (by `synonyms`), and `mapped`, by a mapping of its columns
- `report`: the CSVs that the import writes
"""

import difflib
from collections.abc import Sequence

from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.formats.bigcommerce import BigCommerce
from chalicelib.imports.formats.cells import Shop
from chalicelib.imports.formats.etsy import Etsy
from chalicelib.imports.formats.format import Format
from chalicelib.imports.formats.magento import Magento
from chalicelib.imports.formats.mapped import FIELDS, Mapped
from chalicelib.imports.formats.medusa import Medusa
from chalicelib.imports.formats.ours import Ours
from chalicelib.imports.formats.prestashop import PrestaShop
from chalicelib.imports.formats.product import ImportedProduct
from chalicelib.imports.formats.sheet import REPORT_COLUMNS, plain
from chalicelib.imports.formats.shopify import Shopify
from chalicelib.imports.formats.shopify_inventory import ShopifyInventory
from chalicelib.imports.formats.spree import Spree
from chalicelib.imports.formats.square import Square
from chalicelib.imports.formats.squarespace import Squarespace
from chalicelib.imports.formats.vendure import Vendure
from chalicelib.imports.formats.wix import Wix
from chalicelib.imports.formats.woocommerce import WooCommerce

__all__ = [
    "FIELDS",
    "FORMATS",
    "Format",
    "ImportedProduct",
    "Mapped",
    "Ours",
    "Shop",
    "bind_header",
    "by_name",
    "find_likely_format",
    "read_as",
    "recognise",
]

# The formats of other systems.
FORMATS: tuple[type[Format], ...] = (
    *(Shopify, ShopifyInventory, WooCommerce, Spree, Vendure, Medusa, Wix, Squarespace, Square),
    *(Etsy, BigCommerce, PrestaShop, Magento),
)
_SHOWN = 30
_REMARKS = {plain(column) for column in REPORT_COLUMNS}


def recognise(columns: Sequence[str]) -> type[Format] | None:
    """Return the format whose columns these certainly are; None if there is doubt.

    Order and case do not count. There is doubt about another system's if a column that decides
    something would not be read. Ours has every column, and no other format that has them too means
    another thing by one.
    """
    own = [column for column in columns if plain(column) and plain(column) not in _REMARKS]
    if any(file_format.fits(own) for file_format in FORMATS):
        likely = find_likely_format(own)
        return None if likely is None or likely(own).undecided_columns else likely
    if not Ours.fits(own) or any(_reads_otherwise(file_format, own) for file_format in FORMATS):
        return None
    return Ours


def find_likely_format(columns: Sequence[str]) -> type[Format] | None:
    """Return the only other system's format that has these columns (`fits`).

    None for none or several. Ours is not among them. It may leave other columns unread that decide
    something.
    """
    fitting = [file_format for file_format in FORMATS if file_format.fits(columns)]
    return fitting[0] if len(fitting) == 1 else None


def by_name(name: str) -> type[Format] | None:
    """Return the format with a name such as "shopify"; "mapped" is none: it needs a mapping."""
    known: tuple[type[Format], ...] = (Ours, *FORMATS)
    return next((file_format for file_format in known if file_format.name == name), None)


def bind_header(file_format: type[Format], columns: Sequence[str], line: int = 1) -> Format:
    """Return the format, bound to the header of a file.

    Raise FileRejected (duplicate_column) if two columns of one name, without case, give a field.
    `line`: of the header.
    """
    seen = set()
    for name in columns:
        bare = plain(name)
        if bare in seen and file_format.field(name):
            message = f'There are two columns "{name}": which one is meant?'
            raise FileRejected("duplicate_column", message, line)
        seen.add(bare)
    return file_format(columns)


def read_as(columns: Sequence[str], line: int = 1) -> Format:
    """Return the format that these columns certainly have, bound to them: nobody can be asked.

    Raises FileRejected: unknown_columns, with the columns found and the nearest known ones;
    duplicate_column.
    """
    file_format = recognise(columns)
    if file_format is None:
        raise FileRejected("unknown_columns", _unknown(columns), line)
    return bind_header(file_format, columns, line)


def _reads_otherwise(file_format: type[Format], columns: Sequence[str]) -> bool:
    """Return whether another system's format knows all these columns, some as other fields."""
    theirs = [file_format.field(column) for column in columns]
    return None not in theirs and theirs != [Ours.field(column) for column in columns]


def _unknown(header: Sequence[str]) -> str:
    """Return the message for a file whose format is unknown, with the nearest known columns."""
    known = {plain(name): name for names in Ours.table.values() for name in names}
    nearest: dict[str, str] = {}
    for name in header[:_SHOWN]:
        if plain(name) not in known:
            close = difflib.get_close_matches(plain(name)[:60], list(known), n=1, cutoff=0.7)
            if close:
                nearest[name] = known[close[0]]
    found = ", ".join(f'"{name[:60]}"' for name in header[:_SHOWN]) or "none"
    others = f" and {len(header) - _SHOWN} more" if len(header) > _SHOWN else ""
    hints = ", ".join(f'"{name[:60]}" may be "{column}"' for name, column in nearest.items())
    titles = ", ".join(file_format.title for file_format in FORMATS)
    return (
        f"The format of the file is not recognised. Columns found: {found}{others}. "
        + (f"Nearest known: {hints}. " if hints else "")
        + "Needed: only columns of our template, one for each field: slug, name or sku, and one "
        + "more; "
        + f"or one of: {titles}."
    )
