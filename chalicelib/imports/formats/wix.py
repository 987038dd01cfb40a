"""Wix's product export, old (handleId) and new (handle).

It has rows of products, then of their variants, and in the new one of further pictures.
"""

import re
from decimal import Decimal
from typing import ClassVar

from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.cells import BadCell, Shop
from chalicelib.imports.formats.format import Format, Prices
from chalicelib.imports.formats.product import Draft, DraftVariant, ImportedProduct
from chalicelib.imports.formats.sheet import Row

_MEDIA = "https://static.wixstatic.com/media/"
_semicolons = reading.split(";")
# A colour is written as `#ff0000:Red` or `rgb(255,0,0):Red`.
_COLOUR = re.compile(r"(?:#[0-9a-f]{3,8}|rgba?\([0-9., ]{1,40}\)):", re.IGNORECASE)


def _media(cell: str) -> list[str]:
    """Return the addresses of a list; the name of a file in Wix's own store becomes its address."""
    return [url if ":" in url else _MEDIA + url for url in _semicolons(cell)]


def _plain(option: str) -> str:
    """Return an option's value; of a colour (`#ff0000:Red`) its name."""
    colour = _COLOUR.match(option)
    return option[colour.end() :].strip() if colour else option


def _surcharge(cell: str, shop: Shop) -> Decimal:
    """Parse an amount that may be below 0. Raises BadCell."""
    amount = Decimal(reading.amount(cell.removeprefix("-"), shop))
    return -amount if cell.startswith("-") else amount


class Wix(Format):
    name = "wix"
    title = "Wix product export"
    table: ClassVar = {
        "slug": ("handleId", "handle"),
        "kind": ("fieldType",),
        "name": ("name",),
        "description": ("description", "plainDescription"),
        "image": ("productImageUrl", "media"),
        "imageAlt": ("mediaAltText",),
        "vendor": ("brand",),
        "category": ("collection",),
        "sku": ("sku",),
        "barcode": ("barcode",),
        "cost": ("cost",),
        "price": ("price",),
        "surcharge": ("surcharge",),
        "compareAtPrice": ("strikethroughPrice",),
        "discountMode": ("discountMode",),
        "discount": ("discountValue",),
        "published": ("visible",),
        "stock": ("inventory",),
        "option": ("productOptionDescription{n}", "productOptionChoices{n}"),
    }
    signs = (("handleId", "fieldType"), ("fieldType", "productImageUrl"), ("handle", "fieldType"))
    readings: ClassVar = {"category": _semicolons, "image": _media}
    named = ("slug", "name", "sku", "option", "image")
    numbers = ("price", "surcharge", "stock")
    blank_is_no_reduction = True
    if_new: ClassVar = {"status": "ACTIVE"}

    def read_row(self, draft: Draft, row: Row) -> None:
        """Read one row into the draft: the product's own, a variant, or pictures alone.

        The product's own values replace those of earlier rows.
        """
        kind = row["kind"].casefold()
        if kind == "media":
            self.read_images(draft, row)
        elif kind == "variant":
            draft.set_from_cell(row, "slug", "slug", reading.handle, keep=True)
            self.fill_variant(
                draft, draft.add_variant(row, self.variant_title(row) or row["sku"]), row
            )
        else:
            self.read_common(draft, row, keep=False)
            self.read_images(draft, row)

    def variant_title(self, row: Row) -> str:
        """Return the title of a row's variant: its options; "" for none."""
        return " / ".join(_plain(value) for _, value in row.texts_of("option"))

    def finish_product(self, draft: Draft) -> ImportedProduct:
        """Return the product; without rows of variants, its own row gives them.

        That is one for each combination of its options, or a sole one without options.
        """
        own = next((row for row in draft.rows if row["kind"].casefold() == "product"), None)
        if own is not None and not draft.variants:
            choices = [list(map(_plain, _semicolons(cell))) for _, cell in own.texts_of("option")]
            if not choices:
                self.fill_variant(draft, draft.add_variant(own, ""), own)
            for title in draft.combine_options(own, "option", choices):
                self._set_choice(draft, draft.add_variant(own, title), own)
        return super().finish_product(draft)

    def _set_choice(self, draft: Draft, variant: DraftVariant, own: Row) -> None:
        """Set prices and stock of a variant that has no row of its own, from the product's row.

        A stock that is a number is left out: it is of all variants together, and nobody knows
        each's.
        """
        self.set_prices(draft, variant, own)
        if not own["stock"].isdecimal():
            self.set_stock(variant, own)

    def read_prices(self, draft: Draft, row: Row) -> Prices:
        """Return a variant's prices, as `Format.read_prices` does: its own or the product's.

        The surcharge is added, and the product's discount taken off: then the price before it is
        the compare-at price. A price below zero, or a surcharge without the product's row, becomes
        an error, and returns {}.
        """
        rows = (each for each in draft.rows if each["kind"].casefold() == "product")
        own = next(rows, None)
        if own is None and row["surcharge"] and not row["price"]:
            message = "The surcharge is for a product whose row is elsewhere."
            draft.add_error(row, "surcharge", "missing_price", message)
            return {}
        own = own or row
        extra = None
        if row is not own:
            extra = draft.read_cell(row, "surcharge", lambda cell: _surcharge(cell, draft.shop))
        if row["price"] or own is row:
            given = super().read_prices(draft, row)
        else:
            given = super().read_prices(draft, own)
        price = given.get("price", ("price", None))[1]
        if price is None:
            return given
        total = Decimal(price) + Decimal(extra or 0)
        if total < 0:
            draft.add_error(row, "surcharge", "negative_amount", "The price would be below zero.")
            return {}
        off = self._discount(draft, own, total)
        places = -Decimal(price).as_tuple().exponent  # type: ignore[operator]
        given["price"] = ("price", f"{total - off:.{places}f}")
        if off:
            given["compareAtPrice"] = ("price", f"{total:.{places}f}")
        elif "discount" in self.sheet:
            given.setdefault("compareAtPrice", ("price", None))
        return given

    def _discount(self, draft: Draft, own: Row, total: Decimal) -> Decimal:
        """Return what the product's discount takes off a total, at most all of it; 0 for none.

        `discountMode` says whether it is in percent or an amount. A wrong one is an error, and 0.
        """

        def parse_discount(cell: str) -> Decimal:
            """Parse a discount; raise BadCell for a text that is no number."""
            if len(cell) > 20 or not cell.replace(".", "", 1).isdecimal():
                raise BadCell("not_an_amount", f'"{cell[:40]}" is not a discount.')
            return Decimal(cell)

        if own["discountMode"].casefold().startswith("percent"):
            off = reading.part(
                total, draft.read_cell(own, "discount", parse_discount) or Decimal(0), draft.shop
            )
        else:
            off = Decimal(draft.read_amount(own, "discount") or 0)
        return min(off, total)

    def set_stock(self, variant: DraftVariant, row: Row) -> None:
        """Set the stock: a number as it is, None for "in stock", 0 for "out of stock".

        A blank cell sets nothing. A hidden variant has 0 in any case.
        """
        word = row["stock"].casefold().replace("_", "").replace(" ", "")
        if word == "instock":
            variant.set("stock", "stock", None)
        elif word == "outofstock":
            variant.set("stock", "stock", 0)
        else:
            variant.set_stock()
        if (
            row["kind"].casefold() == "variant"
            and variant.read_cell("published", reading.boolean) is False
        ):
            # A hidden variant is kept, and cannot be bought.
            variant.set("published", "stock", 0)
