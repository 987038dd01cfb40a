"""A test event: sample data for one endpoint, sent like any event."""

import json

from chalicelib import settings
from chalicelib.orders.model import LARGEST_ORDER
from chalicelib.problems import Invalid
from chalicelib.storage import outbox, table
from chalicelib.values.compact_json import encode
from chalicelib.webhooks import deliveries, replay, store
from chalicelib.webhooks.filter import lets_through
from chalicelib.webhooks.model import Delivery, Endpoint, EventKind
from chalicelib.webhooks.schemas import TestEvent


def send(endpoint_id: str, kind: EventKind | None) -> tuple[Delivery, bool]:
    """Write a test event into the outbox, and its delivery; return that and whether it would pass.

    It would pass if the endpoint's filter lets it through. The event is sent in any case: the
    stream brings it to the fan-out, which sends the delivery's message. It has an audit entry.
    `kind`: None for the first that the endpoint lists. Raises NotFound, WebhookPaused.
    """
    endpoint = store.get(endpoint_id)
    replay.require_enabled(endpoint)
    event = kind or endpoint.events[0]
    body = outbox.body(event, sample(event))
    traced = {"audit": [encode(store.audit_entry("tested", endpoint, endpoint))]}
    item = {**outbox.build_item([(event.value, body)], traced), "only": endpoint.id}
    table.put(item, table=settings.outbox_table())
    (announced,) = outbox.events_of(item)
    return deliveries.create(announced, endpoint.id, test=True), lets_through(endpoint.filter, body)


def try_filter(endpoint: Endpoint, request: TestEvent) -> dict[str, object]:
    """Return {event, data, passesFilter} (TriedEvent): whether an event would pass; none is sent.

    The filter is the requested one, if the request has one (null: none), or else the endpoint's.
    The event is the requested one, or the first that the endpoint lists; without data, a sample.
    Raises Invalid for a bad filter or too long data.
    """
    event = request.event or endpoint.events[0]
    own = store.render_filter(request.filter)
    data = request.data if request.data is not None else sample(event)
    body = json.dumps({"event": event, "data": data}, ensure_ascii=False, default=float)
    if len(body.encode()) > LARGEST_ORDER:
        raise Invalid.field("data", "too_long", f"must be at most {LARGEST_ORDER:,} bytes of JSON")
    pattern = own if "filter" in request.model_fields_set else endpoint.filter
    return {"event": event, "data": data, "passesFilter": lets_through(pattern, body)}


def sample(event: EventKind) -> dict[str, object]:
    """Return sample `data` of a kind of event, in the shape of real ones.

    The slice that announces the event makes it.
    """
    # Imported here, so that other requests do not load those slices.
    match event.value.partition(".")[0]:
        case "order" | "payment" | "refund" | "shipment" | "work":
            from chalicelib.orders import store as orders

            return orders.sample_event_data(event.value)
        case "file":
            from chalicelib.files import store as files

            return files.sample_event_data(event.value)
        case "customer":
            from chalicelib.customers import model, store

            return model.show(store.sample())
    from chalicelib.products import store as products

    return products.sample_event_data(event.value)
