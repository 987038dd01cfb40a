"""WooCommerce's product export. It has no slugs, so the SKU makes one.

A variation names its parent in a column, by SKU or as `id:44`, and may be anywhere in the file.
"""

from collections.abc import Sequence
from typing import ClassVar

from chalicelib.imports.csv.groups import ALONE
from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format
from chalicelib.imports.formats.product import (
    Draft,
    DraftVariant,
    ImportedProduct,
    slug_of,
    slug_of_key,
)
from chalicelib.imports.formats.sheet import Row, plain
from chalicelib.imports.formats.woocommerce_columns import COLUMNS, OWN


def _unescape_breaks(text: str) -> str:
    r"""Return a text with its line breaks, which the export writes as `\n`, and `\n` as `\\n`."""
    lines = (part.replace("\\n", "\n") for part in reading.text(text).split("\\\\n"))
    return "\\n".join(lines)


# Only these are certainly WooCommerce's: any file may have "Price" or "Cena".
_OWN_PRICES = {plain(name) for name in COLUMNS["price"] if " " in name}


_OF_VARIATIONS = (
    "A variable product has the prices of its variations, and the file has none of them."
)


class WooCommerce(Format):
    name = "woocommerce"
    title = "WooCommerce product export"
    table = COLUMNS
    readings: ClassVar = {"description": _unescape_breaks, "category": reading.parse_list}
    has_entities = True
    named = ("id", "sku", "name", "parent", "option", "image")
    numbers = ("price", "salePrice", "stock")
    nameless = ALONE

    @classmethod
    def fits(cls, columns: Sequence[str]) -> bool:
        """Return whether it has two fields of its own, in any language, and a name or a SKU.

        All its own price columns count as one field.
        """
        fields = {cls.field(column) for column in columns}
        price = {"price"} if any(plain(column) in _OWN_PRICES for column in columns) else set()
        own = {*fields.intersection(OWN), *price}
        return len(own) > 1 and not fields.isdisjoint({"name", "sku"})

    def product_key(self, cells: list[str]) -> str:
        """Return the key of a row's product: a variation's parent, else its SKU, number or name.

        A number is `id:17`; the others are as the file has them.
        """
        sku, number, name, kind, parent = (
            self.sheet.cell(cells, field) for field in ("sku", "id", "name", "kind", "parent")
        )
        if _is_variation(kind, parent):
            return parent or sku
        return sku or (f"id:{number}" if number else name)

    def product_aliases(self, cells: list[str], key: str) -> Sequence[str]:
        """Return the number of a product as a key, if it has another key; () for a variation."""
        number, kind, parent = (self.sheet.cell(cells, each) for each in ("id", "kind", "parent"))
        known = f"id:{number}"
        is_named = number and key != known and not _is_variation(kind, parent)
        return (known,) if is_named else ()

    def read_product(self, draft: Draft) -> ImportedProduct:
        """Sort the draft's rows, the product's own first, and return the product."""
        # Its own pictures come before those of its variations, wherever their rows are.
        draft.rows.sort(key=lambda row: _is_variation(row["kind"], row["parent"]))
        return super().read_product(draft)

    def read_row(self, draft: Draft, row: Row) -> None:
        """Read one row into the draft: a variation, or the product's own.

        The product's own values replace those of earlier rows; its vendor is the first brand. A
        grouped product becomes an error.
        """
        if _is_variation(row["kind"], row["parent"]):
            self._add_variation(draft, row)
            return
        if row["kind"].casefold().startswith("grouped"):
            message = "A grouped product has no price: import the products in it."
            draft.add_error(row, "kind", "unsupported_type", message)
        self.read_common(draft, row, keep=False)
        self.read_images(draft, row)
        for brand in (draft.read_cell(row, "brand", reading.parse_list) or [])[:1]:
            draft.set(row, "brand", "vendor", brand)
        published = draft.read_cell(row, "publication", _parse_published)
        if published is not None:
            status, shown = published
            draft.set(row, "publication", "status", status)
            hidden = row["visibility"].casefold() == "hidden"
            draft.set(row, "publication", "published", shown and not hidden)

    def finish_product(self, draft: Draft) -> ImportedProduct:
        """Return the product; its slug is of its own row, or of the parent that variations name.

        A product with variations has no price and stock of its own.
        """
        product = draft.product
        rows = [row for row in draft.rows if not _is_variation(row["kind"], row["parent"])]
        own = rows[-1] if rows else None
        if own is not None:
            product.slug = _make_slug(own)
            if draft.variants or _is_variable(own):
                # Its stock is shared by its variations, and it has no price of its own.
                draft.set_from_cell(own, "sku", "sku")
                if own["price"]:
                    product.no_price = _OF_VARIATIONS
            else:
                self.fill_variant(draft, draft.add_variant(own, ""), own)
        elif draft.rows:
            self._name_parent(draft, draft.rows[0])
        if product.slug:
            product.if_new["slug"] = product.slug
        return draft.finish_product(sku_is_key=True)

    def set_stock(self, variant: DraftVariant, row: Row) -> None:
        """Set a variant's stock from its cell; a blank one that is not in stock is 0.

        `parent`, for a stock that the product has, sets nothing.
        """
        if row["stock"].casefold() != "parent":
            variant.set_stock()
        if not row["stock"] and row["inStock"] == "0":
            variant.set("inStock", "stock", 0)

    def _add_variation(self, draft: Draft, row: Row) -> None:
        """Add a variation with its values and pictures to the draft.

        Without options it is called by its name, its SKU or its row. Its stock is None if its
        parent has it, and 0 if it is disabled.
        """
        options = " / ".join(value.replace("\\,", ",") for _, value in row.texts_of("option"))
        variant = draft.add_variant(row, options or row["name"] or row["sku"] or f"Row {row.line}")
        self.fill_variant(draft, variant, row)
        if row["stock"].casefold() == "parent":
            variant.set("stock", "stock", None)
        published = draft.read_cell(row, "publication", _parse_published)
        if published == ("ACTIVE", False):
            # A disabled variation (0) is kept, and cannot be bought. (-1 means that its product is
            # a draft.)
            variant.set("publication", "stock", 0)
        self.read_images(draft, row)

    def _name_parent(self, draft: Draft, row: Row) -> None:
        """Set the slug, and perhaps the SKU, of a product of which the file has variations alone.

        They are made of the parent that the row names: a SKU is also the product's, `id:…` is not.
        A variation without a parent becomes an error.
        """
        parent = row["parent"]
        if not parent:
            draft.add_error(row, "parent", "missing_key", "The variation has no parent.")
        elif parent.casefold().startswith("id:"):
            draft.product.slug = f"product-{slug_of(parent[3:])}"
        else:
            draft.product.slug = slug_of_key(parent)
            draft.set(row, "parent", "sku", parent)


def _is_variation(kind: str, parent: str) -> bool:
    """Return whether a row is a variation: its type says so, or without a type, its parent.

    Some plugins write 0 for no parent.
    """
    return "variation" in kind.casefold() or (not kind and parent not in {"", "0"})


def _is_variable(row: Row) -> bool:
    """Return whether a row's type says that the product has variations."""
    return "variable" in row["kind"].casefold()


def _make_slug(row: Row) -> str | None:
    """Return a slug of the SKU, else of the name with the number, or of one of them; None if none.

    Of a variable product without a SKU it is of the number alone (`product-17`), which its
    variations know too.
    """
    sku, number, name = row["sku"], row["id"], slug_of(row["name"])
    if sku:
        return slug_of_key(sku)
    if number and (_is_variable(row) or not name):
        return f"product-{slug_of(number)}"
    return f"{name}-{slug_of(number)}" if number else name or None


def _parse_published(text: str) -> tuple[str, bool]:
    """Return (status, published) of WooCommerce's 1, 0, -1 and 2. Raises BadCell.

    They are published, private (ACTIVE, False), draft, and waiting for review (both DRAFT, True).
    """
    if text in {"-1", "2"}:
        return "DRAFT", True
    return "ACTIVE", reading.boolean(text)
