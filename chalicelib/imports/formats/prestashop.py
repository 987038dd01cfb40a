"""PrestaShop's product file, as its importer takes it, and the list of its catalogue page.

A row is a product. Combinations are in a file of their own, which is not read.
"""

from decimal import Decimal
from typing import ClassVar

from chalicelib.imports.csv.groups import ALONE
from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format, Prices
from chalicelib.imports.formats.product import Draft
from chalicelib.imports.formats.sheet import Row

# The name of the category above all others, in the export's language.
_HOME = {"home", "accueil", "inicio", "início", "startseite", "root", "strona główna", "etusivu"}


def _day(cell: str) -> object:
    """Return the day of a cell; None for one with the year 0, which means none."""
    return None if cell.startswith("0000-") else reading.day(cell)


def _categories(cell: str) -> list[str]:
    """Return the names of a list, without the root that every product is in."""
    return [name for name in reading.parse_list(cell) if name.casefold() not in _HOME]


class PrestaShop(Format):
    name = "prestashop"
    title = "PrestaShop product file"
    table: ClassVar = {
        "id": ("Product ID", "ID"),
        "status": ("Active (0/1)", "Status"),
        "name": ("Name *", "Name"),
        "category": ("Categories (x,y,z...)", "Category"),
        "price": (
            *("Price (tax incl.)", "Price tax included", "Price tax excluded"),
            *("Price tax excluded or Price tax included", "Price (tax excl.)"),
        ),
        "discount": ("Discount amount",),
        "percent": ("Discount percent",),
        "saleStarts": ("Discount from (yyyy-mm-dd)",),
        "saleEnds": ("Discount to (yyyy-mm-dd)",),
        "sku": ("Reference #", "Reference"),
        "barcode": ("EAN-13", "EAN13", "UPC", "ISBN"),
        "cost": ("Wholesale price",),
        "vendor": ("Manufacturer", "Brand"),
        "stock": ("Quantity",),
        "lowStockThreshold": ("Low stock level",),
        "published": ("Visibility",),
        "forSale": ("Available for order (0 = No, 1 = Yes)",),
        "description": ("Description", "Summary", "Short description"),
        "tags": ("Tags (x,y,z...)",),
        "seoTitle": ("Meta title",),
        "seoDescription": ("Meta description",),
        "slug": ("URL rewritten",),
        "image": ("Image URLs (x,y,z...)", "Image"),
        "imageAlt": ("Image alt texts (x,y,z...)",),
    }
    signs = (
        ("Active (0/1)", "Name *", "Categories (x,y,z...)"),
        ("Name *", "Reference #"),
        ("Name *", "Image URLs (x,y,z...)"),
        ("Name", "Price (tax excl.)", "Price (tax incl.)"),
        ("Name", "Reference", "Price (tax excl.)"),
    )
    readings: ClassVar = {
        "category": _categories,
        "status": lambda cell: "ACTIVE" if reading.boolean(cell) else "DRAFT",
        "published": lambda cell: cell.casefold() != "none",
        "saleStarts": _day,
        "saleEnds": _day,
    }
    unread = (
        *("Minimal quantity", "Delete existing images (0 = No, 1 = Yes)"),
        *("Unit price", "Show price (0 = No, 1 = Yes)", "Supplier reference #"),
    )
    nameless = ALONE
    if_new: ClassVar = {"status": "ACTIVE"}
    sku_names_product = True

    def read_row(self, draft: Draft, row: Row) -> None:
        """Read one row, a whole product, into the draft; it replaces what earlier rows gave."""
        self.read_common(draft, row, keep=False)
        self.read_images(draft, row)
        self.fill_variant(draft, draft.add_variant(row, ""), row)

    def read_prices(self, draft: Draft, row: Row) -> Prices:
        """Return a row's prices, less its discount, in money or percent, while that runs.

        If the file has columns of discounts, there is no compare-at price without one.
        """
        given = super().read_prices(draft, row)
        price = given.get("price", ("price", None))[1]
        if price is None or not ("discount" in self.sheet or "percent" in self.sheet):
            return given
        given["compareAtPrice"] = ("price", None)
        amount = draft.read_amount(row, "discount")
        percent = draft.read_cell(row, "percent", reading.percent)
        off = Decimal(amount or 0) or reading.part(
            Decimal(price), percent or Decimal(0), draft.shop
        )
        if 0 < off < Decimal(price) and self.is_on_sale(draft, row):
            field = "discount" if Decimal(amount or 0) else "percent"
            given["price"] = (field, f"{Decimal(price) - off:f}")
            given["compareAtPrice"] = ("price", price)
        return given
