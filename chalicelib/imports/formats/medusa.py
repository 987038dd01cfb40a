"""Medusa's product export and import template, of version 2 and 1.

It has a row for each variant, and a column of prices for each currency.
"""

from typing import ClassVar

from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format, Prices
from chalicelib.imports.formats.product import Draft
from chalicelib.imports.formats.sheet import Row

_STATUSES = {"proposed": "DRAFT", "rejected": "ARCHIVED"}


def _status(cell: str) -> str:
    """Return the status of a cell, by a word of this format or of ours."""
    return _STATUSES.get(cell.casefold()) or reading.status(cell)


class Medusa(Format):
    name = "medusa"
    title = "Medusa product export"
    table: ClassVar = {
        "slug": ("Product Handle",),
        "name": ("Product Title",),
        "description": ("Product Description",),
        "status": ("Product Status",),
        "type": ("Product Type",),
        "category": ("Product Category {n} Name", "Product Collection Title"),
        "tag": ("Product Tag {n}", "Product Tags"),
        "image": ("Product Thumbnail", "Product Image {n} Url", "Image {n} Url"),
        "variantTitle": ("Variant Title",),
        "option": ("Variant Option {n} Value", "Option {n} Value"),
        "sku": ("Variant SKU",),
        "barcode": ("Variant Barcode", "Variant EAN", "Variant UPC"),
        "amounts": ("Variant Price {*}", "Price {*}"),
        "stock": ("Variant Inventory Quantity",),
        "tracked": ("Variant Manage Inventory",),
    }
    signs = tuple(
        ("Product Handle", own)
        for own in (
            *("Variant Title", "Variant Manage Inventory", "Variant Option 1 Value"),
            *("Variant Allow Backorder", "Product Thumbnail", "Product Discountable"),
        )
    )
    readings: ClassVar = {"status": _status}
    untitled = ("default option value", "default", "default variant", "default title")
    untracked: ClassVar = {"tracked": ("false", "0")}
    unread = ("Variant Inventory {*}",)
    named = ("slug", "name", "option", "sku", "variantTitle", "image")
    numbers = ("amounts", "stock")

    def is_variant(self, row: Row) -> bool:
        """Return whether the row has an option, a SKU, a title of a variant, or a price."""
        return row.has_any(("option", "sku", "variantTitle", "amounts"))

    def read_common(self, draft: Draft, row: Row, *, keep: bool) -> None:
        """Set what the product has once, and add its tags, except those that are ids."""
        super().read_common(draft, row, keep=keep)
        for _, tag in row.texts_of("tag"):
            if not tag.startswith("ptag_"):  # only an id
                draft.add_tags(*reading.parse_list(tag))

    def read_prices(self, draft: Draft, row: Row) -> Prices:
        """Return the price in the shop's currency, of however many there are.

        A row with prices in other currencies alone becomes an error, and returns {}.
        """
        code = draft.shop.currency
        priced = dict(row.texts_of("amounts"))
        for column, cell in priced.items():
            if column.upper().split()[-1] == code:
                read = draft.read_text(row, column, cell, lambda c: reading.amount(c, draft.shop))
                return {} if read is None else {"price": ("amounts", read)}
        if priced:
            message = f"The row has no price in {code}, only in: {', '.join(priced)[:200]}."
            draft.add_error(row, "amounts", "currency_mismatch", message)
        return {}
