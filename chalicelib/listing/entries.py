"""What a record leaves in the lists, the word index and the counts: pure functions.

| entry | pk | sk | attributes |
|---|---|---|---|
| list | `list#<kind>#<list>#<shard>of<shards>` | `<sort>#<id>` | the facets |
| word | `word#<kind>#<first letter>#<shard>of<shards>` | `<word>#<sort>#<id>` | none |
| count | `count#<kind>[#<facet>=<value>]` | `<facet values>#<shard>` | `n` |

Lists are `*`, `<facet>=<value>` and the combined ones of the kind. Lists and words are sharded by a
hash of the id, because one partition takes about 1,000 write units a second (AWS). The number of
shards is in the key, so that two numbers of them never share a partition: a reader that looks into
the old partitions before the new ones meets a record that moves between them at least once.
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chalicelib import telemetry
from chalicelib.attributes import Item, Key
from chalicelib.commit import Commit
from chalicelib.ids import key_part
from chalicelib.listing import words as text


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
    without a value is "". `most_words`: searchable words of one record, which bound its commit.
    """

    name: str
    counted: tuple[str, ...] = ()
    under: str | None = None
    listed: tuple[str, ...] = ()
    combined: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    most_words: int = 40

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


@dataclass(frozen=True)
class Index:
    """How one record is indexed; stored in it, because entries are removed from here.

    `sort`: text in whose descending order the kind is listed. `facets`: as key parts. `words`: as
    stored. `left_out`: how many words did not fit.
    """

    sort: str
    facets: Mapping[str, str]
    words: tuple[str, ...] = ()
    version: int = 1
    left_out: int = 0

    @classmethod
    def of(
        cls,
        kind: Kind,
        *,
        sort: str,
        facets: Mapping[str, str],
        texts: Iterable[str] = (),
    ) -> "Index":
        if "#" in sort:
            raise ValueError(f"{sort!r} cannot be a sort key: # separates the parts of a key")
        found, left_out = text.words(texts, kind.most_words)
        parts = {name: key_part(value) for name, value in facets.items()}
        return cls(sort, parts, tuple(found), CURRENT, left_out)

    def stored(self) -> dict[str, Any]:
        return {
            "v": self.version,
            "sort": self.sort,
            "facets": dict(self.facets),
            "words": " ".join(self.words),  # none has a blank in it
            **({"leftOut": self.left_out} if self.left_out else {}),
        }

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> "Index":
        kept = stored["words"]
        words = kept.split() if isinstance(kept, str) else kept  # a list in the oldest records
        left_out = int(stored.get("leftOut", 0))
        return cls(stored["sort"], stored["facets"], tuple(words), int(stored["v"]), left_out)

    def matches(self, where: Mapping[str, frozenset[str]], terms: Iterable[str] = ()) -> bool:
        """Whether the record belongs to a list with these filters (key parts) and search terms."""
        return all(self.facets.get(facet, "") in wanted for facet, wanted in where.items()) and all(
            any(word.startswith(term) for word in self.words) for term in terms
        )


def change(commit: Commit, kind: Kind, id: str, before: Index | None, after: Index | None) -> None:
    """Adds the index writes between two versions of a record to the commit that changes it."""
    old_entries = entries_of(kind, id, before)
    new_entries = entries_of(kind, id, after)
    for key, item in new_entries.items():
        if old_entries.get(key) != item:
            commit.put(item)
    for key in old_entries.keys() - new_entries.keys():
        commit.delete(key)
    for index, step in ((before, -1), (after, 1)):
        for pk, cell in kind.cells(index.facets) if index else ():
            commit.count(pk, cell, step)
    if after and after.left_out and (before is None or before.words != after.words):
        telemetry.measured(
            "Words of a record are not searchable",
            {"WordsLeftOut": after.left_out},
            {"Kind": kind.name},
            id=id,
        )


def entry_key(kind: Kind, name: str, id: str, index_sort: str, shards: int) -> Key:
    """Where a record stands in a list."""
    return kind.list_pk(name, shard_of(id, shards), shards), f"{index_sort}#{id}"


def entries_of(kind: Kind, id: str, index: Index | None) -> dict[Key, Item]:
    """The list and word entries of a record that is indexed like this."""
    if index is None:
        return {}
    shape, items = SHAPES[index.version], []
    for name in kind.lists(index.facets):
        pk, sk = entry_key(kind, name, id, index.sort, shape.list_shards)
        items.append({"pk": pk, "sk": sk, **index.facets})
    shard = shard_of(id, shape.word_shards)
    for word in index.words:
        sk = f"{escape(word)}#{index.sort}#{id}"
        items.append({"pk": kind.word_pk(word, shard, shape.word_shards), "sk": sk})
    return {(item["pk"], item["sk"]): item for item in items}


def shard_of(id: str, shards: int) -> int:
    return zlib.crc32(id.encode()) % shards


def escape(word: str) -> str:
    """A word as part of a key: `#` separates the parts."""
    return word.replace("%", "%25").replace("#", "%23")
