"""Products become chunks, each for one worker that reads at most two ranges of objects in S3.

What is in the file as it is, the worker reads there. The rows of a product that are at several
places are copied, in order, to an object of their own.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.places import FileProduct
from chalicelib.imports.csv.rows import LARGEST_ROW

_ROWS: Final = 200
_EXTENT: Final = 4 << 20  # bytes from the first to the last row in an object


@dataclass
class Chunk:
    """Some products, in a form for JSON.

    `file`: ranges of the file, as line, offset and length. `apart`: for each product that was
    copied, the offset of its first group, and the line and length of each. `errors`: by the first
    line of a product, why rows of it are not read.
    """

    file: list[tuple[int, int, int]] = field(default_factory=list)
    apart: list[tuple[int, list[tuple[int, int]]]] = field(default_factory=list)
    errors: dict[int, RowError] = field(default_factory=dict)
    products: int = 0
    rows: int = 0
    size: int = 0

    def takes(self, product: FileProduct, rows: int, size: int) -> bool:
        """Whether it has room: for so many rows and bytes, unless the product is the first."""
        if not self.rows:
            return True
        if self.rows + product.rows > rows or self.size + product.size > size:
            return False
        if product.at is None:
            begin, end = self.file[0][1] if self.file else None, product.places[-1].end
        else:
            begin, end = self.apart[0][0] if self.apart else None, product.at + product.size
        return begin is None or end - begin <= _EXTENT

    def add(self, product: FileProduct) -> None:
        self.products += 1
        self.rows += product.rows
        self.size += product.size
        first = product.places[0]
        if product.error is not None:
            self.errors[first.line] = product.error
        if product.at is not None:
            groups = [(place.line, place.length) for place in product.places]
            self.apart.append((product.at, groups))
        elif self.file and product.follows:
            line, begin, _ = self.file[-1]
            self.file[-1] = (line, begin, first.end - begin)
        else:
            self.file.append((first.line, first.offset, first.length))

    def as_dict(self) -> dict[str, object]:
        parts = {"file": self.file, "apart": self.apart, "errors": self.errors}
        return {"line": self.line, **parts}

    @property
    def line(self) -> int:
        """The first line of any of its rows."""
        first = [line for line, _, _ in self.file[:1]]
        return min([*first, *(groups[0][0] for _, groups in self.apart[:1])])


def cut(
    products: Iterable[FileProduct], rows: int = _ROWS, size: int = LARGEST_ROW
) -> Iterator[Chunk]:
    """Chunks of at most so many rows and bytes, if no product has more."""
    chunk = Chunk()
    for product in products:
        if not chunk.takes(product, rows, size):
            yield chunk
            chunk = Chunk()
        chunk.add(product)
    if chunk.rows:
        yield chunk
