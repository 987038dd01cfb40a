"""The rows of a file by the fields that its columns give, and what is wrong with a whole row."""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from chalicelib import settings
from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.rows import CsvRow
from chalicelib.imports.formats.cells import BLANKS, INVISIBLE, SIGNS
from chalicelib.values import spreadsheets

# Columns that the error report adds. When it is imported, they are not listed as ignored.
REPORT_COLUMNS: Final = ("error row", "error field", "error code", "error message")
# The cells of a row with one of these codes may be cut wrongly. The row stays an error until the
# user clears the code.
_CODE: Final = "error code"
_NOT_READ: Final = {
    *("unclosed_quote", "misplaced_quote", "stray_line_break"),
    *("too_many_cells", "too_few_cells"),
}
_FORMULA: Final = re.compile(r'="(?:[^"]|"")*"')
_CODES: Final = frozenset({"sku", "variantSku", "parentSku", "barcode"})
_NO_MARKS: Final = dict.fromkeys(map(ord, INVISIBLE))
_FAILED_MARKS: Final = ("#", "E", " ")
# Exporters put an apostrophe before a possible formula: WooCommerce writes '-1 for a draft. Our
# exports put one before an apostrophe and a text such as `#N/A` too, so that a cell is read back
# unchanged.
_MARKED: Final = re.compile(
    rf"'(?:[=+@'-].*|\d[\d.,]*|{spreadsheets.RETYPED}|{spreadsheets.ERROR})", re.DOTALL
)
_TEXT_MARKS: Final = "='"
# A possible formula, with any apostrophes before it.
_RUNS: Final = re.compile(r"'*\s*[=+@\-\t\r]")
_HOLE: Final = re.compile(r"\{([n*])\}")

# The names that a field's columns may have. If a file has several, the first non-blank one counts,
# or all, if the field takes several. `{n}` matches a number, `{*}` any words.
ColumnTable = Mapping[str, Sequence[str]]


class Sheet:
    """The header of a file: where the columns of each field stand."""

    def __init__(
        self,
        header: Sequence[str],
        table: ColumnTable,
        instead: Mapping[str, str | None] | None = None,
    ) -> None:
        """`instead`: columns that give another field than by the table, or none."""
        self.header = tuple(header)
        places: dict[str, int] = {}
        for i, name in enumerate(header):
            places.setdefault(plain(name), i)
        self._at = {field: _places(names, places) for field, names in table.items()}
        for name, field in (instead or {}).items():
            self._put(places[plain(name)], field)
        self._at[_CODE] = _places([_CODE], places)
        self.has_entities = False  # whether plain texts are written as in HTML
        self._given = [field for field, places in self._at.items() if places]
        self._blank = dict.fromkeys(self._at, "")
        self.read = {at for places in self._at.values() for at in places}
        self.is_report = _CODE in self

    def _put(self, at: int, field: str | None) -> None:
        """Let a column give this field, and no other; None: nothing is read from it."""
        self._at = {
            each: tuple(place for place in positions if place != at)
            for each, positions in self._at.items()
        }
        if field is not None:
            self._at[field] = tuple(sorted((*self._at.get(field, ()), at)))

    def field(self, at: int) -> str | None:
        """Return the field that the column at a position gives; None: nothing is read from it."""
        return next((field for field, places in self._at.items() if at in places), None)

    @property
    def fields(self) -> list[str]:
        """The fields that a column gives."""
        return self._given

    def __contains__(self, field: str) -> bool:
        return bool(self._at.get(field))

    def columns_of(self, field: str) -> tuple[int, ...]:
        """Return the positions of the field's columns in a row."""
        return self._at.get(field, ())

    def decode_entities(self, cells: Sequence[str]) -> Sequence[str]:
        """Return the cells with entities such as `&amp;` as characters.

        Descriptions, which are HTML, stay.
        """
        are_html = self.columns_of("description")
        return [
            html.unescape(text) if "&" in text and at not in are_html else text
            for at, text in enumerate(cells)
        ]

    def texts(self, cells: Sequence[str]) -> dict[str, str]:
        """Return the text of each field in a row, "" where it is blank or has no column."""
        return self._blank | {field: self.cell(cells, field) for field in self._given}

    def cell(self, cells: Sequence[str], field: str) -> str:
        """Return the text of the first of the field's columns that is not blank, stripped.

        "" for none. Marks that spreadsheets need are left out, as `cell` does; of codes such as
        SKUs invisible ones too.
        """
        for at in self._at.get(field, ()):
            # Half of the time of reading a row is spent in this loop.
            if at < len(cells) and (text := cells[at].strip(BLANKS)):
                text = _bare(text) if text[0] in _TEXT_MARKS else text
                if not text.isascii() and field in _CODES:
                    text = text.translate(_NO_MARKS)
                if text:
                    return text
        return ""

    def name(self, field: str, cells: Sequence[str] = ()) -> str:
        """Return the name of the column that gives the field in a row, as the file spells it.

        Of several, the first that is not blank there, or the first of all. The field itself if it
        has none.
        """
        places = self._at.get(field, ())
        if len(places) < 2:
            return self.header[places[0]] if places else field
        filled = (at for at in places if cell(cells, at))
        return self.header[next(filled, places[0])]


class Row(dict[str, str]):
    """The stripped texts of one row of a product, by field.

    A text is empty where the cell is blank, or the row or the file ends before. (A look-up in a
    dict takes a fifth of a call's time.)
    """

    __slots__ = ("_cells", "is_own", "line", "sheet")

    def __init__(self, sheet: Sheet, row: CsvRow) -> None:
        self.sheet = sheet
        self.line = row.line
        self.is_own = False  # whether it is known to be the product's own, and no variant's
        cells = row.cells
        cells = [unescape_formula(text) for text in cells] if sheet.is_report else cells
        self._cells = sheet.decode_entities(cells) if sheet.has_entities else cells
        super().__init__(sheet.texts(self._cells))

    def __missing__(self, field: str) -> str:
        return ""

    def texts_of(self, field: str) -> Iterator[tuple[str, str]]:
        """Yield every column of the field that is not blank, with its text."""
        for at in self.sheet.columns_of(field):
            text = cell(self._cells, at)
            if text:
                yield self.sheet.header[at], text

    def cell_at(self, place: int) -> str:
        """Return the text of the cell at a position in the row."""
        return cell(self._cells, place)

    def has_any(self, fields: Iterable[str]) -> bool:
        """Return whether one of these fields is not blank."""
        return any(map(self.__getitem__, fields))

    def column(self, field: str) -> str:
        """Return the name of the column that gives a field in this row, as the file spells it."""
        return self.sheet.name(field, self._cells)


def escape_formula(text: str) -> str:
    """Return a cell as a report writes it: what a spreadsheet would run is marked as text.

    One that has such a mark gets another, so that a reader takes one off.
    """
    return f"'{text}" if _RUNS.match(text) else text


def unescape_formula(text: str) -> str:
    """Return a cell of a report as the file had it: without one mark that `escape_formula` adds."""
    return text[1:] if text[:1] == "'" and _RUNS.match(text) else text


def cell(cells: Sequence[str], at: int) -> str:
    """Return the text of a cell, without blanks around it; empty beyond the end of the row.

    What spreadsheets need to take it for text (`="00123"`, `'00123`) is left out.
    """
    text = cells[at].strip(BLANKS) if at < len(cells) else ""
    return _bare(text) if text and text[0] in _TEXT_MARKS else text


def _bare(text: str) -> str:
    """Return a text without the formula or the mark that spreadsheets put around it."""
    text = text[2:-1].replace('""', '"').strip(BLANKS) if _FORMULA.fullmatch(text) else text
    return text[1:] if _MARKED.fullmatch(text) else text


def name_columns(header: Sequence[str]) -> list[str]:
    """Return the names of the columns as they are.

    An empty one becomes that of a spreadsheet: `column C`.
    """
    return [name or f"column {_letters(at)}" for at, name in enumerate(header)]


def _letters(at: int) -> str:
    """Return the letters by which a spreadsheet names a column; 0 is A."""
    return (_letters(at // 26 - 1) if at > 25 else "") + chr(65 + at % 26)


def plain(column: str) -> str:
    """Return a column's name without case, blanks and punctuation, in which exports differ.

    `%` and the sign of a currency that is not the shop's stay: `Price (€)` is no price in dollars.
    """
    return _plain(column, settings.currency())


@lru_cache(8192)
def _plain(column: str, currency: str) -> str:
    """Return a column's name for comparison: letters and digits in one case, and other measures."""
    return "".join(c for c in column.casefold() if c.isalnum() or is_other_measure(c, currency))


def is_other_measure(mark: str, currency: str) -> bool:
    """Return whether a sign (one character) in a header says: not the shop's money.

    A sign of another currency does, and `%`.
    """
    if unicodedata.category(mark) == "Sc":
        return currency not in SIGNS.get(mark, "")
    return mark == "%"


@lru_cache(4096)
def pattern(column: str) -> re.Pattern[str] | None:
    """Return the compiled pattern of a column with `{n}` or `{*}` in its name.

    None for other names. It matches plain names; a group is what is in the hole.
    """
    pieces = _HOLE.split(column)
    if len(pieces) == 1:
        return None
    holes = {"n": r"(\d{1,3})", "*": r"(.*\w.*)"}
    return re.compile("".join(holes[p] if i % 2 else plain(p) for i, p in enumerate(pieces)))


def _places(names: Iterable[str], places: Mapping[str, int]) -> tuple[int, ...]:
    """Return the positions of the columns with these names, in the order of the names.

    `places`: the position of each plain name in the header. Numbered columns are by their number.
    """
    positions: dict[int, None] = {}
    for name in names:
        holes = pattern(name)
        if holes is None:
            at = places.get(plain(name))
            if at is not None:
                positions[at] = None
            continue
        fitting = ((holes.fullmatch(column), at) for column, at in places.items())
        numbered = [(_number(match[1]), at) for match, at in fitting if match]
        positions |= dict.fromkeys(at for _, at in sorted(numbered))
    return tuple(positions)


def _number(hole: str) -> int:
    """Return the number in the hole of a column's name; 0 if there is none."""
    return int(hole) if hole.isdecimal() else 0


def find_row_error(sheet: Sheet, row: CsvRow) -> RowError | None:
    """Return the error that makes a row unreadable; None if none does.

    It has too many or too few cells, an error of a spreadsheet in a column that is read, or bytes
    that are no text; or it is a report's row that says so.
    """
    cells, width = row.cells, len(sheet.header)
    if sheet.is_report and (code := sheet.cell(cells, _CODE)) in _NOT_READ:
        message = "The row could not be read, and is shown as it was: fix it and clear this cell."
        return RowError(row.line, sheet.name(_CODE), code, message)
    if len(cells) > width and any(map(str.strip, cells[width:])):
        message = f"The row has {len(cells)} cells, the header {width}. Is a quote missing?"
        return RowError(row.line, "", "too_many_cells", message)
    if len(cells) == 1 < width:
        message = f"The row has one cell, the header {width}. Is a line break not in quotes?"
        return RowError(row.line, "", "too_few_cells", message)
    is_damaged = "\0" in "".join(cells)
    for at, (name, content) in enumerate(zip(sheet.header, cells, strict=False)):
        if (
            content[:1] in _FAILED_MARKS
            and at in sheet.read
            and spreadsheets.is_error(content.strip())
        ):
            message = f'"{content.strip()}" is an error of a spreadsheet, not a value.'
            return RowError(row.line, name, "spreadsheet_error", message)
        if is_damaged and "\ufffd" in content:
            message = "The line has bytes that are invalid in the file's encoding."
            return RowError(row.line, name, "not_in_encoding", message)
        if is_damaged and "\0" in content:
            message = "The cell contains a NUL byte: the file is damaged here."
            return RowError(row.line, name, "nul_byte", message)
    return None
