"""Everything that happened, in one order, for programs that keep a copy of the shop."""

from typing import Final

from chalice.app import Response

from chalicelib import feed
from chalicelib.events import model
from chalicelib.events.model import EventFeed, ReadEvents
from chalicelib.problems import Gone
from chalicelib.request import Role, Routes, query, reply, size

routes = Routes(__name__, "Events")

_AROUND_EVENT: Final = 300  # bytes beside its data, as Lambda carries them


@routes.get(
    "/api/admin/events",
    "Read the change feed",
    role=Role.STAFF,
    query=ReadEvents,
    answers={200: EventFeed},
    problems=[Gone],
)
def read_events() -> Response:
    """The oldest first, 60 days back, each event once, deletions included. Ask again with `next` as
    `after`, for ever: an empty answer is the end for now. The feed is half a minute behind, so that
    nothing is missed. A cursor from before the oldest is 410 `cursor_expired`."""
    asked = query(ReadEvents)
    place = model.place(asked.after) if asked.after else feed.start(asked.since)
    if feed.has_expired(place):
        raise Gone("The feed no longer has what followed this cursor. Begin anew.")
    kinds = frozenset(kind.value for kind in asked.types)
    most = size.LARGEST_ANSWER - asked.limit * _AROUND_EVENT
    part = feed.read(place, kinds, asked.limit, most, size.carried)
    return reply(
        200, {"data": [model.show(each) for each in part.events], "next": model.cursor(part.next)}
    )
