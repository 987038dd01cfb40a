"""Everything that happened, in one order, for programs that keep a copy of the shop."""

from typing import Final

from chalice.app import Response

from chalicelib.events import model
from chalicelib.events import store as feed
from chalicelib.events.model import EventFeed, ReadEvents
from chalicelib.events.store import Happened
from chalicelib.problems import Gone
from chalicelib.products import store as products
from chalicelib.request import Role, Routes, query, reply, size

routes = Routes(__name__, "Events")

# Bytes as Lambda carries them: of an event besides its data, and of the answer; and in `stock`.
_AROUND: Final = 300
_OF_VARIANT: Final = 60


@routes.get(
    "/api/admin/events",
    "Read the change feed",
    role=Role.STAFF,
    query=ReadEvents,
    answers={200: EventFeed},
    problems=[Gone],
)
def read_events() -> Response:
    """The oldest first, 30 days back, each event once, deletions included. Keep asking with `next`
    as `after`: an empty answer is the end for now. The feed lags half a minute, so that nothing is
    missed. A cursor from before the oldest event is 410 `cursor_expired`. A sale changes the stock
    of its variants without a product.updated: to follow stock, send `stock=true` and use the
    `stock` of every event.
    """
    feed_query = query(ReadEvents)
    place = (
        model.parse_cursor(feed_query.after) if feed_query.after else feed.start(feed_query.since)
    )
    if feed.has_expired(place):
        raise Gone("The feed no longer has the events after this cursor. Start again without it.")
    kinds = frozenset(kind.value for kind in feed_query.types)

    def size_of(happened: Happened) -> int:
        stock = _OF_VARIANT * len(model.product_ids_by_variant(happened)) if feed_query.stock else 0
        return size.count_sent_bytes(happened.event.body) + _AROUND + stock

    most_bytes = size.LARGEST_ANSWER - _AROUND
    part = feed.read(place, kinds, feed_query.limit, most_bytes, size_of)
    events = [model.show(each) for each in part.events]
    if feed_query.stock:
        _add_stock(events, part.events)
    return reply(200, {"data": events, "next": model.render_cursor(part.next)})


def _add_stock(events: list[dict[str, object]], happened: list[Happened]) -> None:
    """Add the current stock to each event, so that later pages never have an older one."""
    about = list(map(model.product_ids_by_variant, happened))
    levels = products.stock_levels({product for variants in about for product in variants.values()})
    for event, variants in zip(events, about, strict=True):
        event["stock"] = {id: levels.get(of, {}).get(id) for id, of in variants.items()}
