"""Magento 2's product export.

A configurable product lists its variants by SKU in a cell; each is a row of its own, anywhere in
the file, and most are not visible by themselves. Exports say so in the language of their user.
"""

import re
from collections.abc import Sequence, Set
from datetime import date
from typing import ClassVar

from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.cells import BadCell
from chalicelib.imports.formats.format import Format
from chalicelib.imports.formats.product import Draft, DraftVariant, ImportedProduct
from chalicelib.imports.formats.sheet import Row
from chalicelib.values import slugs

# Where a product is visible, in one word, in the languages in which WooCommerce is known and some
# others. A product that is visible in both places has a text with a comma. Any other text says that
# it is not visible by itself: an unknown word is an error of its row, and nothing is published.
_PLACES = """
    catalog search katalog suche suchen catalogue recherche rechercher catálogo buscar búsqueda
    catalogo cerca ricerca catalogus zoeken busca pesquisa pesquisar szukaj wyszukiwanie sök каталог
    поиск søg søk haku keresés katalógus vyhledávání vyhľadávanie arama căutare
    カタログ 検索 目录 搜索 目錄 搜尋 카탈로그 검색 2 3 4"""
_COMMAS = re.compile("[,;，、،]")
_SHOWN = frozenset(_PLACES.split())
_PAIR = re.compile(r"(?:^|,)\s*([a-z0-9_]{1,60})=")
_DAY = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{2}|\d{4})(?:\D.*)?", re.DOTALL)
_UNSUPPORTED = {"bundle", "grouped"}


def _is_hidden(visibility: str) -> bool:
    """Return whether a product is not visible by itself; a blank cell does not say so."""
    is_shown = _COMMAS.search(visibility) or visibility.casefold() in _SHOWN
    return visibility != "" and not is_shown


def _categories(cell: str) -> list[str]:
    """Return the paths of a list without their root, and with `>` between their steps."""
    paths = (path.partition("/") for path in reading.parse_list(cell))
    return [(below or root).replace("/", ">") for root, _, below in paths]


def _day(cell: str) -> date:
    """Parse a day: `11/20/26` with the month first, or as `cells.day` does. Raises BadCell."""
    match = _DAY.fullmatch(cell[:40])
    if not match:
        return reading.day(cell)
    month, day, year = map(int, match.groups())
    try:
        return date(year if year > 99 else 2000 + year, month, day)
    except ValueError:
        raise BadCell("not_a_date", f'"{cell[:40]}" is not a date.') from None


def _options(cell: str) -> dict[str, str]:
    """Return {SKU: title} of the variants in a cell, in order: `T-S` has `S / Red`.

    The cell is `sku=T-S,size=S,color=Red|…`; a value may have commas. A part without a SKU is left
    out.
    """
    options = {}
    for each in cell.split("|"):
        names = list(_PAIR.finditer(each))
        ends = [*(name.start() for name in names[1:]), len(each)]
        pairs = [(n[1], each[n.end() : end].strip()) for n, end in zip(names, ends, strict=False)]
        sku = next((value for name, value in pairs if name == "sku"), "")
        if sku:
            options[sku] = " / ".join(value for name, value in pairs if name != "sku" and value)
    return options


class Magento(Format):
    name = "magento"
    title = "Magento 2 product export"
    table: ClassVar = {
        **{field: (field,) for field in ("sku", "name", "price", "cost", "visibility")},
        "description": ("description", "short_description"),
        "storeView": ("store_view_code",),
        "kind": ("product_type",),
        "status": ("product_online",),
        "category": ("categories",),
        "slug": ("url_key",),
        "salePrice": ("special_price",),
        "saleStarts": ("special_price_from_date", "special_from_date"),
        "saleEnds": ("special_price_to_date", "special_to_date"),
        "seoTitle": ("meta_title",),
        "seoDescription": ("meta_description",),
        "image": ("base_image", "additional_images"),
        "stock": ("qty",),
        "managed": ("manage_stock",),
        "configured": ("use_config_manage_stock",),
        "variations": ("configurable_variations",),
    }
    signs = tuple(
        ("sku", own)
        for own in (
            *("attribute_set_code", "product_websites", "configurable_variations"),
            *("store_view_code", "product_online"),
        )
    )
    readings: ClassVar = {
        "slug": slugs.of_key,  # Magento takes any text for it
        "category": _categories,
        "image": reading.parse_list,  # most are paths in Magento's own store
        "status": lambda cell: "ACTIVE" if cell == "1" else "DRAFT",
        "saleStarts": _day,
        "saleEnds": _day,
    }
    unread = (
        *("{*}_image", "{*}_image_label", "{*}_image_labels", "{*}_qty", "{*}_price", "{*}_skus"),
        *("is_in_stock", "{*}price_type", "bundle_sku_type", "bundle_price_view"),
        *("notify_on_stock_below", "use_config_notify_stock_qty", "is_qty_decimal"),
        *("use_config_{*}", "qty_increments", "enable_qty_increments"),
        *("msrp_display_actual_price_type",),
    )
    named = ("sku", "name", "slug")
    numbers = ("price", "salePrice", "stock")
    if_new: ClassVar = {"status": "ACTIVE"}
    sku_names_product = True

    # SKUs that the last configurable row named; its own ones were not named by the one before.
    _named: Set[str] = frozenset()
    _own: Set[str] = frozenset()

    def product_key(self, cells: list[str]) -> str:
        """Return the key of a row: its SKU as it is; without one, as other formats."""
        return self.sheet.cell(cells, "sku") or super().product_key(cells)

    def product_aliases(self, cells: list[str], key: str) -> Sequence[str]:
        """Return the SKUs of the variants that a row names: their rows are of its product.

        What the product before it named too stays with that: a SKU may be of several products.
        """
        named = _options(self.sheet.cell(cells, "variations")).keys() - {key}
        if not named:
            return ()
        self._own, self._named = named - self._named, named
        return sorted(self._own)

    def is_of_row_above(self, above: list[str], cells: list[str]) -> bool:
        """Return whether adjacent rows are of one product.

        So they are if both are variants, or one is a product that names the other, a variant.
        """
        if self._is_child(above):
            return self._is_child(cells) or self._names(cells, above)
        is_named = self._names(above, cells) and self.sheet.cell(cells, "sku") in self._own
        return is_named and self._is_child(cells)

    def _is_child(self, cells: list[str]) -> bool:
        """Return whether a row is a variant's: it is not shown by itself."""
        return _is_hidden(self.sheet.cell(cells, "visibility"))

    def _names(self, cells: list[str], child: list[str]) -> bool:
        """Return whether the row `cells` has the SKU of the row `child` among its variants."""
        sku, cell = self.sheet.cell(child, "sku"), self.sheet.cell(cells, "variations")
        return bool(sku) and bool(cell) and sku in _options(cell)

    def read_product(self, draft: Draft) -> ImportedProduct:
        """Read the rows into the draft, and return the product.

        With a configurable row, the others are its variants; without one, every row is read as a
        simple product. A second configurable row becomes an error.
        """
        parents = [row for row in draft.rows if row["kind"].casefold() == "configurable"]
        for row in parents[1:]:
            message = "Its rows are those of another configurable product too."
            draft.add_error(row, "sku", "ambiguous_variants", message)
        if parents:
            self._read_configurable(draft, parents[0])
        else:
            for row in draft.rows:
                self._read_simple(draft, row)
        return self.finish_product(draft)

    def _read_configurable(self, draft: Draft, parent: Row) -> None:
        """Read a configurable product and its variants, in the order in which its row names them.

        A row that it does not name becomes an error; a variant without a row has only its SKU and
        title.
        """
        self._read_own(draft, parent)
        draft.set_from_cell(parent, "sku", "sku")
        options = draft.read_cell(parent, "variations", _options) or {}
        rows = {row["sku"]: row for row in draft.rows if row is not parent}
        for sku, row in rows.items():
            if sku not in options:
                message = "No product names this row as one of its variants."
                draft.add_error(row, "sku", "missing_key", message)
        for sku, title in options.items():
            row = rows.get(sku, parent)
            variant = draft.add_variant(row, title or sku)
            if sku in rows:
                self.read_images(draft, row)
                self.fill_variant(draft, variant, row)
            variant.set("sku" if sku in rows else "variations", "sku", sku)

    def _read_simple(self, draft: Draft, row: Row) -> None:
        """Read the row of a product without variants.

        A hidden product can only be updated, and gives only what a variant has. A hidden row with
        other rows of its product becomes an error, and so does a product made of others.
        """
        if row["kind"].casefold() in _UNSUPPORTED:
            message = "A product made of others has no price: import the products in it."
            draft.add_error(row, "kind", "unsupported_type", message)
        if _is_hidden(row["visibility"]) and len(draft.rows) > 1:
            message = "No product names this row as one of its variants."
            draft.add_error(row, "sku", "missing_key", message)
        if _is_hidden(row["visibility"]):
            # A variant whose product is not in the file: it can update a product, not create one.
            draft.product.only_updates = True
        else:
            self._read_own(draft, row)
        self.fill_variant(draft, draft.add_variant(row, ""), row)

    def _read_own(self, draft: Draft, row: Row) -> None:
        """Set what the product's own row gives, in place of earlier rows; hidden: not published."""
        self.read_common(draft, row, keep=False)
        self.read_images(draft, row)
        if row["visibility"]:
            draft.set(row, "visibility", "published", not _is_hidden(row["visibility"]))

    def set_stock(self, variant: DraftVariant, row: Row) -> None:
        """Set a variant's stock from its cell; None if the row says that it is not managed.

        A row of which the shop's default counts does not say so.
        """
        variant.set_stock_unless_untracked(
            row["managed"] == "0" and row["configured"] != "1", "managed"
        )
