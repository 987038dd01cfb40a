"""WooCommerce's product export. A variation names its parent in a column, by SKU or as `id:44`, and
may stand anywhere in the file; the export has no slugs, so the SKU makes one."""

from itertools import combinations
from typing import ClassVar

from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format
from chalicelib.imports.formats.product import (
    Draft,
    ImportedProduct,
    Variant,
    slug_of,
    slug_of_key,
)
from chalicelib.imports.formats.sheet import Row

# English; the export writes its columns in the language of whoever exports.
_COLUMNS = {
    "id": ("ID",),
    "kind": ("Type",),
    "sku": ("SKU",),
    "name": ("Name",),
    "publication": ("Published",),
    "description": ("Description", "Short description"),
    "saleStarts": ("Date sale price starts",),
    "saleEnds": ("Date sale price ends",),
    "inStock": ("In stock?",),
    "stock": ("Stock",),
    "lowStockThreshold": ("Low stock amount",),
    "salePrice": ("Sale price",),
    "price": ("Regular price",),
    "category": ("Categories",),
    "tags": ("Tags",),
    "image": ("Images",),
    "parent": ("Parent",),
    "brand": ("Brands",),
    "visibility": ("Visibility in catalog",),
    "option": ("Attribute {n} value(s)",),
    "seoTitle": ("Meta: _yoast_wpseo_title", "Meta: rank_math_title"),
    "seoDescription": ("Meta: _yoast_wpseo_metadesc", "Meta: rank_math_description"),
}
# Columns of its own: no shop's list by hand has two of these.
_OWN = (
    *("In stock?", "Date sale price starts", "Date sale price ends", "Visibility in catalog"),
    *("Attribute 1 name", "Attribute 1 value(s)", "Is featured?", "Backorders allowed?"),
    *("Sold individually?", "Tax status", "Allow customer reviews?", "Low stock amount"),
    *("Regular price", "Parent", "Grouped products", "Download limit", "Date sale price ends"),
)


def _unescaped(text: str) -> str:
    r"""The export writes a line break in a description as `\n`, and `\n` as `\\n`."""
    lines = (part.replace("\\n", "\n") for part in reading.text(text).split("\\\\n"))
    return "\\n".join(lines)


class WooCommerce(Format):
    name = "woocommerce"
    title = "WooCommerce product export"
    table: ClassVar = _COLUMNS
    signs = tuple(combinations(dict.fromkeys(_OWN), 2))
    readings: ClassVar = {"description": _unescaped, "category": reading.listed}
    named = ("id", "sku", "name", "parent", "option", "image")
    numbers = ("price", "salePrice", "stock")

    def key(self, cells: list[str]) -> str:
        sku, number, name, kind, parent = (
            self.sheet.cell(cells, field) for field in ("sku", "id", "name", "kind", "parent")
        )
        if _is_variation(kind, parent):
            return parent or sku
        return sku or (f"id:{number}" if number else name)

    def alias(self, cells: list[str]) -> str:
        sku, number, kind, parent = (
            self.sheet.cell(cells, field) for field in ("sku", "id", "kind", "parent")
        )
        return f"id:{number}" if sku and number and not _is_variation(kind, parent) else ""

    def row(self, draft: Draft, row: Row) -> None:
        if _is_variation(row["kind"], row["parent"]):
            self._variation(draft, row)
            return
        if row["kind"].casefold().startswith("grouped"):
            message = "A grouped product has no price of its own: import the products in it."
            draft.fail(row, "kind", "unsupported_type", message)
        self.once(draft, row, keep=False)
        self.images(draft, row)
        for brand in (draft.read(row, "brand", reading.listed) or [])[:1]:
            draft.set(row, "brand", "vendor", brand)
        published = draft.read(row, "publication", _published)
        if published is not None:
            status, shown = published
            draft.set(row, "publication", "status", status)
            hidden = row["visibility"].casefold() == "hidden"
            draft.set(row, "publication", "published", shown and not hidden)

    def images(self, draft: Draft, row: Row) -> None:
        draft.images(row)

    def finish(self, draft: Draft) -> ImportedProduct:
        product = draft.product
        rows = [row for row in draft.rows if not _is_variation(row["kind"], row["parent"])]
        own = rows[-1] if rows else None
        if own is not None:
            product.slug = _slug(own)
            if draft.variants or _is_variable(own):
                # Its stock is one that variations share, and it has no price of its own.
                draft.put(own, "sku", "sku")
                product.awaits_variants = not draft.variants
            else:
                self.fill(draft, draft.variant(own, ""), own)
        elif draft.rows:
            self._name_parent(draft, draft.rows[0])
        if product.slug:
            product.if_new["slug"] = product.slug
        return draft.finish(sku_is_key=True)

    def stock(self, variant: Variant, row: Row) -> None:
        if row["stock"].casefold() != "parent":
            variant.count()
        if not row["stock"] and row["inStock"] == "0":
            variant.set("inStock", "stock", 0)

    def _variation(self, draft: Draft, row: Row) -> None:
        options = " / ".join(value.replace("\\,", ",") for _, value in row.each("option"))
        variant = draft.variant(row, options or row["name"] or row["sku"] or f"Row {row.line}")
        self.fill(draft, variant, row)
        if row["stock"].casefold() == "parent":
            variant.set("stock", "stock", None)
        published = draft.read(row, "publication", _published)
        if published == ("ACTIVE", False):
            # A variation that is switched off is kept, and cannot be bought. (-1 says that its
            # product is a draft.)
            variant.set("publication", "stock", 0)
        self.images(draft, row)

    def _name_parent(self, draft: Draft, row: Row) -> None:
        parent = row["parent"]
        if not parent:
            draft.fail(row, "parent", "missing_key", "A variation names no parent.")
        elif parent.casefold().startswith("id:"):
            draft.product.slug = f"product-{slug_of(parent[3:])}"
        else:
            draft.product.slug = slug_of_key(parent)
            draft.set(row, "parent", "sku", parent)


def _is_variation(kind: str, parent: str) -> bool:
    return "variation" in kind.casefold() or (not kind and bool(parent))


def _is_variable(row: Row) -> bool:
    return "variable" in row["kind"].casefold()


def _slug(row: Row) -> str | None:
    """A slug that the variations, which know the parent's SKU or number alone, can make too."""
    sku, number, name = row["sku"], row["id"], slug_of(row["name"])
    if sku:
        return slug_of_key(sku)
    if number and (_is_variable(row) or not name):
        return f"product-{slug_of(number)}"
    return f"{name}-{slug_of(number)}" if number else name or None


def _published(text: str) -> tuple[str, bool]:
    """WooCommerce's 1, 0, -1 and 2: published, private, draft, waiting for review."""
    if text in {"-1", "2"}:
        return "DRAFT", True
    return "ACTIVE", reading.boolean(text)
