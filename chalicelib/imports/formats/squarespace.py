"""Squarespace's product export: further variants of a product are below it, without its title."""

from typing import ClassVar

from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format
from chalicelib.imports.formats.product import Draft
from chalicelib.imports.formats.sheet import Row


def _categories(cell: str) -> list[str]:
    """Return the paths of a list, with `>` between their steps."""
    return [path.strip("/ ").replace("/", ">") for path in reading.parse_list(cell)]


class Squarespace(Format):
    name = "squarespace"
    title = "Squarespace product export"
    table: ClassVar = {
        "slug": ("Product URL",),
        "name": ("Title",),
        "description": ("Description",),
        "sku": ("SKU",),
        "option": ("Option Value {n}",),
        "price": ("Price",),
        "salePrice": ("Sale Price",),
        "onSale": ("On Sale",),
        "stock": ("Stock",),
        "category": ("Categories",),
        "tags": ("Tags",),
        "published": ("Visible",),
        "image": ("Hosted Image URLs",),
    }
    signs = tuple(
        ("Title", own)
        for own in (
            *("Product ID [Non Editable]", "Variant ID [Non Editable]", "Hosted Image URLs"),
            "Product Type [Non Editable]",
        )
    )
    readings: ClassVar = {"slug": reading.handle_of_address, "category": _categories}
    untracked: ClassVar = {"stock": ("unlimited",)}
    if_new: ClassVar = {"status": "ACTIVE"}

    def is_on_sale(self, draft: Draft, row: Row) -> bool:
        """Return whether the cell `On Sale` says so; blank or wrong, which is an error, is no."""
        return bool(draft.read_cell(row, "onSale", reading.boolean))
