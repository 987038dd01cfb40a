"""The CSV dialects: whose columns a file has, and what its rows say about a product.

`recognise(header)` gives the dialect of a file; its `key` groups rows, and its `product` reads one
group into the API's product fields. Nothing here reads or writes anything else.
"""

import difflib
from collections.abc import Sequence

from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.formats.cells import Shop
from chalicelib.imports.formats.format import Dialect
from chalicelib.imports.formats.ours import Ours
from chalicelib.imports.formats.product import ImportedProduct
from chalicelib.imports.formats.sheet import Sheet, plain
from chalicelib.imports.formats.shopify import Shopify
from chalicelib.imports.formats.spree import Spree
from chalicelib.imports.formats.woocommerce import WooCommerce

__all__ = ["Dialect", "ImportedProduct", "Shop", "recognise"]

_DIALECTS: tuple[type[Dialect], ...] = (Shopify, WooCommerce, Spree, Ours)


def recognise(header: Sequence[str], line: int = 1) -> Dialect:
    """The dialect whose columns the header has most of, in any order and case.

    Raises FileRejected: unknown_columns, with the columns found and the nearest known ones;
    duplicate_column.
    """
    sheet = Sheet(header)
    fitting = [dialect for dialect in _DIALECTS if dialect.fits(sheet)]
    if not fitting:
        raise FileRejected("unknown_columns", _unknown(header), line)
    best = max(fitting, key=lambda dialect: sum(column in sheet for column in dialect.columns))
    known = {plain(column) for column in best.columns}
    seen = set()
    for name in header:
        if plain(name) in known and plain(name) in seen:
            message = f'There are two columns "{name}": which one is meant?'
            raise FileRejected("duplicate_column", message, line)
        seen.add(plain(name))
    return best(sheet)


def _unknown(header: Sequence[str]) -> str:
    known = {plain(column): column for d in _DIALECTS for column in d.columns}
    nearest = {}
    for name in header:
        close = difflib.get_close_matches(plain(name), list(known), n=1, cutoff=0.7)
        if close:
            nearest[name] = known[close[0]]
    found = ", ".join(f'"{name[:60]}"' for name in header[:30]) or "none"
    more = f" and {len(header) - 30} more" if len(header) > 30 else ""
    hints = ", ".join(f'"{name[:60]}" may be "{column}"' for name, column in nearest.items())
    return (
        f"The columns are not those of a product file that is known. Found: {found}{more}. "
        + (f"Nearest known: {hints}. " if hints else "")
        + "Expected: our template, or an export of Shopify, WooCommerce or Spree."
    )
