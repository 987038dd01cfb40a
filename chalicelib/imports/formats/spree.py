"""Spree's product export.

It has a row with the product's name, then one for each variant with its options, all with the
product's slug.
"""

from decimal import Decimal
from typing import ClassVar

from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format
from chalicelib.imports.formats.product import Draft, DraftVariant, ImportedProduct
from chalicelib.imports.formats.sheet import Row


class Spree(Format):
    name = "spree"
    title = "Spree product export"
    table: ClassVar = {
        **{name: (name,) for name in ("slug", "sku", "name", "status", "description", "tags")},
        **{name: (name,) for name in ("price", "currency", "barcode")},
        "cost": ("cost_price",),
        "seoTitle": ("meta_title",),
        "seoDescription": ("meta_description",),
        "compareAtPrice": ("compare_at_price",),
        "tracked": ("track_inventory",),
        "stock": ("inventory_count",),
        "vendor": ("brand_name", "vendor_name", "seller_name"),
        "option": ("option{n}_value",),
        "image": ("image{n}_src",),
        "category": ("category{n}",),
    }
    unread = ("inventory_backorderable",)
    signs = tuple(("slug", own) for own in ("inventory_count", "option1_value", "image1_src"))

    def read_row(self, draft: Draft, row: Row) -> None:
        """Read one row into the draft; a row with a name and no options adds no variant."""
        options = self.variant_title(row)
        self.read_common(draft, row, keep=bool(options))
        self.read_images(draft, row)
        if options or not row["name"]:
            self.fill_variant(draft, draft.add_variant(row, options), row)

    def set_stock(self, variant: DraftVariant, row: Row) -> None:
        """Set a variant's stock: None if it is not tracked, or its stock is `∞`."""
        tracked = variant.read_cell("tracked", reading.boolean)
        variant.set_stock_unless_untracked(tracked is False or row["stock"] == "∞", "tracked")

    def finish_product(self, draft: Draft) -> ImportedProduct:
        """Return the product; with variants, only the SKU of its master row counts.

        It is the product's. Without variants, the product is marked `is_master`, and the master row
        is its only variant, unless it has no SKU and no price.
        """
        product = draft.product
        masters = (row for row in reversed(draft.rows) if row["name"] and not row["option"])
        master = next(masters, None)
        if master is not None and draft.variants:
            # The product row's price, SKU and stock are of a master variant, which is not sold.
            draft.set_from_cell(master, "sku", "sku")
        elif master is not None:
            product.is_master = True
            only = draft.add_variant(master, "")
            self.fill_variant(draft, only, master)
            if not master["sku"] and not Decimal(only.values.get("price") or 0):
                draft.variants.clear()
        return super().finish_product(draft)
