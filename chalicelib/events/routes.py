"""Everything that happened, in one order, for programs that keep a copy of the shop."""

from typing import Any, Final

from chalice.app import Response

from chalicelib.events import model
from chalicelib.events.model import EventFeed, ReadEvents
from chalicelib.problems import Gone
from chalicelib.products import store as products
from chalicelib.request import Role, Routes, query, reply, size
from chalicelib.storage import feed

routes = Routes(__name__, "Events")

_AROUND_EVENT: Final = 300  # bytes besides its data, as Lambda carries them
_BESIDE_STOCK: Final = 60  # percent: in `data` a variant has at least 85 bytes, in `stock` 45


@routes.get(
    "/api/admin/events",
    "Read the change feed",
    role=Role.STAFF,
    query=ReadEvents,
    answers={200: EventFeed},
    problems=[Gone],
)
def read_events() -> Response:
    """The oldest first, 60 days back, each event once, deletions included. Keep asking with `next`
    as `after`: an empty answer is the end for now. The feed lags half a minute, so that nothing is
    missed. A cursor from before the oldest event is 410 `cursor_expired`. A sale changes the stock
    of its variants without a product.updated: to follow stock, send `stock=true` and use the
    `stock` of every event."""
    asked = query(ReadEvents)
    place = model.place(asked.after) if asked.after else feed.start(asked.since)
    if feed.has_expired(place):
        raise Gone("The feed no longer has the events after this cursor. Start again without it.")
    kinds = frozenset(kind.value for kind in asked.types)
    most = size.LARGEST_ANSWER - asked.limit * _AROUND_EVENT
    if asked.stock:
        most = most * _BESIDE_STOCK // 100
    part = feed.read(place, kinds, asked.limit, most, size.carried)
    events = [model.show(each) for each in part.events]
    if asked.stock:
        _add_stock(events)
    return reply(200, {"data": events, "next": model.cursor(part.next)})


def _add_stock(events: list[dict[str, Any]]) -> None:
    """The current stock, so later pages never have an older one."""
    about = [model.variants(event["data"]) for event in events]
    levels = products.levels({product for variants in about for product in variants.values()})
    for event, variants in zip(events, about, strict=True):
        event["stock"] = {id: levels.get(of, {}).get(id) for id, of in variants.items()}
