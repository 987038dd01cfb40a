"""What every format is: a table of the columns that give each field, and how its rows are read.

A format fills `table` and `signs`, and overrides what its rows do otherwise than most do:
`is_variant`, `title`, `fill`, `key`. docs/formats.md says how one is added.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from decimal import Decimal
from typing import ClassVar, Final

from chalicelib import telemetry
from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.groups import name_key
from chalicelib.imports.csv.rows import CsvRow
from chalicelib.imports.formats import cells as reading
from chalicelib.imports.formats.cells import Shop
from chalicelib.imports.formats.product import PRICES, Draft, DraftVariant, ImportedProduct, slug_of
from chalicelib.imports.formats.sheet import REPORT_COLUMNS, ColumnTable, Row, Sheet, pattern, plain
from chalicelib.imports.formats.synonyms import find_field
from chalicelib.values.spreadsheets import is_error

Reading = Callable[[str], object]
# The fields that a product has once, where each goes, and how its cells are read.
_ONCE: Final[Mapping[str, tuple[str, Reading]]] = {
    "slug": ("slug", reading.handle),
    "name": ("name", reading.text),
    "description": ("description", reading.text),
    "status": ("status", reading.status),
    "published": ("published", reading.boolean),
    "vendor": ("vendor", reading.text),
    "type": ("type", reading.text),
    "tags": ("tags", reading.parse_list),
    "storefront": ("storefront", reading.text),
    "lowStockThreshold": ("lowStockThreshold", reading.stock),
    "madeToOrder": ("madeToOrder", reading.boolean),
    "leadDays": ("leadDays", reading.lead_days),
    "specification": ("specification", reading.specification),
    "seoTitle": ("seo.title", reading.text),
    "seoDescription": ("seo.description", reading.text),
}
# What decides money, visibility or identity. A column with such a name is read, or the job asks.
_DECISIVE: Final = frozenset(
    (
        *("price", "currency", "stock", "sku", "barcode"),
        *("status", "published", "storeView", "parentSku"),
    )
)
# Of these, one column is enough: a second price or stock is another kind of price or stock.
_GIVEN_ONCE: Final = frozenset({"price", "stock", "sku", "barcode"})
_OF_VARIANTS: Final = {"variantPrice": "price", "variantSku": "sku"}
# These decide a price that is read.
_OF_SALES: Final = frozenset({"saleStarts", "saleEnds", "salePeriod"})
_CURRENCY: Final = ("currency", "currency code")  # the column of any system's file
_TELLING: Final = ("stock", "qty", "quantit", "inventory", "price", "sku", "image", "picture")
Prices = dict[str, tuple[str, str | None]]  # by key: the field that gives it, and the amount


class Format:
    """A way to write products in rows, bound to the header of one file."""

    name: ClassVar[str]
    title: ClassVar[str]  # for people: "Wix product export"
    table: ClassVar[ColumnTable]
    # Columns that no other format has. The format is recognised if a file has all columns of one
    # of these.
    signs: ClassVar[Sequence[Sequence[str]]] = ()
    # Readers that replace those of `_ONCE`, and the reader of several categories in one cell.
    readings: ClassVar[Mapping[str, Reading]] = {}
    # Columns that are ignored on purpose, though their names sound like known fields.
    unread: ClassVar[Sequence[str]] = ()
    # Fields that identify a product or variant; and fields that are refused on rows without those.
    named: ClassVar[Sequence[str]] = ("slug", "name", "sku", "option", "image")
    numbers: ClassVar[Sequence[str]] = ("price", "compareAtPrice", "salePrice", "stock")
    # Whether a row with a price and a blank compare-at price removes the compare-at price.
    blank_is_no_reduction: ClassVar[bool] = False
    # Whether a SKU, not the name, identifies a product without a slug.
    sku_names_product: ClassVar[bool] = False
    # The key of a row that names no product; empty: it is of the product of the row above.
    nameless: ClassVar[str] = ""
    # Whether the product has its own columns for values that other formats give per variant.
    own_prices: ClassVar[bool] = False
    # Titles, in small letters, of the variant of a product without options.
    untitled: ClassVar[Container[str]] = ()
    # Cells, by field and in small letters, that say that a stock is not counted.
    untracked: ClassVar[Mapping[str, Container[str]]] = {}
    # Whether a column of currencies is read though the format has none.
    reads_currencies: ClassVar[bool] = True
    # Whether the system writes `&amp;` for `&` in plain texts.
    has_entities: ClassVar[bool] = False
    # The fields that say the same as a decisive one, if the format calls it otherwise.
    said_by: ClassVar[Mapping[str, frozenset[str]]] = {}
    # Default values of a new product.
    if_new: ClassVar[Mapping[str, object]] = {}

    def __init_subclass__(cls) -> None:
        """Let every system's format read a column of currencies."""
        if cls.reads_currencies and "table" in cls.__dict__:
            cls.table = {"currency": _CURRENCY, **cls.table}

    def __init__(
        self,
        columns: Sequence[str],
        table: ColumnTable | None = None,
        instead: Mapping[str, str | None] | None = None,
    ) -> None:
        self.sheet = Sheet(columns, self.table if table is None else table, instead)
        self.sheet.has_entities = self.has_entities
        self._once = [
            (field, key, self.readings.get(field, plain_reading))
            for field, (key, plain_reading) in _ONCE.items()
            if field in self.sheet
        ]
        self._slug = self.readings.get("slug", reading.handle)
        self._priced = [field for field in PRICES if field in self.sheet]
        self._gives_reductions = "salePrice" in self.sheet or (
            self.blank_is_no_reduction and "compareAtPrice" in self.sheet
        )

    # --- Columns ---

    @classmethod
    def fits(cls, columns: Sequence[str]) -> bool:
        """Return whether a file with these columns certainly has this format.

        It does if it has the columns of one of its `signs`; others may be missing.
        """
        plain_names = {plain(column) for column in columns}
        return any(
            all(map(plain, sign)) and {*map(plain, sign)} <= plain_names for sign in cls.signs
        )

    @classmethod
    def field(cls, column: str) -> str | None:
        """Return the field that a column gives in this format, by its name alone; None if none.

        `{n}` and `{*}` in the table stand for numbers and words.
        """
        bare = plain(column)
        for field, names in cls.table.items():
            for name in names:
                holes = pattern(name)
                if holes.fullmatch(bare) if holes else bare == plain(name):
                    return field
        return None

    @property
    def ignored_columns(self) -> list[str]:
        """The names of the file's columns that nothing is read from, in order.

        Not those of error reports.
        """
        own = {plain(column) for column in REPORT_COLUMNS}
        header, read = self.sheet.header, self.sheet.read
        return [
            name
            for at, name in enumerate(header)
            if name and at not in read and plain(name) not in own
        ]

    @property
    def missed_columns(self) -> list[str]:
        """The ignored columns whose names say stock, price, SKU or picture.

        A shop would expect them to count. Those that the format ignores on purpose are left out.
        """
        return [
            name
            for name in self._unexpected_columns
            if any(word in plain(name) for word in _TELLING)
        ]

    @property
    def undecided_columns(self) -> list[str]:
        """The ignored columns that decide something: money, visibility or identity.

        Those that the format ignores on purpose are left out, and of prices, stocks, SKUs and
        barcodes all of which the file has one that is read. When a sale runs counts if its price
        is read.
        """
        fields_given = {*self.sheet.fields}
        fields_given |= {field for field, others in self.said_by.items() if fields_given & others}
        unexpected, undecided = self._unexpected_columns, []
        has_sales = "salePrice" in fields_given
        for name in self.ignored_columns:
            field = find_field(name) or ""
            field = _OF_VARIANTS.get(field, field)
            is_open = field not in fields_given if field in _GIVEN_ONCE else name in unexpected
            if is_open and (field in _DECISIVE or (field in _OF_SALES and has_sales)):
                undecided.append(name)
        return undecided

    @property
    def _unexpected_columns(self) -> list[str]:
        """The ignored columns that the format does not ignore on purpose (`unread`)."""
        unread = Sheet(self.sheet.header, {"": self.unread}).read
        known = {self.sheet.header[at] for at in unread}
        return [name for name in self.ignored_columns if name not in known]

    # --- Rows ---

    def product_key(self, cells: list[str]) -> str:
        """Return the key of the product that a row is of; "": it names none.

        Rows with one key are one product. It is the row's slug, or by format its SKU (`sku …`) or
        name (`name …`).
        """
        if slug := self.slug_key(cells):
            return slug
        sku = self.sheet.cell(cells, "sku") if self.sku_names_product else ""
        return f"sku {sku}" if sku else name_key(self.sheet.cell(cells, "name"))

    def slug_key(self, cells: list[str]) -> str:
        """Return the key of a row with a slug: the slug as the format reads it.

        "" for a row without one. An error of a spreadsheet is returned as it is.
        """
        slug = self.sheet.cell(cells, "slug")
        if not slug or (slug[0] in "#E" and is_error(slug)):
            return slug
        return str(self._slug(slug))

    def product_aliases(self, cells: list[str], key: str) -> Sequence[str]:
        """Return further keys by which other rows may name this row's product; `key` is its own.

        For a key that is a name (`name …`), that is the slug of the row's name; () for any other.
        """
        if not key.startswith("name "):
            return ()
        slug = slug_of(self.sheet.cell(cells, "name")[:1000])
        return (slug,) if slug else ()

    def is_of_row_above(self, above: list[str], cells: list[str]) -> bool:
        """Return whether a row is of the row above's product though keys differ: here never."""
        return False

    def is_variant(self, row: Row) -> bool:
        """Return whether the row has an option, a SKU or a price: then it is of a variant.

        What it gives for its product counts less than the product's own row.
        """
        return row.has_any(("option", "sku", "price"))

    def variant_title(self, row: Row) -> str:
        """Return the title of a row's variant: its options, or its title; "" for the only one."""
        title = " / ".join(option for _, option in row.texts_of("option")) or row["variantTitle"]
        return "" if title.casefold() in self.untitled else title

    # --- Products ---

    def read_rows(self, rows: Sequence[CsvRow], shop: Shop) -> ImportedProduct:
        """Return the product that these rows, of one product, describe. Nothing is raised.

        Whatever is wrong with them becomes an error of the product, even a defect of ours, which is
        logged. Rows in other currencies, or of other store views, are left out and counted.
        """
        try:
            draft = Draft(self.sheet, rows, shop)
            if "currency" in self.sheet:
                draft.skip_other_currencies()
            if "storeView" in self.sheet:
                draft.skip_other_views()
            return self.read_product(draft)
        except Exception as error:
            line = rows[0].line
            telemetry.error("rows cannot be read", error, format=self.name, line=line)
            message = "The row could not be read. Please report it."
            return ImportedProduct(line, errors=[RowError(line, "", "unreadable_row", message)])

    def read_product(self, draft: Draft) -> ImportedProduct:
        """Read each row into the draft, and return the product.

        Nameless rows become errors first.
        """
        draft.refuse_nameless(self.named, self.numbers)
        for row in draft.rows:
            self.read_row(draft, row)
        return self.finish_product(draft)

    def read_row(self, draft: Draft, row: Row) -> None:
        """Read one row of a product into its draft: common fields, images, and the variant.

        This is the order of most formats; a format overrides the steps, or all of it. A row that is
        no variant's, such as one of an image alone, adds no variant.
        """
        of_variant = self.is_variant(row)
        self.read_common(draft, row, keep=of_variant)
        self.read_images(draft, row)
        if of_variant:
            self.fill_variant(draft, draft.add_variant(row, self.variant_title(row)), row)

    def read_common(self, draft: Draft, row: Row, *, keep: bool) -> None:
        """Set what the product has once, from cells that are not blank.

        `keep`: unless an earlier row gave it. The first category becomes the type, others tags. A
        currency other than the shop's becomes an error. What nobody may buy is not published.
        """
        for field, key, read in self._once:
            if row[field]:
                is_count = read is reading.stock
                draft.set_from_cell(
                    row, field, key, draft.make_count_reader(row) if is_count else read, keep=keep
                )
        draft.read_categories(row, self.readings.get("category", reading.single))
        draft.read_cell(row, "currency", lambda code: reading.currency(code, draft.shop))
        if draft.read_cell(row, "forSale", reading.boolean) is False:
            draft.set(row, "forSale", "published", False)

    def read_images(self, draft: Draft, row: Row) -> None:
        """Add the pictures of a row to its product, with the row's text for a single one."""
        draft.add_images(row, alt=row["imageAlt"], read=self.readings.get("image", reading.urls))

    def fill_variant(self, draft: Draft, variant: DraftVariant, row: Row) -> None:
        """Set a variant's SKU, prices, barcode, cost and stock from cells that are not blank."""
        variant.set_from_cell("sku", "sku")
        self.set_prices(draft, variant, row)
        variant.put_extras()
        self.set_stock(variant, row)

    def set_prices(self, draft: Draft, variant: DraftVariant, row: Row) -> None:
        """Set a variant's prices from its row."""
        for key, (field, value) in self.read_prices(draft, row).items():
            variant.set(field, key, value)

    def set_stock(self, variant: DraftVariant, row: Row) -> None:
        """Set a variant's stock from its row, if the cell is not blank.

        It is None if a cell says that it is not tracked (`untracked`).
        """
        said = (field for field, words in self.untracked.items() if row[field].casefold() in words)
        field = next(said, "")
        variant.set_stock_unless_untracked(bool(field), field)

    def read_prices(self, draft: Draft, row: Row) -> Prices:
        """Return a row's prices: `price` and `compareAtPrice` → (field of the row, amount or None).

        A compare-at price of the row counts as it is, and then a sale price does not; 0, as exports
        write it, is None. Without one, a sale price that is lower, and whose time it is, becomes
        the price, and the price the compare-at price. Without a sale the compare-at price is None,
        if the file has columns of reductions. What the row does not give has no entry.
        """
        amounts = {field: draft.read_amount(row, field) for field in self._priced if row[field]}
        price, sale, before = (amounts.get(f) for f in ("price", "salePrice", "compareAtPrice"))
        given: Prices = {"price": ("price", price)} if price is not None else {}
        if before is not None:
            given["compareAtPrice"] = ("compareAtPrice", before if Decimal(before) else None)
        elif sale and _is_reduced(price, sale) and self.is_on_sale(draft, row):
            given["price"] = ("salePrice", sale)
            given["compareAtPrice"] = ("price", price)
        elif price is not None and self._gives_reductions:
            # No sale is running, or it is no reduction: there is no compare-at price.
            given["compareAtPrice"] = ("price", None)
        return given

    def is_on_sale(self, draft: Draft, row: Row) -> bool:
        """Return whether today is between a row's start and end of a sale.

        One without them always is. A date that cannot be read becomes an error of the product, and
        counts as none.
        """
        fields = ("saleStarts", "saleEnds")
        starts, ends = (draft.read_cell(row, f, self.readings.get(f, reading.day)) for f in fields)
        today = draft.shop.today
        return (starts is None or starts <= today) and (ends is None or today <= ends)

    def finish_product(self, draft: Draft) -> ImportedProduct:
        """Finish the draft, and return the product with the slug by which it is looked up.

        That is the slug that it has, or one made of its name; None if it has none, or if a SKU
        identifies it. A new one gets a slug of its name.
        """
        product, values = draft.product, draft.product.values
        product.if_new |= self.if_new
        product.slug = values.get("slug")
        if not product.slug and values.get("name"):
            product.if_new["slug"] = slug_of(values["name"])
            whole = [] if self.own_prices else [v for v in draft.variants if not v.title]
            records = [values, *(variant.values for variant in whole)]
            has_sku = self.sku_names_product and any("sku" in each for each in records)
            # With a SKU, two products may have the same name. Otherwise the name identifies it.
            product.slug = None if has_sku else product.if_new["slug"] or None
        return draft.finish_product(own_prices=self.own_prices)


def _is_reduced(price: str | None, sale: str) -> bool:
    """Return whether a shop sells for the sale price: it is above 0, and below a known price."""
    return Decimal(sale) > 0 and (price is None or Decimal(sale) < Decimal(price))
