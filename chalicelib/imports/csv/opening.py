"""Opens a file: its type, encoding, delimiter and header.

Reads the beginning of a file of any length; the rows that follow are cut by `rows`.
"""

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, takewhile
from typing import Final, NamedTuple

from chalicelib.imports.csv import encodings
from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.csv.lines import read_lines
from chalicelib.imports.csv.rows import (
    DELIMITERS,
    MOST_COLUMNS,
    WORKBOOK_MARK,
    CsvRow,
    FileFormat,
    Splitter,
    restore_line_breaks,
)

_BLANK_COLUMNS: Final = 1 << 17  # after the last name; Excel saves up to 16,384
_UNNAMED: Final = 20  # columns after the last name in which rows may have cells: notes
_SNIFFED: Final = 1 << 16
_HELD: Final = 1 << 22  # bytes; what is longer is read from the beginning again, for its encoding
_COMPARED: Final = 6  # lines
_COUNTED: Final = 30  # rows, for the columns of a file without a header
_JUDGED: Final = 2000  # lines
_NEARLY_ALL: Final = 0.9
_WORD: Final = 100  # bytes

# A quoted cell of a header, in which delimiters do not count.
_QUOTED: Final = re.compile(r'(?<![^,;\t|\r\n]) *"(?:[^"]|"")*"?')
_LINE_END: Final = re.compile(r"\r+\n|\r|\n")
# A line of a template whose cells explain the columns below: `# Required, # Optional`.
_REMARKS: Final = re.compile(r"\s*#[^,;\t]*[,;\t]\s*#")
_HINT: Final = re.compile(r'\s*"?sep=([^"\r\n])"? *(?=[\r\n]|$)', re.IGNORECASE)

_BOMS: Final = (
    (WORKBOOK_MARK, "utf-8"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NOT_CSV: Final = (
    (codecs.BOM_UTF32_LE, "text in UTF-32"),
    (codecs.BOM_UTF32_BE, "text in UTF-32"),
    (b"PK\x03\x04", "an Excel workbook (.xlsx) or a ZIP archive"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)"),
    (b"%PDF", "a PDF"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"{\\rtf", "a text document (RTF)"),
    (b"{", "JSON"),
    (b"[{", "JSON"),
    (b"<", "HTML or XML"),
)


@dataclass(frozen=True, slots=True)
class Table:
    """An opened file: its format, and its rows in one pass."""

    format: FileFormat
    _rest: Iterator[CsvRow]

    def rows(self) -> Iterator[CsvRow]:
        """Yield the rows after the header that are not blank. Raises FileRejected without any."""
        row = None
        for row in self._rest:
            yield row
        if row is None:
            message = "The file has a header and no rows below it."
            raise FileRejected("no_rows", message, self.format.header_row)


def open_csv(
    file: Iterable[bytes],
    encoding: str = "",
    delimiter: str = "",
    header_row: int | None = None,
    *,
    is_cut: bool = False,
) -> Table:
    """Open a file with the given or detected encoding, delimiter and line of the header.

    `file`: its pieces of any size (the body of an S3 object), which can be read several times.
    `header_row`: 0 if it has none. `is_cut`: it is only the beginning of a file; its last row
    may be incomplete.

    Reads the beginning, and for the encoding as much as that takes. Lines above the header that
    have one cell, such as a title, are skipped. Raises FileRejected: empty_file, not_csv,
    bad_header; unknown_encoding (`encodings.Undecided`).
    """
    text = _open_text(file, encoding)
    sample = text.sample
    bare_returns = _find_line_end(sample) == "\r"
    if header_row:
        sample = "\n".join(sample.splitlines()[header_row - 1 :])
    # Names in a workbook may have more bars or semicolons than there are columns.
    chosen = delimiter or ("," if text.is_workbook else "")
    delimiter, width, above = _find_layout(sample, chosen)
    lines = read_lines(text.pieces, text.encoding, bare_returns)
    rows = Splitter(lines, delimiter, width, is_cut=is_cut).rows()
    if header_row == 0:
        header, rows = _number_columns(rows)
    else:
        header = _read_header(rows, header_row or 1, above if header_row is None else 0)
    if len(header.names) > MOST_COLUMNS:
        message = f"The header has more than {MOST_COLUMNS} columns."
        raise FileRejected("bad_header", message, header.line)
    form = FileFormat(
        text.encoding, delimiter, bare_returns, header.names, text.is_workbook, header.line
    )
    return Table(form, restore_line_breaks(rows, text.is_workbook))


class _Text(NamedTuple):
    """A file of text: its first characters, and its bytes, without a byte order mark."""

    encoding: str
    sample: str
    pieces: Iterator[bytes]
    is_workbook: bool


def _open_text(file: Iterable[bytes], chosen: str) -> _Text:
    """Return the text of a file in the chosen or detected encoding. Raises FileRejected.

    A byte order mark counts before the choice. Without any, it may be that the whole file is read.
    """
    pieces = iter(file)
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= _HELD:
            break
    else:
        file = [head]
    _refuse_what_is_not_csv(head)
    encoding, mark = _find_encoding(head, chosen)
    text_pieces: Iterator[bytes] = chain([head[mark:]], pieces)
    if not encoding:
        encoding = _detect_encoding(text_pieces)
        text_pieces = iter(file)
    sample = head[mark : mark + _SNIFFED].decode(encoding, "replace")
    if not re.search("[^\\s\0\ufeff]", sample):
        raise FileRejected("empty_file", "The file is empty.")
    return _Text(encoding, sample, text_pieces, head.startswith(WORKBOOK_MARK))


class _Header(NamedTuple):
    """The names of the columns, and their line; 0: the file has none."""

    names: Sequence[str]
    line: int


def _number_columns(rows: Iterator[CsvRow]) -> tuple[_Header, Iterator[CsvRow]]:
    """Return numbered names for a file without a header, and all its rows."""
    first = list(islice(rows, _COUNTED))
    columns = max((len(row.cells) for row in first), default=0)
    names = tuple(f"Column {n}" for n in range(1, columns + 1))
    return _Header(names, 0), chain(first, rows)


def _read_header(rows: Iterator[CsvRow], line: int, above: int) -> _Header:
    """Take the header from `rows`: the first from `line` on, after `above` others, and return it.

    Names have single blanks; blank columns at the end are cut off, but for 20. Raises FileRejected
    if there is no such row, or it cannot be read.
    """
    header = next(islice((row for row in rows if row.line >= line), above, None), None)
    if header is None:
        message = "The header cannot be read. There is no such line."
        raise FileRejected("bad_header", message, line)
    if header.problem:
        message = f"The header cannot be read. {header.problem.message}"
        raise FileRejected("bad_header", message, header.line)
    cells = (cell.replace("\ufeff", "") for cell in header.cells[:_BLANK_COLUMNS])
    names = tuple(" ".join(cell.split()) for cell in cells)
    named = max((at for at, name in enumerate(names, 1) if name), default=0)
    return _Header(names[: named + _UNNAMED if named else 0], header.line)


def _refuse_what_is_not_csv(head: bytes) -> None:
    """Raise FileRejected if a file begins as another known type of file does."""
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    for magic, kind in _NOT_CSV:
        if start.startswith(magic):
            raise FileRejected(
                "not_csv", f"This is {kind}, not CSV. Save it as CSV (UTF-8) and try again."
            )


def _find_encoding(head: bytes, chosen: str) -> tuple[str, int]:
    """Return the encoding by its mark, as chosen, or UTF-16 by its zeros; "" if none of these.

    The second value is the length of the byte order mark, 0 without one. Raises FileRejected for an
    unknown choice.
    """
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding, len(mark)
    if chosen:
        return encodings.find_encoding(chosen), 0
    # In Latin text in UTF-16 without a byte order mark, every other byte is zero.
    start = head[:256]
    if start[1::2].count(0) > len(start) * 0.3:
        return "utf-16-le", 0
    if start[::2].count(0) > len(start) * 0.3:
        return "utf-16-be", 0
    return "", 0


def _detect_encoding(pieces: Iterator[bytes]) -> str:
    """Return UTF-8 if nearly all of the first non-ASCII lines are; else judge by all words.

    Raises encodings.Undecided, also if only some lines are UTF-8.
    """
    before = telling = b""
    for piece in pieces:
        if not piece.isascii():
            # With the next piece, as the first non-ASCII letter may continue in it.
            telling = before[-_WORD:] + piece + next(pieces, b"")
            break
        before = piece
    foreign = [line for line in telling.splitlines() if not line.isascii()][:_JUDGED]
    if len(foreign) > 1 and not telling.endswith((b"\n", b"\r")):
        foreign.pop()  # the last may end within a letter
    valid = sum(map(_is_utf8, foreign))
    if valid >= len(foreign) * _NEARLY_ALL:
        return "utf-8"
    # Two bytes of another encoding may happen to be valid UTF-8, many hardly ever.
    is_mixed = valid > len(foreign) * (1 - _NEARLY_ALL)
    return encodings.judge_encoding(chain([telling], pieces), is_mixed)


def _is_utf8(line: bytes) -> bool:
    """Return whether a line can be decoded as UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _find_layout(sample: str, chosen: str) -> tuple[str, int, int]:
    """Return (delimiter, number of columns, how many lines are above the header). Nothing is read.

    Above it are Excel's `sep=;`, unless it contradicts `chosen`, remarks, and title lines with few
    delimiters. The delimiter is `chosen`, or what the header has most of; the columns are counted
    in the header alone. Lines without text do not count.
    """
    hint = _HINT.match(sample)
    lines = _list_first_lines(sample)
    if hint and len(lines) > 1 and chosen in ("", hint[1]):
        return hint[1], lines[1].count(hint[1]) + 1, 1
    comments = len([*takewhile(_REMARKS.match, lines[:-1])])
    if comments:
        best, width, above = _find_layout("\n".join(lines[comments:]), chosen)
        return best, width, above + comments
    bare = [line.rstrip(f"{DELIMITERS} ") for line in lines[:_COMPARED]]
    counts = [max(map(line.count, chosen or DELIMITERS)) for line in bare]
    highest = max(counts)
    # A title line has no delimiters, or few compared with the lines below it. (Those may have many
    # commas that part no cells, in a description.)
    marks = chosen or DELIMITERS
    above = next(
        at
        for at, count in enumerate(counts)
        if count * 3 > highest
        or count == highest
        or _is_regular([bare[at], *lines[at + 1 : _COMPARED]], marks)
    )
    best = chosen or max(DELIMITERS, key=lines[above].count)
    return best, lines[above].count(best) + 1, above


def _is_regular(lines: list[str], delimiters: str) -> bool:
    """Return whether all lines have as many delimiters as the first, of its most frequent kind.

    One line alone, or one without delimiters, is not.
    """
    header, *rows = lines
    count, mark = max((header.count(mark), mark) for mark in delimiters)
    return count > 0 and len(rows) > 0 and all(row.count(mark) == count for row in rows)


def _find_line_end(sample: str) -> str:
    """Return the first line end outside quotes; "" if there is none."""
    line_end = _LINE_END.search(_QUOTED.sub("", sample))
    return line_end[0] if line_end else ""


def _list_first_lines(sample: str) -> list[str]:
    """Return the lines that are not blank, each quoted cell as an x, or as # if that begins it.

    A line of delimiters alone is blank. If all are blank, it is [sample].
    """
    lines = re.split("[\r\n]+", _QUOTED.sub(lambda cell: "#" if '"#' in cell[0] else "x", sample))
    return [line for line in lines if line.strip(f"{DELIMITERS} ")] or [sample]
