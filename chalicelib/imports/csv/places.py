"""Every group of rows of a file: its place, and the keys by which it names its product.

They are kept in a database on the function's disk, so that memory hardly depends on the file.
Groups that share a key are one product, wherever they are. A key by which others may name a product
joins only if one product of the file has it; if several have it, which one is meant is not guessed.
"""

import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import compress, count, groupby
from operator import itemgetter
from typing import IO, Final, NamedTuple

from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.groups import Group, refused

KEY_BYTES: Final = 8
_AT_ONCE: Final = 4_096  # groups that are written together
_STEPS: Final = 1_000_000  # of the database, between two looks at the clock
_SETUP: Final = """
    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA cache_size = -32768; PRAGMA temp_store = FILE;
    CREATE TABLE groups (number INTEGER PRIMARY KEY, line, offset, length, rows);
    CREATE TABLE names (name, is_alias, number);
    CREATE TABLE parts (product, number);
"""


def hashed(names: Iterable[str]) -> "array[int]":
    """Each key as a number of `KEY_BYTES` bytes; case makes no difference, except in a SKU."""
    exact = (name if name.startswith("sku ") else name.casefold() for name in names)
    texts = (name.encode("utf-8", "replace") for name in exact)
    found: array[int] = array("q")
    found.frombytes(b"".join([blake2b(text, digest_size=KEY_BYTES).digest() for text in texts]))
    return found


class Span(NamedTuple):
    """Where a group is in the file."""

    line: int
    offset: int
    length: int
    rows: int


class FileProduct(NamedTuple):
    """The groups of one product, in the order of the file.

    `offset`: where they are, one after another: in the file, or in the copy of what is apart.
    `error`: why nothing of it is written.
    """

    places: list[Span]
    rows: int
    size: int
    offset: int
    is_apart: bool
    error: RowError | None = None

    @property
    def line(self) -> int:
        return self.places[0].line

    @property
    def end(self) -> int:
        return self.offset + self.size


class Places:
    def __init__(self, folder: str, is_late: Callable[[], bool]) -> None:
        """`is_late`: whether there is no time left. Every method may then raise
        sqlite3.OperationalError, and if the disk is full."""
        self._is_late = is_late
        self._database = sqlite3.connect(f"{folder}/places", isolation_level=None)
        self._database.executescript(_SETUP)
        self._database.set_progress_handler(is_late, _STEPS)
        self._groups: list[tuple[int, int, int, int, int]] = []
        self._names: list[tuple[str, int, int]] = []
        self._count = 0
        self.too_large: list[RowError] = []  # of products that nobody reads

    def add(self, group: Group) -> None:
        """One with an error takes a number, but is of no product."""
        number = self._count
        self._count += 1
        if group.error is not None:
            self.too_large.append(group.error)
            return
        self._groups.append((number, group.line, group.offset, group.length, group.rows))
        for key in group.keys:
            self._names.append((key, 0, number))
        for alias in group.aliases:
            self._names.append((alias, 1, number))
        if len(self._groups) == _AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        if self._is_late():
            raise sqlite3.OperationalError("no time left")
        with self._database:
            self._database.execute("BEGIN")
            run = self._database.executemany
            run("INSERT INTO groups VALUES (?, ?, ?, ?, ?)", self._groups)
            hashes = hashed(name for name, _, _ in self._names)
            names = zip(hashes, self._names, strict=True)
            run("INSERT INTO names VALUES (?, ?, ?)", ((key, *rest) for key, (_, *rest) in names))
        self._groups, self._names = [], []

    def close(self) -> None:
        self._database.close()

    def join(self, keys: IO[bytes]) -> None:
        """Finds the groups of each product. Called once, when all were added; writes all keys,
        sorted, to `keys`."""
        self._flush()
        self._database.execute("CREATE INDEX by_name ON names (name, is_alias, number)")
        self._products = _Products(self._count)
        is_shared = self._join_by_keys(keys)
        if is_shared:
            self._join_by_aliases()
        self._keep_parts()

    def _by_name(self) -> Iterable[tuple[int, int, int]]:
        return self._database.execute(
            "SELECT name, is_alias, number FROM names ORDER BY name, is_alias, number"
        )

    def _join_by_keys(self, keys: IO[bytes]) -> bool:
        """Returns whether any key of a group is also another key of one."""
        every, join = array("q"), self._products.join
        last: int | None = None
        first, is_shared = -1, False
        for name, is_alias, number in self._by_name():
            if name != last:
                every.append(name)
                if len(every) == _AT_ONCE:
                    every.tofile(keys)
                    del every[:]
                last, first = name, -1 if is_alias else number
            elif is_alias:
                is_shared = is_shared or first >= 0
            else:
                join(first, number)
        every.tofile(keys)
        return is_shared

    def _join_by_aliases(self) -> None:
        of = self._products.of
        for _, rows in groupby(self._by_name(), itemgetter(0)):
            named = -1
            others: set[int] = set()
            for _, is_alias, number in rows:
                if named < 0 and is_alias:
                    break
                if named < 0:
                    named = of(number)
                elif is_alias and of(number) == named:
                    others.clear()  # next to its rows: others have the key as well
                    break
                elif is_alias and len(others) < 2:
                    others.add(of(number))
            if len(others) == 1:
                self._products.join(named, *others)
            elif others:
                self._products.ambiguous.add(named)

    def _keep_parts(self) -> None:
        of = self._products.of
        joined = compress(count(), self._products.are_joined)
        apart = ((of(number), number) for number in joined)
        with self._database:
            self._database.execute("BEGIN")
            self._database.executemany("INSERT INTO parts VALUES (?, ?)", apart)
            self._database.execute("CREATE INDEX by_product ON parts (product, number)")

    def products(self) -> Iterator[FileProduct]:
        """Every product: those of one group by its line, then those of several by their first."""
        every = "SELECT number, line, offset, length, rows FROM groups ORDER BY number"
        are_joined = self._products.are_joined
        for number, line, offset, length, rows in self._database.execute(every):
            if not are_joined[number]:
                error = self._ambiguous(number, line)
                place = Span(line, offset, length, rows)
                yield FileProduct([place], rows, length, offset, is_apart=False, error=error)
        parts = self._database.execute(
            "SELECT product, line, offset, length, rows FROM parts JOIN groups USING (number)"
            " ORDER BY product, number"
        )
        at = 0
        for number, members in groupby(parts, itemgetter(0)):
            places = [Span(*member[1:]) for member in members]
            line, rows = places[0].line, sum(place.rows for place in places)
            size = sum(place.length for place in places)
            if refusal := refused(line, rows, size):
                self.too_large.append(refusal)
            else:
                error = self._ambiguous(number, line)
                yield FileProduct(places, rows, size, at, is_apart=True, error=error)
            at += size

    def _ambiguous(self, number: int, line: int) -> RowError | None:
        if number not in self._products.ambiguous:
            return None
        message = (
            "Several products of the file have this SKU or slug, and the row has nothing else."
        )
        return RowError(line, "", "shared_key", message)

    def copy_apart(self, file: Iterable[bytes], copy: IO[bytes]) -> None:
        """Copies the groups of products that have several, in the order of the products."""
        groups = self._database.execute(
            "SELECT offset, length, sum(length) OVER (ORDER BY product, number) - length"
            " FROM parts JOIN groups USING (number) ORDER BY number"
        )
        pieces, held, begin = iter(file), bytearray(), 0
        for offset, length, at in groups:
            while begin + len(held) < offset + length:
                skipped = min(offset - begin, len(held))
                del held[:skipped]
                begin += skipped
                held += next(pieces)
            copy.seek(at)
            copy.write(held[offset - begin : offset - begin + length])

    @property
    def are_apart(self) -> bool:
        """Whether any product has several groups."""
        return 1 in self._products.are_joined


class _Products:
    """Which product each group is of: a union of groups, named by the first of them."""

    def __init__(self, groups: int) -> None:
        self._first = array("I", range(groups))
        self.are_joined = bytearray(groups)
        self.ambiguous: set[int] = set()

    def of(self, number: int) -> int:
        first = self._first
        while first[number] != number:
            first[number] = number = first[first[number]]
        return number

    def join(self, one: int, other: int) -> None:
        one, other = sorted((self.of(one), self.of(other)))
        if one != other:
            self._first[other] = one
            self.are_joined[one] = self.are_joined[other] = True
