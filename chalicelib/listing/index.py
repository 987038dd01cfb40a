"""How one record is indexed. The record stores this, because its entries are removed by it.

Words are in the word index in one of two ways. A few, `words`, are written with the record, and
always count. The others, `ahead`, may be too many for the record's transaction; they are
written before it, and count only while the record's list entry names their `generation`. Words of
a failed write have another generation, and never count.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from chalicelib.listing import kinds
from chalicelib.listing import words as text
from chalicelib.storage.attributes import Fields
from chalicelib.values.ids import key_part

SEVERAL: Final = "several"
_LONGEST_SORT: Final = 60  # characters of a text that count when a list is sorted by it
MOST_WORD_BYTES: Final = 150_000  # with a product of 200 KB it fits DynamoDB's 400 KB an item


@dataclass  # a frozen one takes five times as long to make
class Index:
    """`sort`: text in whose descending order the kind is listed. `facets`: as key parts; `several`:
    those of the facet with several values, `many` if they are too many for a list entry each.
    `orders`: the keys of other sort orders. `words`, `ahead`: as stored. `version`: its shape,
    `format`: that of the kind, `added`: what that has more than the first format (`Kind.added`)."""

    sort: str
    facets: Mapping[str, str]
    words: tuple[str, ...] = ()
    ahead: tuple[str, ...] = ()
    generation: str = ""
    several: tuple[str, ...] = ()
    many: bool = False
    orders: Mapping[str, str] = field(default_factory=dict)
    version: int = 1
    format: int = kinds.FIRST
    added: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        sort: str,
        facets: Mapping[str, str],
        several: Iterable[str] = (),
        orders: Mapping[str, str] | None = None,
        texts: Iterable[str] = (),
        exact: Iterable[str] = (),
    ) -> "Index":
        """The index of a record that is found by `texts`, and by each of the `exact` as a whole.
        `orders`: text, which is sorted without case and accents, or a time."""
        if "#" in sort or "+" in sort:
            raise ValueError(f"{sort!r} cannot be a sort key: # and + separate the parts of a key")
        parts = {name: key_part(value) for name, value in facets.items()}
        return cls(
            sort,
            parts,
            tuple(text.words(texts, exact)),
            several=tuple(dict.fromkeys(map(several_part, several))),
            orders={name: _sortable(value) for name, value in (orders or {}).items()},
            version=kinds.CURRENT,
        )

    @property
    def listed(self) -> tuple[object, ...]:
        """Everything that its counts and its list entries depend on, but those in other orders."""
        shape = self.sort, self.version, self.format, self.added
        return *shape, self.facets, self.several, self.many, self.ahead, self.generation

    @property
    def worded(self) -> tuple[object, ...]:
        """Everything that its word entries depend on."""
        return self.words, self.ahead, self.generation, self.sort, self.version

    def stored(self) -> dict[str, object]:
        some = {
            "ahead": " ".join(self.ahead),  # no word has a blank in it
            "generation": self.generation,
            "several": list(self.several),
            "many": self.many,
            "orders": dict(self.orders),
            "added": dict(self.added),
        }
        return {
            "v": self.version,
            "sort": self.sort,
            "facets": dict(self.facets),
            "words": " ".join(self.words),
            "f": self.format,
            **{name: value for name, value in some.items() if value},
        }

    @classmethod
    def read(cls, stored: Fields) -> "Index":
        return cls(
            stored["sort"],
            stored["facets"],
            tuple(stored["words"].split()),
            tuple(stored.get("ahead", "").split()),
            stored.get("generation", ""),
            tuple(stored.get("several", ())),
            stored.get("many", False),
            stored.get("orders", {}),
            int(stored["v"]),
            int(stored["f"]),
            stored.get("added", {}),
        )

    @property
    def values(self) -> tuple[str, ...]:
        """Those of the facet with several values that have a list entry each."""
        return () if self.many else self.several

    @property
    def every_word(self) -> tuple[str, ...]:
        return self.words + self.ahead

    @property
    def word_bytes(self) -> int:
        return len(" ".join(self.every_word).encode())

    def matches(self, where: Mapping[str, frozenset[str]], terms: Iterable[str] = ()) -> bool:
        """Whether the record belongs to a list with these filters (key parts) and search terms."""
        return self.passes(where) and all(
            any(word.startswith(term) for word in self.every_word) for term in terms
        )

    def passes(self, where: Mapping[str, frozenset[str]]) -> bool:
        """`SEVERAL` is the facet with several values, by whatever name in the kind."""
        return all(
            not wanted.isdisjoint(self.several)
            if facet == SEVERAL
            else self.facets.get(facet, "") in wanted
            for facet, wanted in where.items()
        )


@dataclass(frozen=True)
class Record:
    """A record as stored. `fields`: names as shown where they are shown, and `index`."""

    fields: Fields

    @property
    def id(self) -> str:
        return str(self.fields["id"])

    @cached_property
    def index(self) -> Index:
        return Index.read(self.fields["index"])


_NONE: Final = Index("", {})  # of a record that is not there


def settled(before: Index | None, wanted: Index, *, inside: int, room: int) -> Index:
    """Decides which words always count, and which belong to a generation.

    Unchanged words keep their place. New ones are among the first `inside` if there is room. If
    more than `room` differ, all others are written again, ahead, as a new generation. Its name is
    random, so that no other attempt to write the record leaves words that count.
    """
    had = before or _NONE
    many = len(wanted.several) > inside // 2
    if wanted.many != many:
        wanted = replace(wanted, many=many)
    room, inside = room - value_writes(before, wanted), inside - len(wanted.values)
    words = dict.fromkeys(wanted.every_word)
    kept = [word for word in had.words if word in words]
    kept_ahead = [word for word in had.ahead if word in words]
    known, generation = {*kept, *kept_ahead}, had.generation
    new = [word for word in words if word not in known]
    differing = len(new) + len(had.every_word) - len(known)
    if before and (had.sort, had.version) != (wanted.sort, wanted.version):
        differing = len(words) + len(had.every_word)  # each has a new place
        inside = max(0, min(inside, room - len(had.words)))
        kept, new = kept[:inside], [*kept[inside:], *new]
    free = inside - len(kept)
    if differing > room:
        new, kept_ahead, generation = [*kept_ahead, *new], [], _generation()
        free = min(free, room - len(kept) - len(had.words))
    first, rest = new[: max(0, free)], new[max(0, free) :]
    ahead = (*kept_ahead, *rest)
    if ahead and not generation:
        generation = _generation()
    return replace(
        wanted,
        words=(*kept, *first),
        ahead=ahead,
        generation=generation,
    )


def value_writes(before: Index | None, after: Index | None) -> int:
    """The most writes of list entries of values between two versions of a record."""
    had, has = (one.values if one else () for one in (before, after))
    if before and after and (before.sort, before.version) != (after.sort, after.version):
        return len(had) + len(has)
    return len({*had, *has})


def several_part(value: str) -> str:
    """A value of the facet with several, short enough for a hundred of them in each list entry."""
    return key_part(value, 40)


def _sortable(value: str) -> str:
    """Without what sorts before `#`, after which an id follows: "Ring" comes before "Ring blue"."""
    plain = kinds.escape("$".join(text.fold(value).split())[:_LONGEST_SORT])
    return plain.replace("!", "%21").replace('"', "%22") or "!"


def _generation() -> str:
    return os.urandom(6).hex()
