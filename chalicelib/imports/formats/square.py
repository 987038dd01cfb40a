"""Square's item library, with columns for each location.

It has a row for each variation of an item, known by the item's name.
"""

import re
from typing import ClassVar

from chalicelib.imports.csv.groups import ALONE
from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format, Prices
from chalicelib.imports.formats.product import Draft, DraftVariant, ImportedProduct
from chalicelib.imports.formats.sheet import Row

_TOKEN = re.compile(r" \([A-Z0-9]{16,40}\)$")


def _categories(cell: str) -> list[str]:
    """Return the names of a list of categories, without Square's own id after each."""
    return [_TOKEN.sub("", path) for path in reading.parse_list(cell)]


class Square(Format):
    name = "square"
    title = "Square item library"
    table: ClassVar = {
        "slug": ("Reference Handle",),
        "name": ("Item Name",),
        "variantTitle": ("Variation Name",),
        "sku": ("SKU",),
        "barcode": ("GTIN",),
        "cost": ("Default Unit Cost",),
        "description": ("Description",),
        "category": ("Categories", "Category", "Reporting Category"),
        "seoTitle": ("SEO Title",),
        "seoDescription": ("SEO Description",),
        "visibility": ("Square Online Item Visibility",),
        "archived": ("Archived",),
        "sellable": ("Sellable",),
        "enabled": ("Enabled {*}",),
        "price": ("Price",),
        "salePrice": ("Online Sale Price",),
        "option": ("Option Value {n}",),
        "stock": ("Current Quantity {*}", "Current Quantity"),
        "lowStockThreshold": ("Stock Alert Count {*}",),
    }
    signs = tuple(
        ("Item Name", own)
        for own in (
            *("Token", "Variation Name", "Square Online Item Visibility", "Reference Handle"),
            *("Reporting Category", "Online Sale Price"),
        )
    )
    readings: ClassVar = {"category": _categories}
    untitled = ("regular",)
    unread = ("New Quantity {*}", "Stock Alert Enabled {*}", "Stockable")
    named = ("slug", "name", "variantTitle", "sku", "option")
    nameless = ALONE
    if_new: ClassVar = {"status": "ACTIVE"}

    def read_row(self, draft: Draft, row: Row) -> None:
        """Read one row, a variant's, into the draft; the first row's values of the product stay."""
        self.read_common(draft, row, keep=True)
        if draft.read_cell(row, "archived", reading.boolean):
            draft.set(row, "archived", "status", "ARCHIVED")
        shown = row["visibility"].casefold()
        if shown:
            draft.set(row, "visibility", "published", shown == "visible", keep=True)
        self.fill_variant(draft, draft.add_variant(row, self.variant_title(row)), row)

    def read_prices(self, draft: Draft, row: Row) -> Prices:
        """Return a row's prices; a variable price becomes an error, and returns {}."""
        if row["price"].casefold() == "variable":
            message = "The price is variable, but a product needs a price."
            draft.add_error(row, "price", "missing_price", message)
            return {}
        return super().read_prices(draft, row)

    def set_stock(self, variant: DraftVariant, row: Row) -> None:
        """Set the stock: the sum over all locations, or that of the location that is asked for."""
        variant.set_stock_of_locations(
            "stock", lambda column: column[len("Current Quantity") :].strip()
        )

    def finish_product(self, draft: Draft) -> ImportedProduct:
        """Name the variants without a title, if there are several, and return the product.

        Variants that are not sold get the stock 0; if none is sold, the product is not published.
        """
        unsold = [each for each in draft.variants if not self._is_sold(draft, each.row)]
        if unsold and len(unsold) == len(draft.variants):
            draft.set(unsold[0].row, "sellable", "published", False)
        else:
            for variant in unsold:
                variant.set("sellable", "stock", 0)
        if len(draft.variants) > 1:
            for variant in draft.variants:
                variant.title = variant.title or variant.row["variantTitle"] or "Regular"
        return super().finish_product(draft)

    def _is_sold(self, draft: Draft, row: Row) -> bool:
        """Return whether a row's variant is sold: it is sellable, and enabled at a location."""
        is_sellable = draft.read_cell(row, "sellable", reading.boolean) is not False
        cells = row.texts_of("enabled")
        enabled = [draft.read_text(row, column, text, reading.boolean) for column, text in cells]
        return is_sellable and (not enabled or any(enabled))
