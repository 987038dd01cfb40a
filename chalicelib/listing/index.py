"""How one record is indexed. The record stores this, because its entries are removed by it.

Words are in the word index in one of two ways. A few, `words`, are written with the record, and
always count. The others, `ahead`, may be too many for the record's transaction; they are
written before it, and count only while the record's list entry names their `generation`. Words of
a failed write have another generation, and never count.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

from chalicelib.listing import kinds
from chalicelib.listing import words as text
from chalicelib.storage.attributes import Fields
from chalicelib.values.ids import key_part

SEVERAL: Final = "several"
CREATED: Final = "created"  # a measure: the sort of the record
_LONGEST_SORT: Final = 60  # characters of a text that count when a list is sorted by it
MOST_WORD_BYTES: Final = 150_000  # with a product of 200 KB it fits DynamoDB's 400 KB an item


@dataclass  # a frozen one takes five times as long to make
class Index:
    """The index of a record, as the record stores it.

    `sort`: text in whose descending order the kind is listed. `facets`: as key parts; `several`:
    the values of the facet with several, `many` if they are too many for a list entry each.
    `orders`: the keys of other sort orders. `measures`: texts by whose order entries are compared
    and sorted without their records. `words`, `ahead`: as stored.

    `lists`: those of its lists that the first release had not; `cells`: the values under which it
    is counted, and the first release did not count. A record names them, because code of the
    release before has to remove them with it.
    """

    sort: str
    facets: Mapping[str, str]
    words: tuple[str, ...] = ()
    ahead: tuple[str, ...] = ()
    generation: str = ""
    several: tuple[str, ...] = ()
    many: bool = False
    orders: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    lists: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()

    @classmethod
    def build(
        cls,
        *,
        sort: str,
        facets: Mapping[str, str],
        several: Iterable[str] = (),
        orders: Mapping[str, str] | None = None,
        measures: Mapping[str, str] | None = None,
        texts: Iterable[str] = (),
        exact: Iterable[str] = (),
    ) -> "Index":
        """Return the index of a record, without places for its words: all are in `words`.

        The record is found by the words of `texts`, and by each of the `exact` as a whole. The
        values of facets are made parts of keys. `sort`: its place in the kind's order. `orders`,
        `measures`: name → the text by which it is sorted, made a sort key (`to_sort_key`); only the
        measure CREATED is kept as it is. Raises ValueError if `sort` has a # or a +.
        """
        if "#" in sort or "+" in sort:
            raise ValueError(f"{sort!r} cannot be a sort key: # and + separate the parts of a key")
        parts = {name: key_part(value) for name, value in facets.items()}
        return cls(
            sort,
            parts,
            tuple(text.index_words(texts, exact)) if texts or exact else (),
            several=tuple(dict.fromkeys(map(several_part, several))),
            orders={name: to_sort_key(value) for name, value in (orders or {}).items()},
            measures={
                name: value if name == CREATED else to_sort_key(value)
                for name, value in (measures or {}).items()
            },
        )

    @property
    def list_state(self) -> tuple[object, ...]:
        """All that counts and list entries in the kind's own order are made of, but the measures.

        These are all fields except for the words inside, the other orders and the measures.
        """
        where = self.sort, self.facets, self.several, self.many, self.lists, self.cells
        return *where, self.ahead, self.generation

    @property
    def word_state(self) -> tuple[object, ...]:
        """All that word entries are made of: words, words ahead, their generation, and the sort."""
        return self.words, self.ahead, self.generation, self.sort

    def to_stored(self) -> dict[str, object]:
        """Return the value of the record's attribute `index`: a dict with the fields' names.

        `words` and `ahead` are one text each, with blanks between. Of all but `sort`, `facets` and
        `words`, empty ones are left out. `v` and `f`, always 1, are for release 1.0.0.
        """
        optional = {
            "ahead": " ".join(self.ahead),  # no word has a blank in it
            "generation": self.generation,
            "several": list(self.several),
            "many": self.many,
            "orders": dict(self.orders),
            "measures": dict(self.measures),
            "lists": list(self.lists),
            "cells": list(self.cells),
        }
        return {
            "v": 1,  # release 1.0.0 reads this, and `f`
            "sort": self.sort,
            "facets": dict(self.facets),
            "words": " ".join(self.words),
            "f": 1,
            **{name: value for name, value in optional.items() if value},
        }

    @classmethod
    def from_stored(cls, stored: Fields) -> "Index":
        """Return the index of the value that `to_stored` made: a record's attribute `index`.

        Its attributes are named as the fields. All but `sort`, `facets` and `words` may be absent:
        then they are empty. `words` and `ahead` are one text with blanks each.
        """
        return cls(
            stored["sort"],
            stored["facets"],
            tuple(stored["words"].split()),
            tuple(stored.get("ahead", "").split()),
            stored.get("generation", ""),
            tuple(stored.get("several", ())),
            stored.get("many", False),
            stored.get("orders", {}),
            stored.get("measures", {}),
            tuple(stored.get("lists", ())),
            tuple(stored.get("cells", ())),
        )

    @property
    def listed_values(self) -> tuple[str, ...]:
        """The values of the facet with several that have a list entry each: all of them, or none.

        None have one if there are `many`: one entry stands for all.
        """
        return () if self.many else self.several

    @property
    def every_word(self) -> tuple[str, ...]:
        """The words written with the record, and then those written ahead of it."""
        return self.words + self.ahead

    @property
    def word_bytes(self) -> int:
        """Return how many bytes the index's words take, with blanks between."""
        return len(" ".join(self.every_word).encode())

    def matches(self, where: Mapping[str, frozenset[str]], terms: Iterable[str] = ()) -> bool:
        """Return whether the record passes these filters, and each term begins one of `every_word`.

        The filters' values are key parts; the terms are folded.
        """
        return self.passes_filters(where) and all(
            any(word.startswith(term) for word in self.every_word) for term in terms
        )

    def passes_filters(self, where: Mapping[str, frozenset[str]]) -> bool:
        """Return whether the record has an accepted value of each facet in `where` (key parts).

        `SEVERAL` is the facet with several values, by whatever name in the kind.
        """
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
        return Index.from_stored(self.fields["index"])


_NONE: Final = Index("", {})  # of a record that is not there


class Placed(NamedTuple):
    """Where the words of a record are: `inside` its transaction, or `ahead` of it.

    `is_renewed`: all of `ahead` is written again, as a new generation.
    """

    inside: tuple[str, ...]
    ahead: tuple[str, ...]
    is_renewed: bool


def place_words(
    wanted: Iterable[str],
    inside: Sequence[str],
    ahead: Sequence[str],
    *,
    is_moved: bool = False,
    most: int,
    room: int,
) -> Placed:
    """Return which words are written in the record's transaction, and which ahead of it.

    Nothing is written here. `wanted`: the words of the new version, in the order in which they get
    a place inside. `inside`, `ahead`: where those of the version before are; `is_moved`: each has
    another key in the new version. `most`: how many may be inside. `room`: how many additions and
    removals the transaction takes; if more words differ, all others are written again, ahead.

    >>> place_words("abcd", "", "", most=9, room=4)  # all fit
    Placed(inside=('a', 'b', 'c', 'd'), ahead=(), is_renewed=False)
    >>> place_words("abcd", "", "", most=2, room=4)  # two have a place inside
    Placed(inside=('a', 'b'), ahead=('c', 'd'), is_renewed=False)
    >>> place_words("abcd", "", "", most=9, room=3)  # three of four writes have room
    Placed(inside=('a', 'b', 'c'), ahead=('d',), is_renewed=True)
    >>> place_words("abx", "ab", "cd", most=3, room=3)  # known words stay where they are
    Placed(inside=('a', 'b', 'x'), ahead=(), is_renewed=False)
    >>> place_words("abcxyz", "ab", "cd", most=3, room=3)  # four differ
    Placed(inside=('a', 'b'), ahead=('c', 'x', 'y', 'z'), is_renewed=True)
    >>> place_words("ab", "ab", "", is_moved=True, most=3, room=3)  # two removals, one addition
    Placed(inside=('a',), ahead=('b',), is_renewed=True)
    """
    words = dict.fromkeys(wanted)
    kept = [word for word in inside if word in words]
    kept_ahead = [word for word in ahead if word in words]
    known = {*kept, *kept_ahead}
    new = [word for word in words if word not in known]
    differing = len(new) + len(inside) + len(ahead) - len(known)
    if is_moved:
        differing = len(words) + len(inside) + len(ahead)
        most = max(0, min(most, room - len(inside)))
        kept, new = kept[:most], [*kept[most:], *new]
    free = most - len(kept)
    if differing > room:
        new, kept_ahead = [*kept_ahead, *new], []
        free = min(free, room - len(kept) - len(inside))
    free = max(0, free)
    return Placed((*kept, *new[:free]), (*kept_ahead, *new[free:]), differing > room)


def settle_words(before: Index | None, wanted: Index, *, inside: int, room: int) -> Index:
    """Return a copy of `wanted` with its words placed (`place_words`), and its generation set.

    A word of `before` stays where it is, if all changes fit. The generation of `before` stays too,
    also without words ahead. A new random one is made only if words ahead are all written again, or
    are the first: then no other attempt to write the record leaves words that count; it is "" if
    all are renewed and none is ahead. `inside`: how many words and listed values are in the
    transaction; `room`: how many additions and removals of words.
    """
    had = before or _NONE
    placed = place_words(
        wanted.every_word,
        had.words,
        had.ahead,
        is_moved=before is not None and had.sort != wanted.sort,
        most=inside - len(wanted.listed_values),
        room=room,
    )
    generation = "" if placed.is_renewed else had.generation
    if placed.ahead and not generation:
        generation = _new_generation()
    return replace(wanted, words=placed.inside, ahead=placed.ahead, generation=generation)


def value_writes(kind: kinds.Kind, before: Index | None, after: Index | None) -> int:
    """Return how many list entries and menu counts of several values a change writes at most.

    `before`, `after`: the record's indexes; None: there is none. A value that stays counts too; its
    list entry counts twice if the record's sort changes. Menu counts are none for a kind without
    that menu.
    """
    had, has = (index.listed_values if index else () for index in (before, after))
    is_moved = before and after and before.sort != after.sort
    entries = len(had) + len(has) if is_moved else len({*had, *has})
    return entries + (len({*had, *has}) if kind.several in kind.menus else 0)


def several_part(value: str) -> str:
    """Return a value of the facet with several as a part of a key of up to 40 characters.

    So a hundred fit in each list entry.
    """
    return key_part(value, 40)


def to_sort_key(value: str) -> str:
    """Return a text as a sort key: folded, its first 60 characters, "!" if nothing is left.

    Blanks become one `$`, and `%`, `#`, `!` and `"` are escaped, so it has nothing that sorts
    before `#`, after which an id follows: "Ring" comes before "Ring blue".
    """
    plain = kinds.escape("$".join(text.fold(value).split())[:_LONGEST_SORT])
    return plain.replace("!", "%21").replace('"', "%22") or "!"


def _new_generation() -> str:
    """Return a random name of a generation of words."""
    return os.urandom(6).hex()
