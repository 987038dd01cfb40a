"""A kind of record for these tests, its store, and a simple model of lists."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import pytest

from chalicelib import listing
from chalicelib.listing import words
from chalicelib.storage import table
from chalicelib.storage.attributes import Item
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.values import ids

KIND = listing.Kind(
    "thing",
    counted=("status", "published", "storefront"),
    under=("type", "vendor"),
    split="storefront",
    listed=("status", "type", "storefront", "vendor", "owner"),
    combined={
        "live": {"status": "ACTIVE", "published": "yes"},
        "hidden": {"published": "no"},
    },
    several="tag",
    orders=("name",),
    inside=12,
    room=24,
)
_moments = count()
WORDS_BEFORE = words.index_words
FACETS = {"status": "ACTIVE", "published": "yes", "storefront": "", "type": ""} | {
    "vendor": "",
    "owner": "",
}


@dataclass(frozen=True)
class Thing:
    id: str
    sort: str
    facets: Mapping[str, str]
    texts: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    version: int = 1
    stored_index: listing.Index | None = None

    @property
    def index(self) -> listing.Index:
        return self.stored_index or indexed(self)

    @property
    def name(self) -> str:
        """The sort value in lists sorted by name."""
        return self.texts[0] if self.texts else ""

    @property
    def position(self) -> str:
        return f"{self.sort}#{self.id}"


def thing(name: str = "", *, sort: str | None = None, **facets: str) -> Thing:
    """A valid one; `facets` override."""
    id = ids.new_id("thing")
    return Thing(id, sort or f"{next(_moments):06d}", {**FACETS, **facets}, (name,) if name else ())


def indexed(one: Thing) -> listing.Index:
    return listing.Index.build(
        sort=one.sort,
        facets=one.facets,
        several=one.tags,
        orders={"name": one.name},
        texts=one.texts,
        exact=one.texts[:1],
    )


def item(one: Thing, index: listing.Index) -> Item:
    fields = {"facets": dict(one.facets), "texts": list(one.texts), "sort": one.sort}
    fields["tags"] = list(one.tags)
    key = {"pk": one.id, "sk": "thing"}
    return {**key, **fields, "version": one.version, "index": index.to_stored()}


def read(stored: Item) -> Thing:
    return Thing(
        stored["pk"],
        stored["sort"],
        stored["facets"],
        tuple(stored["texts"]),
        tuple(stored["tags"]),
        stored.get("version", 1),
        listing.Index.from_stored(stored["index"]),
    )


def load(wanted: Iterable[str]) -> list[Thing]:
    keys = [(id, "thing") for id in wanted]
    found = table.batch_get(keys)
    return [read(found[key]) for key in keys if key in found]


def index_of(stored: Item) -> listing.Index:
    return indexed(read(stored))


RECORDS = listing.Records(KIND, lambda id: (id, "thing"), index_of, read)


def find(id: str) -> Thing | None:
    stored = table.get((id, "thing"))
    return read(stored) if stored else None


def writes(before: Thing | None, after: Thing | None, kind: listing.Kind = KIND) -> Commit:
    """Writes the next version, if nobody else has written one since."""
    commit = Commit()
    one = after or before
    assert one
    unchanged = Attr("version").eq(before.version) if before else table.absent
    new = replace(after, version=before.version + 1 if before else 1) if after else None
    index = listing.change(
        commit, kind, one.id, before.index if before else None, indexed(new) if new else None
    )
    if new and index:
        commit.put(item(new, index), when=unchanged)
    else:
        commit.delete((one.id, "thing"), when=unchanged)
    return commit


def create(*things: Thing, kind: listing.Kind = KIND) -> None:
    for one in things:
        writes(None, one, kind).send()


def update(one: Thing, **changes: object) -> Thing:
    before = find(one.id)
    assert before
    after = replace(before, **changes)  # type: ignore[arg-type]
    writes(before, after).send()
    found = find(one.id)
    assert found
    return found


def delete(one: Thing) -> None:
    writes(find(one.id), None).send()


def deploy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deploys code that finds every record by one more word."""
    monkeypatch.setattr(words, "index_words", lambda *texts: [*WORDS_BEFORE(*texts), "upgraded"])


def page(
    where: Mapping[str, Iterable[str]] | None = None, search: str = "", **options: Any
) -> listing.Page[Thing]:
    """`options`: of listing.Query (limit 100 unless given), and `kind`."""
    kind = options.pop("kind", KIND)
    filters = {facet: frozenset(values) for facet, values in (where or {}).items()}
    return listing.read_page(
        kind, listing.Query(filters, search, **{"limit": 100, **options}), load
    )


def names(found: listing.Page[Thing]) -> list[str]:
    return [one.texts[0] for one in found.records]


# --- The model ------------------------------------------------------------------------------------


def passes(where: Mapping[str, frozenset[str]]) -> Callable[[Thing], bool]:
    return lambda one: all(
        not accepted.isdisjoint(one.tags) if facet == "tag" else one.facets[facet] in accepted
        for facet, accepted in where.items()
    )


def has_word(one: Thing, term: str) -> bool:
    """Whether one of its words, or a part within a word, begins with the term."""
    return any(
        word[at : at + words.LONGEST_WORD].startswith(term)
        for text in one.texts
        for word in words.fold(text).split()
        for at in range(len(word))
        if _is_start(word, at)
    )


def _is_start(word: str, at: int) -> bool:
    here, before = word[at], word[at - 1] if at else " "
    if at == 0 or here in "🙂🙃" or _unspaced(here) or _unspaced(before):
        return True
    digits = word[at : at + 3]
    return (here.isalnum() and not before.isalnum()) or (digits.isdigit() and len(digits) == 3)


def _unspaced(letter: str) -> bool:
    return "\u3041" <= letter <= "\u30ff" or "\u3400" <= letter <= "\u9fff"
