"""Which reindexing each kind of record has behind it: its number, in the item of the release.

A facet, a combined list or an order that the first release had not takes the next number
(`Kind.since`). The job of a reindexing brings it to all records, and then notes the number. Until
then, whoever asks for it gets 503. Each record names its added lists and cells itself
(`Index.lists`, `Index.cells`): code of the release before, which runs for some minutes beside the
new one and after a roll-back, removes them with the record.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from chalicelib.listing.kinds import FIRST, Kind
from chalicelib.problems import Problem
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key

RELEASE: Final[Key] = ("release", "deployed")  # what it holds: infra/release.py


class Reindexing(Problem):
    """503: records are being reindexed for this filter or sort order (`infra/reindex.py`)."""

    status, code = 503, "reindexing"


def number_in(release: Item | None, kind: Kind) -> int:
    """Return the number of the last reindexing of a kind that was finished, by the release's item.

    FIRST if there was none, or no item.
    """
    return int((release or {}).get("indexed", {}).get(kind.name, FIRST))


def limit_to_indexed(kind: Kind, features: Iterable[str], also: Iterable[str] = ()) -> Kind:
    """Return the kind without its counts, combined lists and menus that lack records as yet.

    `features`: the facets and the order (`*<order>`) that a request needs; raises Reindexing if one
    lacks records. `also`: names in `since` that it uses only if all records are indexed for them.
    The release's item is read only if one of these, of `under` or of the combined lists came after
    the first release; otherwise the kind is returned as it is, unread.
    """
    wanted = set(features)
    if kind.since.keys().isdisjoint({*wanted, *also, *kind.under, *kind.combined}):
        return kind
    return limit_to_release(kind, wanted, table.get(RELEASE))


def limit_to_release(kind: Kind, features: Iterable[str], release: Item | None) -> Kind:
    """Return the kind without what came after the last reindexing that the release's item names.

    That is facets of `under`, combined lists and menus. Nothing is read; `release` None: no
    reindexing was finished. Raises Reindexing, with Retry-After, if such a one, or an order, is in
    `features`.
    """
    number = number_in(release, kind)
    late = {name for name, first in kind.since.items() if first > number}
    if waiting := sorted(late.intersection(features)):
        names = ", ".join(dict.fromkeys(_name_feature(kind, name) for name in waiting))
        message = f"Not available yet: {names}. Records are being reindexed."
        raise Reindexing(f"{message} Try again later.", headers={"Retry-After": "60"})
    return replace(
        kind,
        under=tuple(facet for facet in kind.under if facet not in late),
        combined={name: facets for name, facets in kind.combined.items() if name not in late},
        menus=tuple(facet for facet in kind.menus if f"@{facet}" not in late),
    )


def _name_feature(kind: Kind, name: str) -> str:
    """Return what a client calls a name in `Kind.since`, for a message.

    `@brand` → `the values of brand`; `brand` → `brand`, the filter; `*updated` → `sorting by
    updatedAt`; another `*name` → `sorting by name`; `*<shelf>-price` → `lists by price`.
    """
    if name[0] == "@":
        return f"the values of {name[1:]}"
    if name[0] != "*":
        return name
    order = name[1:].removeprefix(f"{kind.shelf}-")
    if order != name[1:]:
        return f"lists by {order}"
    return f"sorting by {'updatedAt' if order == 'updated' else order}"
