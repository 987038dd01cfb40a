"""The rows of one product stay together: records become groups, and groups become chunks.

Adjacent records of one product are a group. The planner cuts a file into chunks at the same places
at which a worker finds its groups again.
"""

from collections.abc import Callable, Iterable, Iterator
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

    def alias(self, cells: list[str]) -> str:
        """Another key by which rows of the same product may name it, or empty."""
        ...

    def joins(self, above: list[str], cells: list[str]) -> bool:
        """Whether a row belongs to the product of the row above, though their keys differ."""
        ...


def name_key(name: str) -> str:
    """The key of rows that say nothing but a name: no slug, which two names may share."""
    return f"name {' '.join(name.casefold().split())}" if name else ""


class Chunk(NamedTuple):
    """A byte range for one worker: `rows` records, the first on `line`.

    `products`: groups of products that are new in the file; `repeated`: the lines on which the
    other groups begin, whose product came earlier (or, seldom, is taken for one that did).
    """

    offset: int
    length: int
    line: int
    rows: int
    products: int
    repeated: tuple[int, ...] = ()


class Unreadable(NamedTuple):
    """A product that no worker gets: it, or one of its records, is too large. It counts as one."""

    offset: int
    length: int
    line: int
    rows: int
    error: RowError


class Group(NamedTuple):
    """Adjacent records of one product, and the keys by which they name it."""

    records: list[CsvRecord]
    names: tuple[str, ...]


def groups(records: Iterable[CsvRecord], keys: Keys) -> Iterator[Group]:
    held: list[CsvRecord] = []
    names: tuple[str, ...] = ()
    for first, record, known_as in _marked(records, keys):
        if first and held:
            yield Group(held, _distinct(names))
            held = []
        held.append(record)
        names = known_as
    if held:
        yield Group(held, _distinct(names))


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    """The names that are given, each once: case makes no difference, as in `seen.py`."""
    return tuple({name.casefold(): name for name in names if name}.values())


def grouped(records: Iterable[CsvRecord], keys: Keys) -> Iterator[list[CsvRecord]]:
    """The records of each group."""
    return (group.records for group in groups(records, keys))


def plan(
    records: Iterable[CsvRecord],
    keys: Keys,
    rows: int = 200,
    size: int = LARGEST_RECORD,
    seen: Callable[[str], bool] = lambda key: False,
) -> Iterator[Chunk | Unreadable]:
    """Cut a file into chunks of at most `rows` records and `size` bytes, if no product has more.
    `seen` notes the key of a group, and tells whether it was asked about that key before.

    A product of more than MOST_ROWS records or LARGEST_GROUP bytes, or with a record above
    LARGEST_RECORD, comes out by itself as Unreadable. Everything is in the order of the file.
    """
    chunk: Chunk | None = None
    for group in _measured(records, keys, seen):
        if isinstance(group, Unreadable):
            if chunk:
                yield chunk
            chunk = None
            yield group
            continue
        if chunk:
            length = group.offset + group.length - chunk.offset
            if chunk.rows + group.rows <= rows and length <= size:
                chunk = Chunk(
                    chunk.offset,
                    length,
                    chunk.line,
                    chunk.rows + group.rows,
                    chunk.products + group.products,
                    chunk.repeated + group.repeated,
                )
                continue
            yield chunk
        chunk = group
    if chunk:
        yield chunk


def _measured(
    records: Iterable[CsvRecord], keys: Keys, seen: Callable[[str], bool]
) -> Iterator[Chunk | Unreadable]:
    """Each group as a chunk of its own, without holding its records."""
    begin, end, line, rows = 0, 0, 0, 0
    too_large: RowError | None = None
    names: tuple[str, ...] = ()

    def measured() -> Chunk | Unreadable:
        group = _group(begin, end, line, rows, too_large)
        repeated = [seen(name) for name in _distinct(names)]  # a list, as `seen` records each name
        if isinstance(group, Chunk) and any(repeated):
            return group._replace(products=0, repeated=(line,))
        return group

    for first, record, known_as in _marked(records, keys):
        if first:
            if rows:
                yield measured()
            begin, line, rows, too_large = record.offset, record.line, 0, None
        end, names = record.offset + record.length, known_as
        rows += 1
        if record.length > LARGEST_RECORD:
            too_large = too_large or record.problem
    if rows:
        yield measured()


def _group(
    begin: int, end: int, line: int, rows: int, too_large: RowError | None
) -> Chunk | Unreadable:
    if too_large is None and rows > MOST_ROWS:
        message = f"This product has {rows} rows; at most {MOST_ROWS} are read."
        too_large = RowError(line, "", "too_many_rows", message)
    if too_large is None and end - begin > LARGEST_GROUP:
        message = f"The rows of this product are larger than {LARGEST_GROUP >> 20} MB together."
        too_large = RowError(line, "", "product_too_large", message)
    if too_large is not None:
        return Unreadable(begin, end - begin, line, rows, too_large)
    return Chunk(begin, end - begin, line, rows, 1)


def _marked(
    records: Iterable[CsvRecord], keys: Keys
) -> Iterator[tuple[bool, CsvRecord, tuple[str, str]]]:
    """Whether a product begins with a record, the record, and the product's keys so far."""
    current: str | None = None
    alias = ""
    above: list[str] = []
    for record in records:
        key = keys.key(record.cells)
        same = current is not None and (not key or key in (current, alias))
        if not same and current is not None and keys.joins(above, record.cells):
            same = True
            current, alias = key, alias or current
        above = record.cells
        if not same:
            # A product's own row may follow rows that name the product by its other key.
            also = keys.alias(record.cells) if key else ""
            if also and also == current:
                same, alias = True, key
            else:
                current, alias = key, also
        elif key == current and not alias:
            alias = keys.alias(record.cells)
        yield not same, record, (current or "", alias)
