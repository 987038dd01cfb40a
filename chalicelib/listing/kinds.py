r"""What can be listed, and where its entries are.

| entry | pk | sk | attributes |
|---|---|---|---|
| list | `list#<kind>#<list>#<shard>of<shards>` | `<sort>#<id>` | the facets; `generation` |
| other order | `list#<kind>#*<order>#<shard>of<shards>` | `<that sort>#<id>` | the facets |
| word | `word#<kind>#<first letter>#<shard>of<shards>` | `<word>#<sort>#<id>` | none |
| word ahead | the same | `<word>#<sort>+<generation>#<id>` | `at`: Unix seconds |
| count | `count#<kind>[#<facet>=<value>]` | `<format>\|<facet values>#<shard>` | `n` |

Lists are `*`, `<facet>=<value>`, the combined ones of the kind, and `<facet>*` of the records with
more values of a facet than have a list entry each. Lists and words are sharded by a
hash of the id, because one partition takes about 1,000 write units a second (AWS). The number of
shards is in the key, so that two numbers of them never share a partition: a reader that reads the
old partitions before the new ones finds a record that moves between them at least once.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

from chalicelib.storage.attributes import Key


@dataclass(frozen=True)
class Shape:
    """The number of partitions of each list, and of each letter of the word index."""

    list_shards: int
    word_shards: int


# The shapes in which records may be indexed, by version, and the current one. For another number
# of shards, deploy another version here, make it CURRENT in the next deployment, run
# `infra/reindex.py`, and only then remove the old one (docs/listing.md).
SHAPES: dict[int, Shape] = {1: Shape(list_shards=2, word_shards=4)}
CURRENT = 1
FIRST: Final = 1  # the format of a kind until it gets another facet, list or order


def list_shards() -> list[int]:
    """The numbers of shards that lists may have, oldest first; reads use all of them."""
    return list(dict.fromkeys(shape.list_shards for _, shape in sorted(SHAPES.items())))


def word_shards() -> list[int]:
    return list(dict.fromkeys(shape.word_shards for _, shape in sorted(SHAPES.items())))


@dataclass(frozen=True)
class Kind:
    """A listable kind of record.

    `counted`: the facets of a count cell; new ones are appended. `under`: facets with so many
    values that they have separate cells under each value. `listed`: facets with a list for each
    value. `combined`: lists of records with several given values of counted facets. `several`: the
    facet of which a record may have several values, with a list for each. A facet without a value
    is "".
    `orders`: further sort orders of the list of all.

    `since`: the format that introduced a facet, a combined list or an order (`*<order>`), if it was
    not the first. A new one takes the next number, and keeps it; a facet has one number.

    `identified`: whose external ids find a record (`external_ids.py`).

    `summed`: a facet that is an amount or "": the cells of the whole kind add it up.

    `inside`: how many words and values of a record are written with it; `room`: how many changes
    of these a transaction has room for, next to its other writes.
    """

    name: str
    counted: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    combined: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    several: str = ""
    orders: tuple[str, ...] = ()
    since: Mapping[str, int] = field(default_factory=dict)
    summed: str = ""
    identified: tuple[str, ...] = ()
    inside: int = 34
    room: int = 68

    @cached_property
    def format(self) -> int:
        """In which records are written; higher than those of all releases before."""
        return max(self.since.values(), default=FIRST)

    def at(self, number: int) -> "Kind":
        """The kind as it was in this format, if this code knows it."""
        if number >= self.format:
            return self

        def had(name: str) -> bool:
            return self.since.get(name, FIRST) <= number

        return replace(
            self,
            counted=tuple(filter(had, self.counted)),
            under=tuple(filter(had, self.under)),
            listed=tuple(filter(had, self.listed)),
            combined={name: facets for name, facets in self.combined.items() if had(name)},
            several=self.several if had(self.several) else "",
            orders=tuple(order for order in self.orders if had(f"*{order}")),
            since={name: first for name, first in self.since.items() if first <= number},
        )

    def added(self) -> dict[str, object]:
        """What the kind has more than in the first format. Each record stores it, so that code of
        a release before can change the record (`of`)."""
        first = self.at(FIRST)
        if first is self:
            return {}
        names = {
            role: [name for name in getattr(self, role) if name not in getattr(first, role)]
            for role in ("counted", "under", "listed")
        }
        combined = {n: dict(f) for n, f in self.combined.items() if n not in first.combined}
        several = self.several if self.several != first.several else ""
        more = {**names, "combined": combined, "several": several}
        return {role: value for role, value in more.items() if value}

    def of(self, number: int, added: Mapping[str, Any]) -> "Kind":
        """The kind as it was when a record was written in this format, perhaps by a later
        release."""
        if number <= self.format:
            return self.at(number)
        first = self.at(FIRST)
        return replace(
            first,
            counted=(*first.counted, *added.get("counted", ())),
            under=(*first.under, *added.get("under", ())),
            listed=(*first.listed, *added.get("listed", ())),
            combined={**first.combined, **added.get("combined", {})},
            several=added.get("several", first.several),
            since={"": number},
        )

    def lists(self, facets: Mapping[str, str]) -> list[str]:
        """The lists of a record with these facets, except those of `several`."""
        return [
            "*",
            *(f"{facet}={facets[facet]}" for facet in self.listed if facets.get(facet)),
            *(name for name, wanted in self.combined.items() if wanted.items() <= facets.items()),
        ]

    def cell(self, facets: Mapping[str, str]) -> str:
        return "|".join([str(self.format), *(facets.get(facet, "") for facet in self.counted)])

    def cells(self, facets: Mapping[str, str]) -> list[Key]:
        cell = self.cell(facets)
        under = [self.count_pk(facet, facets[facet]) for facet in self.under if facets.get(facet)]
        return [(pk, cell) for pk in (self.count_pk(), *under)]

    def sums(self, facets: Mapping[str, str]) -> dict[str, Decimal]:
        """What it adds to the sums of a cell of the whole kind."""
        return {self.summed: Decimal(facets.get(self.summed) or 0)} if self.summed else {}

    def cell_facets(self, cell: str) -> dict[str, str]:
        """The facets of a cell of any format. Later formats append values, so a cell has no value
        for a facet that is newer, and perhaps values for facets that this code does not know."""
        values = cell.split("|")[1:]
        return dict.fromkeys(self.counted, "") | dict(zip(self.counted, values, strict=False))

    def count_pk(self, facet: str = "", value: str = "") -> str:
        return f"count#{self.name}" + (f"#{facet}={value}" if facet else "")

    def list_pk(self, name: str, shard: int, shards: int) -> str:
        return f"list#{self.name}#{name}#{shard}of{shards}"

    def word_pk(self, word: str, shard: int, shards: int) -> str:
        return f"word#{self.name}#{escape(word[0])}#{shard}of{shards}"

    def entry_key(self, name: str, id: str, sort: str, shards: int) -> Key:
        """The position of a record in a list."""
        return self.list_pk(name, shard_of(id, shards), shards), f"{sort}#{id}"


def format_of(cell: str) -> int:
    return int(cell.partition("|")[0])


def shard_of(id: str, shards: int) -> int:
    return zlib.crc32(id.encode()) % shards


def escape(word: str) -> str:
    """A word as part of a key: `#` separates the parts."""
    return word.replace("%", "%25").replace("#", "%23")
