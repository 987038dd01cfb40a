"""Our own columns: the names of the API's product fields.

One row is a product, or one variant or picture of the product whose slug it repeats.
"""

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from typing import ClassVar

from chalicelib.imports.csv.groups import name_key
from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.format import Format
from chalicelib.imports.formats.product import OF_VARIANT, Draft, DraftVariant, ImportedProduct
from chalicelib.imports.formats.sheet import Row, plain

# The columns of the template, in its order.
COLUMNS = (
    *("slug", "name", "description", "status", "price", "compareAtPrice", "sku", "vendor"),
    *("type", "tags", "variantTitle", "variantSku", "variantPrice", "stock", "barcode", "cost"),
    *("imageUrl", "imageAlt", "published", "storefront", "lowStockThreshold", "seoTitle"),
    *("seoDescription", "madeToOrder", "leadDays", "specification"),
)
# Other names that are unambiguous.
_SYNONYMS = {
    "name": ("title", "product name"),
    "stock": ("quantity", "qty"),
    "barcode": ("ean", "gtin", "upc"),
    "cost": ("cost per item",),
    "image": ("imageUrl", "image", "images", "image urls"),
    "category": ("category", "categories"),
    "vendor": ("brand",),
}
_TABLE = {
    **{column: (column, *_SYNONYMS.get(column, ())) for column in COLUMNS if column != "imageUrl"},
    **{field: _SYNONYMS[field] for field in ("image", "category")},
}
# Fields that several columns may give. Which of two stocks counts is not guessed.
_SEVERAL = ("image", "category")
_OF_VARIANT = ("variantTitle", "variantSku", "variantPrice", "option")
_PRODUCTS = ("price", "salePrice")
_BETWEEN_VALUES = re.compile(r"[,;|/\n]|\bor\b")
_OF_MADE = ("leadDays", "specification")
_IDENTITY = ("slug", "name", "sku")


class Ours(Format):
    name = "backroom"
    title = "Backroom's own columns"
    table = _TABLE
    reads_currencies = False  # a file with such a column is asked about
    said_by: ClassVar = {
        "sku": frozenset({"variantSku", "parentSku"}),
        "price": frozenset({"variantPrice", "salePrice"}),
    }
    named = ("slug", "name", "sku", "parentSku", *_OF_VARIANT, "image")
    readings: ClassVar = {"category": reading.parse_list}
    sku_names_product = True
    own_prices = True

    @cached_property
    def _of_variant(self) -> list[str]:
        """The fields of a variant that the file has columns of."""
        return [field for field in _OF_VARIANT if field in self.sheet]

    @cached_property
    def _skus(self) -> list[str]:
        """The fields of SKUs that the file has columns of: the product's and the variant's."""
        return [field for field in ("sku", "variantSku") if field in self.sheet]

    @cached_property
    def _names_products(self) -> bool:
        """Whether the file has a column of slugs or names."""
        return "slug" in self.sheet or "name" in self.sheet

    @classmethod
    def fits(cls, columns: Sequence[str]) -> bool:
        """Return whether every column is one of ours, and they describe a product.

        No two give the same field, and they say which product and something of it. A specification
        without `madeToOrder` is not ours: suppliers have such a column too, with any text.
        """
        named = {plain(column): cls.field(column) for column in columns if plain(column)}
        single = [field for field in named.values() if field not in _SEVERAL]
        fields = {*named.values()}
        is_clear = None not in fields and len(single) == len(set(single))
        is_clear &= "madeToOrder" in fields or fields.isdisjoint(_OF_MADE)
        return is_clear and len(fields) > 1 and not fields.isdisjoint(_IDENTITY)

    def product_key(self, cells: list[str]) -> str:
        """Return the key of a row's product: its slug, its parent's SKU, its own SKU, or its name.

        A variant's SKU is none of the product's, if the file has names.
        """
        if slug := self.slug_key(cells):
            return slug
        name, sku, parent = (self.sheet.cell(cells, each) for each in ("name", "sku", "parentSku"))
        if parent:
            return f"sku {parent}"
        if sku and (self._is_of_product(cells) or not self._names_products):
            return f"sku {sku}"
        return name_key(name)

    def _is_of_product(self, cells: list[str]) -> bool:
        """Return whether a SKU is the product's.

        A row of a variant has the variant's, unless the file has a column for those.
        """
        of_variant = any(self.sheet.cell(cells, field) for field in self._of_variant)
        return "variantSku" in self.sheet or not of_variant

    def product_aliases(self, cells: list[str], key: str) -> Sequence[str]:
        """Return the keys besides `key` by which other rows may name the product of a row.

        These are its SKUs, and for one that is named by SKU in a file with variants its name.
        """
        skus = (self.sheet.cell(cells, field) for field in self._skus)
        known = [each for sku in skus if sku and (each := f"sku {sku}") != key]
        if key.startswith("name "):
            return [*known, *super().product_aliases(cells, key)]
        if not self._of_variant or not key.startswith("sku "):
            return known
        name = self.sheet.cell(cells, "name")
        return [*known, name_key(name)] if name else known

    def is_variant(self, row: Row) -> bool:
        """Return whether the row has values of a variant, or names another SKU as its parent.

        A row that was marked as the product's own is not of a variant.
        """
        if row.is_own:
            return False
        return row.has_any(_OF_VARIANT) or row["parentSku"] not in ("", row["sku"])

    def variant_title(self, row: Row) -> str:
        """Return the variant's title; one that names its product by SKU may have only its name."""
        own_name = row["name"] if row["parentSku"] else ""
        return row["variantTitle"] or super().variant_title(row) or own_name

    def read_product(self, draft: Draft) -> ImportedProduct:
        """Mark and sort the draft's rows, the product's own first, and return the product."""
        if "parentSku" in self.sheet or "option" in self.sheet:
            _mark_own_rows(draft.rows)
        if "parentSku" in self.sheet:
            draft.rows.sort(key=self.is_variant)  # the product's own name counts
        return super().read_product(draft)

    def read_row(self, draft: Draft, row: Row) -> None:
        """Read one row into the draft: what the product has, and its variant.

        A row that knows a variant by its SKU alone only fills that. What a variant's row gives for
        the product does not replace what other rows gave.
        """
        title = _title_by_sku(draft, row)
        if title is not None:
            self.fill_variant(draft, draft.add_variant(row, title), row)
            return
        of_variant = self.is_variant(row)
        super().read_row(draft, row)
        if not of_variant or row["variantPrice"]:
            for key, (field, value) in self.read_prices(draft, row).items():
                draft.set(row, field, key, value, keep=of_variant)
        if row["parentSku"]:
            draft.set_from_cell(row, "parentSku", "sku", keep=True)
        elif not of_variant or "variantSku" in self.sheet:
            draft.set_from_cell(row, "sku", "sku", keep=of_variant)
        if not of_variant:
            values = (draft.read_stock(row), draft.read_barcode(row), draft.read_cost(row))
            for field, own in zip(OF_VARIANT, values, strict=True):
                if own is not None:
                    draft.set(row, field, field, own)

    def finish_product(self, draft: Draft) -> ImportedProduct:
        """Return the product, with the lowest price of its variants if it has none of its own.

        Only what the column `price` gives the variants counts for that.
        """
        priced = [each for each in draft.variants if each.fields.get("price") in _PRODUCTS]
        lowest = min(priced, key=lambda each: Decimal(each.values["price"]), default=None)
        if lowest and "price" not in draft.product.values:
            draft.set(lowest.row, lowest.fields["price"], "price", lowest.values["price"])
        return super().finish_product(draft)

    def fill_variant(self, draft: Draft, variant: DraftVariant, row: Row) -> None:
        """Set the variant's SKU, prices, extras and stock; `variantPrice` comes before `price`."""
        is_own = "variantSku" in self.sheet and self.is_variant(row)
        variant.set_from_cell("variantSku" if is_own else "sku", "sku")
        # On a variant's row, `variantPrice` and `price` both give the variant's price.
        own = draft.read_amount(row, "variantPrice")
        prices = {"price": ("variantPrice", own)} if own else self.read_prices(draft, row)
        for key, (field, value) in prices.items():
            variant.set(field, key, value)
        variant.put_extras()
        self.set_stock(variant, row)


def _mark_own_rows(rows: Sequence[Row]) -> None:
    """Set `is_own` of each row: whether it is the product's own, and no variant's.

    It is if others name its SKU as their parent's, or have the single values that an option of it
    lists.
    """
    parents = {row["parentSku"] for row in rows if row["parentSku"] != row["sku"]}
    values = Counter((c, v.casefold()) for row in rows for c, v in row.texts_of("option"))
    for row in rows:
        listed = (
            [
                (column, part.casefold())
                for part in map(str.strip, _BETWEEN_VALUES.split(cell))
                if part
            ]
            for column, cell in row.texts_of("option")
        )
        is_list = any(len(parts) > 1 and all(map(values.get, parts)) for parts in listed)
        is_parent = row["sku"] in parents and row["parentSku"] in ("", row["sku"])
        row.is_own = is_list or (is_parent and row["sku"] != "")


def _title_by_sku(draft: Draft, row: Row) -> str | None:
    """Return the title of the variant that a row names by nothing but its SKU; None for other rows.

    None also if no row gives a variant that SKU.
    """
    if not row["sku"] or row.has_any(("slug", "name", "parentSku", *_OF_VARIANT)):
        return None
    named = (each for each in draft.rows if each["variantSku"] == row["sku"])
    return next((each["variantTitle"] for each in named), None)
