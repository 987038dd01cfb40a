r"""What can be listed, and where its entries are.

| entry | pk | sk | attributes |
|---|---|---|---|
| list | `list#<kind>#<list>#<shard>of<shards>` | `<sort>#<id>` | the facets; `generation` |
| other order | `list#<kind>#*<order>#<shard>of<shards>` | `<that sort>#<id>` | the facets |
| word | `word#<kind>#<first letter>#<shard>of<shards>` | `<word>#<sort>#<id>` | none |
| word ahead | the same | `<word>#<sort>+<generation>#<id>` | `at`: Unix seconds |
| count | `count#<kind>[#<facet>=<value>]` | `1\|<facet values>#<shard>` | `n`; `=<value>` |
| menu | `menu#<kind>#<facet>` | `<value>#<shard>` | `n`; `=<value>` |

Lists are `*`, `<facet>=<value>`, the combined ones of the kind, and `<facet>*` of the records with
more values of a facet than have a list entry each. Lists and words are sharded by a hash of the id.
A cell has `*` for any value of the facet that is `split`, and the number of each value in an
attribute of its own. (1.0.0 had a cell for each value.)
"""

import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from chalicelib.storage.attributes import Key

FIRST: Final = 1  # the number of a kind that was never reindexed
SOME: Final = "*"  # in a cell: there is a value


@dataclass(frozen=True)
class Kind:
    """A listable kind of record.

    `counted`: the facets of a count cell. `under`: facets with so many values that they have
    separate cells under each value. `split`: the one of `counted` that may have a hundred values.
    `listed`: facets with a list for each value. `combined`: lists of records with
    several given values of counted facets. `several`: the facet of which a record may have several
    values, with a list for each. A facet without a value is "". `orders`: further sort orders of
    the list of all.

    `shelf`: a combined list of which each value of the facets in `menus` is counted, all values of
    a facet in one partition. Orders that begin with its name have its records only. `measured`: the
    lists, facets and orders whose entries also have the measures of a record (`Index`).

    `since`: the number of the reindexing that brings a facet of `under` or `listed`, a combined
    list, an order (`*<order>`) or a menu (`@<facet>`) to all records, if the first release had it
    not. A new one takes the next number, and keeps it (`upgrades.py`).

    `identified`: whose external ids find a record (`external_ids.py`). `exact`: name → the texts of
    a record that are found as a whole under this name; they are among its `exact` words.

    `summed`: a facet that is an amount or "": the cells of the whole kind add it up.

    `inside`: how many words and values of a record are written with it; `room`: how many changes
    of these a transaction has room for, next to its other writes.

    The numbers of shards are part of the keys: another number is a restore (docs/backup.md).
    """

    name: str
    counted: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    split: str = ""
    listed: tuple[str, ...] = ()
    combined: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    several: str = ""
    orders: tuple[str, ...] = ()
    shelf: str = ""
    menus: tuple[str, ...] = ()
    measured: frozenset[str] = frozenset()
    since: Mapping[str, int] = field(default_factory=dict)
    summed: str = ""
    identified: tuple[str, ...] = ()
    exact: Mapping[str, Callable[[Any], Iterable[str | None]]] = field(default_factory=dict)
    inside: int = 34
    room: int = 68
    list_shards: int = 2  # 900 creations a second; a page reads each of them, so no more
    word_shards: int = 4  # SKUs often begin with one letter, and each has several words

    @property
    def number(self) -> int:
        """The highest number in `since`: the last reindexing that this code needs; else FIRST."""
        return max(self.since.values(), default=FIRST)

    def list_names(self, facets: Mapping[str, str]) -> list[str]:
        """Return the names of the lists in which a record with these facets is.

        They are `*`, `<facet>=<value>` of each `listed` facet with a value, and each combined list
        whose values it has, also those that `since` names. Not the lists of its several values, nor
        the other orders.
        """
        return [
            "*",
            *(f"{facet}={facets[facet]}" for facet in self.listed if facets.get(facet)),
            *(name for name, wanted in self.combined.items() if wanted.items() <= facets.items()),
        ]

    def is_added(self, name: str) -> bool:
        """Return whether the first release had not this list or order: `since` has its name.

        A list `[@]<facet>=<value>` has the name `[@]<facet>`.
        """
        return name.partition("=")[0] in self.since

    def cell_name(self, facets: Mapping[str, str]) -> str:
        """Return the name of the cell that counts records with these facets: `1|<value>|<value>…`.

        The values are those of `counted` facets, in order, "" for none. Instead of a value of the
        split facet there is *, if the record has one.
        """

        def cell_value(facet: str) -> str:
            """Return a facet's value in the name: SOME for any value of the split facet."""
            value = facets.get(facet, "")
            return SOME if value and facet == self.split else value

        return "|".join(["1", *map(cell_value, self.counted)])

    def values_counted(self, facets: Mapping[str, str]) -> list[str]:
        """Return a `<facet>=<value>` for each value under which a record has another count cell.

        They are its values of the facets in `under`; "" has none.
        """
        return [f"{facet}={facets[facet]}" for facet in self.under if facets.get(facet)]

    def values_in_menus(self, facets: Mapping[str, str], several: Collection[str]) -> list[str]:
        """Return an `@<facet>=<value>` for each value under which a menu counts a record.

        [] if it is not of the shelf. `several`: its values of the facet with several. Too many
        (`are_too_many`) are in no menu: who reads the menu adds them. "" has none.
        """
        if not self.menus or not self.combined[self.shelf].items() <= facets.items():
            return []
        values: dict[str, Iterable[str]]
        values = {facet: [facets.get(facet, "")] for facet in self.menus}
        if self.several in self.menus:
            values[self.several] = () if self.are_too_many(several) else several
        return [f"@{facet}={value}" for facet, of in values.items() for value in of if value]

    def are_too_many(self, several: Collection[str], inside: int | None = None) -> bool:
        """Return whether these values are too many for a list entry and a menu's count each.

        `inside`: how many words and values are written with the record; None: as many as of the
        kind. A half of that is too many, a third if the values are in a menu.
        """
        inside = self.inside if inside is None else inside
        return len(several) > inside // (3 if self.several in self.menus else 2)

    def is_measured(self, name: str) -> bool:
        """Return whether entries of this list, `<facet>=<value>` or order have the measures.

        `*` is "" in `measured`.
        """
        return name.partition("=")[0].removesuffix("*") in self.measured

    def cell_keys(self, facets: Mapping[str, str], several: Collection[str] = ()) -> list[Key]:
        """Return the keys (partition, cell without shard) of the cells that count a record.

        `several`: its values of the facet with several. Cells that the first release had not are
        included.
        """
        values = [*self.values_counted(facets), *self.values_in_menus(facets, several)]
        return self.cell_keys_under(facets, values)

    def cell_keys_under(self, facets: Mapping[str, str], values: Iterable[str]) -> list[Key]:
        """Return the key of a record's cell of the whole kind, then one key for each of `values`.

        `facets`: the record's. A value `<facet>=<value>` has the partition
        `count#<kind>#<facet>=<value>`, and there the cell with the same name as the first.
        `@<facet>=<value>` has the value's cell in the menu of the facet (`menu_key`).
        """
        cell = self.cell_name(facets)
        return [
            (self.count_pk(), cell),
            *(
                self.menu_key(*value[1:].split("=", 1))
                if value[0] == "@"
                else (f"{self.count_pk()}#{value}", cell)
                for value in values
            ),
        ]

    @staticmethod
    def is_menu(pk: str) -> bool:
        """Return whether a partition key is that of a menu's cells."""
        return pk.startswith("menu#")

    def menu_key(self, facet: str, value: str = "") -> Key:
        """Return the key (partition, cell without shard) of a value in the menu of a facet."""
        return f"menu#{self.name}#{facet}", value

    def cell_increments(self, pk: str, facets: Mapping[str, str]) -> dict[str, int | Decimal]:
        """Return {attribute: what a record with these facets adds to it}, in a cell of `pk`.

        `n`: 1. The attribute of its value of the split facet, if it has one: 1. Only in the cells
        of the whole kind, the name of the `summed` facet: its amount as Decimal, 0 for "".
        """
        numbers: dict[str, int | Decimal] = {"n": 1}
        if value := facets.get(self.split):
            numbers[split_attribute(value)] = 1
        if self.summed and pk == self.count_pk():
            numbers[self.summed] = Decimal(facets.get(self.summed) or 0)
        return numbers

    def cell_facets(self, cell: str) -> dict[str, str]:
        """Return {counted facet: value} from a cell's name; it may lack the newest facets."""
        return dict(zip(self.counted, cell.split("|")[1:], strict=False))

    def count_pk(self, facet: str = "", value: str = "") -> str:
        """Return the partition of the kind's cells, or of the cells under one value of a facet."""
        return f"count#{self.name}" + (f"#{facet}={value}" if facet else "")

    def list_pk(self, name: str, shard: int) -> str:
        """Return the partition key of a shard of the list with this name."""
        return f"list#{self.name}#{name}#{shard}of{self.list_shards}"

    def list_pks(self, name: str) -> list[str]:
        """Return the partition keys of all shards of the list with this name."""
        return [self.list_pk(name, shard) for shard in range(self.list_shards)]

    def word_pk(self, word: str, shard: int) -> str:
        """Return the partition key, in this shard, of all words with the first letter of `word`.

        It is `word#<kind>#<letter, escaped>#<shard>of<word_shards>`.
        """
        return f"word#{self.name}#{escape(word[0])}#{shard}of{self.word_shards}"

    def word_pks(self, word: str) -> list[str]:
        """Return the partition keys of all shards of a word's entries."""
        return [self.word_pk(word, shard) for shard in range(self.word_shards)]

    def entry_key(self, name: str, id: str, sort: str) -> Key:
        """Return the key of a record's entry in the list of this name: its shard, `<sort>#<id>`."""
        return self.list_pk(name, shard_of(id, self.list_shards)), f"{sort}#{id}"

    def shard_pk(self, pk: str, sk: str) -> str:
        """Return the partition key that an entry has with the kind's current number of shards.

        `pk`, `sk`: its key with another number. A key of neither a list nor a word gives its own
        `pk`.
        """
        shards = {"list": self.list_shards, "word": self.word_shards}.get(pk.partition("#")[0])
        if shards is None:
            return pk
        shard = shard_of(sk.rpartition("#")[2], shards)
        return f"{pk.rpartition('#')[0]}#{shard}of{shards}"


def split_attribute(value: str) -> str:
    """Return the attribute of a cell that counts a value of the split facet: `=<value>`.

    A point in the value is %2E.
    """
    return "=" + value.replace(".", "%2E")  # a point would be the path to a member


def shard_of(id: str, shards: int) -> int:
    """Return the shard of a record, below `shards`, by a hash of its id."""
    return zlib.crc32(id.encode()) % shards


def escape(word: str) -> str:
    """Return a word as part of a key, in which `#` separates the parts: % and # are escaped."""
    return word.replace("%", "%25").replace("#", "%23")
