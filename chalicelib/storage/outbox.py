"""The events of one commit, as one item written together with their records.

Shape of the item: `{pk: "evt_<ulid>", sk: "events", events: [{event: "order.paid", body: "{…}"}],
at: ISO 8601, expiresAt: Unix seconds}`. `body` is the exact text that every delivery of that event
sends, even if the resource or the code changes later. `trace`: JSON of what the ledger gets of the
commit (`stock/store.py`): `{actor: {…}, moves: […]}`.
The id of an event is the item's, followed by its place in the list, so an event finds its item.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from chalicelib.storage import actor
from chalicelib.values import clock, ids

if TYPE_CHECKING:  # loads the models of addresses, which other requests do not need
    from chalicelib.values.forgetting import Person

# A replay on day 30 of a delivery's life, and the week of retries after it, still find the body.
KEPT_SECONDS: Final = 60 * 86_400
MOST_COMMIT_EVENTS: Final = 1_000  # of one commit: their ids end in two characters
_DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Event:
    """Something that happened: its kind (docs/webhooks.md#events) and the JSON it sends."""

    id: str
    event: str
    body: str

    def data(self) -> dict[str, object]:
        """The resource as the API showed it."""
        data: dict[str, object] = json.loads(self.body)["data"]
        return data


def body(event: str, data: Mapping[str, object]) -> str:
    """The text that every delivery of an event sends; `data`: the resource as the API shows it."""
    return json.dumps({"event": event, "data": data}, ensure_ascii=False, separators=(",", ":"))


def item(
    events: Sequence[tuple[str, str]], traced: Mapping[str, Sequence[object]] | None = None
) -> dict[str, object]:
    """The outbox item for the (event, body) pairs of a commit, at most MOST_COMMIT_EVENTS, and for
    what it traces."""
    made = {"actor": actor.current().stored(), **(traced or {})}
    text = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    return {
        **({"trace": text} if traced else {}),
        "pk": ids.new("evt"),
        "sk": "events",
        "events": [{"event": event, "body": body} for event, body in events],
        "at": clock.iso(clock.now()),
        "expiresAt": clock.unix() + KEPT_SECONDS,
    }


def forgotten(
    item: Mapping[str, object], person: "Person"
) -> tuple[int, set[str], dict[str, object]]:
    """How many events of an item are about a person, their identifying texts, and the item
    without them."""
    about, facts, events = 0, set[str](), []
    if not isinstance(item["events"], list):
        return 0, facts, dict(item)  # unreadable: it is in the dead letters
    for entry in item["events"]:
        data, text = json.loads(entry["body"])["data"], entry["body"]
        if person.is_about(data):
            about += 1
            facts |= person.facts_in(data)
            text = body(entry["event"], person.forget(data))
        elif places := person.own_places(data):
            text = body(entry["event"], person.leave(data, places))
        events.append({**entry, "body": text})
    return about, facts, {**item, "events": events}


def trace_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """What a commit traced: `{actor, moves}`; empty if nothing."""
    made: dict[str, Any] = json.loads(item.get("trace", "{}"))
    return made


def key(event_id: str) -> tuple[str, str]:
    """The key of an event's item."""
    return event_id[:30], "events"


def events_of(item: Mapping[str, Any]) -> Iterator[Event]:
    """The events in an outbox item."""
    for place, entry in enumerate(item["events"]):
        yield Event(f"{item['pk']}{_place(place)}", entry["event"], entry["body"])


def _place(number: int) -> str:
    """00 to 99, then A0 to ZZ: nearly all are 00, the only event of their commit."""
    if number < 100:
        return f"{number:02d}"
    letter, digit = divmod(number - 100, 36)
    return _DIGITS[10 + letter] + _DIGITS[digit]
