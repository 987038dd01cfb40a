"""Adjacent rows of one product are a group.

`imports/joining.py` joins the groups of one product that are apart.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, Protocol

from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.rows import LARGEST_ROW, CsvRow
from chalicelib.values.spreadsheets import ERROR, SPOILT

MOST_ROWS: Final = 2_000  # of one product
LARGEST_GROUP: Final = 8 * LARGEST_ROW  # characters of one product
ALONE: Final = "name "  # the key of a row that names no product, and is not of the row above
# Keys that name no product, as many may have the same: each of their rows is by itself.
_NO_KEY: Final = re.compile(rf"(?:sku |name )(?:{ERROR})?|{ERROR}|(?:sku )?{SPOILT}", re.IGNORECASE)


class Keys(Protocol):
    """What grouping needs from a format, which says what each is (`formats/format.py`)."""

    nameless: ClassVar[str]

    def product_key(self, cells: list[str]) -> str: ...

    def product_aliases(self, cells: list[str], key: str) -> Sequence[str]: ...

    def is_of_row_above(self, above: list[str], cells: list[str]) -> bool: ...


def name_key(name: str) -> str:
    """Return the key of rows that identify their product only by a name; "" for no name.

    It is no slug, because two names may have one slug.
    """
    return f"name {' '.join(name.casefold().split())}" if name else ""


@dataclass(eq=False, slots=True)
class Group:
    """Adjacent rows of one product, the first on `line`.

    `count` is how many there are, `size` their characters. `rows` is empty if nobody is to read
    them. `keys`: by which they name the product; `aliases`: other keys by which other rows may
    name it. `too_large`: the error of a row of them.
    """

    line: int
    rows: list[CsvRow] = field(default_factory=list)
    count: int = 0
    size: int = 0
    keys: set[str] = field(default_factory=set)
    aliases: set[str] = field(default_factory=set)
    too_large: RowError | None = None

    def add(self, row: CsvRow) -> None:
        """Add a row; count it and its characters.

        All rows are dropped, not their numbers, once there are too many, they are too large
        together, or one row is: then `too_large` keeps its problem, too.
        """
        self.count += 1
        self.size += row.size
        if row.size > LARGEST_ROW:
            self.too_large = self.too_large or row.problem
        self.rows.append(row)
        if self.too_large or self.count > MOST_ROWS or self.size > LARGEST_GROUP:
            self.rows.clear()

    @property
    def error(self) -> RowError | None:
        """Why nobody is to read the rows: they, or one of them, are too large.

        None: they are read.
        """
        return self.too_large or refuse_size(self.line, self.count, self.size)


def refuse_size(line: int, rows: int, size: int) -> RowError | None:
    """Return the error of a product that is too large to be read, or None."""
    if rows > MOST_ROWS:
        message = f"This product has more than {MOST_ROWS} rows: none of them is read."
        return RowError(line, "", "too_many_rows", message)
    if size > LARGEST_GROUP:
        message = f"The rows of this product are larger than {LARGEST_GROUP >> 20} MB together."
        return RowError(line, "", "product_too_large", message)
    return None


def group_rows(rows: Iterable[CsvRow], keys: Keys) -> Iterator[Group]:
    """Yield the groups of adjacent rows of one product, in the order of the file.

    A row without a key belongs to the group above, as does one whose key or alias is among that
    one's, or of which the format says so (`is_of_row_above`). A key that names no product, such as
    a spreadsheet's error, begins a group of its own.
    """
    group: Group | None = None
    above: list[str] = []
    for row in rows:
        key = keys.product_key(row.cells) or keys.nameless
        # A slug has none of these signs. It is a key, also one that looks like a number: 1e5.
        is_marked = " " in key or "#" in key or ":" in key or "+" in key
        is_lost = is_marked and _NO_KEY.fullmatch(key) is not None
        also = keys.product_aliases(row.cells, key) if key and not is_lost else ()
        if (
            group is None
            or is_lost
            or not (
                not key
                or key in group.keys
                or key in group.aliases
                or keys.is_of_row_above(above, row.cells)
                # A product's own row may follow rows that name the product by its other key.
                or not group.keys.isdisjoint(also)
            )
        ):
            if group is not None:
                yield group
            group = Group(row.line)
        above = row.cells
        group.add(row)
        if key and not is_lost:
            group.keys.add(key)
            group.aliases.update(also)
    if group is not None:
        yield group
