"""Where each CSV row begins and ends, in bytes, over a stream of any length.

The csv module does the parsing, a block of lines at a time; what is added here is the place of each
row in the file, and a way on after a quote that is never closed or a cell of 30 MB. At most one
row (LARGEST_ROW) and one block are held.
"""

import codecs
import csv
import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import Enum
from itertools import accumulate, islice
from typing import Any, Final, NamedTuple, Self

from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.lines import LARGEST_LINE, CutLine, blocks

LARGEST_ROW: Final = LARGEST_LINE
# A converted workbook begins with this mark, and has another character for line breaks in cells, so
# that a line is a row of the sheet. No cell of a workbook has that character: XML does not.
WORKBOOK_MARK: Final = codecs.BOM_UTF8 * 2
LINE_BREAK: Final = "\x1e"
MOST_COLUMNS: Final = 2_000
DELIMITERS: Final = ",;\t|"
_FOLLOWING: Final = 20  # lines
_LONGEST_ODD: Final = 1 << 16  # characters of a row with spaces around its quotes

# The csv module's limit, 128 kB per cell, is below ours. It can only be set globally.
csv.field_size_limit(1 << 26)


class CsvRow(NamedTuple):
    """One row: its bytes in the file, its first physical line (header 1), its cells.

    With a `problem`, the cells are what could be made out in the first line: good for naming the
    product and for the report, not for reading.
    """

    offset: int
    length: int
    line: int
    cells: list[str]
    problem: RowError | None = None


@dataclass(frozen=True, slots=True)
class FileFormat:
    """How the bytes of a file are to be read; survives JSON through `as_dict` and `from_dict`.

    `encoding` is that of the bytes, one of `encodings.KNOWN`. `bare_returns`: lines end with CR
    alone. `is_workbook`: the file was one. `header_row`: the header's line; 0: there is none.
    """

    encoding: str
    delimiter: str
    bare_returns: bool
    header: tuple[str, ...]
    is_workbook: bool = False
    header_row: int = 1

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "header": list(self.header)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        return cls(**{**stored, "header": tuple(stored["header"])})


def read(data: bytes, form: FileFormat, offset: int, line: int) -> Iterator[CsvRow]:
    """The rows of one byte range of a file, which begins and ends between rows.

    The same rows as `open_csv` gives for the range, with the same lines and offsets.
    """
    text = blocks([data], form.encoding, form.bare_returns)
    return in_cells(Splitter(form.delimiter, None, offset, line).split(text), form.is_workbook)


def in_cells(rows: Iterator[CsvRow], is_workbook: bool) -> Iterator[CsvRow]:
    """The rows, with line breaks where a workbook has them in its cells."""
    if not is_workbook:
        return rows
    return (
        row._replace(cells=[cell.replace(LINE_BREAK, "\n") for cell in row.cells]) for row in rows
    )


class Splitter:
    """Lines in, rows out.

    A quote that is never closed, or that is where no quote can be, spoils only the line that it
    began on: reading continues with the next. Only what grows beyond LARGEST_ROW and does not
    look like rows of `width` cells is taken for one cell and skipped to its end. Without a width,
    for a range out of a file, nothing is skipped: the range was cut without such cells. `is_cut`:
    the lines are the beginning of a file, so a cell that is open at their end is such a cell too.
    """

    def __init__(
        self, delimiter: str, width: int | None, offset: int, line: int, *, is_cut: bool = False
    ) -> None:
        self._delimiter = delimiter
        self._width = width
        self._is_cut = is_cut
        # Lines of an incomplete row, and the offset of the first of them.
        self._lines: list[str] = []
        self._sizes: list[int] = []
        self._offset = offset
        self._line = line
        self._giant: CsvRow | None = None

    def split(self, text: Iterable[tuple[list[str], list[int]]]) -> Iterator[CsvRow]:
        for lines, sizes in text:
            self._lines += lines
            self._sizes += sizes
            yield from self._rows(final=False)
        yield from self._rows(final=True)
        if self._giant is not None:
            yield self._giant._replace(problem=_open_quote(self._giant.line))

    def _rows(self, final: bool) -> Iterator[CsvRow]:
        ends = [0, *accumulate(self._sizes)]
        count = len(self._lines)
        # The csv module cannot read a cut line, so each cut line ends a run of lines.
        stops = [i for i, text in enumerate(self._lines) if type(text) is CutLine] + [count]
        at = 0
        while at < count:
            if self._giant is not None:
                at = yield from self._skip(at, ends)
                continue
            stop = next(i for i in stops if i >= at)
            start, failure = yield from self._read(at, stop, ends)
            if start == count:
                at = count
                continue
            beyond = stop < count or ends[stop] - ends[start] > LARGEST_ROW
            beyond = beyond or (final and self._is_cut)
            if failure is _Failure.OPEN and not beyond and not final:
                at = start
                break
            size = ends[start + 1] - ends[start]
            blanks = self._with_blanks(start, stop) if failure in _MISREAD else None
            if blanks is not None:
                cells, end = blanks
                place = (self._offset + ends[start], ends[end] - ends[start])
                yield CsvRow(*place, self._line + start, cells)
                at = end
                continue
            broken = self._broken(start, self._offset + ends[start], size, failure, beyond)
            if broken is not None:
                yield broken
            at = start + 1
        del self._lines[:at], self._sizes[:at]
        self._offset += ends[at]
        self._line += at

    def _read(
        self, at: int, stop: int, ends: list[int]
    ) -> Generator[CsvRow, None, tuple[int, "_Failure"]]:
        """The rows from line `at`; returns the line on which the next one begins, and why there
        is none."""
        reader = csv.reader(
            islice(self._lines, at, stop),
            delimiter=self._delimiter,
            strict=True,
            skipinitialspace=True,
        )
        start, offset, line = at, self._offset, self._line
        try:
            for cells in reader:
                end = at + reader.line_num
                if any(map(str.strip, cells)):
                    size = ends[end] - ends[start]
                    row = CsvRow(offset + ends[start], size, line + start, cells)
                    yield row if size <= LARGEST_ROW else _too_large(row)
                start = end
        except csv.Error as error:
            if "unexpected end" in str(error):
                return start, _Failure.OPEN
            if at + reader.line_num > start + 1:
                return start, _Failure.UNCLOSED
            return start, _Failure.RETURN if "new-line" in str(error) else _Failure.MISPLACED
        return start, _Failure.NONE

    def _with_blanks(self, start: int, stop: int) -> tuple[list[str], int] | None:
        """The cells of a row with blanks between a closing quote and the delimiter, which the
        csv module does not accept, and the line after it."""
        text = ""
        for end in range(start, min(stop, start + _FOLLOWING)):
            text += self._lines[end]
            if len(text) > _LONGEST_ODD:
                return None
            if text.count('"') % 2 == 0:
                line = text.rstrip("\r\n")
                cells = _made_out(line, self._delimiter)
                again = _written(line, self._delimiter)
                return (cells, end + 1) if again else None
        return None

    def _broken(
        self, start: int, offset: int, size: int, failure: "_Failure", beyond: bool
    ) -> CsvRow | None:
        """The row that cannot be read, or None while it is being skipped."""
        first = self._lines[start]
        cells = _made_out(first.rstrip("\r\n"), self._delimiter)
        broken = CsvRow(offset, size, self._line + start, cells)
        if isinstance(first, CutLine):
            skipped = first.quotes % 2 == 1
            broken = _too_large(broken)
        elif failure is _Failure.OPEN and beyond and self._width is not None:
            following = self._lines[start + 1 : start + 1 + _FOLLOWING]
            skipped = not self._look_like_rows(following)
            problem = _too_large(broken).problem if skipped else _open_quote(broken.line)
            broken = broken._replace(problem=problem)
        else:
            skipped = False
            broken = broken._replace(problem=_explained(failure, broken.line))
        if skipped:
            self._giant = broken
            return None
        return broken

    def _skip(self, at: int, ends: list[int]) -> Generator[CsvRow, None, int]:
        """Past the line in which the giant's quote is closed, or past all lines."""
        assert self._giant is not None
        closing = next((i for i in range(at, len(self._lines)) if self._closes(i)), None)
        past = len(self._lines) if closing is None else closing + 1
        giant = self._giant._replace(length=self._giant.length + ends[past] - ends[at])
        self._giant = giant if closing is None else None
        if closing is not None:
            yield giant
        return past

    def _closes(self, index: int) -> bool:
        """Whether a quote that is open before this line is closed after it."""
        text = self._lines[index]
        if isinstance(text, CutLine):
            return text.quotes % 2 == 1
        if '"' not in text:
            return False
        try:
            return bool(list(csv.reader(['"' + text], delimiter=self._delimiter, strict=True)))
        except csv.Error:
            return False

    def _look_like_rows(self, lines: list[str]) -> bool:
        parts = [part for line in lines for part in csv.reader([line], delimiter=self._delimiter)]
        return sum(len(part) == self._width for part in parts) * 2 >= len(lines) > 0


def _made_out(line: str, delimiter: str) -> list[str]:
    """The cells of a line that is no CSV: those in quotes are read, the others cut."""
    end = re.escape(delimiter)
    cell = re.compile(rf'[ \t]*"((?:[^"]|"")*+)"[ \t]*{end}|([^{end}]*){end}')
    found = cell.finditer(line + delimiter)
    return [each[2] if each[1] is None else each[1].replace('""', '"') for each in found]


def _written(line: str, delimiter: str) -> bool:
    """Whether a line is nothing but cells, in quotes or without any, with blanks around them."""
    end = re.escape(delimiter)
    cell = rf'[ \t]*+(?:"(?:[^"]|"")*+"[ \t]*+|[^"{end}]*+)'
    return re.fullmatch(rf"{cell}(?:{end}{cell})*+", line) is not None


class _Failure(Enum):
    """Why no row begins here: the error of the csv module."""

    NONE = "a line too long to read"
    OPEN = "the text ends within quotes"
    UNCLOSED = "a later line cannot continue quoted text"
    MISPLACED = "a quote within quotes"
    RETURN = "a carriage return outside quotes"


_MISREAD: Final = (_Failure.MISPLACED, _Failure.UNCLOSED)


def _too_large(row: CsvRow) -> CsvRow:
    message = f"This row is larger than {LARGEST_ROW >> 20} MB."
    return row._replace(problem=RowError(row.line, "", "record_too_large", message))


def _open_quote(line: int) -> RowError:
    message = (
        f"The quote opened on line {line} is not closed, or not followed by a delimiter. "
        'Inside quotes, write a quote twice: "".'
    )
    return RowError(line, "", "unclosed_quote", message)


def _explained(failure: _Failure, line: int) -> RowError:
    if failure is _Failure.RETURN:
        message = "There is a carriage return in a cell without quotes."
        return RowError(line, "", "stray_line_break", message)
    if failure is _Failure.MISPLACED:
        message = 'There is a quote inside a quoted cell. Write it twice: "".'
        return RowError(line, "", "misplaced_quote", message)
    return _open_quote(line)
