"""The events of one commit, as one item written together with their records.

Shape of the item: `{pk: "evt_<ulid>", sk: "events", events: [{event: "order.paid", body: "{…}"}],
at: ISO 8601, expiresAt: Unix seconds}`. `body` is the exact text that every delivery of that event
sends, even if the resource or the code changes later. `trace`: JSON of what is kept for good of the
commit: `{actor: {…}, moves: […], audit: […]}`, of which the fan-out makes the entries of the ledger
(`ledger/store.py`) and of the audit log (`audit/consumer.py`).
The id of an event is the item's, followed by its place in the list, so an event finds its item.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

from chalicelib.storage import actor
from chalicelib.storage.attributes import Fields, Item, Key
from chalicelib.values import clock, ids
from chalicelib.values.changes import list_changes
from chalicelib.values.compact_json import encode

KEPT_SECONDS: Final = 30 * 86_400  # what an erasure leaves ends by itself within this time
MOST_COMMIT_EVENTS: Final = 1_000  # of one commit: their ids end in two characters
T = TypeVar("T")
_DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Event:
    """Something that happened, once committed.

    Its kind (docs/webhooks.md#events), the JSON it sends, and when it was committed.
    """

    id: str
    event: str
    body: str
    at: str

    @cached_property
    def data(self) -> Item:
        """The resource as the API showed it, parsed from the body.

        Numbers with a point are floats.
        """
        data: Item = json.loads(self.body)["data"]
        return data


class Committed:
    """What one commit left in the outbox, taken apart once for all who read it.

    `is_republished`: an operator asks for it again. `failure`: why it could not be read, or made
    into deliveries; it becomes a dead letter.
    """

    def __init__(self, item: Fields, *, is_republished: bool = False) -> None:
        self.item = item
        self.id: str = item["pk"]
        self.events = list(events_of(item))
        self.is_republished = is_republished
        self.failure: Exception | None = None

    @cached_property
    def trace(self) -> Item:
        """What the commit traced, parsed: those it has of `actor`, `moves`, `audit`; {} if none."""
        return trace_of(self.item)

    @property
    def is_for_one_webhook(self) -> bool:
        """Whether its item has `only`, the webhook to which alone it goes: it is a test event.

        Its audit entry is written as any other.
        """
        return "only" in self.item

    @property
    def feed_mark_key(self) -> Key:
        """The key (`<id of this>`, `feed`) of the item that marks this as being in the feed.

        It is in the main table. When it is there, all consumers have handled this.
        """
        return self.id, "feed"

    @property
    def has_expired(self) -> bool:
        """Whether AWS may have deleted its item, or its mark: `expiresAt` of both is over."""
        return bool(self.item["expiresAt"] <= clock.unix())


def body(event: str, data: Mapping[str, object]) -> str:
    """Return the text that every delivery of an event sends: JSON, {"event": …, "data": …}.

    `data`: the resource as the API shows it.
    """
    return encode({"event": event, "data": data})


def build_item(
    events: Sequence[tuple[str, str]], traced: Mapping[str, Sequence[str]] | None = None
) -> dict[str, object]:
    """Return a new outbox item, not yet written, for a commit's events and for what it traces.

    `events`: (event, body) pairs, at most MOST_COMMIT_EVENTS; `traced`: lists of JSON texts by
    name. Its id is new, its time now, and it expires after KEPT_SECONDS. If something is traced,
    `trace` is the JSON of that and of the current actor.
    """
    lists = "".join(f',"{name}":[{",".join(made)}]' for name, made in (traced or {}).items())
    return {
        **({"trace": f'{{"actor":{encode(actor.current().to_trace())}{lists}}}'} if traced else {}),
        "pk": ids.new_id("evt"),
        "sk": "events",
        "events": [{"event": event, "body": body} for event, body in events],
        "at": clock.now_iso(),
        "expiresAt": clock.unix() + KEPT_SECONDS,
    }


def audit_entry(
    kind: str,
    id: str | None,
    before: T | None = None,
    after: T | None = None,
    *,
    show: Callable[[T], Mapping[str, object]] | None = None,
    action: str = "",
    **more: object,
) -> dict[str, object]:
    """Return an audit entry: {action, record: {type, id, number, name}, changes, **more}.

    `action`: the one given, or else `<kind>.created`, `.updated` or `.deleted` by what `show`
    returns; without `show` it is `.deleted`. `number` and `name` of `more` are in `record` alone,
    as texts. `before`, `after`: the record; None if it did not, or does not, exist. `show`: returns
    it as the API shows it, without secrets; without `show`, there are no changes. `more`: also
    `customers`, the ids of those whose values may be among the record's. Who and when is not in it:
    the outbox item has that.
    """
    was, now = (show(version) if show and version else None for version in (before, after))
    done = "deleted" if now is None else "created" if was is None else "updated"
    record = {"type": kind, "id": id}
    names = {name: more.pop(name, None) for name in ("number", "name")}
    record |= {name: str(value) for name, value in names.items() if value}
    changes = list_changes(kind, was, now)
    return {"action": action or f"{kind}.{done}", "record": record, "changes": changes, **more}


def trace_of(item: Fields) -> Item:
    """Return what the commit of an outbox item traced, parsed: `{actor, moves, audit}` or {}."""
    trace: dict[str, object] = json.loads(item.get("trace", "{}"))
    return trace


def key(event_id: str) -> tuple[str, str]:
    """Return the key of the outbox item that has the event with this id."""
    return event_id[:30], "events"


def events_of(item: Fields) -> Iterator[Event]:
    """Yield the events of an outbox item: each id is its `pk` and two characters for its place.

    Their time is the item's `at`. The bodies stay text.
    """
    for place, entry in enumerate(item["events"]):
        yield Event(f"{item['pk']}{_place(place)}", entry["event"], entry["body"], item["at"])


def _place(number: int) -> str:
    """Return an event's place in its commit as two characters: 00 to 99, then A0 to ZZ.

    Nearly all are 00, the only event of their commit.
    """
    if number < 100:
        return f"{number:02d}"
    letter, digit = divmod(number - 100, 36)
    return _DIGITS[10 + letter] + _DIGITS[digit]
