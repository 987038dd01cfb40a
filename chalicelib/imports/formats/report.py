"""The CSVs that the import writes: the template, and the report of failed rows."""

import codecs
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final

from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.rows import DELIMITERS, CsvRow, FileFormat
from chalicelib.imports.formats.ours import COLUMNS
from chalicelib.imports.formats.sheet import REPORT_COLUMNS, escape_formula, plain, unescape_formula

_line: Final[Callable[[CsvRow], int]] = attrgetter("line")
_REMARKS = {plain(column) for column in REPORT_COLUMNS}
_EXAMPLES = (
    {
        "slug": "linen-shirt",
        "name": "Linen shirt",
        "description": "A light shirt for warm days.",
        "status": "ACTIVE",
        "price": "49.90",
        "compareAtPrice": "59.90",
        "vendor": "Northwind",
        "type": "Shirts",
        "tags": "linen, summer",
        "variantTitle": "Small",
        "variantSku": "LIN-S",
        "variantPrice": "49.90",
        "stock": "12",
        "imageUrl": "https://example.com/linen-shirt.jpg",
        "imageAlt": "A linen shirt on a hanger",
        "published": "TRUE",
        "seoTitle": "Linen shirt",
        "seoDescription": "Light linen shirts in two sizes.",
    },
    {
        "slug": "linen-shirt",
        "variantTitle": "Large",
        "variantSku": "LIN-L",
        "variantPrice": "52.90",
        "stock": "7",
        "imageUrl": "https://example.com/linen-shirt-back.jpg",
        "imageAlt": "The same shirt from behind",
    },
    {
        "slug": "enamel-mug",
        "name": "Enamel mug",
        "description": "Holds 0.4 litres.",
        "status": "DRAFT",
        "price": "14.50",
        "sku": "MUG-WHITE",
        "vendor": "Northwind",
        "type": "Kitchen",
        "tags": "enamel",
        "stock": "40",
        "published": "TRUE",
        "lowStockThreshold": "10",
    },
)


def template() -> bytes:
    """Return a CSV with our columns and two examples: a product with variants, one without."""
    rows = ([example.get(column, "") for column in COLUMNS] for example in _EXAMPLES)
    return codecs.BOM_UTF8 + b"".join(_lines([COLUMNS, *rows], ","))


def report_delimiter(delimiter: str) -> str:
    """Return the delimiter of a report about a file with that one: the same, or a comma.

    A file with a `sep=` line, which the report does not have, may have any other.
    """
    return delimiter if delimiter in DELIMITERS else ","


def make_numbering(form: FileFormat, are_of_source: bool) -> Callable[[CsvRow], int]:
    """Return a function from a row to the number that is shown for it: its line in the file.

    If the file is itself a report of an earlier job (`are_of_source`), it is the number in the
    row's column `error row`, or the line if that has none.
    """
    at = next((at for at, name in enumerate(form.header) if plain(name) == "errorrow"), None)
    if at is None or not are_of_source:
        return _line
    column = at

    def row_number(row: CsvRow) -> int:
        """Return the number in the column of a row; the row's line if it is none."""
        text = row.cells[column].strip() if column < len(row.cells) else ""
        return int(text) if text.isdecimal() and len(text) < 12 else row.line

    return row_number


def report(
    form: FileFormat,
    failed: Iterable[tuple[Sequence[CsvRow], Sequence[RowError]]],
    number: Callable[[CsvRow], int] = _line,
) -> Iterator[bytes]:
    """Yield the rows of products that failed, in the file's own columns, as pieces of UTF-8.

    The first piece is the header, then one for each pair in `failed`: rows with their errors. Every
    row comes with what is wrong with it, or else with its product; fixed, the report can be
    imported. What a spreadsheet would run is escaped (`sheet.py`). `number`: of a row.
    """
    width = len(form.header)
    delimiter = report_delimiter(form.delimiter)
    # If the file was itself an error report, its error columns are replaced.
    own = [at for at, name in enumerate(form.header) if plain(name) not in _REMARKS]
    header = [*(form.header[at] for at in own), *REPORT_COLUMNS]
    # Cells of an error report are escaped already, unless somebody changed them.
    bare = unescape_formula if len(own) < width else str
    yield codecs.BOM_UTF8 + b"".join(_lines([header], delimiter))
    for rows, errors in failed:
        shown = []
        for row in rows:
            cells = [*row.cells, *[""] * (width - len(row.cells))]
            if any(map(str.strip, cells[width:])):
                # Surplus cells are joined, with their delimiter, to the last own column.
                last = max(own)
                cells[last] = form.delimiter.join([cells[last], *cells[width:]])
            shown.append(
                [*(escape_formula(bare(cells[at])) for at in own), *_remarks(row, errors, number)]
            )
        yield b"".join(_lines(shown, delimiter))


def _remarks(
    row: CsvRow, errors: Sequence[RowError], number: Callable[[CsvRow], int]
) -> list[object]:
    """Return the last cells of a report's row: its number; its errors' fields, codes, texts.

    A row without an error has those of its product, but for the codes.
    """
    here = [error for error in errors if error.row == row.line]
    shown = here or errors
    fields = "; ".join(dict.fromkeys(error.field for error in shown if error.field))
    codes = "; ".join(dict.fromkeys(error.code for error in here))
    texts = " ".join(dict.fromkeys(error.message for error in shown))
    return [number(row), escape_formula(fields), codes, escape_formula(texts)]


def _lines(rows: Iterable[Sequence[object]], delimiter: str) -> Iterator[bytes]:
    """Yield each row as a line of CSV, with its line end, in UTF-8."""
    for row in rows:
        text = io.StringIO()
        csv.writer(text, delimiter=delimiter).writerow(row)
        yield text.getvalue().encode("utf-8", "replace")
