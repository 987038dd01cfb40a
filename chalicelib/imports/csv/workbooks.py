"""Workbooks, `.xlsx` and `.ods`, as the CSV that everything else reads.

The CSV has a line for each row of the sheet, blank ones too, so that errors name its own rows.

python-calamine reads the cells. What it does not tell, how a number is shown, is read from the
workbook's own parts (`number_formats`).

It takes memory for the whole rectangle of a sheet, and ends its process where there is not enough:
two cells far apart are enough for that. So it runs in a process of its own, with limits of memory,
time and output, and the message says which of them a workbook has reached.
"""

import csv
import errno
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, time
from itertools import chain, groupby, pairwise
from math import isfinite
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final, NoReturn
from xml.etree.ElementTree import Element, ParseError, iterparse, parse

from chalicelib import settings
from chalicelib.imports.csv.faults import (
    LARGEST_SHEET,
    READER_BYTES,
    READER_SECONDS,
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

_FAR: Final = 1 << 23  # cells of a rectangle, beyond which blank ones are far from the others
_PIECE: Final = 1 << 20
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
# What a sheet says of its cells, with the blank ones.
_DIMENSION: Final = re.compile(rb'<(?:\w+:)?dimension ref="[A-Z]+[0-9]+:([A-Z]{1,3})([0-9]{1,7})"')
# A formula without a value: the program that wrote it has left that to a spreadsheet.
_UNCALCULATED: Final = re.compile(rb"</(?:\w+:)?f>(?:<(?:\w+:)?v ?/>|<(?:\w+:)?v></|</)")
_AROUND: Final = 200  # bytes; longer than what is searched for
_NO_VALUE: Final = "#VALUE!"  # what such a cell shows
_NUMBERS: Final = ("float", "currency", "percentage")  # value types of an `.ods`
_Form = str | tuple[Section, ...]  # what a cell shows, or its number's format
_Place = tuple[int, int, _Form]  # with its row and column, from 0


def is_workbook(head: bytes) -> bool:
    """Return whether a file begins as a ZIP archive does, which such a workbook is."""
    return head.startswith(b"PK\x03\x04")


def convert_workbook(
    pieces: Iterable[bytes], sheet: str = "", delimiter: str = ""
) -> tuple[bytes, str]:
    """Return a workbook's sheet as CSV, and what `as_csv` says of blank cells far away (or "").

    It runs in a process of its own: a workbook that takes too much memory or time ends only that.
    Raises FileRejected as `as_csv` does, and workbook_too_large.
    """
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
        raise FileRejected(*json.loads(said.splitlines()[-1]))
    if ended > 0:
        raise RuntimeError(f"the workbook's reader failed: {said}")
    limit = f"{READER_BYTES >> 20:,} MB of memory: it may have a cell far from the others"
    if -ended == signal.SIGXCPU:
        limit = f"{READER_SECONDS} seconds"
    message = f"Reading the sheet takes more than {limit}. Save it as CSV."
    raise FileRejected("workbook_too_large", message)


def convert_standard_input() -> None:
    """Write the workbook on standard input as CSV on standard output, within limits.

    Its arguments are sheet and delimiter. It is the process that `convert_workbook` starts: it says
    on standard error what `as_csv` says, or why it was rejected, and ends.
    """
    # Beyond the lower limit of time a signal says why it ends; at the upper one none does.
    limits = {
        "RLIMIT_AS": (READER_BYTES, READER_BYTES),
        "RLIMIT_CPU": (READER_SECONDS, READER_SECONDS + 10),
        "RLIMIT_FSIZE": (LARGEST_SHEET, LARGEST_SHEET),
        "RLIMIT_CORE": (0, 0),
    }
    for name, limit in limits.items():
        with suppress(ValueError):  # macOS refuses the first
            resource.setrlimit(getattr(resource, name), limit)
    try:
        sheet, delimiter = sys.argv[1:]
        sys.stdout.buffer.writelines(
            as_csv(sys.stdin.buffer.read(), sheet, delimiter, sys.stderr.write)
        )
        sys.stdout.flush()
    except FileRejected as rejected:
        _exit_rejected(rejected.code, rejected.message)
    except MemoryError:
        os.abort()
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        message = f"The sheet is more than {LARGEST_SHEET >> 20} MB as CSV. Save it as CSV."
        _exit_rejected("workbook_too_large", message)


def _exit_rejected(code: str, message: str) -> NoReturn:
    """End the process; `convert_workbook` raises FileRejected with this code and message."""
    print("\n" + json.dumps([code, message]), file=sys.stderr, flush=True)
    os._exit(_REJECTED)  # what standard output still holds is not written


def as_csv(
    data: bytes, sheet: str = "", delimiter: str = "", say: Callable[[str], object] = lambda _: None
) -> Iterator[bytes]:
    """Return a sheet of a workbook as pieces of CSV, the first of which is `rows.WORKBOOK_MARK`.

    Cells have the text that a spreadsheet shows. What is merged over several rows is in each of
    them.

    `data`: a workbook of any kind that is a ZIP archive, such as `.xlsx` or `.ods`. `sheet`: its
    name; by default the first that is not hidden. `delimiter`: what parts the cells in the CSV; by
    default a comma. `say` is called once, at once: with the last row and column, such as
    `XFD1048576`, if blank cells far from the others are left out, else with "".

    The sheet is loaded before this returns; only the lines are written piece by piece. Raise
    FileRejected: not_csv for a ZIP archive that is no workbook, unreadable_workbook, unknown_sheet.
    """
    archive = _open_archive(data)
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = [s for s in workbook.sheets_metadata if s.typ is SheetTypeEnum.WorkSheet]
        # Hidden ones last: what its user sees first is the workbook's first sheet.
        sheets.sort(key=lambda s: s.visible is not SheetVisibleEnum.Visible)
        name = _choose_sheet([s.name for s in sheets], sheet)
        at = workbook.sheet_names.index(name)
        part = _find_sheet_part(archive, at)
        cells = workbook.get_sheet_by_name(name)
        say(_find_far_corner(archive, part, cells.end or (0, 0)))
    except FileRejected:
        raise
    except (*_DAMAGED, CalamineError) as error:
        message = f"The workbook is damaged, or protected by a password ({error})."[:300]
        raise FileRejected("unreadable_workbook", message) from None
    first = cells.start[1] if cells.start else 0
    rows = _fill_merged(cells.iter_rows(), first, cells.merged_cell_ranges or [])
    lines = _write_lines(rows, first, _number_forms(archive, part, at), delimiter or ",")
    return chain([WORKBOOK_MARK], lines)


def _choose_sheet(names: list[str], sheet: str) -> str:
    """Return the name of the sheet that is asked for, in whatever case, or of the first.

    Raises FileRejected.
    """
    chosen = next((name for name in names if name.casefold() == sheet.strip().casefold()), None)
    if sheet and chosen is None:
        existing = ", ".join(f'"{name}"' for name in names[:20])
        raise FileRejected(
            "unknown_sheet", f'There is no sheet "{sheet[:60]}"; there are {existing}.'
        )
    if not names:
        raise FileRejected("empty_file", "The workbook has no sheet with cells.")
    return chosen or names[0]


def _open_archive(data: bytes) -> zipfile.ZipFile:
    """Open a workbook's ZIP archive. Raises FileRejected if it is damaged, or no workbook."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _DAMAGED as error:
        raise FileRejected("unreadable_workbook", f"The workbook is damaged ({error}).") from None
    if not any(part.filename in _PARTS for part in archive.infolist()):
        message = "This is a ZIP archive, not a workbook. Unpack it, and import the CSV in it."
        raise FileRejected("not_csv", message)
    return archive


def _find_far_corner(archive: zipfile.ZipFile, part: str, end: tuple[int, int]) -> str:
    """Return the last cell of an `.xlsx` sheet, if it is blank and far from the others' `end`.

    Otherwise nothing.
    """
    if not part:
        return ""
    with archive.open(part) as cells:
        dimension = _DIMENSION.search(cells.read(_PIECE))
    if not dimension:
        return ""
    column, row = dimension[1].decode(), int(dimension[2])
    is_far = row * _column_number(column) > _FAR and (
        row > end[0] + 1 or _column_number(column) > end[1] + 1
    )
    return f"{column}{row}" if is_far else ""


def _column_number(letters: str) -> int:
    """Return the number of a column, from 1: `A` → 1, `AA` → 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


# --- Cells as a spreadsheet shows them ------------------------------------------------------------


def _fill_merged(
    rows: Iterator[list[Any]], first: int, merged: Iterable[tuple[tuple[int, int], tuple[int, int]]]
) -> Iterator[list[Any]]:
    """Yield the rows themselves, changed: a value merged over several rows of a column is in each.

    An example is the brand of several products. `first`: the column with which the rows begin;
    `merged`: ((top, left), (bottom, right)) of each.
    """
    begins: dict[int, list[tuple[int, int]]] = {}
    for (top, left), (bottom, right) in merged:
        if bottom > top and left == right >= first:
            begins.setdefault(top, []).append((left - first, bottom))
    held: dict[int, tuple[int, Any]] = {}  # by column, the last row of a merged cell and its value
    for at, row in enumerate(rows):
        for column, (bottom, value) in held.items():
            if at <= bottom and column < len(row):
                row[column] = value
        for column, bottom in begins.get(at, ()):
            if column < len(row):
                held[column] = (bottom, row[column])
        yield row


def _write_lines(
    rows: Iterator[list[Any]], first: int, forms: Iterator[_Place], delimiter: str
) -> Iterator[bytes]:
    """Yield each row as a line of CSV in UTF-8, a blank one as an empty line.

    The cells begin in the column `first`. `forms`: (row, column, text or format) of numbers, by
    row.
    """
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
    """Return the text of a cell: as its format shows it, or without one as a CSV has it.

    Days are ISO 8601, numbers have at most 15 digits, and a line break is LINE_BREAK.
    """
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
    """Yield (row, column, text or format) of each number that is shown otherwise than it is stored.

    They are by row, from 0; `sheet`: its place in the workbook. Raises FileRejected for a damaged
    file.
    """
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
    """Return whether a sheet has a formula without a value."""
    pieces = chain([b""], iter(lambda: cells.read(_PIECE), b""))
    # The end of a piece is searched with the next one.
    return any(_UNCALCULATED.search(a[-_AROUND:] + b) for a, b in pairwise(pieces))


def _shown_texts(content: object, sheet: int) -> Iterator[_Place]:
    """Yield (row, column, text) of the numbers in a sheet of an `.ods`, which has their texts."""
    at = -1
    row = 0
    for event, element in _iterate_elements(content, f"{_TABLE}table-row"):
        if element.tag == f"{_TABLE}table" and event == "start":
            at, row = at + 1, 0
        elif element.tag == f"{_TABLE}table-row" and event == "end":
            rows = _count_repeats(element, "rows")
            texts = list(_list_shown_numbers(element)) if at == sheet else []
            for repeated in range(min(rows, _MOST_ROWS) if texts else 0):
                yield from ((row + repeated, column, text) for column, text in texts)
            row += rows


def _list_shown_numbers(row: Element) -> Iterator[tuple[int, str]]:
    """Yield the column, from 0, and the text shown, of each number in a row of an `.ods`.

    Cells of other types, such as texts and dates, are left out, and cells that show no text of
    their number (`normalize_shown`). A repeated cell is yielded for each of its columns.
    """
    column = 0
    for cell in row:
        columns = _count_repeats(cell, "columns")
        if cell.get(f"{_OFFICE}value-type") in _NUMBERS:
            value = float(cell.get(f"{_OFFICE}value", "nan"))
            shown = normalize_shown("".join(cell.itertext()), value) if isfinite(value) else None
            if shown is not None:
                yield from ((column + at, shown) for at in range(min(columns, _MOST_ROWS)))
        column += columns


def _count_repeats(element: Element, kind: str) -> int:
    """Return how many rows or columns an element stands for: one unless it says more."""
    return int(element.get(f"{_TABLE}number-{kind}-repeated", 1))


def _iterate_elements(part: Any, tag: str) -> Iterator[tuple[str, Element]]:
    """Yield (event, element) of a part's XML, with few elements in memory.

    Those with the tag are removed once they were yielded. The events are "start" and "end".
    """
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
    """Return {number of a style: sections} of an `.xlsx`, of styles that change a number's text."""
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


def _find_sheet_part(archive: zipfile.ZipFile, sheet: int) -> str:
    """Return the part of an `.xlsx` that has a sheet; "" if there is none, and for an `.ods`."""
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
    """Yield row and column, from 0, and the format of each cell that is not shown as it is stored.

    A formula without a value, unless its result is a text, has the format _NO_VALUE.
    """
    for event, element in _iterate_elements(cells, f"{_MAIN}row"):
        if element.tag == f"{_MAIN}c" and event == "end":
            form: _Form | None = formats.get(element.get("s", ""))
            if element.get("t") != "str" and element.find(f"{_MAIN}f") is not None:
                form = form if element.findtext(f"{_MAIN}v") else _NO_VALUE
            place = _CELL.fullmatch(element.get("r", "")) if form else None
            if place and form:
                yield int(place[2]) - 1, _column_number(place[1]) - 1, form


if __name__ == "__main__":
    convert_standard_input()
