"""Where each CSV record begins and ends, in bytes, over a stream of any length.

The csv module does the parsing, a block of lines at a time; what is added here is the place of each
record in the file, and a way on after a quote that is never closed or a cell of 30 MB. At most one
record (MAX_RECORD) and one block are held.
"""

import codecs
import csv
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import Enum
from itertools import accumulate, chain, islice
from typing import Any, Final, NamedTuple, Self

from chalicelib.imports.csv import encodings
from chalicelib.imports.csv.faults import FileRejected, RowError
from chalicelib.imports.csv.lines import MAX_LINE, CutLine, blocks

MAX_RECORD: Final = MAX_LINE
DELIMITERS: Final = ",;\t|"
MAX_COLUMNS: Final = 2000
_BLANK_COLUMNS: Final = 1 << 17  # behind the last name; Excel saves up to 16,384
_SNIFFED: Final = 1 << 16
_FIRST_LINES: Final = 1 << 12
_COMPARED: Final = 6  # lines
_SEARCHED: Final = 1 << 22  # bytes, for what is no ASCII
_JUDGED: Final = 2000  # lines
_NEARLY_ALL: Final = 0.9
_WORD: Final = 100  # bytes
_FOLLOWING: Final = 20

# A quoted cell of a header: what stands in it separates nothing.
_QUOTED: Final = re.compile(r'(?<![^,;\t|\r\n]) *"(?:[^"]|"")*"?')
_LINE_END: Final = re.compile(r"\r+\n|\r|\n")
_HINT: Final = re.compile(r' *"?sep=([^"])"? *', re.IGNORECASE)

# The module's own limit, 128 kB a cell, is below ours, and it has only a global one.
csv.field_size_limit(1 << 26)


_BOMS: Final = (
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


class CsvRecord(NamedTuple):
    """One record: its bytes in the file, its first physical line (header 1), its cells.

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
    alone.
    """

    encoding: str
    delimiter: str
    bare_returns: bool
    header: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "header": list(self.header)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        return cls(**{**stored, "header": tuple(stored["header"])})


@dataclass(frozen=True, slots=True)
class Table:
    """An opened file: its format, and its records in one pass."""

    format: FileFormat
    header_line: int
    _rest: Iterator[CsvRecord]

    def records(self) -> Iterator[CsvRecord]:
        """Every record after the header that is not blank. Raises FileRejected if there is none."""
        record = None
        for record in self._rest:
            yield record
        if record is None:
            raise FileRejected(
                "no_rows",
                "The file has a header and no rows below it.",
                self.header_line,
            )


def open_csv(
    pieces: Iterable[bytes],
    encoding: str = "",
    delimiter: str = "",
    again: Callable[[], Iterable[bytes]] | None = None,
) -> Table:
    """Open a whole file, given as pieces of any size (the body of an S3 object), in an encoding
    and with a delimiter that somebody has said, or with those that it is found to have.

    Reads the beginning only; where that is all ASCII, the file up to what is not, and then
    `again`. Lines above the header that have one cell, such as a title, are skipped. Raises
    FileRejected: empty_file, not_csv, bad_header; unknown_encoding (`encodings.Undecided`).
    """
    pieces = iter(pieces)
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= _SNIFFED:
            break
    _refuse_what_is_not_csv(head)
    encoding, mark = _encoding(head, encoding)
    if not encoding:
        head, told = _until_no_ascii(head, pieces, further=again is not None)
        if told and again:
            encoding = _of_bytes(head + told, chain([told], pieces))
            # What was passed over is ASCII, which is the same in all that are left.
            pieces = _behind(again(), len(head))
        else:
            encoding = _of_bytes(head, again)
    sample = head[mark : mark + _SNIFFED].decode(encoding, "replace")
    if not re.search("[^\\s\0\ufeff]", sample):
        raise FileRejected("empty_file", "The file is empty.")
    bare_returns = _first_line_end(sample) == "\r"
    delimiter, width, above = _delimiter(sample, delimiter)
    text = blocks(chain([head[mark:]], pieces), encoding, bare_returns)
    records = _Splitter(delimiter, width, offset=mark, line=1).split(text)
    header = next(islice(records, above, None), None)
    if header is None or header.problem:
        why = header.problem.message if header and header.problem else "There is none."
        line = header.line if header else 1
        raise FileRejected("bad_header", f"The header cannot be read. {why}", line)
    names = tuple(" ".join(cell.split()) for cell in header.cells[:_BLANK_COLUMNS])
    names = names[: max((at for at, name in enumerate(names, 1) if name), default=0)]
    if len(names) > MAX_COLUMNS:
        message = f"The header has more than {MAX_COLUMNS} columns."
        raise FileRejected("bad_header", message, header.line)
    return Table(FileFormat(encoding, delimiter, bare_returns, names), header.line, records)


def read(data: bytes, form: FileFormat, offset: int, line: int) -> Iterator[CsvRecord]:
    """The records of one byte range of a file, which begins and ends between records.

    The same records as `open_csv` gives for the range, with the same lines and offsets.
    """
    text = blocks([data], form.encoding, form.bare_returns)
    return _Splitter(form.delimiter, None, offset, line).split(text)


def _refuse_what_is_not_csv(head: bytes) -> None:
    if not head.strip():
        raise FileRejected("empty_file", "The file is empty.")
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    for magic, what in _NOT_CSV:
        if start.startswith(magic):
            raise FileRejected(
                "not_csv", f"This is {what}, not CSV. Save it as CSV (UTF-8) and try again."
            )


def _encoding(head: bytes, said: str) -> tuple[str, int]:
    """The encoding, if somebody or the first bytes say it, and the length of the mark that does."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding, len(mark)
    if said:
        return encodings.named(said), 0
    # Latin text in UTF-16 without a mark has a zero in every other byte.
    start = head[:256]
    if start[1::2].count(0) > len(start) * 0.3:
        return "utf-16-le", 0
    if start[::2].count(0) > len(start) * 0.3:
        return "utf-16-be", 0
    return "", 0


def _until_no_ascii(head: bytes, pieces: Iterator[bytes], *, further: bool) -> tuple[bytes, bytes]:
    """The beginning, and what is no ASCII, which alone tells encodings apart, with a little before
    it, where that is further behind it."""
    for piece in pieces if head.isascii() else ():
        head += piece
        if not piece.isascii() or len(head) > _SEARCHED:
            break
    if not head.isascii():
        # One more: the first letter that is no ASCII may go on in it.
        return head + next(pieces, b""), b""
    told = b""
    for piece in pieces if further else ():
        told += piece
        if not piece.isascii():
            told += next(pieces, b"")
            break
        told = told[-_WORD:]
    return head, told


def _behind(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """All but so many bytes at the beginning."""
    for piece in pieces:
        yield piece[size:]
        size = max(0, size - len(piece))


def _of_bytes(head: bytes, whole: Iterable[bytes] | Callable[[], Iterable[bytes]] | None) -> str:
    """UTF-8, if nearly all lines that are no ASCII are; else what the words of the whole file say.
    Raises encodings.Undecided, as where some lines are and some are not."""
    foreign = [line for line in head.splitlines() if not line.isascii()][:_JUDGED]
    if len(foreign) > 1 and not head.endswith((b"\n", b"\r")):
        foreign.pop()  # it may end within a letter
    valid = sum(map(_is_utf8, foreign))
    if valid >= len(foreign) * _NEARLY_ALL:
        return "utf-8"
    # Two bytes of another encoding may happen to be UTF-8; more of them do not.
    is_mixed = valid > len(foreign) * (1 - _NEARLY_ALL)
    pieces = whole() if callable(whole) else whole
    return encodings.judged([head] if pieces is None else pieces, is_mixed)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _delimiter(sample: str, said: str) -> tuple[str, int, int]:
    """The delimiter, unless it was said, the number of columns, and how many lines stand above the
    header: Excel's `sep=;`, or a title."""
    hint = _HINT.fullmatch(_first_filled_line(sample))
    lines = _first_lines(sample)
    if hint and len(lines) > 1 and said in ("", hint[1]):
        return hint[1], lines[1].count(hint[1]) + 1, 1
    bare = (line.rstrip(f"{DELIMITERS} ") for line in lines[:_COMPARED])
    found = [max(map(line.count, said or DELIMITERS)) for line in bare]
    most = max(found)
    # A title has no columns, or but a comma where the lines below it have many.
    above = next(at for at, count in enumerate(found) if count * 3 > most or count == most)
    best = said or max(DELIMITERS, key=lines[above].count)
    return best, lines[above].count(best) + 1, above


def _first_line_end(sample: str) -> str:
    """The line end that stands first outside quotes."""
    for size in _beginnings(sample):
        text = _QUOTED.sub("", sample[:size])
        found = _LINE_END.search(text)
        if found and (size == len(sample) or text[found.end() :].strip("\r")):
            return found[0]
    return ""


def _first_filled_line(sample: str) -> str:
    at = len(sample) - len(sample.lstrip())
    begin = max(sample.rfind("\r", 0, at), sample.rfind("\n", 0, at)) + 1
    return re.split("[\r\n]", sample[begin:], maxsplit=1)[0]


def _first_lines(sample: str) -> list[str]:
    """The first lines that are not blank, each quoted cell as an x."""
    lines: list[str] = []
    for size in _beginnings(sample):
        text = _QUOTED.sub("x", sample[:size])
        lines = [line for line in re.split("[\r\n]+", text) if line.strip()]
        if len(lines) > _COMPARED:  # the last may go on
            break
    return lines


def _beginnings(sample: str) -> Iterator[int]:
    """Lengths of a sample's beginning, of which most files need the first alone."""
    size = _FIRST_LINES
    while size < len(sample):
        yield size
        size *= 8
    yield len(sample)


class _Splitter:
    """Lines in, records out.

    A quote that is still open where the text ends, or where a quote cannot stand, costs the line it
    began on and no more: reading goes on below it. Only what grows beyond MAX_RECORD and does not
    look like rows of `width` cells is taken for one cell and skipped to its end; without a width,
    for a range out of a file, nothing is skipped: whoever cut the range has left such cells out.
    """

    def __init__(self, delimiter: str, width: int | None, offset: int, line: int) -> None:
        self._delimiter = delimiter
        self._width = width
        # What waits for more lines, and where its first line stands in the file.
        self._lines: list[str] = []
        self._sizes: list[int] = []
        self._offset = offset
        self._line = line
        self._giant: CsvRecord | None = None

    def split(self, text: Iterable[tuple[list[str], list[int]]]) -> Iterator[CsvRecord]:
        for lines, sizes in text:
            self._lines += lines
            self._sizes += sizes
            yield from self._records(final=False)
        yield from self._records(final=True)
        if self._giant is not None:
            yield self._giant._replace(problem=_open_quote(self._giant.line))

    def _records(self, final: bool) -> Iterator[CsvRecord]:
        ends = [0, *accumulate(self._sizes)]
        count = len(self._lines)
        # A cut line is no text for the csv module: it ends what is read at once.
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
            beyond = stop < count or ends[stop] - ends[start] > MAX_RECORD
            if failure is _Failure.OPEN and not beyond and not final:
                at = start
                break
            size = ends[start + 1] - ends[start]
            blanks = self._with_blanks(start, stop) if failure in _MISREAD else None
            if blanks is not None:
                cells, end = blanks
                place = (self._offset + ends[start], ends[end] - ends[start])
                yield CsvRecord(*place, self._line + start, cells)
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
    ) -> Generator[CsvRecord, None, tuple[int, "_Failure"]]:
        """The records from line `at`; returns the line on which the next one begins, and why there
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
                    record = CsvRecord(offset + ends[start], size, line + start, cells)
                    yield record if size <= MAX_RECORD else _too_large(record)
                start = end
        except csv.Error as error:
            if "unexpected end" in str(error):
                return start, _Failure.OPEN
            if at + reader.line_num > start + 1:
                return start, _Failure.UNCLOSED
            return start, _Failure.RETURN if "new-line" in str(error) else _Failure.MISPLACED
        return start, _Failure.NONE

    def _with_blanks(self, start: int, stop: int) -> tuple[list[str], int] | None:
        """The cells of a record with blanks between a closing quote and the delimiter, which the
        csv module does not take, and the line behind it."""
        text = ""
        for end in range(start, min(stop, start + _FOLLOWING)):
            text += self._lines[end]
            if len(text) > _SNIFFED:
                return None
            if text.count('"') % 2 == 0:
                line = text.rstrip("\r\n")
                cells = _made_out(line, self._delimiter)
                again = _written(line, self._delimiter)
                return (cells, end + 1) if again else None
        return None

    def _broken(
        self, start: int, offset: int, size: int, failure: "_Failure", beyond: bool
    ) -> CsvRecord | None:
        """The record that cannot be read, or None while it is being skipped."""
        first = self._lines[start]
        cells = _made_out(first.rstrip("\r\n"), self._delimiter)
        broken = CsvRecord(offset, size, self._line + start, cells)
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

    def _skip(self, at: int, ends: list[int]) -> Generator[CsvRecord, None, int]:
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
        rows = [row for line in lines for row in csv.reader([line], delimiter=self._delimiter)]
        return sum(len(row) == self._width for row in rows) * 2 >= len(lines) > 0


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
    """Why no record begins here: what the csv module met."""

    NONE = "a line too long to read"
    OPEN = "the text ends within quotes"
    UNCLOSED = "a later line does not go on as quoted text may"
    MISPLACED = "a quote within quotes"
    RETURN = "a carriage return outside quotes"


_MISREAD: Final = (_Failure.MISPLACED, _Failure.UNCLOSED)


def _too_large(record: CsvRecord) -> CsvRecord:
    message = f"This record is larger than {MAX_RECORD >> 20} MB."
    return record._replace(problem=RowError(record.line, "", "record_too_large", message))


def _open_quote(line: int) -> RowError:
    message = (
        f"The quote opened on line {line} is not closed, or not followed by a delimiter. "
        'Inside quotes, write a quote twice: "".'
    )
    return RowError(line, "", "unclosed_quote", message)


def _explained(failure: _Failure, line: int) -> RowError:
    if failure is _Failure.RETURN:
        message = "A carriage return stands inside a cell without quotes."
        return RowError(line, "", "stray_line_break", message)
    if failure is _Failure.MISPLACED:
        message = 'A quote stands inside a quoted cell. Write it twice: "".'
        return RowError(line, "", "misplaced_quote", message)
    return _open_quote(line)
