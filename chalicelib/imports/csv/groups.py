"""Adjacent records of one product are a group.

`places.py` joins the groups of one product that are apart.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.records import LARGEST_RECORD, CsvRecord

MOST_ROWS: Final = 2_000  # of one product
LARGEST_GROUP: Final = 8 * LARGEST_RECORD  # bytes of one product


class Keys(Protocol):
    """What grouping needs from a format."""

    def key(self, cells: list[str]) -> str:
        """Which product a row belongs to; empty: to the product of the row above."""
        ...

    def aliases(self, cells: list[str], key: str) -> Sequence[str]:
        """Keys other than `key`, the row's own, by which rows of the same product may name it."""
        ...

    def joins(self, above: list[str], cells: list[str]) -> bool:
        """Whether a row belongs to the product of the row above, though their keys differ."""
        ...


def name_key(name: str) -> str:
    """The key of rows that say nothing but a name: no slug, which two names may share."""
    return f"name {' '.join(name.casefold().split())}" if name else ""


class _Names(NamedTuple):
    """The keys of a group, to which each record adds its own."""

    keys: set[str]
    aliases: set[str]


class Group(NamedTuple):
    """Adjacent records of one product, by their place in the file: `rows` records, the first on
    `line`. `keys`: by which they name the product; `aliases`: other keys by which other rows may
    name it. `error`: why nobody reads them; they are too large.
    """

    offset: int
    length: int
    line: int
    rows: int
    keys: set[str]
    aliases: set[str]
    error: RowError | None = None


def grouped(records: Iterable[CsvRecord], keys: Keys) -> Iterator[list[CsvRecord]]:
    """The records of each group."""
    held: list[CsvRecord] = []
    for names, record in _marked(records, keys):
        if names is not None and held:
            yield held
            held = []
        held.append(record)
    if held:
        yield held


def groups(records: Iterable[CsvRecord], keys: Keys) -> Iterator[Group]:
    """The place of each group, without holding its records."""
    begin, end, line, rows = 0, 0, 0, 0
    too_large: RowError | None = None
    held = _Names(set(), set())

    def group() -> Group:
        error = too_large or refused(line, rows, end - begin)
        return Group(begin, end - begin, line, rows, *held, error)

    for names, record in _marked(records, keys):
        if names is not None:
            if rows:
                yield group()
            begin, line, rows, too_large, held = record.offset, record.line, 0, None, names
        end = record.offset + record.length
        rows += 1
        if record.length > LARGEST_RECORD:
            too_large = too_large or record.problem
    if rows:
        yield group()


def refused(line: int, rows: int, size: int) -> RowError | None:
    """The error of a product that is too large to be read."""
    if rows > MOST_ROWS:
        message = f"This product has more than {MOST_ROWS} rows: those from here on are not read."
        return RowError(line, "", "too_many_rows", message)
    if size > LARGEST_GROUP:
        message = f"The rows of this product are larger than {LARGEST_GROUP >> 20} MB together."
        return RowError(line, "", "product_too_large", message)
    return None


def _marked(records: Iterable[CsvRecord], keys: Keys) -> Iterator[tuple[_Names | None, CsvRecord]]:
    """Each record; with the first of a group, the group's keys, to which later records add."""
    names: _Names | None = None
    above: list[str] = []
    for record in records:
        key = keys.key(record.cells)
        also = keys.aliases(record.cells, key) if key else ()
        is_same = names is not None and (
            not key
            or key in names.keys
            or key in names.aliases
            or keys.joins(above, record.cells)
            # A product's own row may follow rows that name the product by its other key.
            or not names.keys.isdisjoint(also)
        )
        above = record.cells
        if names is None or not is_same:
            names = _Names(set(), set())
            yield names, record
        else:
            yield None, record
        if key:
            names.keys.add(key)
            names.aliases.update(also)
