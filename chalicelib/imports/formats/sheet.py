"""The rows of a file by the names of its columns, and what is wrong with a row as a whole."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.records import Record

# A row with one of these is in the report as well as it could be cut, and may not say what was
# meant. It stays an error until somebody has looked at it and has cleared the code.
ERROR_CODE: Final = "error code"
_NOT_READ: Final = {
    *("unclosed_quote", "misplaced_quote", "stray_line_break"),
    *("too_many_cells", "too_few_cells"),
}
_PRICES: Final = ("price", "variant price", "regular price", "sale price")
_FORMULA: Final = re.compile(r'="(?:[^"]|"")*"')
# Exporters put the apostrophe before what could be a formula: WooCommerce writes '-1 for a draft.
_MARKED: Final = re.compile(r"'(?:[=+@-][^']*|\d[\d.,]*)", re.DOTALL)


class Sheet:
    """The header of a file: which column stands where."""

    def __init__(self, header: Sequence[str]) -> None:
        self.header = tuple(header)
        self._at: dict[str, int] = {}
        for i, name in enumerate(header):
            self._at.setdefault(plain(name), i)
        self.gives_names = any(column in self for column in ("name", "title"))
        self.gives_prices = any(column in self for column in _PRICES)

    def __contains__(self, column: str) -> bool:
        return plain(column) in self._at

    def at(self, column: str) -> int:
        """The position of a column, beyond the end of every row if the file has none."""
        return self._at.get(plain(column), 1 << 30)

    def name(self, column: str) -> str:
        """The column as the file spells it."""
        return self.header[self.at(column)] if column in self else column


class Row:
    """One record of a product, read by column name."""

    __slots__ = ("_cells", "line", "sheet")

    def __init__(self, sheet: Sheet, record: Record) -> None:
        self.sheet = sheet
        self.line = record.line
        self._cells = record.cells

    def __getitem__(self, column: str) -> str:
        """The stripped text; empty where the cell is blank, or the row or the file ends before."""
        return cell(self._cells, self.sheet.at(column))

    def any(self, columns: Iterable[str]) -> bool:
        return any(self[column] for column in columns)


def cell(cells: Sequence[str], at: int) -> str:
    """The text of a cell, without blanks around it and without what spreadsheets need to take it
    for text (`="00123"`, `'00123`); empty beyond the end of the row."""
    if at >= len(cells):
        return ""
    text = cells[at].strip()
    if text.startswith(("=", "'")):
        text = text[2:-1].replace('""', '"').strip() if _FORMULA.fullmatch(text) else text
        text = text[1:] if _MARKED.fullmatch(text) else text
    return text


@lru_cache(4096)
def plain(column: str) -> str:
    """A column's name without case, blanks and punctuation: they differ from export to export."""
    return re.sub(r"[\W_]+", "", column.casefold())


def unreadable(sheet: Sheet, record: Record) -> RowError | None:
    """What is wrong with a row as a whole."""
    cells, width = record.cells, len(sheet.header)
    code = cell(cells, sheet.at(ERROR_CODE))
    if code in _NOT_READ:
        message = "The row could not be read, and is shown as it was: mend it and clear this cell."
        return RowError(record.line, sheet.name(ERROR_CODE), code, message)
    if len(cells) > width and any(map(str.strip, cells[width:])):
        message = f"The row has {len(cells)} cells, the header {width}. Is a quote missing?"
        return RowError(record.line, "", "too_many_cells", message)
    if len(cells) == 1 < width:
        message = f"The row has one cell, the header {width}. Is a line break not in quotes?"
        return RowError(record.line, "", "too_few_cells", message)
    for name, content in zip(sheet.header, cells, strict=False):
        if "\0" in content:
            message = "The cell contains a NUL byte: the file is damaged here."
            return RowError(record.line, name, "nul_byte", message)
    return None
