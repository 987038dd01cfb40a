"""Cells of a CSV that a spreadsheet shows as they are, and that the import reads back as they were.

The import (`imports/formats/sheet.py`, `cells.py`) takes off what is put on here.
"""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from chalicelib.values import spreadsheets


class Text(str):
    """A text, though a spreadsheet may take it for a number or a date."""

    __slots__ = ()


BOM: Final = "\ufeff".encode()
# A spreadsheet runs what begins with the first six; what begins with an apostrophe gets another.
_MARKED = ("=", "+", "-", "@", "\t", "\r", "'")


def cell(value: object) -> str:
    """Return the text of a cell: empty for None, TRUE or FALSE for a boolean."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    text = str(value)
    if isinstance(value, Decimal):
        return text  # a number, also a negative one
    is_marked = (
        text.startswith(_MARKED)
        or spreadsheets.is_error(text)
        or (isinstance(value, Text) and spreadsheets.is_retyped(text))
    )
    return f"'{text}" if is_marked else text


def _cell_between(separator: str, value: object) -> str:
    is_localized = separator == ";" and isinstance(value, Decimal)
    return cell(value).replace(".", ",") if is_localized else cell(value)


def join_list(values: Iterable[str]) -> str:
    r"""Return a list separated by commas; a comma within a value is `\,`, a backslash `\\`."""
    return ", ".join(value.replace("\\", "\\\\").replace(",", "\\,") for value in values)


def flat_text(value: object) -> object:
    """Return a list of texts separated by commas, and other lists and objects as JSON."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return join_list(value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False) if value else None
    return value


def lines(rows: Iterable[Sequence[object]], separator: str = ",") -> bytes:
    """Return rows of CSV. Between semicolons, numbers have a decimal comma."""
    text = io.StringIO()
    written = csv.writer(text, delimiter=separator)
    written.writerows([_cell_between(separator, value) for value in row] for row in rows)
    return text.getvalue().encode("utf-8", "replace")
