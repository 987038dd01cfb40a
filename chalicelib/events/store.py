"""Every event in one order: the change feed (`GET /api/admin/events`).

| item | pk | sk |
|---|---|---|
| entry | `feed#<hour>` | `<time>#<evt_…>`: `kinds` and `bytes` of the outbox's item |
| hour with entries | `feed` | `<hour>` |
| has its entry | `evt_…` | `feed` |

A commit writes none of this. A consumer of the outbox (`consumer.py`) gives each item an entry,
once, with the time of that write, however late the stream brings it. The last half minute is not
read, because writes may still be running: so no entry ever appears before one that was read.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from chalicelib import settings
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Item
from chalicelib.storage.table import sk
from chalicelib.values import clock

BEHIND: Final = timedelta(seconds=30)
KEPT: Final = timedelta(seconds=outbox.KEPT_SECONDS)
MOST_BYTES: Final = 4_000_000  # of bodies that are read at once
_HOURS: Final = 24  # and
_LOOKED_AT: Final = 2_000  # entries that one page looks through
HOUR: Final = len("2026-11-22T02")


@dataclass(frozen=True)
class Happened:
    """An event, and the outbox's item of its commit."""

    event: outbox.Event
    item: Item

    @property
    def data(self) -> Item:
        return self.event.data


@dataclass(frozen=True, order=True)
class Place:
    """After so many events of the entry `sk`. A time alone is before all its entries."""

    sk: str
    events: int = 0


@dataclass(frozen=True)
class Part:
    """The next events, the oldest first, and where the next part starts."""

    events: list[Happened]
    next: Place


# --- Reading --------------------------------------------------------------------------------------


def start(since: datetime | None = None) -> Place:
    """Before what reached the feed since then, or by default before the oldest entry."""
    oldest = clock.now() - KEPT
    return Place(clock.iso(max(oldest, since) if since else oldest))


def has_expired(place: Place) -> bool:
    return place < Place(clock.iso(clock.now() - KEPT - timedelta(minutes=1)))


def read(
    place: Place,
    kinds: frozenset[str],
    limit: int,
    most_bytes: int,
    size_of: Callable[[Happened], int],
) -> Part:
    """Return the events after a place, at most `limit`, and the place after them.

    `kinds`: only these, or all if it is empty. The events' sizes add up to at most `most_bytes`,
    but there is at least one event. A limited number of entries is read, so a part may have no
    events though more follow.
    """
    until = clock.iso(clock.now() - BEHIND)
    if place.sk >= until:
        return Part([], place)
    hours = table.query("feed", where=sk.between(place.sk[:HOUR], until[:HOUR]), limit=_HOURS)
    events: list[Happened] = []
    size = looked_at = 0
    for entries in _entries([hour["sk"] for hour in hours.items], place, until, limit):
        items = _load_bodies(entries, kinds)
        for entry in entries:
            begin = place.events if entry["sk"] == place.sk else 0
            item = items.get(entry["sk"].partition("#")[2], {"events": []})
            for number, event in list(enumerate(outbox.events_of(item)))[begin:]:
                if kinds and event.event not in kinds:
                    continue
                happened = Happened(event, item)
                size += size_of(happened)
                if len(events) == limit or (events and size > most_bytes):
                    return Part(events, Place(entry["sk"], number))
                events.append(happened)
        place = Place(entries[-1]["sk"], outbox.MOST_COMMIT_EVENTS)
        looked_at += len(entries)
        if len(events) == limit or looked_at >= _LOOKED_AT:
            return Part(events, place)
    if hours.after is not None:
        until = f"{hours.items[-1]['sk']}:59:59.999Z"
    return Part(events, max(place, Place(until)))


def _entries(hours: Iterable[str], place: Place, until: str, limit: int) -> Iterator[list[Item]]:
    """Entries in pages whose bodies can be read at once."""
    in_range = sk.between(place.sk, f"{until}~")
    for hour in hours:
        for page in table.pages(f"feed#{hour}", where=in_range, limit=limit + 1):
            yield from _small(page)


def _small(entries: Sequence[Item]) -> Iterator[list[Item]]:
    page: list[Item] = []
    size = 0
    for entry in entries:
        if page and size + entry["bytes"] > MOST_BYTES:
            yield page
            page, size = [], 0
        page.append(entry)
        size += int(entry["bytes"])
    if page:
        yield page


def _load_bodies(entries: Sequence[Item], kinds: frozenset[str]) -> dict[str, Item]:
    """Return the outbox items of the entries with wanted events, by id."""
    wanted = [
        entry["sk"].partition("#")[2]
        for entry in entries
        if not kinds or kinds & set(entry["kinds"])
    ]
    items = table.batch_get(map(outbox.key, wanted), table=settings.outbox_table())
    now = clock.unix()  # what has expired may be there for days
    wanted_items = ((pk, item) for (pk, _), item in items.items() if item["expiresAt"] > now)
    return {pk: item for pk, item in wanted_items if "only" not in item}
