"""Workbooks, `.xlsx` and `.ods`, as the CSV that everything else reads: a line for each row of the
sheet, blank ones too, so that errors name the sheet's own rows.

python-calamine reads the cells. What it does not tell, the zeros that a number's format puts before
it, is read from the workbook's own parts.
"""

import codecs
import csv
import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from itertools import chain
from typing import Any, Final
from xml.etree.ElementTree import ParseError, iterparse

from chalicelib.imports.csv.faults import FileRejected

LARGEST: Final = 50 << 20  # bytes
_UNPACKED: Final = 400 << 20  # bytes: what a planner has memory for
_PIECE: Final = 1 << 20
_LINE_BREAK: Final = "\u2028"  # within a cell: no line of the CSV ends there
_PARTS: Final = ("xl/workbook.xml", "content.xml")
_MAIN: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_CELL: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")


def is_workbook(head: bytes) -> bool:
    """Whether a file begins as a ZIP archive does, which such a workbook is."""
    return head.startswith(b"PK\x03\x04")


def as_csv(data: bytes, sheet: str = "") -> Iterator[bytes]:
    """The first sheet, or the one with that name, as pieces of CSV in UTF-8, which a mark says.

    Raises FileRejected: not_csv, workbook_too_large, unreadable_workbook, unknown_sheet.
    """
    _refuse_bombs(data)
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum

    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        names = [s.name for s in workbook.sheets_metadata if s.typ is SheetTypeEnum.WorkSheet]
        name = _chosen(names, sheet)
        cells = workbook.get_sheet_by_name(name)
        widths = _zeros(data, workbook.sheet_names.index(name))
    except FileRejected:
        raise
    except (CalamineError, ParseError, KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        message = f"The workbook is damaged, or protected by a password ({error})."[:300]
        raise FileRejected("unreadable_workbook", message) from None
    first = cells.start[1] if cells.start else 0
    return chain([codecs.BOM_UTF8], _lines(cells.iter_rows(), first, widths))


def _chosen(names: list[str], sheet: str) -> str:
    found = next((name for name in names if name.casefold() == sheet.strip().casefold()), None)
    if sheet and found is None:
        told = ", ".join(f'"{name}"' for name in names[:20])
        raise FileRejected("unknown_sheet", f'There is no sheet "{sheet[:60]}", but {told}.')
    if not names:
        raise FileRejected("empty_file", "The workbook has no sheet with cells.")
    return found or names[0]


# --- What is not unpacked -------------------------------------------------------------------------


def refuse_large(size: int) -> None:
    """Raises FileRejected: workbook_too_large."""
    if size > LARGEST:
        message = f"A workbook may have {LARGEST >> 20} MB. Save it as CSV, which may have 5 GB."
        raise FileRejected("workbook_too_large", message)


def _refuse_bombs(data: bytes) -> None:
    """Refuses what would be too large unpacked, by what the archive says and by what is true."""
    refuse_large(len(data))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise FileRejected("unreadable_workbook", f"The workbook is damaged ({error}).") from None
    if not any(part.filename in _PARTS for part in parts):
        message = "This is a ZIP archive and no workbook. Unpack it, and import the CSV in it."
        raise FileRejected("not_csv", message)
    left = _UNPACKED
    for part in parts:
        left -= part.file_size
        if left < 0 or _is_larger(data, part):
            message = f"The workbook has more than {_UNPACKED >> 20} MB unpacked. Save it as CSV."
            raise FileRejected("workbook_too_large", message)


def _is_larger(data: bytes, part: zipfile.ZipInfo) -> bool:
    """Whether a part unpacks to more than it says: read through, and kept nowhere."""
    if part.compress_type == zipfile.ZIP_STORED:
        return False
    name, extra = (data[part.header_offset + at : part.header_offset + at + 2] for at in (26, 28))
    start = (
        part.header_offset + 30 + int.from_bytes(name, "little") + int.from_bytes(extra, "little")
    )
    packed = memoryview(data)[start : start + part.compress_size]
    unpacking, size, at = zlib.decompressobj(-zlib.MAX_WBITS), 0, 0
    rest: bytes | memoryview = b""
    try:
        while size <= part.file_size and not unpacking.eof:
            if not rest:
                rest = packed[at : at + _PIECE]
                at += _PIECE
                if not rest:
                    break
            size += len(unpacking.decompress(rest, _PIECE))
            rest = unpacking.unconsumed_tail
    except zlib.error:
        return False  # damaged: the reader says so
    return size > part.file_size


# --- Cells as a person sees them ------------------------------------------------------------------


def _lines(
    rows: Iterator[list[Any]], first: int, widths: Mapping[tuple[int, int], int]
) -> Iterator[bytes]:
    """A line for each row; the cells begin in the column `first`."""
    for at, row in enumerate(rows):
        cells = [_shown(cell, widths.get((at, i), 0)) for i, cell in enumerate(row, first)]
        text = io.StringIO()
        if any(cells):
            csv.writer(text, lineterminator="\n").writerow(cells)
        else:
            text.write("\n")
        yield text.getvalue().encode("utf-8", "replace")


def _shown(cell: Any, width: int) -> str:
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, int | float):
        # A spreadsheet shows 15 digits; what is beyond comes of binary fractions.
        whole = isinstance(cell, int) or (cell.is_integer() and abs(cell) < 1e15)
        return f"{int(cell):0{width}d}" if whole else f"{cell:.15g}"
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return re.sub("\r\n|\r|\n", _LINE_BREAK, str(cell))


def _zeros(data: bytes, sheet: int) -> dict[tuple[int, int], int]:
    """The cells of an `.xlsx` whose number has a format of zeros, such as 00000, with its width."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        if "xl/styles.xml" not in names:
            return {}
        with archive.open("xl/styles.xml") as styles:
            formats, wide = {}, {}
            number = -1
            inside = False
            for event, element in iterparse(styles, ("start", "end")):
                tag = element.tag.removeprefix(_MAIN)
                if tag == "cellXfs":
                    inside = event == "start"
                elif event == "start" and tag == "numFmt":
                    code = element.get("formatCode", "")
                    if re.fullmatch("0{2,30}", code):
                        formats[element.get("numFmtId")] = len(code)
                elif event == "start" and tag == "xf" and inside:
                    number += 1
                    if element.get("numFmtId") in formats:
                        wide[str(number)] = formats[element.get("numFmtId")]
        if not wide:
            return {}
        part = _part_of(archive, sheet)
        if part not in names:
            return {}
        with archive.open(part) as cells:
            return dict(_wide_cells(cells, wide))


def _part_of(archive: zipfile.ZipFile, sheet: int) -> str:
    """Where the workbook keeps a sheet."""
    relations = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
    with archive.open("xl/workbook.xml") as book:
        ids = [e.get(relations) for _, e in iterparse(book) if e.tag == f"{_MAIN}sheet"]
    with archive.open("xl/_rels/workbook.xml.rels") as parts:
        targets = {e.get("Id"): e.get("Target", "") for _, e in iterparse(parts)}
    target = targets.get(ids[sheet] if sheet < len(ids) else None, "")
    return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"


def _wide_cells(cells: Any, wide: Mapping[str, int]) -> Iterator[tuple[tuple[int, int], int]]:
    for _, element in iterparse(cells):
        if element.tag == f"{_MAIN}c":
            width = wide.get(element.get("s", ""))
            place = _CELL.fullmatch(element.get("r", "")) if width else None
            if place and width:
                column = 0
                for letter in place[1]:
                    column = column * 26 + ord(letter) - 64
                yield (int(place[2]) - 1, column - 1), width
        elif element.tag == f"{_MAIN}row":
            element.clear()
