"""Shopify's product export: the old columns (Handle, Variant SKU) and the new (URL handle, SKU).
Rows that repeat a handle add variants and pictures to the product of its first row."""

from collections.abc import Sequence

from chalicelib.imports.csv.records import Record
from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.cells import Shop
from chalicelib.imports.formats.format import Dialect
from chalicelib.imports.formats.product import Draft, ImportedProduct, slug_of
from chalicelib.imports.formats.sheet import Row, Sheet, cell

# What is read, under the new name and the old.
_NAMES = {
    "handle": ("URL handle", "Handle"),
    "title": ("Title",),
    "description": ("Description", "Body (HTML)", "Body HTML"),
    "vendor": ("Vendor",),
    "category": ("Product category",),
    "type": ("Type",),
    "tags": ("Tags",),
    "published": ("Published on online store", "Published"),
    "status": ("Status",),
    "option1": ("Option1 value",),
    "option2": ("Option2 value",),
    "option3": ("Option3 value",),
    "sku": ("SKU", "Variant SKU"),
    "price": ("Price", "Variant Price"),
    "compareAt": ("Compare-at price", "Variant Compare At Price"),
    "tracker": ("Inventory tracker", "Variant Inventory Tracker"),
    "quantity": ("Inventory quantity", "Variant Inventory Qty"),
    "image": ("Product image URL", "Image Src"),
    "position": ("Image position",),
    "alt": ("Image alt text",),
    "variantImage": ("Variant image URL", "Variant Image"),
    "seoTitle": ("SEO title",),
    "seoDescription": ("SEO description",),
}
_OPTIONS = ("option1", "option2", "option3")
_NAMED = ("handle", "title", *_OPTIONS, "sku", "image", "variantImage")
_NUMBERS = ("price", "compareAt", "quantity")
_OWN = (
    *("URL handle", "Handle", "Option1 value", "Compare-at price", "Inventory quantity"),
    *("Published on online store", "Product image URL", "Variant SKU", "Variant Price"),
)


class Shopify(Dialect):
    name = "shopify"
    columns = tuple(column for names in _NAMES.values() for column in names)

    def __init__(self, sheet: Sheet) -> None:
        super().__init__(sheet)
        self._column = {
            what: next((name for name in names if name in sheet), names[0])
            for what, names in _NAMES.items()
        }
        self._handle, self._title = (sheet.at(self._column[c]) for c in ("handle", "title"))

    @classmethod
    def fits(cls, sheet: Sheet) -> bool:
        if "Handle" in sheet or "URL handle" in sheet:
            return sum(column in sheet for column in cls.columns) > 1
        return "Title" in sheet and any(column in sheet for column in _OWN)

    def key(self, cells: list[str]) -> str:
        return cell(cells, self._handle) or slug_of(cell(cells, self._title))

    def product(self, records: Sequence[Record], shop: Shop) -> ImportedProduct:
        draft = Draft(self.sheet, records, shop)
        column = self._column
        of_variant = [column[what] for what in (*_OPTIONS, "sku", "price")]
        draft.refuse_nameless(*([column[what] for what in each] for each in (_NAMED, _NUMBERS)))
        for row in draft.rows:
            keep = row.any(of_variant)
            draft.put(row, column["handle"], "slug", keep=keep)
            draft.put(row, column["title"], "name", keep=keep)
            for what in ("description", "vendor", "type"):
                draft.put(row, column[what], what, keep=keep)
            draft.put(row, column["category"], "type", reading.leaf, keep=True)
            draft.put(row, column["tags"], "tags", reading.listed, keep=keep)
            draft.put(row, column["published"], "published", reading.boolean, keep=keep)
            draft.put(row, column["seoTitle"], "seo.title", keep=keep)
            draft.put(row, column["seoDescription"], "seo.description", keep=keep)
            self._status(draft, row, keep)
            if keep:
                self._variant(draft, row)
        self._images(draft)
        product = draft.product
        product.slug = product.values.get("slug")
        if not product.slug and product.values.get("name"):
            product.slug = product.if_new["slug"] = slug_of(product.values["name"])
        if column["status"] not in self.sheet:
            product.if_new["status"] = "ACTIVE"
        return draft.finish()

    def _status(self, draft: Draft, row: Row, keep: bool) -> None:
        column = self._column["status"]
        if row[column].casefold() == "unlisted":
            draft.set(row, column, "status", "ACTIVE", keep=keep)
            draft.set(row, column, "published", False)
        else:
            draft.put(row, column, "status", reading.status, keep=keep)

    def _variant(self, draft: Draft, row: Row) -> None:
        column = self._column
        options = [row[column[what]] for what in _OPTIONS]
        title = " / ".join(option for option in options if option)
        variant = draft.variant(row, "" if title == "Default Title" else title)
        variant.put(column["sku"], "sku")
        variant.amount(column["price"], "price")
        variant.amount(column["compareAt"], "compareAtPrice")
        if column["tracker"] in self.sheet and not row[column["tracker"]]:
            # Without a tracker the quantity is left over from some other time: it is not counted.
            variant.set(column["tracker"], "stock", None)
        else:
            variant.put(column["quantity"], "stock", reading.stock)

    def _images(self, draft: Draft) -> None:
        image, alt = self._column["image"], self._column["alt"]
        rows = [row for row in draft.rows if row[image]]
        for row in sorted(rows, key=self._position):
            draft.image(row, image, row[image], row[alt])
        for row in draft.rows:
            url = row[self._column["variantImage"]]
            if url:
                draft.image(row, self._column["variantImage"], url)

    def _position(self, row: Row) -> int:
        position = row[self._column["position"]]
        return int(position) if position.isdecimal() else 1 << 30
