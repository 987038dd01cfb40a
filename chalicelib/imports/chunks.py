"""Chunks: what the planner writes, and each worker reads one of.

A chunk is an object in S3 with the rows of some whole products, in the order of the file: a line of
JSON for each product, compressed. Its name is the line of its first row, so a planner that runs
again writes the same objects.
"""

import json
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from chalicelib.imports import files
from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.rows import LARGEST_ROW, CsvRow
from chalicelib.imports.joining import JoinedProduct, hash_keys

PREFIX: Final = "rows-"  # of the names of chunks
_KEYS: Final = "keys"
_ROWS: Final = 200
_LEVEL: Final = 1  # of compression: higher ones take longer than they save

Group = Sequence[CsvRow]  # adjacent rows of one product


class ChunkProduct(NamedTuple):
    """One product of a chunk, whose first row is on `line`: its groups of rows.

    One that is too large has none. `error`: why nothing of it is written.
    """

    line: int
    groups: list[Group]
    error: RowError | None


def cut(
    products: Iterable[JoinedProduct], rows: int = _ROWS, size: int = LARGEST_ROW
) -> Iterator[list[JoinedProduct]]:
    """Yield lists of adjacent products of at most so many rows and characters.

    A larger one is alone.
    """
    chunk: list[JoinedProduct] = []
    many = large = 0
    for product in products:
        many, large = many + product.rows, large + product.size
        if chunk and (many > rows or large > size):
            yield chunk
            chunk, many, large = [], product.rows, product.size
        chunk.append(product)
    if chunk:
        yield chunk


def write(job_id: str, chunk: Sequence[JoinedProduct]) -> None:
    """Store a chunk in S3, compressed, under the line of its first row.

    Repeating stores the same.
    """
    data = zlib.compress("\n".join(map(pack, chunk)).encode(), _LEVEL)
    files.put_kept(job_id, f"{PREFIX}{chunk[0].line:010d}", data)


def read(job_id: str, name: str) -> list[ChunkProduct]:
    """Load the products of a chunk by its name. Raises FileChanged if it is gone."""
    text = zlib.decompress(files.read_kept(job_id, name)).decode()
    return list(map(unpack, text.split("\n")))


def pack(product: JoinedProduct) -> str:
    """Return a product as a line of JSON: `[line, groups of rows, error]`."""
    return f"[{product.line},[{','.join(product.groups)}],{product.error}]"


def unpack(line: str) -> ChunkProduct:
    """Return the product of a line that `pack` made; each group is a list of CsvRow."""
    first, groups, error = json.loads(line)
    rows: list[Group] = [[_to_row(*row) for row in group] for group in groups]
    return ChunkProduct(first, rows, _to_error(error))


def _to_row(line: int, cells: list[str], problem: list[Any] | None, size: int) -> CsvRow:
    """Return a row of a chunk. `problem`: the fields of its error, None for none."""
    return CsvRow(line, cells, _to_error(problem), size)


def _to_error(fields: list[Any] | None) -> RowError | None:
    """Return the error with these fields; None for none."""
    return RowError(*fields) if fields else None


# --- The keys of the whole file -------------------------------------------------------------------


def write_keys(job_id: str, keys: "array[int]") -> None:
    """Store the hashes of all keys of a file, which are sorted."""
    files.put_kept(job_id, _KEYS, keys.tobytes())


def has_key(job_id: str, keys: Iterable[str]) -> bool:
    """Return whether a row of a job's file names its product by one of these keys, by their hashes.

    The hashes are read once, and kept for the last two jobs. Raises FileChanged if they are gone.
    """
    known = _read_keys(job_id)
    places = ((bisect_left(known, wanted), wanted) for wanted in hash_keys(keys))
    return any(at < len(known) and known[at] == wanted for at, wanted in places)


@lru_cache(2)
def _read_keys(job_id: str) -> "memoryview[int]":
    """Load the sorted hashes that `write_keys` stored; those of two jobs are remembered."""
    return memoryview(files.read_kept(job_id, _KEYS)).cast("q")
