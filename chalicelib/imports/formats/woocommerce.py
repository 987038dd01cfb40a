"""WooCommerce's product export. A variation names its parent in a column, by SKU or as `id:44`, and
may stand anywhere in the file; the export has no slugs, so the SKU makes one."""

from collections.abc import Sequence
from datetime import date

from chalicelib.imports.csv.records import Record
from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.cells import BadCell, Shop
from chalicelib.imports.formats.format import Dialect
from chalicelib.imports.formats.product import (
    Draft,
    ImportedProduct,
    Variant,
    slug_of,
    slug_of_key,
)
from chalicelib.imports.formats.sheet import Row, Sheet, cell

_ATTRIBUTES = tuple(f"Attribute {n} value(s)" for n in range(1, 11))
_NAMED = ("ID", "SKU", "Name", "Parent", *_ATTRIBUTES, "Images")
_NUMBERS = ("Regular price", "Sale price", "Stock")
_OWN = ("Regular price", "Sale price", "In stock?", "Attribute 1 name", "Is featured?")
_SEO = {
    "seo.title": ("Meta: _yoast_wpseo_title", "Meta: rank_math_title"),
    "seo.description": ("Meta: _yoast_wpseo_metadesc", "Meta: rank_math_description"),
}


class WooCommerce(Dialect):
    name = "woocommerce"
    columns = (
        *("ID", "Type", "SKU", "Name", "Published", "Short description", "Description"),
        *("Date sale price starts", "Date sale price ends", "In stock?", "Stock"),
        *("Low stock amount", "Sale price", "Regular price", "Categories", "Tags", "Images"),
        *("Parent", "Brands", "Visibility in catalog"),
        *_ATTRIBUTES,
        *(column for columns in _SEO.values() for column in columns),
    )

    def __init__(self, sheet: Sheet) -> None:
        super().__init__(sheet)
        columns = ("ID", "Type", "SKU", "Name", "Parent")
        self._id, self._type, self._sku, self._name, self._parent = map(sheet.at, columns)

    @classmethod
    def fits(cls, sheet: Sheet) -> bool:
        named = "Name" in sheet or "SKU" in sheet
        return named and (
            any(column in sheet for column in _OWN) or ("Type" in sheet and "Parent" in sheet)
        )

    def key(self, cells: list[str]) -> str:
        parent = cell(cells, self._parent)
        if _is_variation(cell(cells, self._type), parent):
            return parent or cell(cells, self._sku)
        number = cell(cells, self._id)
        return cell(cells, self._sku) or (f"id:{number}" if number else cell(cells, self._name))

    def alias(self, cells: list[str]) -> str:
        if _is_variation(cell(cells, self._type), cell(cells, self._parent)):
            return ""
        number = cell(cells, self._id)
        return f"id:{number}" if number and cell(cells, self._sku) else ""

    def product(self, records: Sequence[Record], shop: Shop) -> ImportedProduct:
        draft = Draft(self.sheet, records, shop)
        draft.refuse_nameless(_NAMED, _NUMBERS)
        own: Row | None = None
        for row in draft.rows:
            if _is_variation(row["Type"], row["Parent"]):
                self._variation(draft, row)
            else:
                own = row
                self._product_row(draft, row)
        product = draft.product
        if own is not None:
            product.slug = _slug(own)
            if draft.variants or _is_variable(own):
                # Its stock is one that variations share, and it has no price of its own.
                draft.put(own, "SKU", "sku")
                product.awaits_variants = not draft.variants
            else:
                _fill(draft, draft.variant(own, ""), own)
        elif draft.rows:
            self._name_parent(draft, draft.rows[0])
        if product.slug:
            product.if_new["slug"] = product.slug
        return draft.finish(sku_is_key=True)

    def _product_row(self, draft: Draft, row: Row) -> None:
        if row["Type"].casefold().startswith("grouped"):
            message = "A grouped product has no price of its own: import the products in it."
            draft.fail(row, "Type", "unsupported_type", message)
        draft.put(row, "Name", "name")
        draft.put(row, "Short description", "description", _unescaped)
        draft.put(row, "Description", "description", _unescaped)
        draft.put(row, "Tags", "tags", reading.listed)
        draft.put(row, "Low stock amount", "lowStockThreshold", reading.stock)
        for brand in (draft.read(row, "Brands", reading.listed) or [])[:1]:
            draft.set(row, "Brands", "vendor", brand)
        for path, columns in _SEO.items():
            for column in columns:
                draft.put(row, column, path)
        published = draft.read(row, "Published", _published)
        if published is not None:
            status, shown = published
            draft.set(row, "Published", "status", status)
            hidden = row["Visibility in catalog"].casefold() == "hidden"
            draft.set(row, "Published", "published", shown and not hidden)
        draft.categories(row, ("Categories",), reading.listed)
        self._images(draft, row)

    def _variation(self, draft: Draft, row: Row) -> None:
        values = (row[column].replace("\\,", ",") for column in _ATTRIBUTES)
        options = " / ".join(value for value in values if value)
        variant = draft.variant(row, options or row["Name"] or row["SKU"] or f"Row {row.line}")
        _fill(draft, variant, row)
        if row["Stock"].casefold() == "parent":
            variant.set("Stock", "stock", None)
        published = draft.read(row, "Published", _published)
        if published == ("ACTIVE", False):
            # A variation that is switched off is kept, and cannot be bought. (-1 says that its
            # product is a draft.)
            variant.set("Published", "stock", 0)
        self._images(draft, row)

    def _images(self, draft: Draft, row: Row) -> None:
        for url in draft.read(row, "Images", reading.listed) or []:
            draft.image(row, "Images", url)

    def _name_parent(self, draft: Draft, row: Row) -> None:
        parent = row["Parent"]
        if not parent:
            draft.fail(row, "Parent", "missing_key", "A variation names no parent.")
        elif parent.casefold().startswith("id:"):
            draft.product.slug = f"product-{slug_of(parent[3:])}"
        else:
            draft.product.slug = slug_of_key(parent)
            draft.set(row, "Parent", "sku", parent)


def _is_variation(kind: str, parent: str) -> bool:
    return "variation" in kind.casefold() or (not kind and bool(parent))


def _is_variable(row: Row) -> bool:
    return "variable" in row["Type"].casefold()


def _slug(row: Row) -> str | None:
    """A slug that the variations, which know the parent's SKU or number alone, can make too."""
    sku, number, name = row["SKU"], row["ID"], slug_of(row["Name"])
    if sku:
        return slug_of_key(sku)
    if number and (_is_variable(row) or not name):
        return f"product-{slug_of(number)}"
    return f"{name}-{slug_of(number)}" if number else name or None


def _fill(draft: Draft, variant: Variant, row: Row) -> None:
    variant.put("SKU", "sku")
    if row["Sale price"] and _on_sale(draft, row):
        variant.amount("Sale price", "price")
        variant.amount("Regular price", "compareAtPrice")
    else:
        variant.amount("Regular price", "price")
        if "Sale price" in draft.sheet and row["Regular price"]:
            # A sale that is over leaves no price before it.
            variant.set("Regular price", "compareAtPrice", None)
    if row["Stock"].casefold() != "parent":
        variant.put("Stock", "stock", reading.stock)
    if not row["Stock"] and row["In stock?"] == "0":
        variant.set("In stock?", "stock", 0)


def _on_sale(draft: Draft, row: Row) -> bool:
    starts = draft.read(row, "Date sale price starts", _day)
    ends = draft.read(row, "Date sale price ends", _day)
    today = draft.shop.today
    return (starts is None or starts <= today) and (ends is None or today <= ends)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        raise BadCell("not_a_date", f'"{text[:40]}" is not a date such as 2026-11-20.') from None


def _published(text: str) -> tuple[str, bool]:
    """WooCommerce's 1, 0, -1 and 2: published, private, draft, waiting for review."""
    if text in {"-1", "2"}:
        return "DRAFT", True
    return "ACTIVE", reading.boolean(text)


def _unescaped(text: str) -> str:
    r"""The export writes a line break in a description as `\n`, and `\n` as `\\n`."""
    lines = (part.replace("\\n", "\n") for part in reading.text(text).split("\\\\n"))
    return "\\n".join(lines)
