"""The rows of a CSV of any length.

The csv module does the parsing; what is added here is the line of each row, and a way on after a
quote that is never closed or a cell of 30 MB. At most one row (LARGEST_ROW) and one block are held.
"""

import codecs
import csv
import re
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.lines import LARGEST_LINE

LARGEST_ROW: Final = LARGEST_LINE
# A converted workbook begins with this mark, and has another character for line breaks in cells, so
# that a line is a row of the sheet. No cell of a workbook has that character: XML does not.
WORKBOOK_MARK: Final = codecs.BOM_UTF8 * 2
LINE_BREAK: Final = "\x1e"
MOST_COLUMNS: Final = 2_000
DELIMITERS: Final = ",;\t|"
_FOLLOWING: Final = 20  # lines
_BEGINNING: Final = 4096  # characters of a line beyond LARGEST_LINE
_LONGEST_ODD: Final = 1 << 16  # characters of a row with spaces around its quotes

# The csv module's limit, 128 kB per cell, is below ours. It can only be set globally.
csv.field_size_limit(1 << 26)


class CsvRow(NamedTuple):
    """One row: its first physical line (the header is 1), and its cells.

    With a `problem`, the cells are what could be made out in the first line: good for naming the
    product and for the report, not for reading. `size`: characters in the file.
    """

    line: int
    cells: list[str]
    problem: RowError | None = None
    size: int = 0


class FileFormat(NamedTuple):
    """How the bytes of a file are to be read; a job stores it by these names.

    `encoding` is that of the bytes, one of `encodings.KNOWN`. `bare_returns`: lines end with CR
    alone. `is_workbook`: the file was one. `header_row`: the header's line; 0: there is none.
    """

    encoding: str
    delimiter: str
    bare_returns: bool
    header: Sequence[str]
    is_workbook: bool = False
    header_row: int = 1


def restore_line_breaks(rows: Iterator[CsvRow], is_workbook: bool) -> Iterator[CsvRow]:
    """Return the rows, with a line break for each mark that `as_csv` wrote for one, if it did."""
    if not is_workbook:
        return rows
    return (
        row._replace(cells=[cell.replace(LINE_BREAK, "\n") for cell in row.cells]) for row in rows
    )


class Splitter:
    """Splits the lines of a file into rows.

    A quote that is never closed, or that is where no quote can be, spoils only the line that it
    began on: reading continues with the next. Only what grows beyond LARGEST_ROW and does not
    look like rows of `width` cells is taken for one cell and skipped to its end. `is_cut`: the
    lines are the beginning of a file, so a cell that is open at their end is such a cell too.
    """

    def __init__(
        self, blocks: Iterable[list[str]], delimiter: str, width: int, *, is_cut: bool = False
    ) -> None:
        self._lines = chain.from_iterable(blocks)
        self._again: deque[str] = deque()  # lines that are to be read again
        self._delimiter = delimiter
        self._width = width
        self._is_cut = is_cut
        # The lines of the row that is being read, their characters, and the number of the first.
        self._held: list[str] = []
        self._size = 0
        self._line = 1

    def rows(self) -> Iterator[CsvRow]:
        """Yield the rows that are not blank; one that cannot be read has a `problem`."""
        while True:
            code = yield from self._read_rows()
            if not self._held:
                return
            has_return = code == "stray_line_break"
            yield (None if has_return else self._read_with_blanks()) or self._take_broken_row(code)

    def _read_rows(self) -> Generator[CsvRow, None, str]:
        """Read and yield the rows up to one that cannot be read; return the code of its error.

        Its lines are then held. The code is empty if the row has no end that can be read.
        """
        held = self._held
        reader = csv.reader(
            self._feed_lines(), delimiter=self._delimiter, strict=True, skipinitialspace=True
        )
        try:
            for cells in reader:
                if any(map(str.strip, cells)):
                    row = CsvRow(self._line, cells, None, self._size)
                    yield _mark_failed(row, "cut_row") if self._is_cut_off(cells) else row
                self._line += len(held)
                self._size = 0
                held.clear()
        except csv.Error as error:
            if "unexpected end" in str(error):
                return ""
            if len(held) > 1:
                return "unclosed_quote"
            return "stray_line_break" if "new-line" in str(error) else "misplaced_quote"
        return ""

    def _is_cut_off(self, cells: Sequence[str]) -> bool:
        """Return whether the file ends within the row that was read: `12` may be 125.00.

        It does if its last line has no end, and it has fewer cells than the header. Never if
        `is_cut`.
        """
        has_end = self._held[-1].endswith(("\n", "\r"))
        return not has_end and len(cells) < self._width and not self._is_cut

    def _feed_lines(self) -> Iterator[str]:
        """Hold each line, and yield it to the csv module; end at one with which a row is too large.

        That one is held, and not yielded.
        """
        for line in self._next_lines():
            self._held.append(line)
            self._size += len(line)
            if self._size > LARGEST_ROW:
                return
            yield line

    def _next_lines(self) -> Iterator[str]:
        """Yield the lines that are to be read again, and then those of the file."""
        while self._again:
            yield self._again.popleft()
        yield from self._lines

    def _read_with_blanks(self) -> CsvRow | None:
        """Take the row that is held, if only blanks after closing quotes spoil it; None otherwise.

        The csv module does not accept such a row. Its lines are then no longer held.
        """
        self._held += islice(self._next_lines(), max(0, _FOLLOWING - len(self._held)))
        text = ""
        for number, line in enumerate(self._held[:_FOLLOWING], 1):
            text += line
            if len(text) > _LONGEST_ODD:
                return None
            if text.count('"') % 2 == 0:
                text = text.rstrip("\r\n")
                return (
                    self._take_row(number, text) if _is_cells_only(text, self._delimiter) else None
                )
        return None

    def _take_row(self, lines: int, text: str) -> CsvRow:
        """Return so many of the held lines as a row, with the cells that `text` seems to have.

        The other held lines are read again. No line is held after that.
        """
        size = sum(map(len, self._held[:lines]))
        row = CsvRow(self._line, _guess_cells(text, self._delimiter), None, size)
        self._again.extendleft(reversed(self._held[lines:]))
        self._line += lines
        self._size = 0
        self._held.clear()
        return row

    def _take_broken_row(self, code: str) -> CsvRow:
        """Take a failed row from what is held: its first line, or all lines of a huge cell.

        Return it. The other lines are read again.
        """
        first, *following = self._held[: 1 + _FOLLOWING]
        may_be_cell = self._size > LARGEST_ROW or self._is_cut
        row = self._take_row(1, _cut_line(first))
        if len(first) > LARGEST_LINE:
            row = _mark_failed(row, "record_too_large")
            return self._skip_to_quote(row) if first.count('"') % 2 else row
        if not code and may_be_cell and not self._look_like_rows(following):
            return self._skip_to_quote(_mark_failed(row, "record_too_large"))
        return _mark_failed(row, code or "unclosed_quote")

    def _skip_to_quote(self, row: CsvRow) -> CsvRow:
        """Read on, past the line that closes the row's quote.

        Return the row, with the size of all of it. Its error stays. If none closes it, that is
        unclosed_quote.
        """
        size = row.size
        for text in self._next_lines():
            size += len(text)
            self._line += 1
            if self._closes_quote(text):
                return row._replace(size=size)
        return _mark_failed(row._replace(size=size), "unclosed_quote")

    def _closes_quote(self, text: str) -> bool:
        """Return whether a quote that is open before this line is closed after it."""
        if len(text) > LARGEST_LINE:
            return text.count('"') % 2 == 1
        if '"' not in text:
            return False
        try:
            return bool(list(csv.reader(['"' + text], delimiter=self._delimiter, strict=True)))
        except csv.Error:
            return False

    def _look_like_rows(self, lines: list[str]) -> bool:
        """Return whether at least half of these lines have as many cells as the header."""
        widths = [len(_guess_cells(_cut_line(line), self._delimiter)) for line in lines]
        return widths.count(self._width) * 2 >= len(lines) > 0


def _cut_line(line: str) -> str:
    """Return a line without its end; of a very long one, the beginning."""
    return (line if len(line) <= LARGEST_LINE else line[:_BEGINNING]).rstrip("\r\n")


def _guess_cells(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line that may be no CSV: the quoted ones unquoted, the others as is."""
    end = re.escape(delimiter)
    cell = re.compile(rf'[ \t]*"((?:[^"]|"")*+)"[ \t]*{end}|([^{end}]*){end}')
    matches = cell.finditer(line + delimiter)
    return [each[2] if each[1] is None else each[1].replace('""', '"') for each in matches]


def _is_cells_only(line: str, delimiter: str) -> bool:
    """Return whether a line is nothing but cells, quoted or without quotes, with blanks around."""
    end = re.escape(delimiter)
    cell = rf'[ \t]*+(?:"(?:[^"]|"")*+"[ \t]*+|[^"{end}]*+)'
    return re.fullmatch(rf"{cell}(?:{end}{cell})*+", line) is not None


def _mark_failed(row: CsvRow, code: str) -> CsvRow:
    """Return a copy of the row with a problem of this code, in place of any that it has."""
    message = _PROBLEMS[code].format(line=row.line)
    return row._replace(problem=RowError(row.line, "", code, message))


_PROBLEMS: Final = {
    "record_too_large": f"This row is larger than {LARGEST_ROW >> 20} MB.",
    "unclosed_quote": "The quote opened on line {line} is not closed, or not followed by a"
    ' delimiter. Inside quotes, write a quote twice: "".',
    "misplaced_quote": 'There is a quote inside a quoted cell. Write it twice: "".',
    "cut_row": "The file ends within this row: it has fewer cells than the header.",
    "stray_line_break": "There is a carriage return in a cell without quotes.",
}
