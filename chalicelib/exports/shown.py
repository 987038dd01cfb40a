"""For other slices: where a finished file can be downloaded, and a table as the text of a CSV."""

from collections.abc import Iterable, Sequence

from chalicelib.exports import files
from chalicelib.exports.cells import BOM, lines

download_url = files.url


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    return BOM + lines([header, *rows])
