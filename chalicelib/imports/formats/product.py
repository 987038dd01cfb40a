"""One product, read from its rows: the values of its cells, and where each is in the file."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from itertools import islice
from typing import Any, Final

from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.rows import CsvRow
from chalicelib.imports.formats import cells
from chalicelib.imports.formats.cells import BadCell, Shop, is_spoilt, text
from chalicelib.imports.formats.sheet import Row, Sheet, find_row_error
from chalicelib.imports.formats.synonyms import TOTALS
from chalicelib.products.schemas import MOST_VARIANTS, is_picture
from chalicelib.values import slugs

slug_of, slug_of_key = slugs.plain, slugs.of_key
OF_VARIANT: Final = ("stock", "barcode", "cost")
_TELLING: Final = (
    "name",
    "price",
    "sku",
    "stock",
    "barcode",
    "cost",
)  # two rows that differ here may be of two products
_NAMES: Final = ("name", "slug", "sku", "variantTitle", "option", "variantSku", "parentSku")
_MAIN_VIEWS: Final = ("", "admin", "all", "default")  # the first of these that a product has
PRICES: Final = ("price", "variantPrice", "salePrice", "compareAtPrice")


class Skipped(StrEnum):
    """What of a file is left out without an error."""

    PICTURES = "unusablePictures"
    OTHER_CURRENCY = "otherCurrencyRows"
    BARCODES = "unusableBarcodes"
    REPEATED = "repeatedRows"
    OTHER_VIEW = "otherViewRows"
    SHARED_SKU = "sharedSkus"


@dataclass(slots=True)
class ImportedProduct:
    """What the rows of one product ask for.

    `slug`: look the product up by it, then by `values["sku"]`; None: by SKU alone.
    `values`: the API's product fields that the file gives, and OF_VARIANT, of the only variant.
    An absent key leaves the value as it is, None clears it. `images` are merged into those there
    are by url, each at its `position` (from 1) if it has one, `variants` by SKU, then title; a new
    one without a title is called by its SKU.
    `single`: the product has no options here: sku, price, compareAtPrice, stock … are its own and
    its only variant's; if it has several by now, those of the variant with that SKU.
    `is_master`: that holds only while it has no variants with options, or one with that SKU; else
    nobody can buy it.
    `if_new`: further values, for a product that does not exist yet.
    `lowest_price`: the product's price is the lowest of its variants after the merge.
    `only_updates`: the rows say nothing that could make a product, or a variant, that is not there.
    `no_price`: why a price in the rows is none for the product.
    `errors`: if there are any, the product fails, and nothing of it is to be written.
    `skipped`: how many pictures and barcodes cannot be used, how many rows are another price list,
    and how many give another name, SKU, price or stock than an earlier row; `repeated` says which.
    """

    line: int
    slug: str | None = None
    values: dict[str, Any] = field(default_factory=dict)
    if_new: dict[str, Any] = field(default_factory=dict)
    single: bool = False
    is_master: bool = False
    lowest_price: bool = False
    only_updates: bool = False
    no_price: str = ""
    errors: list[RowError] = field(default_factory=list)
    skipped: Counter[Skipped] = field(default_factory=Counter)
    repeated: list[RowError] = field(default_factory=list)
    sources: dict[str, tuple[int, str]] = field(default_factory=dict)

    def locate(self, path: str) -> tuple[int, str]:
        """Return the line and column of a value: `price`, `variants.2.sku`, `images.0.url`.

        For a value that no cell gave, those of the nearest above it; at last the first line.
        """
        while path:
            if path in self.sources:
                return self.sources[path]
            path = path.rpartition(".")[0]
        return self.line, ""


class Draft:
    """The values of one product, as they are collected, and what is wrong with its cells.

    Cells are named by the field that they give; a message names the file's column.
    """

    def __init__(self, sheet: Sheet, rows: Sequence[CsvRow], shop: Shop) -> None:
        self.product = ImportedProduct(rows[0].line)
        self.sheet = sheet
        self.shop = shop
        self.rows: list[Row] = []
        self.variants: list[DraftVariant] = []
        self._images: dict[str, dict[str, object]] = {}
        self._tags: dict[str, None] = {}
        for row in rows:
            problem = row.problem or find_row_error(sheet, row)
            if problem:
                self.product.errors.append(problem)
            else:
                self._add_row(Row(sheet, row))

    def _add_row(self, row: Row) -> None:
        """Add a row to `rows`, but one that seems to be the sum of a list becomes an error."""
        named = [row[field] for field in _NAMES if row[field]]
        if len(named) == 1 and named[0].casefold().strip(" :.") in TOTALS:
            message = f'"{named[0]}" seems to be the sum of a list, not a product.'
            self.add_error(row, "name", "total_row", message)
        else:
            self.rows.append(row)

    def refuse_nameless(self, names: Iterable[str], numbers: Iterable[str]) -> None:
        """Remove the rows below the first that have numbers and no name; each becomes an error.

        An example is a sum at the end of a list, which would be taken for the last product's price.
        """
        names, numbers, kept = tuple(names), tuple(numbers), self.rows[:1]
        for row in self.rows[1:]:
            number = next((field for field in numbers if row[field]), None)
            if number and not row.has_any(names):
                message = "The row names no product, no variant and no picture."
                self.add_error(row, number, "names_nothing", message)
            else:
                kept.append(row)
        self.rows = kept

    def skip_other_currencies(self) -> None:
        """Remove the rows in other currencies, if there are some in the shop's, and count them.

        Rows that name no currency stay. Rows in other currencies are another price list; if no row
        is in the shop's currency, they stay too, to be errors later.
        """
        codes = [row["currency"].upper() for row in self.rows]
        if self.shop.currency not in codes:
            return
        usual = ("", self.shop.currency)
        self.rows = [row for row, code in zip(self.rows, codes, strict=True) if code in usual]
        self.product.skipped[Skipped.OTHER_CURRENCY] += len(codes) - len(self.rows)

    def skip_other_views(self) -> None:
        """Keep the rows of the product's main store view.

        Count the others, which translate the product. Without a row of the main one, none is kept,
        and all are errors.
        """
        views = [row["storeView"].casefold() for row in self.rows]
        main = next((view for view in _MAIN_VIEWS if view in views), None)
        for row, view in zip(self.rows, views, strict=True):
            if main is None:
                message = f'The row is of the store view "{view}", not of the main one.'
                self.add_error(row, "storeView", "other_store_view", message)
            elif view != main:
                self.product.skipped[Skipped.OTHER_VIEW] += 1
        self.rows = [row for row, view in zip(self.rows, views, strict=True) if view == main]

    def add_error(self, row: Row, field: str, code: str, message: str) -> None:
        """Add an error of a row, at the column of a field."""
        self.product.errors.append(RowError(row.line, row.column(field), code, message))

    def read_cell(self, row: Row, field: str, reading: Callable[[str], object] = text) -> Any:
        """Return what `reading` makes of a field's cell; None if it is blank, or wrong.

        A wrong cell becomes an error of the product.
        """
        cell = row[field]
        if not cell:
            return None
        try:
            return reading(cell)
        except BadCell as bad:
            self.add_error(row, field, bad.code, bad.message)
            return None

    def read_text(self, row: Row, column: str, cell: str, reading: Callable[[str], object]) -> Any:
        """Return what `reading` makes of `cell`, a text of the row.

        None if wrong, which is an error. `column`: where it stands, for the error.
        """
        try:
            return reading(cell)
        except BadCell as bad:
            self.product.errors.append(RowError(row.line, column, bad.code, bad.message))
            return None

    def set_from_cell(
        self,
        row: Row,
        field: str,
        key: str,
        reading: Callable[[str], object] = text,
        *,
        keep: bool = False,
    ) -> None:
        """Set a value of the product from a cell that is not blank; `keep`: unless there is one."""
        value = self.read_cell(row, field, reading)
        if value is not None:
            self.set(row, field, key, value, keep=keep)

    def set(self, row: Row, field: str, key: str, value: object, *, keep: bool = False) -> None:
        """Set a value of the product, and note its row and column; `keep`: unless there is one.

        `key`: the value's name, with dots for an inner one. If an earlier row gave another name,
        SKU, price, stock, barcode or cost, that is noted as repeated, whichever stays.
        """
        target = self.product.values
        parent, _, last = key.rpartition(".")
        if parent:
            target = target.setdefault(parent, {})
        # A variant that names its product by SKU has a name of its own.
        is_telling = key in _TELLING and not (keep and row["parentSku"])
        if is_telling and target.get(last, value) != value:
            self.note_repeated(row, field, key, *self.product.sources[key])
        if not (keep and last in target):
            target[last] = value
            self.product.sources[key] = (row.line, row.column(field))

    def note_repeated(self, row: Row, field: str, key: str, earlier: int, _: str = "") -> None:
        """Note that a row gives another name, SKU, price or stock than an earlier row did.

        `earlier`: that row's line; nothing is noted for the same one. The value that stays is the
        caller's choice.
        """
        if row.line != earlier:
            value = "SKU" if key == "sku" else key
            message = (
                f"Rows {earlier} and {row.line} give the same product or variant another {value}."
            )
            self.product.repeated.append(RowError(row.line, row.column(field), "repeated", message))
            self.product.skipped[Skipped.REPEATED] += 1

    def _note_shared_sku(self, variant: "DraftVariant", other: "DraftVariant") -> None:
        """Note, and count, that two variants have one SKU: no list by SKU can tell them apart.

        Both stay.
        """
        message = (
            f"Rows {other.row.line} and {variant.row.line} give two variants the SKU "
            f'"{variant.values["sku"]}": lists by SKU cannot change them.'
        )
        column = variant.row.column(variant.fields["sku"])
        self.product.repeated.append(RowError(variant.row.line, column, "shared_sku", message))
        self.product.skipped[Skipped.SHARED_SKU] += 1

    def add_images(
        self,
        row: Row,
        field: str = "image",
        alt: str = "",
        read: Callable[[str], object] = cells.urls,
        position: int | None = None,
    ) -> None:
        """Add the pictures of all columns of a field to the product, each once.

        `alt` and `position` are of the picture of a cell that has just one; a picture that was
        added before only gets the `alt`. Unusable addresses are counted, not added. `read`: splits
        a cell.
        """
        for column, cell in row.texts_of(field):
            urls = self.read_text(row, column, cell, read) or []
            for url in urls:
                alone = len(urls) == 1
                self._add_image(row, column, url, alt if alone else "", position if alone else None)

    def _add_image(self, row: Row, column: str, url: str, alt: str, position: int | None) -> None:
        """Add a picture and where it came from; of one that is there already, replace the text.

        An `alt` of "" leaves the text. An address that is of no picture is counted, not added.
        """
        known = self._images.get(url)
        if known is None and not is_picture(url):
            self.product.skipped[Skipped.PICTURES] += 1
            return
        if known is None:
            images = self.product.values.setdefault("images", [])
            self.product.sources[f"images.{len(images)}"] = (row.line, column)
            self._images[url] = known = {"url": url}
            if position is not None:
                known["position"] = position
            images.append(known)
        if alt:
            known["alt"] = alt

    def read_categories(self, row: Row, reading: Callable[[str], object]) -> None:
        """Set the type to the last step of the first category, unless a row gave one.

        Add others as tags. `reading`: splits a cell into paths, such as `Men > Shirts`.
        """
        values = self.product.values
        for column, cell in row.texts_of("category"):
            for path in self.read_text(row, column, cell, reading) or []:
                name = cells.leaf(path)
                if name and values.setdefault("type", name) == name:
                    self.product.sources.setdefault("type", (row.line, column))
                elif name:
                    self.add_tags(name)

    def add_tags(self, *names: str) -> None:
        """Add tags, each once, to those that the product is given otherwise.

        `finish_product` sets them.
        """
        self._tags |= dict.fromkeys(names)

    def combine_options(self, row: Row, field: str, choices: Sequence[Sequence[str]]) -> list[str]:
        """Return the titles of all combinations of options, such as `S / Red`; [] for no options.

        `choices`: the values of each option. Too many combinations are an error of `field`, and so
        is an option without values; then [] is returned.
        """
        titles: list[str] = []
        if choices and sum(map(len, choices)) <= MOST_VARIANTS:
            combinations = islice(itertools.product(*choices), MOST_VARIANTS + 1)
            titles = [" / ".join(values) for values in combinations]
        if len(titles) > MOST_VARIANTS or (choices and not titles):
            message = f"The options make more than {MOST_VARIANTS} variants."
            self.add_error(row, field, "too_many_variants", message)
            return []
        return titles

    def add_variant(self, row: Row, title: str) -> "DraftVariant":
        """Add a variant to the product, without values yet, and return it.

        Its values come from `row`. The title and the SKU are its identity: two that have both in
        common are merged at the end, and the later row's values count.
        """
        variant = DraftVariant(self, row, title)
        self.variants.append(variant)
        return variant

    def read_amount(self, row: Row, field: str) -> str | None:
        """Read an amount; return None if the cell is blank, or wrong, which is an error."""
        value: str | None = self.read_cell(row, field, lambda cell: cells.amount(cell, self.shop))
        return value

    def read_barcode(self, row: Row) -> str | None:
        """Return the barcode of a row.

        None if there is none, or it is unusable, which is counted.
        """
        text = cells.barcode(row["barcode"])
        if text is None:
            self.product.skipped[Skipped.BARCODES] += 1
        return text or None

    def read_cost(self, row: Row) -> str | None:
        """Read the cost; return None for none, and for 0, which exports write for none."""
        cost = self.read_amount(row, "cost")
        return cost if cost and Decimal(cost) else None

    def read_stock(self, row: Row, field: str = "stock") -> int | None:
        """Read a stock; return None if the cell is blank, or wrong, which is an error."""
        value: int | None = self.read_cell(row, field, self.make_count_reader(row))
        return value

    def make_count_reader(
        self, row: Row, read: Callable[[str, str], int] = cells.stock
    ) -> Callable[[str], int]:
        """Return a function that parses one of the row's counts, by the decimal mark of its prices.

        It calls `read(cell, mark)`; the mark is "" if the prices do not show it, or the count is
        only digits.
        """

        def read_count(cell: str) -> int:
            """Parse a count, with the mark that the row's prices have before their decimals."""
            if cell.isdecimal():
                return read(cell, "")
            prices = (row[price] for price in PRICES)
            return read(cell, next(filter(None, map(cells.decimal_mark, prices)), ""))

        return read_count

    def finish_product(
        self, *, sku_is_key: bool = False, own_prices: bool = False
    ) -> ImportedProduct:
        """Return the product with its tags, its variants in place, and each error once.

        A sole variant without a title becomes the product itself (`single`), unless `own_prices`:
        the product has columns of its own for what the others give per variant. If there are no
        errors, and the slug is None or made from the SKU (`sku_is_key`), an error is added if
        nothing names the product, or its SKU is spoilt.
        """
        product = self.product
        if self._tags:
            product.values["tags"] = [
                *dict.fromkeys([*product.values.get("tags", ()), *self._tags])
            ]
        variants = self._merge_repeats()
        if not own_prices and len(variants) == 1 and not variants[0].title:
            product.single = True
            for key, value in variants[0].values.items():
                self.set(variants[0].row, variants[0].fields[key], key, value)
        elif variants:
            self._place_variants(variants, own_prices)
        product.errors = list(dict.fromkeys(product.errors))
        if not product.errors and (product.slug is None or sku_is_key):
            self._check_key()
        return product

    def _merge_repeats(self) -> "list[DraftVariant]":
        """Merge the rows of a variant into the last one; return each variant once.

        The title and the SKU say which rows are of one variant. Differing values, and SKUs that two
        variants share, are noted as repeated.
        """
        once: dict[tuple[str, object], DraftVariant] = {}
        skus: dict[str, DraftVariant] = {}
        titles: dict[object, DraftVariant] = {}
        for variant in self.variants:
            sku = variant.values.get("sku")
            earlier = once.get((variant.title, sku))
            if earlier:
                for key in ("price", "stock", "barcode", "cost"):
                    value, was = variant.values.get(key), earlier.values.get(key)
                    if None not in (value, was) and value != was:
                        self.note_repeated(variant.row, variant.fields[key], key, earlier.row.line)
                variant.values = {**earlier.values, **variant.values}
                variant.fields = {**earlier.fields, **variant.fields}
            elif sku and variant.title and (other := skus.get(variant.title)):
                self.note_repeated(variant.row, variant.fields["sku"], "sku", other.row.line)
            elif sku and (other := titles.get(sku)) and other.title != variant.title:
                self._note_shared_sku(variant, other)
            once[variant.title, sku] = variant
            if sku:
                skus.setdefault(variant.title, variant)
                titles.setdefault(sku, variant)
        return list(once.values())

    def _check_key(self) -> None:
        """Add an error if nothing names the product, or else if its SKU is spoilt.

        A slug (a name makes one), a SKU, or a variant's SKU names it. A SKU is spoilt if a
        spreadsheet wrote it as 4.00638E+12.
        """
        product = self.product
        sku = product.values.get("sku")
        variants = product.values.get("variants", ())
        if product.slug is None and not sku and not any(v.get("sku") for v in variants):
            message = "The row names no product: it has no slug, no name and no SKU."
            product.errors.append(RowError(product.line, "", "missing_key", message))
        elif sku and is_spoilt(sku):
            # Different numbers look the same once shortened: the wrong product could be changed.
            message = f'"{sku}" has lost digits in a spreadsheet and can name no product.'
            product.errors.append(RowError(*product.locate("sku"), "spoilt_sku", message))

    def _place_variants(self, variants: "list[DraftVariant]", own_prices: bool) -> None:
        """Put the variants into the product's values, and note where in the file each value stands.

        Each variant keeps its own price, and the product's will be the lowest, unless it has
        columns of its own for prices (`own_prices`). The product's compare-at price becomes that of
        the cheapest variant, and the others lose theirs. A stock of the product that is not the sum
        of the variants' adds the error unknown_variant.
        """
        product = self.product
        own = product.values.get("stock")
        if own and own != sum(variant.values.get("stock") or 0 for variant in variants):
            message = "The product has options, and the row does not say which has the stock."
            product.errors.append(RowError(*product.locate("stock"), "unknown_variant", message))
        priced = [v for v in variants if v.values.get("price") is not None]
        product.lowest_price = bool(priced) and not own_prices
        # A product has one compare-at price: that of its cheapest variant.
        cheapest = min(priced, key=lambda v: Decimal(v.values["price"]), default=None)
        placed = product.values.setdefault("variants", [])
        for i, variant in enumerate(variants):
            product.sources[f"variants.{i}"] = (variant.row.line, "")
            for key, name in variant.fields.items():
                value = variant.values[key]
                if key == "compareAtPrice":
                    if variant is cheapest:
                        self.set(variant.row, name, key, value)
                    del variant.values[key]
                else:
                    where = (variant.row.line, variant.row.column(name))
                    product.sources[f"variants.{i}.{key}"] = where
            title = {"title": variant.title} if variant.title else {}
            placed.append({**title, **variant.values})


class DraftVariant:
    """One variant while its product is being read; `fields`: the field that gave each value."""

    def __init__(self, draft: Draft, row: Row, title: str) -> None:
        self.draft = draft
        self.row = row
        self.title = title
        self.values: dict[str, Any] = {}
        self.fields: dict[str, str] = {}

    def set(self, field: str, key: str, value: object) -> None:
        """Set a value of the variant, in place of an earlier one, and note its field."""
        self.values[key] = value
        self.fields[key] = field

    def set_from_cell(self, field: str, key: str, reading: Callable[[str], object] = text) -> None:
        """Set a value from a cell that is not blank; a wrong one is an error of the product."""
        value = self.read_cell(field, reading)
        if value is not None:
            self.set(field, key, value)

    def read_cell(self, field: str, reading: Callable[[str], object]) -> object:
        """Return what `reading` makes of a field of the variant's row; None if blank or wrong.

        A wrong cell becomes an error of the product.
        """
        return self.draft.read_cell(self.row, field, reading)

    def put_extras(self) -> None:
        """Set barcode and cost from cells that are not blank or unusable; a cost of 0 is none."""
        barcode = self.draft.read_barcode(self.row)
        if barcode:
            self.set("barcode", "barcode", barcode)
        cost = self.draft.read_cost(self.row)
        if cost is not None:
            self.set("cost", "cost", cost)

    def set_stock(self) -> None:
        """Set the stock from its cell; a blank cell sets nothing, and a wrong one is an error."""
        value = self.draft.read_stock(self.row)
        if value is not None:
            self.set("stock", "stock", value)

    def set_stock_unless_untracked(self, untracked: bool, field: str) -> None:
        """Set the stock from its cell, or if `untracked`, to None because of the column `field`."""
        if untracked:
            self.set(field, "stock", None)
        else:
            self.set_stock()

    def set_stock_of_locations(self, field: str, location: Callable[[str], str]) -> None:
        """Set the stock to the sum of a field's columns, one for each location.

        If one location is asked for (`Shop.location`), only its column counts. `location`: returns
        the location of a column. Nothing is set if no cell is filled, or one is wrong, which is an
        error.
        """
        wanted, count = self.draft.shop.location.casefold(), self.draft.make_count_reader(self.row)
        cells = self.row.texts_of(field)
        texts = [(c, text) for c, text in cells if wanted in ("", location(c).casefold())]
        counts = [self.draft.read_text(self.row, column, text, count) for column, text in texts]
        if counts and None not in counts:
            self.set(field, "stock", sum(counts))
