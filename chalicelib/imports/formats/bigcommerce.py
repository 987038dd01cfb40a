"""BigCommerce's product export, new (Item) and old (Item Type).

A row is for the product; below it are rows for its variants and pictures, which do not repeat its
name.
"""

import re
from decimal import Decimal
from typing import ClassVar

from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format, Prices
from chalicelib.imports.formats.product import Draft, DraftVariant, ImportedProduct
from chalicelib.imports.formats.sheet import Row

# The new export joins entries such as `Type=Swatch|Name=Color|Value=Red[#ff0000]`. The old one
# writes `[S]Size=Small,[CS]Color=Red:#ff0000` into the name.
_VALUE = re.compile(r"\|Value=([^|\[\]]*?)(?=\[|\||Type=|$)")
_OLD_VALUE = re.compile(r"\[[A-Z]{1,3}\][^=,\[]{1,100}=([^,\[]*)")
_CATEGORY = re.compile(r"[;|]")


def _categories(cell: str) -> list[str]:
    """Return the paths of a list, with `>` between their steps."""
    return [path.replace("/", ">") for path in _CATEGORY.split(cell)]


class BigCommerce(Format):
    name = "bigcommerce"
    title = "BigCommerce product export"
    table: ClassVar = {
        "kind": ("Item", "Item Type"),
        "slug": ("Product URL",),
        "name": ("Name", "Product Name"),
        "physical": ("Type", "Product Type"),
        "sku": ("SKU", "Product Code/SKU"),
        "barcode": ("GTIN", "UPC/EAN", "Product UPC/EAN", "Global Trade Number"),
        "cost": ("Cost Price",),
        "options": ("Options",),
        "tracking": ("Inventory Tracking", "Track Inventory"),
        "stock": ("Current Stock", "Current Stock Level"),
        "lowStockThreshold": ("Low Stock", "Low Stock Level"),
        "price": ("Price",),
        "retail": ("Retail Price",),
        "salePrice": ("Sale Price",),
        "vendor": ("Brand", "Brand Name"),
        "category": ("Categories", "Category"),
        "description": ("Description", "Product Description"),
        "seoTitle": ("Page Title",),
        "seoDescription": ("Meta Description",),
        "published": ("Is Visible", "Product Visible?"),
        "forSale": ("Allow Purchases?",),
        "image": (
            *("Internal Image URL (Export)", "Image URL (Import)", "Variant Image URL"),
            *("Product Image URL - {n}", "Product Image File - {n}"),
        ),
        "imageAlt": ("Image Description",),
    }
    signs = (
        ("Item", "Name", "Inventory Tracking"),
        ("Item", "Internal Image URL (Export)"),
        ("Item", "Name", "Options", "Retail Price"),
        # BigCommerce's importer asks users to omit columns that they do not need.
        ("Item", "Image URL (Import)"),
        ("Item", "Variant Image URL"),
        ("Item", "Name", "Type", "Options"),
        ("Item Type", "Product Name", "Product Code/SKU"),
        ("Item Type", "Product Name", "Track Inventory"),
    )
    readings: ClassVar = {"slug": reading.handle_of_address, "category": _categories}
    unread = ("Image is Thumbnail", "Image Sort Order", "Product Image {*} - {n}")
    named = ("name", "sku", "options", "image")
    if_new: ClassVar = {"status": "ACTIVE"}

    def product_key(self, cells: list[str]) -> str:
        """Return the key of the row's product; "" for a row that is not a product's own."""
        if self.sheet.cell(cells, "kind").casefold() not in {"product", ""}:
            return ""
        return super().product_key(cells)

    def read_row(self, draft: Draft, row: Row) -> None:
        """Read one row into the draft: the product's own, a variant, a rule, or pictures alone.

        The product's own values replace those of earlier rows. Every row may have pictures.
        """
        kind = row["kind"].casefold()
        if kind in {"product", ""}:
            self.read_common(draft, row, keep=False)
        if kind in {"variant", "sku"}:
            title = self.variant_title(row) or row["sku"]
            self.fill_variant(draft, draft.add_variant(row, title), row)
        elif kind == "rule":
            self._apply_rule(draft, row)
        self.read_images(draft, row)

    def variant_title(self, row: Row) -> str:
        """Return the title of a row's variant from its options, or in older files from its name."""
        old = "" if row["options"] else row["name"]
        values = _VALUE.findall(row["options"][:5000]) or _OLD_VALUE.findall(old[:5000])
        return " / ".join(value.split(":#")[0].strip() for value in values)

    def read_images(self, draft: Draft, row: Row) -> None:
        """Add the pictures of a row to its product, except of a video; a cell is one address."""
        if row["kind"].casefold() != "video":
            draft.add_images(row, alt=row["imageAlt"], read=lambda cell: [cell])

    def read_prices(self, draft: Draft, row: Row) -> Prices:
        """Return the prices of a row; one without a price has the product's, of the first row.

        The retail price is the compare-at price, if it is above the price and no sale runs; else
        that is None.
        """
        own = draft.rows[0]
        given = super().read_prices(draft, row if row["price"] else own)
        price, before = given.get("price"), given.get("compareAtPrice")
        retail = draft.read_amount(own, "retail")
        if price and price[1] and retail and not (before and before[1]):
            above = Decimal(retail) > Decimal(price[1])
            given["compareAtPrice"] = ("retail", retail if above else None)
        return given

    def set_stock(self, variant: DraftVariant, row: Row) -> None:
        """Set a variant's stock, None if it is not tracked.

        What tracks it stands in its row, or in the first. Nothing is set if all variants have one
        count: the stock of each is unknown.
        """
        tracking = row["tracking"] or variant.draft.rows[0]["tracking"]
        if tracking.casefold() in {"none", "", "no"} and "tracking" in self.sheet:
            variant.set("tracking", "stock", None)
        elif tracking.casefold() in {"product", "by product"} and row is not variant.draft.rows[0]:
            return  # one count for all variants: the stock of each is unknown
        else:
            variant.set_stock()

    def _apply_rule(self, draft: Draft, row: Row) -> None:
        """Set a variant's own price from a rule's row of the old export, such as `[FIXED]12.50`.

        The variant is found by its SKU; other rules set nothing. A price that cannot be read
        becomes an error of the product.
        """
        for variant in draft.variants:
            if row["sku"] and variant.values.get("sku") == row["sku"]:
                fixed = row["price"].removeprefix("[FIXED]")
                if fixed and not fixed.startswith("["):
                    read = draft.read_text(
                        row, row.column("price"), fixed, lambda c: reading.amount(c, draft.shop)
                    )
                    if read is not None:
                        variant.set("price", "price", read)

    def finish_product(self, draft: Draft) -> ImportedProduct:
        """Return the product; without variants, its own row gives what a variant has."""
        own = draft.rows[0] if draft.rows else None
        if own is not None and not draft.variants:
            self.fill_variant(draft, draft.add_variant(own, ""), own)
        return super().finish_product(draft)
