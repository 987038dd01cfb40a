"""What every dialect offers: the columns it reads, how rows name their product, and the product."""

from collections.abc import Sequence
from typing import ClassVar

from chalicelib.imports.csv.records import Record
from chalicelib.imports.formats.cells import Shop
from chalicelib.imports.formats.product import ImportedProduct
from chalicelib.imports.formats.sheet import ERROR_CODE, Sheet, plain

# Written by the error report; a report that was mended is imported without a word about them.
REPORT_COLUMNS = ("error row", "error field", ERROR_CODE, "error message")


class Dialect:
    """A way to write products in a CSV, bound to the header of one file."""

    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet

    @classmethod
    def fits(cls, sheet: Sheet) -> bool:
        """Whether the header has what this dialect cannot do without."""
        raise NotImplementedError

    def key(self, cells: list[str]) -> str:
        """Which product a row belongs to; empty: to the product of the row above."""
        raise NotImplementedError

    def alias(self, cells: list[str]) -> str:
        """Another key by which rows of the same product may name it, or empty."""
        return ""

    def product(self, records: Sequence[Record], shop: Shop) -> ImportedProduct:
        """The product that these rows, one group, describe."""
        raise NotImplementedError

    @property
    def ignored(self) -> list[str]:
        """The columns of the file that nothing is read from."""
        known = {plain(column) for column in (*self.columns, *REPORT_COLUMNS)}
        return [name for name in self.sheet.header if name and plain(name) not in known]
