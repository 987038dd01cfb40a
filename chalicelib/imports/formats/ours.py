"""Our own columns: the names of the API's product fields. One row is a product, or one variant or
picture of the product whose slug it repeats."""

from collections.abc import Sequence

from chalicelib.imports.csv.records import Record
from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.cells import Shop
from chalicelib.imports.formats.format import Dialect
from chalicelib.imports.formats.product import Draft, ImportedProduct, slug_of
from chalicelib.imports.formats.sheet import Sheet, cell

_VARIANT = ("variantTitle", "variantSku", "variantPrice")
_NAMED = ("slug", "name", "sku", *_VARIANT, "imageUrl")
_NUMBERS = ("price", "compareAtPrice", "stock")


class Ours(Dialect):
    name = "backroom"
    columns = (
        *("slug", "name", "description", "status", "price", "compareAtPrice", "sku", "vendor"),
        *("type", "tags", "variantTitle", "variantSku", "variantPrice", "stock", "imageUrl"),
        *("imageAlt", "published", "storefront", "lowStockThreshold", "seoTitle"),
        *("seoDescription",),
    )

    def __init__(self, sheet: Sheet) -> None:
        super().__init__(sheet)
        self._slug, self._name, self._sku = (sheet.at(c) for c in ("slug", "name", "sku"))
        self._variant = [sheet.at(c) for c in _VARIANT]

    @classmethod
    def fits(cls, sheet: Sheet) -> bool:
        known = sum(column in sheet for column in cls.columns)
        return known > 1 and any(column in sheet for column in ("slug", "name", "sku"))

    def key(self, cells: list[str]) -> str:
        slug = cell(cells, self._slug)
        if slug:
            return slug
        name, sku = cell(cells, self._name), cell(cells, self._sku)
        if sku and (name or not any(cell(cells, at) for at in self._variant)):
            return f"sku {sku}"
        return slug_of(name) or name

    def alias(self, cells: list[str]) -> str:
        """A row of prices may know by its SKU what another row knows by its slug."""
        sku = cell(cells, self._sku)
        of_variant = any(cell(cells, at) for at in self._variant)
        return f"sku {sku}" if sku and cell(cells, self._slug) and not of_variant else ""

    def product(self, records: Sequence[Record], shop: Shop) -> ImportedProduct:
        draft = Draft(self.sheet, records, shop)
        draft.refuse_nameless(_NAMED, _NUMBERS)
        for row in draft.rows:
            of_variant = row.any(_VARIANT)
            for column in ("slug", "name", "description", "sku", "vendor", "type", "storefront"):
                draft.put(row, column, column, keep=of_variant)
            draft.put(row, "status", "status", reading.status, keep=of_variant)
            draft.put(row, "published", "published", reading.boolean, keep=of_variant)
            draft.put(row, "tags", "tags", reading.listed, keep=of_variant)
            draft.put(row, "lowStockThreshold", "lowStockThreshold", reading.stock, keep=of_variant)
            draft.put(row, "seoTitle", "seo.title", keep=of_variant)
            draft.put(row, "seoDescription", "seo.description", keep=of_variant)
            draft.price(row, "price", keep=of_variant)
            draft.compare_at(row, "compareAtPrice", keep=of_variant)
            if row["imageUrl"]:
                draft.image(row, "imageUrl", row["imageUrl"], row["imageAlt"])
            if not of_variant:
                draft.put(row, "stock", "stock", reading.stock)
                continue
            variant = draft.variant(row, row["variantTitle"])
            variant.put("variantSku", "sku")
            # A price on the variant's own row, in either column, is the variant's.
            variant.amount("variantPrice" if row["variantPrice"] else "price", "price")
            variant.put("stock", "stock", reading.stock)
        return self._identified(draft)

    def _identified(self, draft: Draft) -> ImportedProduct:
        """The product, with the slug that it has or is to get."""
        product = draft.product
        values = product.values
        product.slug = values.get("slug")
        if not product.slug and values.get("name"):
            product.if_new["slug"] = slug_of(values["name"])
            # With a SKU, two products may have one name; without, the name is all there is.
            product.slug = None if values.get("sku") else product.if_new["slug"] or None
        return draft.finish(own_prices=True)
