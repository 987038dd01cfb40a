"""Products become chunks, each for one worker that reads one range of an object in S3.

What is in the file as it is, the worker reads there. The rows of a product that are at several
places are copied, in order, to an object of their own.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from chalicelib.imports.csv.places import FileProduct
from chalicelib.imports.csv.rows import LARGEST_ROW

_ROWS: Final = 200
_EXTENT: Final = 4 << 20  # bytes from the first to the last row in the file

Chunk = Sequence[FileProduct]


def cut(
    products: Iterable[FileProduct], rows: int = _ROWS, size: int = LARGEST_ROW
) -> Iterator[Chunk]:
    """Chunks of at most so many rows and bytes, if no product has more. All of their products are
    in the file, or all are copied."""
    chunk: list[FileProduct] = []
    many = large = 0
    for product in products:
        many, large = many + product.rows, large + product.size
        is_full = many > rows or large > size
        if chunk and (is_full or not _are_near(chunk[0], product)):
            yield chunk
            chunk, many, large = [], product.rows, product.size
        chunk.append(product)
    if chunk:
        yield chunk


def _are_near(first: FileProduct, last: FileProduct) -> bool:
    return first.is_apart == last.is_apart and last.end - first.offset <= _EXTENT


def as_dict(chunk: Chunk) -> dict[str, object]:
    """A chunk in a form for JSON.

    `line`: the first of its rows. `file`: ranges of the file, as line, offset and length. `apart`:
    for each product that was copied, the offset of its first group, and the line and length of
    each. `errors`: by the first line of a product, why nothing of it is written.
    """
    file: list[list[int]] = []
    apart = []
    for product in chunk:
        if product.is_apart:
            groups = [(place.line, place.length) for place in product.places]
            apart.append((product.offset, groups))
        elif file and sum(file[-1][1:]) == product.offset:
            file[-1][2] += product.size
        else:
            file.append([product.line, product.offset, product.size])
    errors = {product.line: product.error for product in chunk if product.error is not None}
    return {"line": chunk[0].line, "file": file, "apart": apart, "errors": errors}
