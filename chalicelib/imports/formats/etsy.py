"""Etsy's download of listings: one row each, with lists of variations and of SKUs in cells.

Its columns are in the language of the shop.
"""

import html
from typing import ClassVar

from chalicelib.imports.csv.groups import ALONE, name_key
from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format
from chalicelib.imports.formats.product import Draft
from chalicelib.imports.formats.sheet import Row


def _text(cell: str) -> str:
    """Return a text with its entities, such as `&quot;`, as characters."""
    return html.unescape(reading.text(cell))


def _tags(cell: str) -> list[str]:
    """Return the tags of a list, with blanks for underscores."""
    return [tag.replace("_", " ") for tag in reading.parse_list(cell)]


class Etsy(Format):
    name = "etsy"
    title = "Etsy listings download"
    table: ClassVar = {
        "name": ("TITLE", "TITOLO"),
        "description": ("DESCRIPTION", "DESCRIZIONE"),
        "price": ("PRICE", "PREZZO"),
        "currency": ("CURRENCY_CODE",),
        "stock": ("QUANTITY", "QUANTITÀ"),
        "tags": ("TAGS", "TAG"),
        "image": ("IMAGE{n}", "IMMAGINE{n}"),
        "variations": ("VARIATION {n} VALUES", "VALORI VARIANTE {n}"),
        "sku": ("SKU",),
    }
    signs = (
        ("TITLE", "CURRENCY_CODE", "QUANTITY"),
        ("TITLE", "VARIATION 1 TYPE"),
        ("TITLE", "VARIATION 1 VALUES"),
        ("TITLE", "PRICE", "MATERIALS", "IMAGE1"),
        ("TITOLO", "CURRENCY_CODE", "QUANTITÀ"),
        ("TITOLO", "VALORI VARIANTE 1"),
    )
    readings: ClassVar = {"name": _text, "description": _text, "tags": _tags}
    named = ("name", "sku", "image")
    nameless = ALONE
    if_new: ClassVar = {"status": "ACTIVE"}
    sku_names_product = True  # titles change from season to season

    def product_key(self, cells: list[str]) -> str:
        """Return the key of a row: its SKU if it has just one, else its name."""
        sku = self.sheet.cell(cells, "sku")
        is_one = sku and "," not in sku
        return f"sku {sku}" if is_one else name_key(self.sheet.cell(cells, "name"))

    def read_row(self, draft: Draft, row: Row) -> None:
        """Read one row, a whole product, into the draft, with a variant for each choice of options.

        Variants get the price alone; a product without options gets its SKU and stock too.
        """
        self.read_common(draft, row, keep=False)
        self.read_images(draft, row)
        choices = [reading.parse_list(cell) for _, cell in row.texts_of("variations")]
        if not choices:
            self._read_single(draft, row)
            return
        # The file has only the total stock of all variations, and lists SKUs in another order than
        # the variations.
        for title in draft.combine_options(row, "variations", choices):
            self.set_prices(draft, draft.add_variant(row, title), row)

    def _read_single(self, draft: Draft, row: Row) -> None:
        """Add the only variant of a row without options: its price, stock, and SKU if just one."""
        only = draft.add_variant(row, "")
        skus = draft.read_cell(row, "sku", reading.parse_list) or []
        if len(skus) == 1:
            only.set("sku", "sku", skus[0])
        self.set_prices(draft, only, row)
        self.set_stock(only, row)
