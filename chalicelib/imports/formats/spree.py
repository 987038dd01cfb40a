"""Spree's product export: a row with the product's name, then one for each variant with its
options, all with the product's slug."""

from collections.abc import Sequence
from decimal import Decimal

from chalicelib.imports.csv.records import Record
from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.cells import Shop
from chalicelib.imports.formats.format import Dialect
from chalicelib.imports.formats.product import Draft, ImportedProduct, Variant
from chalicelib.imports.formats.sheet import Row, Sheet, cell

_OPTIONS = ("option1_value", "option2_value", "option3_value")
_IMAGES = ("image1_src", "image2_src", "image3_src")
_CATEGORIES = ("category1", "category2", "category3")
_NAMED = ("slug", "name", "sku", *_OPTIONS, *_IMAGES)
_NUMBERS = ("price", "compare_at_price", "inventory_count")
_OWN = ("inventory_count", "track_inventory", "option1_value", "image1_src", "available_on")


class Spree(Dialect):
    name = "spree"
    columns = (
        *("slug", "sku", "name", "status", "description", "meta_title", "meta_description", "tags"),
        *("price", "compare_at_price", "currency", "track_inventory", "inventory_count"),
        *("brand_name", "vendor_name", "seller_name"),
        *_OPTIONS,
        *_IMAGES,
        *_CATEGORIES,
    )

    def __init__(self, sheet: Sheet) -> None:
        super().__init__(sheet)
        self._slug = sheet.at("slug")

    @classmethod
    def fits(cls, sheet: Sheet) -> bool:
        return "slug" in sheet and any(column in sheet for column in _OWN)

    def key(self, cells: list[str]) -> str:
        return cell(cells, self._slug)

    def product(self, records: Sequence[Record], shop: Shop) -> ImportedProduct:
        draft = Draft(self.sheet, records, shop)
        draft.refuse_nameless(_NAMED, _NUMBERS)
        master: Row | None = None
        for row in draft.rows:
            draft.read(row, "currency", lambda code: reading.currency(code, shop))
            options = " / ".join(option for option in map(row.__getitem__, _OPTIONS) if option)
            keep = bool(options)
            draft.put(row, "slug", "slug", keep=True)
            draft.put(row, "name", "name", keep=keep)
            draft.put(row, "description", "description", keep=keep)
            draft.put(row, "status", "status", reading.status, keep=keep)
            draft.put(row, "tags", "tags", reading.listed, keep=keep)
            draft.put(row, "meta_title", "seo.title", keep=keep)
            draft.put(row, "meta_description", "seo.description", keep=keep)
            for column in ("brand_name", "vendor_name", "seller_name"):
                draft.put(row, column, "vendor", keep=True)
            draft.categories(row, _CATEGORIES)
            for column in _IMAGES:
                if row[column]:
                    draft.image(row, column, row[column])
            if options or not row["name"]:
                _fill(draft.variant(row, options), row)
            else:
                master = row
        product = draft.product
        product.slug = product.values.get("slug")
        if master is not None and draft.variants:
            # The product row's price, SKU and stock are those of a master that nobody can buy.
            draft.put(master, "sku", "sku")
        elif master is not None:
            product.is_master = True
            only = draft.variant(master, "")
            _fill(only, master)
            if not master["sku"] and not Decimal(only.values.get("price") or 0):
                product.awaits_variants = True
                draft.variants.clear()
        return draft.finish()


def _fill(variant: Variant, row: Row) -> None:
    variant.put("sku", "sku")
    variant.amount("price", "price")
    variant.amount("compare_at_price", "compareAtPrice")
    tracked = variant.read("track_inventory", reading.boolean)
    if tracked is False or variant.row["inventory_count"] == "∞":
        variant.set("track_inventory", "stock", None)
    else:
        variant.put("inventory_count", "stock", reading.stock)
