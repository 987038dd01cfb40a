"""The products of a file: groups of rows that share a key are one product, wherever they are.

The planner adds every group, joins them, and takes the products in the order of their first rows.
The groups are kept in a database on the function's disk, so that memory hardly depends on the file.
A key by which others may name a product joins only if one product of the file has it; if several
have it, which one is meant is not guessed.
"""

import json
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import compress, count, groupby
from operator import itemgetter
from typing import Final, NamedTuple

import orjson

from chalicelib.imports.csv.faults import RowError
from chalicelib.imports.csv.groups import Group, refuse_size

_HELD: Final = 1 << 20  # characters of groups that are written together
_STEPS: Final = 1_000_000  # of the database, between two looks at the clock
_SETUP: Final = """
    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA cache_size = -32768; PRAGMA temp_store = FILE;
    CREATE TABLE groups (number INTEGER PRIMARY KEY, line, rows, size, error, json);
    CREATE TABLE names (name, is_alias, number);
    CREATE TABLE parts (product, number);
"""
_SHARED: Final = "Several products of the file have this SKU or slug, and the row has nothing else."
_PARTS: Final = "FROM parts JOIN groups USING (number) WHERE product = ?"


def hash_keys(keys: Iterable[str]) -> "array[int]":
    """Return the hash of each key, in order: eight bytes, without case except for a SKU's.

    The SKU's key begins with `sku `.
    """
    hashes: array[int] = array("q")
    for key in keys:
        text = key if key.startswith("sku ") else key.casefold()
        hashes.frombytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())
    return hashes


def _encode(value: object) -> str:
    """Return a value as JSON. orjson refuses half a pair of surrogates, which some files have."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value)


class JoinedProduct(NamedTuple):
    """One product of a file: how many rows of how many characters it has, the first on `line`.

    `groups`: the rows of each group, as JSON; none of a product that is too large. `error`: why
    nothing of it is written, as JSON.
    """

    line: int
    rows: int
    size: int
    groups: list[str]
    error: str


class Joining:
    """All groups of a file, and which of them are one product."""

    def __init__(self, folder: str, is_late: Callable[[], bool]) -> None:
        """Open an empty database in `folder`.

        `is_late`: whether there is no time left. Every method may then raise
        sqlite3.OperationalError, and if the disk is full.
        """
        self._is_late = is_late
        self._database = sqlite3.connect(f"{folder}/groups", isolation_level=None)
        self._database.executescript(_SETUP)
        self._database.set_progress_handler(is_late, _STEPS)
        self._groups: list[tuple[int, int, int, int, str, str]] = []
        # The names of groups: each with whether it is an alias, and the group's number.
        self._names: tuple[list[str], list[bool], list[int]] = [], [], []
        self._held = 0
        self._count = 0

    def add(self, group: Group) -> None:
        """Add the next group of the file.

        One with an error is a product of its own, joined with none. Groups are held in memory, and
        written to the database when they are many.
        """
        number = self._count
        self._count += 1
        text, error = _encode([tuple(row) for row in group.rows]), "null"
        names, are_aliases, numbers = self._names
        if group.error is None:
            names += group.keys
            names += group.aliases
            are_aliases += [False] * len(group.keys) + [True] * len(group.aliases)
            numbers += [number] * (len(group.keys) + len(group.aliases))
        else:
            error = _encode(tuple(group.error))
        self._groups.append((number, group.line, group.count, group.size, error, text))
        self._held += len(text)
        if self._held > _HELD:
            self._write_held()

    def _write_held(self) -> None:
        """Write the groups and names that are held in memory to the database; nothing is held then.

        Raises sqlite3.OperationalError if there is no time left.
        """
        if self._is_late():
            raise sqlite3.OperationalError("no time left")
        with self._database:
            self._database.execute("BEGIN")
            run = self._database.executemany
            run("INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?)", self._groups)
            names, are_aliases, numbers = self._names
            rows = zip(hash_keys(names), are_aliases, numbers, strict=True)
            run("INSERT INTO names VALUES (?, ?, ?)", rows)
        self._groups, self._names, self._held = [], ([], [], []), 0

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def join(self) -> "array[int]":
        """Write what is held, and find which groups are one product.

        Return all keys' hashes, sorted. It is called once, when all groups were added; then
        `products` can be read. Groups with a common key are joined; then a product with the only
        other one that has its key as an alias.
        """
        self._write_held()
        self._database.execute("CREATE INDEX by_name ON names (name, is_alias, number)")
        self._products = _Products(self._count)
        keys, is_shared = self._join_by_keys()
        if is_shared:
            self._join_by_aliases()
        self._write_parts()
        return keys

    def _select_names(self) -> Iterable[tuple[int, int, int]]:
        """Return (hash of a key, whether it is an alias, group), sorted."""
        return self._database.execute(
            "SELECT name, is_alias, number FROM names ORDER BY name, is_alias, number"
        )

    def _join_by_keys(self) -> tuple["array[int]", bool]:
        """Join groups with a common key.

        Return all hashes, each once, sorted, those of aliases too. The second value is whether an
        alias has the hash of a key: then `_join_by_aliases` has work.
        """
        hashes, join = array("q"), self._products.join
        last: int | None = None
        first, is_shared = -1, False
        for name, is_alias, number in self._select_names():
            if name != last:
                hashes.append(name)
                last, first = name, -1 if is_alias else number
            elif is_alias:
                is_shared = is_shared or first >= 0
            else:
                join(first, number)
        return hashes, is_shared

    def _join_by_aliases(self) -> None:
        """Join a product with the only other one that has its key as an alias.

        If several others have it, the product is `ambiguous`, and not joined. If rows of its own
        have the key as an alias too, nothing happens.
        """
        first_of = self._products.first_of
        for _, rows in groupby(self._select_names(), itemgetter(0)):
            named = -1
            others: set[int] = set()
            for _, is_alias, number in rows:
                if named < 0 and is_alias:
                    break
                if named < 0:
                    named = first_of(number)
                elif is_alias and first_of(number) == named:
                    others.clear()  # next to its rows: others have the key as well
                    break
                elif is_alias and len(others) < 2:
                    others.add(first_of(number))
            if len(others) == 1:
                self._products.join(named, *others)
            elif others:
                self._products.ambiguous.add(named)

    def _write_parts(self) -> None:
        """Write to the database of which product each joined group is; index it by product.

        A product is named by the number of its first group. It is called once.
        """
        first_of = self._products.first_of
        joined = compress(count(), self._products.are_joined)
        apart = ((first_of(number), number) for number in joined)
        with self._database:
            self._database.execute("BEGIN")
            self._database.executemany("INSERT INTO parts VALUES (?, ?)", apart)
            self._database.execute("CREATE INDEX by_product ON parts (product, number)")

    def products(self) -> Iterator[JoinedProduct]:
        """Yield every product, in the order of their first rows; `join` was called before.

        An ambiguous one has the error shared_key; a product that is too large has no groups.
        """
        every = "SELECT number, line, rows, size, error, json FROM groups ORDER BY number"
        are_joined, ambiguous = self._products.are_joined, self._products.ambiguous
        for number, line, rows, size, error, text in self._database.execute(every):
            shared = RowError(line, "", "shared_key", _SHARED) if number in ambiguous else None
            why = _encode(tuple(shared)) if shared else error
            if not are_joined[number]:
                yield JoinedProduct(line, rows, size, [text] if text != "[]" else [], why)
            elif self._products.first_of(number) == number:
                yield self._load_joined(number, line, why)

    def _load_joined(self, number: int, line: int, error: str) -> JoinedProduct:
        """Return the product of several groups, of which `number` is the first, from the database.

        If it is too large in all, it has that error, and no groups.
        """
        run = self._database.execute
        rows, size = run(f"SELECT sum(rows), sum(size) {_PARTS}", (number,)).fetchone()
        if too_large := refuse_size(line, rows, size):
            return JoinedProduct(line, rows, size, [], _encode(tuple(too_large)))
        texts = [text for (text,) in run(f"SELECT json {_PARTS} ORDER BY number", (number,))]
        return JoinedProduct(line, rows, size, texts, error)


class _Products:
    """Which product each group is of: a union of groups, named by the first of them."""

    def __init__(self, groups: int) -> None:
        self._first = array("I", range(groups))
        self.are_joined = bytearray(groups)
        self.ambiguous: set[int] = set()

    def first_of(self, number: int) -> int:
        """Return the number of the first group of a group's product."""
        first = self._first
        while first[number] != number:
            first[number] = number = first[first[number]]
        return number

    def join(self, group: int, other: int) -> None:
        """Make the products of two groups one, if they are not; its first group names it."""
        first, later = sorted((self.first_of(group), self.first_of(other)))
        if first != later:
            self._first[later] = first
            self.are_joined[first] = self.are_joined[later] = True
