"""What can be listed, and where its entries stand.

| entry | pk | sk | attributes |
|---|---|---|---|
| list | `list#<kind>#<list>#<shard>of<shards>` | `<sort>#<id>` | the facets; `generation` |
| word | `word#<kind>#<first letter>#<shard>of<shards>` | `<word>#<sort>#<id>` | none |
| word ahead | the same | `<word>#<sort>+<generation>#<id>` | `at`: Unix seconds |
| count | `count#<kind>[#<facet>=<value>]` | `<facet values>#<shard>` | `n` |

Lists are `*`, `<facet>=<value>` and the combined ones of the kind. Lists and words are sharded by a
hash of the id, because one partition takes about 1,000 write units a second (AWS). The number of
shards is in the key, so that two numbers of them never share a partition: a reader that looks into
the old partitions before the new ones meets a record that moves between them at least once.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from chalicelib.attributes import Key


@dataclass(frozen=True)
class Shape:
    """Into how many partitions each list, and each letter of the word index, is spread."""

    list_shards: int
    word_shards: int


# How records may be indexed, by the version that each carries, and how they are from now on. For
# another number of shards, deploy another version here, make it CURRENT in the next deployment, run
# `infra/reindex.py`, and only then take the old one out (docs/listing.md).
SHAPES: dict[int, Shape] = {1: Shape(list_shards=2, word_shards=4)}
CURRENT = 1


def list_shards() -> list[int]:
    """The numbers of shards that lists may be spread over, oldest first: what a read looks into."""
    return list(dict.fromkeys(shape.list_shards for _, shape in sorted(SHAPES.items())))


def word_shards() -> list[int]:
    return list(dict.fromkeys(shape.word_shards for _, shape in sorted(SHAPES.items())))


@dataclass(frozen=True)
class Kind:
    """A listable kind of record.

    `counted`: the facets that a count cell is made of; new ones are appended. `under`: a facet with
    so many values that its cells are kept apart, once more under each value. `listed`: facets with
    a list for each value. `combined`: lists of what has several facet values at once. A facet
    without a value is "". `inside`: how many words of a record are written with it; `room`: how
    many differences of words one transaction has room for, beside all else that it writes.
    """

    name: str
    counted: tuple[str, ...] = ()
    under: str | None = None
    listed: tuple[str, ...] = ()
    combined: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    inside: int = 34
    room: int = 68

    def __post_init__(self) -> None:
        counted = {*self.counted, self.under}
        used = {*self.listed, *(facet for wanted in self.combined.values() for facet in wanted)}
        if not used <= counted:
            raise ValueError(f"{self.name}: {sorted(used - counted)} must be counted")

    def lists(self, facets: Mapping[str, str]) -> list[str]:
        """The lists in which a record with these facets stands."""
        return [
            "*",
            *(f"{facet}={facets[facet]}" for facet in self.listed if facets.get(facet)),
            *(
                name
                for name, wanted in self.combined.items()
                if all(facets.get(facet) == value for facet, value in wanted.items())
            ),
        ]

    def cells(self, facets: Mapping[str, str]) -> list[Key]:
        """The count cells in which it counts."""
        cell = "|".join(facets.get(facet, "") for facet in self.counted)
        cells = [(self.count_pk(), cell)]
        if self.under:
            cells.append((self.count_pk(facets.get(self.under, "")), cell))
        return cells

    def count_pk(self, under: str | None = None) -> str:
        return f"count#{self.name}" + (f"#{self.under}={under}" if under is not None else "")

    def list_pk(self, name: str, shard: int, shards: int) -> str:
        return f"list#{self.name}#{name}#{shard}of{shards}"

    def word_pk(self, word: str, shard: int, shards: int) -> str:
        return f"word#{self.name}#{escape(word[0])}#{shard}of{shards}"

    def entry_key(self, name: str, id: str, sort: str, shards: int) -> Key:
        """Where a record stands in a list."""
        return self.list_pk(name, shard_of(id, shards), shards), f"{sort}#{id}"


def shard_of(id: str, shards: int) -> int:
    return zlib.crc32(id.encode()) % shards


def escape(word: str) -> str:
    """A word as part of a key: `#` separates the parts."""
    return word.replace("%", "%25").replace("#", "%23")
