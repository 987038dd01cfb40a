"""Shopify's product export: the old columns (Handle, Variant SKU) and the new (URL handle, SKU).

Rows that repeat a handle add variants and pictures to the product of its first row.
"""

from typing import ClassVar

from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format
from chalicelib.imports.formats.product import Draft, DraftVariant, ImportedProduct
from chalicelib.imports.formats.sheet import Row

_OLD = (
    *("Body (HTML)", "Variant SKU", "Variant Price", "Variant Compare At Price", "Image Src"),
    *("Variant Inventory Qty", "Variant Inventory Tracker", "Variant Image"),
)
_NEW = (
    *("Title", "SKU", "Price", "Status", "Option1 value", "Compare-at price", "Product image URL"),
    *("Inventory quantity", "Published on online store"),
)
_LAST = 1 << 30  # for pictures without a position


def _status(cell: str) -> str:
    """Return the status of a cell; "unlisted" is ACTIVE. Raises BadCell for an unknown one."""
    return "ACTIVE" if cell.casefold() == "unlisted" else reading.status(cell)


class Shopify(Format):
    name = "shopify"
    title = "Shopify product export"
    table: ClassVar = {
        "slug": ("URL handle", "Handle"),
        "name": ("Title",),
        "description": ("Description", "Body (HTML)", "Body HTML"),
        "vendor": ("Vendor",),
        "type": ("Type",),
        "productCategory": ("Product category",),
        "tags": ("Tags",),
        "published": ("Published on online store", "Published"),
        "status": ("Status",),
        "option": ("Option{n} value",),
        "sku": ("SKU", "Variant SKU"),
        "price": ("Price", "Variant Price"),
        "compareAtPrice": ("Compare-at price", "Variant Compare At Price"),
        "tracker": ("Inventory tracker", "Variant Inventory Tracker"),
        "stock": ("Inventory quantity", "Variant Inventory Qty"),
        "barcode": ("Barcode", "Variant Barcode"),
        "cost": ("Cost per item",),
        "image": ("Product image URL", "Image Src"),
        "position": ("Image position",),
        "imageAlt": ("Image alt text",),
        "variantImage": ("Variant image URL", "Variant Image"),
        "seoTitle": ("SEO title",),
        "seoDescription": ("SEO description",),
        "productPrice": ("Backroom price",),  # our own export's
    }
    signs = (*(("Handle", own) for own in _OLD), *(("URL handle", own) for own in _NEW))
    readings: ClassVar = {"status": _status}
    unread = (
        *("Variant Inventory Policy", "Inventory policy", "Price / {*}"),
        *("Compare-at price / {*}", "Unit price {*}", "Image width", "Image height"),
        "Continue selling when out of stock",
    )
    named = ("slug", "name", "option", "sku", "image", "variantImage")
    blank_is_no_reduction = True
    untitled = ("default title",)

    def read_row(self, draft: Draft, row: Row) -> None:
        """Read one row into the draft; a product that is not listed is not published."""
        super().read_row(draft, row)
        draft.set_from_cell(row, "productCategory", "type", reading.leaf, keep=True)
        if row["status"].casefold() == "unlisted":
            draft.set(row, "status", "published", False)

    def read_images(self, draft: Draft, row: Row) -> None:
        """Do nothing: `finish_product` adds the pictures, whose positions count over all rows."""

    def set_stock(self, variant: DraftVariant, row: Row) -> None:
        """Set a variant's stock: None if the file says what tracks it, and nothing does."""
        # Without a tracker, the quantity is out of date.
        variant.set_stock_unless_untracked(
            "tracker" in self.sheet and not row["tracker"], "tracker"
        )

    def finish_product(self, draft: Draft) -> ImportedProduct:
        """Add the pictures, by position, then those of variants, and return the product.

        A price of the product's own (our own export's column) counts, not the lowest of the
        variants. Without a column for the status, a new product is ACTIVE.
        """
        for row in sorted((row for row in draft.rows if row["image"]), key=_position):
            position = _position(row)
            known_position = position if position < _LAST else None
            draft.add_images(row, alt=row["imageAlt"], position=known_position)
        for row in draft.rows:
            draft.add_images(row, "variantImage")
        own = draft.read_amount(draft.rows[0], "productPrice") if draft.rows else None
        if own:
            draft.set(draft.rows[0], "productPrice", "price", own)
        if "status" not in self.sheet:
            draft.product.if_new["status"] = "ACTIVE"
        product = super().finish_product(draft)
        product.lowest_price = product.lowest_price and not own
        return product


def _position(row: Row) -> int:
    """Return the position of a row's picture; the last of all if it has none."""
    position = row["position"]
    return int(position) if position.isdecimal() and len(position) < 10 else _LAST
