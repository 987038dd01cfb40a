"""What a record leaves in the lists, the word index and the counts: pure functions.

| entry | pk | sk | attributes |
|---|---|---|---|
| list | `list#<kind>#<list>#<shard>` | `<sort>#<id>` | the facets |
| word | `word#<kind>#<first letter>#<shard>` | `<word>#<sort>#<id>` | none: it never changes |
| count | `count#<kind>[#<facet>=<value>]` | `<facet values>#<shard>` | `n` |

Lists are `*`, `<facet>=<value>` and the combined ones of the kind. Lists and words are sharded by a
hash of the id, because one partition takes about 1,000 write units a second (AWS).
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from chalicelib.attributes import Item, Key
from chalicelib.commit import Commit
from chalicelib.ids import key_part
from chalicelib.listing import words as text


@dataclass(frozen=True)
class Shape:
    """Into how many partitions each list, and each letter of the word index, is spread."""

    list_shards: int
    word_shards: int


# How records were indexed, by the version that each carries. A change of tokenizer or of shard
# counts is a new version; `infra/reindex.py` moves the records that carry an older one.
SHAPES: Final[dict[int, Shape]] = {1: Shape(list_shards=2, word_shards=4)}
CURRENT: Final = max(SHAPES)


def list_shards() -> range:
    """Where entries of any version may be: what a read has to look into."""
    return range(max(shape.list_shards for shape in SHAPES.values()))


def word_shards() -> range:
    return range(max(shape.word_shards for shape in SHAPES.values()))


@dataclass(frozen=True)
class Kind:
    """A listable kind of record.

    `counted`: the facets that a count cell is made of. `under`: a facet with so many values that its
    cells are kept apart, once more under each value. `listed`: facets with a list for each value.
    `combined`: lists of what has several facet values at once. A facet without a value is "".
    """

    name: str
    counted: tuple[str, ...] = ()
    under: str | None = None
    listed: tuple[str, ...] = ()
    combined: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    most_words: int = 40

    def lists(self, facets: Mapping[str, str]) -> list[str]:
        """The lists in which a record with these facets stands."""
        return [
            "*",
            *(f"{facet}={facets[facet]}" for facet in self.listed if facets[facet]),
            *(
                name
                for name, wanted in self.combined.items()
                if all(facets[facet] == value for facet, value in wanted.items())
            ),
        ]

    def cells(self, facets: Mapping[str, str]) -> list[Key]:
        """The count cells in which it counts."""
        cell = "|".join(facets[facet] for facet in self.counted)
        cells = [(self.count_pk(), cell)]
        if self.under and facets[self.under]:
            cells.append((self.count_pk(facets[self.under]), cell))
        return cells

    def count_pk(self, under: str | None = None) -> str:
        return f"count#{self.name}" + (f"#{self.under}={under}" if under else "")

    def list_pk(self, name: str, shard: int) -> str:
        return f"list#{self.name}#{name}#{shard}"

    def word_pk(self, word: str, shard: int) -> str:
        return f"word#{self.name}#{escape(word[0])}#{shard}"


@dataclass(frozen=True)
class Index:
    """How one record is indexed; stored in it, because entries are removed from here.

    `sort`: text in whose descending order the kind is listed. `facets`: as key parts. `words`: as
    stored. `left_out`: how many words did not fit.
    """

    sort: str
    facets: Mapping[str, str]
    words: tuple[str, ...] = ()
    version: int = CURRENT
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
        found, left_out = text.words(texts, kind.most_words)
        parts = {name: key_part(value) for name, value in facets.items()}
        return cls(sort, parts, tuple(found), CURRENT, left_out)

    def stored(self) -> dict[str, Any]:
        return {
            "v": self.version,
            "sort": self.sort,
            "facets": dict(self.facets),
            "words": list(self.words),
        }

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> "Index":
        return cls(
            stored["sort"], stored["facets"], tuple(stored["words"]), int(stored["v"])
        )

    def matches(
        self, where: Mapping[str, frozenset[str]], terms: Iterable[str] = ()
    ) -> bool:
        """Whether the record belongs to a list with these filters (key parts) and search terms."""
        return all(
            self.facets.get(facet, "") in wanted for facet, wanted in where.items()
        ) and all(any(word.startswith(term) for word in self.words) for term in terms)


def change(
    commit: Commit, kind: Kind, id: str, before: Index | None, after: Index | None
) -> None:
    """Adds the index writes between two versions of a record to the commit that changes it."""
    old_entries = _entries(kind, id, before)
    new_entries = _entries(kind, id, after)
    for key, item in new_entries.items():
        if old_entries.get(key) != item:
            commit.put(item)
    for key in old_entries.keys() - new_entries.keys():
        commit.delete(key)
    for index, step in ((before, -1), (after, 1)):
        for pk, cell in kind.cells(index.facets) if index else ():
            commit.count(pk, cell, step)


def entry_key(
    kind: Kind, name: str, id: str, index_sort: str, version: int = CURRENT
) -> Key:
    """Where a record stands in a list."""
    shard = shard_of(id, SHAPES[version].list_shards)
    return kind.list_pk(name, shard), f"{index_sort}#{id}"


def _entries(kind: Kind, id: str, index: Index | None) -> dict[Key, Item]:
    if index is None:
        return {}
    items = []
    for name in kind.lists(index.facets):
        pk, sk = entry_key(kind, name, id, index.sort, index.version)
        items.append({"pk": pk, "sk": sk, **index.facets})
    shard = shard_of(id, SHAPES[index.version].word_shards)
    for word in index.words:
        sk = f"{escape(word)}#{index.sort}#{id}"
        items.append({"pk": kind.word_pk(word, shard), "sk": sk})
    return {(item["pk"], item["sk"]): item for item in items}


def shard_of(id: str, shards: int) -> int:
    return zlib.crc32(id.encode()) % shards


def escape(word: str) -> str:
    """A word as part of a key: `#` separates the parts."""
    return word.replace("%", "%25").replace("#", "%23")
