"""Errors of an imported file: of one row, or of the whole file; and how large a workbook may be."""

from typing import Final, NamedTuple

LARGEST_WORKBOOK: Final = 50 << 20  # bytes
READER_BYTES: Final = 1400 << 20  # memory of a workbook's reader; the planner has 1,769 MB
READER_SECONDS: Final = 300  # of CPU of a workbook's reader
LARGEST_SHEET: Final = 400 << 20  # bytes of CSV


class RowError(NamedTuple):
    """An error of one cell or row: `row` is the physical line, `field` the file's column."""

    row: int
    field: str
    code: str
    message: str


class FileRejected(ValueError):
    """The file as a whole cannot be imported: the job fails with this code, message and line."""

    def __init__(self, code: str, message: str, row: int = 1) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.row = row
