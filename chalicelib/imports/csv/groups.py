"""Adjacent rows of one product are a group.

`places.py` joins the groups of one product that are apart.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import ClassVar, Final, Protocol

from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.rows import LARGEST_ROW, CsvRow
from chalicelib.values.spreadsheets import ERROR, SPOILT

MOST_ROWS: Final = 2_000  # of one product
LARGEST_GROUP: Final = 8 * LARGEST_ROW  # bytes of one product
ALONE: Final = "name "  # the key of a row that names no product, and is not of the row above
# Keys that name no product, as many may have the same: each of their rows is by itself.
_NO_KEY: Final = re.compile(rf"(?:sku |name )(?:{ERROR})?|{ERROR}|(?:sku )?{SPOILT}", re.IGNORECASE)


class Keys(Protocol):
    """What grouping needs from a format, which says what each is (`formats/format.py`)."""

    nameless: ClassVar[str]

    def key(self, cells: list[str]) -> str: ...

    def aliases(self, cells: list[str], key: str) -> Sequence[str]: ...

    def joins(self, above: list[str], cells: list[str]) -> bool: ...


def name_key(name: str) -> str:
    """The key of rows that say nothing but a name: no slug, which two names may share."""
    return f"name {' '.join(name.casefold().split())}" if name else ""


@dataclass(eq=False, slots=True)
class Group:
    """Adjacent rows of one product, by their place in the file: so many `rows`, the first on
    `line`. `keys`: by which they name the product; `aliases`: other keys by which other rows may
    name it. `too_large`: the error of a row of them.
    """

    offset: int
    length: int
    line: int
    rows: int
    keys: set[str]
    aliases: set[str]
    too_large: RowError | None = None

    @property
    def error(self) -> RowError | None:
        """Why nobody reads them; they are too large."""
        return self.too_large or refused(self.line, self.rows, self.length)


def grouped(rows: Iterable[CsvRow], keys: Keys) -> Iterator[list[CsvRow]]:
    """The rows of each group."""
    for _, same in groupby(_marked(rows, keys), itemgetter(0)):
        yield [row for _, row in same]


def groups(rows: Iterable[CsvRow], keys: Keys) -> Iterator[Group]:
    """The place of each group, without holding its rows."""
    for group, same in groupby(_marked(rows, keys), itemgetter(0)):
        deque(same, maxlen=0)
        yield group


def refused(line: int, rows: int, size: int) -> RowError | None:
    """The error of a product that is too large to be read."""
    if rows > MOST_ROWS:
        message = f"This product has more than {MOST_ROWS} rows: none of them is read."
        return RowError(line, "", "too_many_rows", message)
    if size > LARGEST_GROUP:
        message = f"The rows of this product are larger than {LARGEST_GROUP >> 20} MB together."
        return RowError(line, "", "product_too_large", message)
    return None


def _marked(rows: Iterable[CsvRow], keys: Keys) -> Iterator[tuple[Group, CsvRow]]:
    """Each row, and its group up to there."""
    group: Group | None = None
    above: list[str] = []
    for row in rows:
        key = keys.key(row.cells) or keys.nameless
        # A slug has none of these signs. It is a key, also one that looks like a number: 1e5.
        is_marked = " " in key or "#" in key or ":" in key or "+" in key
        is_lost = is_marked and _NO_KEY.fullmatch(key) is not None
        also = keys.aliases(row.cells, key) if key and not is_lost else ()
        if (
            group is None
            or is_lost
            or not (
                not key
                or key in group.keys
                or key in group.aliases
                or keys.joins(above, row.cells)
                # A product's own row may follow rows that name the product by its other key.
                or not group.keys.isdisjoint(also)
            )
        ):
            group = Group(row.offset, 0, row.line, 0, set(), set())
        above = row.cells
        group.length = row.offset + row.length - group.offset
        group.rows += 1
        if row.length > LARGEST_ROW:
            group.too_large = group.too_large or row.problem
        if key and not is_lost:
            group.keys.add(key)
            group.aliases.update(also)
        yield group, row
