"""Workbooks, `.xlsx` and `.ods`, as the CSV that everything else reads: a line for each row of the
sheet, blank ones too, so that errors name the sheet's own rows.

python-calamine reads the cells. What it does not tell, how a number is shown, is read from the
workbook's own parts (`number_formats`).

It takes memory for the whole rectangle of a sheet, and ends its process where there is not enough:
two cells far apart are enough for that. So it runs in a process of its own, with limits.
"""

import csv
import io
import json
import os
import re
import resource
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, time
from itertools import accumulate, chain, groupby, pairwise
from math import isfinite
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final, NamedTuple
from xml.etree.ElementTree import Element, ParseError, iterparse, parse

from chalicelib import settings
from chalicelib.imports.csv.faults import (
    LARGEST_CELLS,
    LARGEST_SHEET,
    LARGEST_UNPACKED,
    LARGEST_WORKBOOK,
    FileRejected,
)
from chalicelib.imports.csv.number_formats import (
    BUILT_IN,
    Section,
    normalize_shown,
    parse_format,
    show_number,
)
from chalicelib.imports.csv.rows import LINE_BREAK, WORKBOOK_MARK

_HELD: Final = 128  # bytes that a cell takes besides its text
_SHORTEST_CELL: Final = len('<c t="s"><v>0</v></c>')
_PIECE: Final = 1 << 20
_READER_BYTES: Final = 1400 << 20  # memory of the process that reads; the planner has 1,769 MB
_READER_SECONDS: Final = 300  # of CPU
_REJECTED: Final = 3  # its exit code; the reason is on standard error
_PARTS: Final = ("xl/workbook.xml", "content.xml")
_MAIN: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_TABLE: Final = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE: Final = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_MOST_ROWS: Final = 10_000  # that may repeat one cell
# What reading a damaged part raises. RuntimeError: it is encrypted, or packed in another way.
_DAMAGED: Final = (
    *(ParseError, KeyError, ValueError, OSError, EOFError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
_CELL: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
# A cell's tag: that of a blank one is closed at once.
_TAG: Final = re.compile(rb'<(?:\w+:)?c\s(?:[^<>]*\s)?r="([A-Z]{1,3})([0-9]{1,10})"[^<>]*?(/?)>')
# A formula without a value: the program that wrote it has left that to a spreadsheet.
_UNCALCULATED: Final = re.compile(rb"</(?:\w+:)?f>(?:<(?:\w+:)?v ?/>|<(?:\w+:)?v></|</)")
_AROUND: Final = 200  # bytes; longer than what is searched for
_NO_VALUE: Final = "#VALUE!"  # what such a cell shows
_NUMBERS: Final = ("float", "currency", "percentage")  # value types of an `.ods`
_Form = str | tuple[Section, ...]  # what a cell shows, or its number's format
_Place = tuple[int, int, _Form]  # with its row and column, from 0
_SPACES: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"


def is_workbook(head: bytes) -> bool:
    """Whether a file begins as a ZIP archive does, which such a workbook is."""
    return head.startswith(b"PK\x03\x04")


def converted(pieces: Iterable[bytes], sheet: str = "", delimiter: str = "") -> tuple[bytes, str]:
    """What `as_csv` makes of the workbook, in a process of its own: a workbook that takes too much
    memory or time ends only that; and what it says of blank cells. Raises what `as_csv` does."""
    project = str(Path(__file__).parents[3])
    with TemporaryFile() as workbook, TemporaryFile() as text, TemporaryFile() as problem:
        workbook.writelines(pieces)
        workbook.seek(0)
        ended = subprocess.run(
            [sys.executable, "-m", __name__, sheet, delimiter],
            cwd=project,
            env=settings.of_child(PYTHONPATH=os.pathsep.join([project, *sys.path])),
            stdin=workbook,
            stdout=text,
            stderr=problem,
            check=False,
        ).returncode
        text.seek(0)
        problem.seek(0)
        said = problem.read(10_000).decode(errors="replace")
        if ended == 0:
            return text.read(), said
    if ended == _REJECTED:
        raise FileRejected(*json.loads(said))
    if ended > 0:
        raise RuntimeError(f"the workbook's reader failed: {said}")
    message = "The sheet takes too much memory or time: it may have a cell far from the others."
    raise FileRejected("workbook_too_large", f"{message} Save it as CSV.")


def main() -> None:
    """Standard input → standard output, as `converted` asks for it."""
    limits = {"RLIMIT_AS": _READER_BYTES, "RLIMIT_CPU": _READER_SECONDS, "RLIMIT_CORE": 0}
    for name, most in limits.items():
        with suppress(ValueError):  # macOS refuses the first
            resource.setrlimit(getattr(resource, name), (most, most))
    try:
        sheet, delimiter = sys.argv[1:]
        sys.stdout.buffer.writelines(
            as_csv(sys.stdin.buffer.read(), sheet, delimiter, sys.stderr.write)
        )
    except FileRejected as rejected:
        print(json.dumps([rejected.code, rejected.message]), file=sys.stderr)
        sys.exit(_REJECTED)
    except MemoryError:
        os.abort()


def as_csv(
    data: bytes, sheet: str = "", delimiter: str = "", say: Callable[[str], object] = lambda _: None
) -> Iterator[bytes]:
    """The first sheet, or the one with that name, as pieces of CSV (`rows.WORKBOOK_MARK`).
    `delimiter`: the one that the user chose, if any. `say`: is told the last row and column, such
    as `XFD1048576`, if blank cells far from the others are left out.

    Raises FileRejected: not_csv, workbook_too_large, unreadable_workbook, unknown_sheet.
    """
    archive = _unpacked(data)
    _refuse_repeats(archive)
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = [s for s in workbook.sheets_metadata if s.typ is SheetTypeEnum.WorkSheet]
        # Hidden ones last: what its user sees first is the workbook's first sheet.
        sheets.sort(key=lambda s: s.visible is not SheetVisibleEnum.Visible)
        name = _chosen([s.name for s in sheets], sheet)
        at = workbook.sheet_names.index(name)
        part = _part_of(archive, at)
        _refuse_rectangle(archive, part, say)
        cells = workbook.get_sheet_by_name(name)
    except FileRejected:
        raise
    except (*_DAMAGED, CalamineError) as error:
        message = f"The workbook is damaged, or protected by a password ({error})."[:300]
        raise FileRejected("unreadable_workbook", message) from None
    first = cells.start[1] if cells.start else 0
    lines = _lines(cells.iter_rows(), first, _number_forms(archive, part, at), delimiter or ",")
    return chain([WORKBOOK_MARK], _bounded(lines))


def _bounded(lines: Iterator[bytes]) -> Iterator[bytes]:
    left = LARGEST_SHEET
    for line in lines:
        left -= len(line)
        if left < 0:
            message = f"The sheet is more than {LARGEST_SHEET >> 20} MB as CSV. Save it as CSV."
            raise FileRejected("workbook_too_large", message)
        yield line


def _chosen(names: list[str], sheet: str) -> str:
    found = next((name for name in names if name.casefold() == sheet.strip().casefold()), None)
    if sheet and found is None:
        existing = ", ".join(f'"{name}"' for name in names[:20])
        raise FileRejected(
            "unknown_sheet", f'There is no sheet "{sheet[:60]}"; there are {existing}.'
        )
    if not names:
        raise FileRejected("empty_file", "The workbook has no sheet with cells.")
    return found or names[0]


# --- Size limits ----------------------------------------------------------------------------------


def refuse_large(size: int) -> None:
    """Raises FileRejected: workbook_too_large."""
    if size > LARGEST_WORKBOOK:
        message = (
            f"A workbook may have {LARGEST_WORKBOOK >> 20} MB. Save it as CSV, which may have 5 GB."
        )
        raise FileRejected("workbook_too_large", message)


def _unpacked(data: bytes) -> zipfile.ZipFile:
    """Refuses what would be too large unpacked, by the declared sizes; of a part that has more, the
    process's limits stop the reader."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _DAMAGED as error:
        raise FileRejected("unreadable_workbook", f"The workbook is damaged ({error}).") from None
    parts = archive.infolist()
    if not any(part.filename in _PARTS for part in parts):
        message = "This is a ZIP archive, not a workbook. Unpack it, and import the CSV in it."
        raise FileRejected("not_csv", message)
    if sum(part.file_size for part in parts) > LARGEST_UNPACKED:
        most = LARGEST_UNPACKED >> 20
        message = f"The workbook has more than {most} MB unpacked. Save it as CSV."
        raise FileRejected("workbook_too_large", message)
    return archive


def _refuse_repeats(archive: zipfile.ZipFile) -> None:
    """Refuses what is small in the archive and large as cells: a cell or a text that is written
    once and is used in many places."""
    try:
        held = chain.from_iterable(map(accumulate, _held_at_once(archive)))
        is_too_large = any(size > LARGEST_CELLS for size in held)
    except _DAMAGED:
        return  # damaged: the reader reports it
    if is_too_large:
        message = "The workbook has too many cells, or too long ones. Save it as CSV."
        raise FileRejected("workbook_too_large", message)


def _held_at_once(archive: zipfile.ZipFile) -> Iterator[Iterator[int]]:
    """Bytes that cells take in memory, where that may be too much: of all sheets of an `.ods`, and
    of each of an `.xlsx`."""
    names = archive.namelist()
    if "content.xml" in names:
        with archive.open("content.xml") as content:
            yield _sizes_of_rows(content)
        return
    texts: list[int] = []
    if "xl/sharedStrings.xml" in names:
        with archive.open("xl/sharedStrings.xml") as strings:
            found = (e for event, e in _freed(strings, f"{_MAIN}si") if event == "end")
            texts = [len("".join(e.itertext())) for e in found if e.tag == f"{_MAIN}si"]
    for name in names:
        if name.startswith("xl/worksheets/"):
            most = archive.getinfo(name).file_size // _SHORTEST_CELL
            if most * (_HELD + max(texts, default=0)) > LARGEST_CELLS:
                with archive.open(name) as sheet:
                    yield _sizes_of_cells(sheet, texts)


def _refuse_rectangle(archive: zipfile.ZipFile, part: str, say: Callable[[str], object]) -> None:
    """Refuses an `.xlsx` sheet with a cell far from the others: the reader takes memory for all
    between them. Blank cells do not count. The part is scanned in pieces, before it is parsed."""
    if not part:
        return
    with archive.open(part) as cells:
        filled, every = _extents(iter(lambda: cells.read(_PIECE), b""))
    if filled.rows * filled.columns * _HELD > LARGEST_CELLS:
        spans = f"{filled.rows} rows and {filled.columns} columns"
        message = f"The sheet spans {spans}: is there a cell far away?"
        raise FileRejected("workbook_too_large", message)
    if every.rows * every.columns * _HELD > LARGEST_CELLS:
        say(every.corner)


class _Extent(NamedTuple):
    """How many rows and columns there are from the first to the last; and where the last meet."""

    rows: int
    columns: int
    corner: str


def _extents(pieces: Iterable[bytes]) -> tuple[_Extent, _Extent]:
    """Of a sheet's cells with a content, and of all."""
    rows: list[set[int]] = [set(), set()]
    columns: list[set[str]] = [set(), set()]
    held = b""
    for piece in pieces:
        held += piece
        end = max(held.rfind(b"<"), 0)
        found = _TAG.findall(held, 0, end)
        for at, cells in enumerate(([cell for cell in found if not cell[2]], found)):
            columns[at] |= {column.decode() for column in {cell[0] for cell in cells}}
            numbers = rows[at] | {int(cell[1]) for cell in cells}
            rows[at] = {min(numbers), max(numbers)} if numbers else set()
        held = held[end:][-_PIECE:]
    filled, every = map(_extent, rows, columns)
    return filled, every


def _extent(rows: set[int], columns: set[str]) -> _Extent:
    if not rows:
        return _Extent(0, 0, "")
    first, last = (pick(columns, key=_column) for pick in (min, max))
    width = _column(last) - _column(first) + 1
    return _Extent(max(rows) - min(rows) + 1, width, f"{last}{max(rows)}")


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _sizes_of_rows(content: object) -> Iterator[int]:
    for event, row in _freed(content, f"{_TABLE}table-row"):
        if row.tag == f"{_TABLE}table-row" and event == "end":
            filled = (cell for cell in row if cell.get(f"{_OFFICE}value-type"))
            held = (
                _repeated(cell, "columns") * (_HELD + len("".join(cell.itertext())) + _spaces(cell))
                for cell in filled
            )
            yield _repeated(row, "rows") * sum(held)


def _spaces(cell: Element) -> int:
    """The spaces that a cell has as a number."""
    return sum(int(each.get(f"{_SPACES}c", 1)) for each in cell.iter(f"{_SPACES}s"))


def _sizes_of_cells(sheet: object, texts: list[int]) -> Iterator[int]:
    for event, cell in _freed(sheet, f"{_MAIN}row"):
        if event == "end" and cell.tag == f"{_MAIN}c":
            value = (cell.findtext(f"{_MAIN}v") or "") if cell.get("t") == "s" else ""
            is_known = value.isdecimal() and int(value[:9]) < len(texts)
            yield _HELD + (texts[int(value[:9])] if is_known else 0)


# --- Cells as a spreadsheet shows them ------------------------------------------------------------


def _lines(
    rows: Iterator[list[Any]], first: int, forms: Iterator[_Place], delimiter: str
) -> Iterator[bytes]:
    """Yield a line for each row; the cells begin in the column `first`. `forms`: by row."""
    by_row = groupby(forms, key=itemgetter(0))
    next_at, following = next(by_row, (-1, ()))
    for at, row in enumerate(rows):
        shown: dict[int, _Form] = {}
        if at == next_at:
            shown = {column: form for _, column, form in following}
            next_at, following = next(by_row, (-1, ()))
        cells = [_show_cell(cell, shown.get(i)) for i, cell in enumerate(row, first)]
        text = io.StringIO()
        if any(cells):
            csv.writer(text, lineterminator="\n", delimiter=delimiter).writerow(cells)
        else:
            text.write("\n")
        yield text.getvalue().encode("utf-8", "replace")


def _show_cell(cell: object, form: _Form | None) -> str:
    if isinstance(form, str):
        return form
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, int | float):
        shown = show_number(cell, form) if form else None
        if shown is not None:
            return shown
        # A spreadsheet shows 15 digits. Further digits are errors of binary fractions.
        whole = isinstance(cell, int) or (cell.is_integer() and abs(cell) < 1e15)
        return str(int(cell)) if whole else f"{cell:.15g}"
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    return re.sub("\r\n|\r|\n", LINE_BREAK, str(cell))


def _number_forms(archive: zipfile.ZipFile, part: str, sheet: int) -> Iterator[_Place]:
    """Yield how numbers are shown, in the order of the rows, where that is not as they are stored.
    Raises FileRejected."""
    try:
        if "content.xml" in archive.namelist():
            with archive.open("content.xml") as content:
                yield from _shown_texts(content, sheet)
        elif part:
            formats = _formats_by_style(archive)
            with archive.open(part) as cells:
                is_needed = bool(formats) or _is_uncalculated(cells)
            if is_needed:
                with archive.open(part) as cells:
                    yield from _formatted_cells(cells, formats)
    except _DAMAGED as error:
        message = f"The workbook is damaged ({error})."[:300]
        raise FileRejected("unreadable_workbook", message) from None


def _is_uncalculated(cells: IO[bytes]) -> bool:
    """Whether a formula has no value. The end of a piece is searched with the next one."""
    pieces = chain([b""], iter(lambda: cells.read(_PIECE), b""))
    return any(_UNCALCULATED.search(one[-_AROUND:] + other) for one, other in pairwise(pieces))


def _shown_texts(content: object, sheet: int) -> Iterator[_Place]:
    """Yield the texts of an `.ods`, which stores with each number what it shows."""
    at = -1
    row = 0
    for event, element in _freed(content, f"{_TABLE}table-row"):
        if element.tag == f"{_TABLE}table" and event == "start":
            at, row = at + 1, 0
        elif element.tag == f"{_TABLE}table-row" and event == "end":
            rows = _repeated(element, "rows")
            found = list(_texts_of_row(element)) if at == sheet else []
            for repeated in range(min(rows, _MOST_ROWS) if found else 0):
                yield from ((row + repeated, column, text) for column, text in found)
            row += rows


def _texts_of_row(row: Element) -> Iterator[tuple[int, str]]:
    column = 0
    for cell in row:
        columns = _repeated(cell, "columns")
        if cell.get(f"{_OFFICE}value-type") in _NUMBERS:
            value = float(cell.get(f"{_OFFICE}value", "nan"))
            shown = normalize_shown("".join(cell.itertext()), value) if isfinite(value) else None
            if shown is not None:
                yield from ((column + at, shown) for at in range(min(columns, _MOST_ROWS)))
        column += columns


def _repeated(element: Element, what: str) -> int:
    return int(element.get(f"{_TABLE}number-{what}-repeated", 1))


def _freed(part: Any, tag: str) -> Iterator[tuple[str, Element]]:
    """The elements of a part; those with the tag leave when they were read: few are held."""
    inside: list[Element] = []
    for event, element in iterparse(part, ("start", "end")):
        if event == "start":
            inside.append(element)
        else:
            inside.pop()
        yield event, element
        if event == "end" and element.tag == tag and inside:
            inside[-1].remove(element)


def _formats_by_style(archive: zipfile.ZipFile) -> dict[str, tuple[Section, ...]]:
    """Return the formats of the styles of an `.xlsx` that show a number otherwise than it is."""
    if "xl/styles.xml" not in archive.namelist():
        return {}
    with archive.open("xl/styles.xml") as styles:
        root = parse(styles).getroot()
    codes = BUILT_IN | {
        each.get("numFmtId", ""): each.get("formatCode", "") for each in root.iter(f"{_MAIN}numFmt")
    }
    used = [each.get("numFmtId", "") for each in root.iterfind(f"{_MAIN}cellXfs/{_MAIN}xf")]
    formats = {str(number): parse_format(codes.get(id, "")) for number, id in enumerate(used)}
    return {style: sections for style, sections in formats.items() if sections}


def _part_of(archive: zipfile.ZipFile, sheet: int) -> str:
    """Where an `.xlsx` keeps a sheet; empty if that is not there, and for an `.ods`."""
    if "content.xml" in archive.namelist():
        return ""
    relations = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
    with archive.open("xl/workbook.xml") as book:
        ids = [e.get(relations) for _, e in iterparse(book) if e.tag == f"{_MAIN}sheet"]
    with archive.open("xl/_rels/workbook.xml.rels") as parts:
        targets = {e.get("Id"): e.get("Target", "") for _, e in iterparse(parts)}
    target = targets.get(ids[sheet] if sheet < len(ids) else None, "")
    part = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
    return part if part in archive.namelist() else ""


def _formatted_cells(cells: object, formats: Mapping[str, tuple[Section, ...]]) -> Iterator[_Place]:
    for event, element in _freed(cells, f"{_MAIN}row"):
        if element.tag == f"{_MAIN}c" and event == "end":
            form: _Form | None = formats.get(element.get("s", ""))
            if element.get("t") != "str" and element.find(f"{_MAIN}f") is not None:
                form = form if element.findtext(f"{_MAIN}v") else _NO_VALUE
            place = _CELL.fullmatch(element.get("r", "")) if form else None
            if place and form:
                yield int(place[2]) - 1, _column(place[1]) - 1, form


if __name__ == "__main__":
    main()
