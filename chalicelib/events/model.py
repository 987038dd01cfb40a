"""The change feed: its query and cursor."""

import base64
import binascii
import re
from typing import Annotated, Final, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.events.store import Happened, Place
from chalicelib.problems import Invalid
from chalicelib.schemas import DIGITS, QueryParameters, Several, about, at_most
from chalicelib.storage import outbox
from chalicelib.values.times import ZONE
from chalicelib.webhooks.model import EventKind
from chalicelib.webhooks.schemas import Moment

MOST_FEED_EVENTS: Final = 500


class ReadEvents(QueryParameters):
    after: Annotated[
        str | None, Field(max_length=200, description="`next` of the previous answer")
    ] = None
    since: Annotated[
        Moment | None,
        Field(
            description=f"Without `after`: begins with events that reached the feed then. {ZONE}"
        ),
    ] = None
    types: Several[EventKind] = Field(
        default_factory=list, description="Only events of these kinds."
    )
    limit: Annotated[
        int,
        Field(ge=1, description=f"Events per answer; more than {MOST_FEED_EVENTS} counts as that"),
        at_most(MOST_FEED_EVENTS),
        DIGITS,
    ] = 100
    stock: Annotated[
        bool,
        Field(
            description="Whether each event has `stock`, which sales change without a product event"
        ),
    ] = False


class FeedEvent(TypedDict):
    """An event as it was committed; webhooks get the same `data`."""

    id: Annotated[str, about("Identifier.")]
    event: Annotated[EventKind, about("Kind of the event.")]
    occurredAt: Annotated[str, about("When it was committed.")]
    data: Annotated[dict[str, object], about("What its webhooks get as `data`.")]
    stock: NotRequired[
        Annotated[
            dict[str, int | None],
            Field(
                description="With `stock=true`: the current stock of the variants in `data`, or"
                " that its edit moved, by id; null is not tracked"
            ),
        ]
    ]


class EventFeed(TypedDict):
    """`next` is always there: send it as `after` of the next request."""

    data: Annotated[list[FeedEvent], about("The items.")]
    next: Annotated[str, about("Send it as `after` of the next request; always present.")]


def show(happened: Happened) -> dict[str, object]:
    """Return the event in the shape of FeedEvent, without `stock`."""
    return {
        "id": happened.event.id,
        "event": happened.event.event,
        "occurredAt": happened.event.at,
        "data": happened.data,
    }


def product_ids_by_variant(happened: Happened) -> dict[str, str]:
    """Return the product's id for each variant of an event's product or order, by variant id.

    For an edit: for each variant whose stock it moved, since no order has a line that was removed.
    """
    data = happened.data
    if happened.event.event == EventKind.ORDER_EDITED:
        moves = outbox.trace_of(happened.item).get("moves", ())
        return {step["variantId"]: move["productId"] for move in moves for step in move["steps"]}
    if "variantId" in data:
        return {data["variantId"]: data["productId"]}
    lines = {line["variantId"]: line["productId"] for line in data.get("lineItems", ())}
    lines.pop(None, None)  # of custom lines
    return lines | {variant["id"]: data["id"] for variant in data.get("variants", ())}


def render_cursor(place: Place) -> str:
    text = f"{place.sk} {place.events}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def parse_cursor(cursor: str) -> Place:
    """Parse a cursor of the feed. Raises Invalid."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, ValueError):
        text = ""
    match = re.fullmatch(
        r"([0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z"
        r"(?:#evt_[0-9A-Z]{26})?) ([0-9]{1,4})",
        text,
    )
    if not match:
        raise Invalid.field("after", "invalid", "must be `next` of an answer")
    return Place(match[1], int(match[2]))
