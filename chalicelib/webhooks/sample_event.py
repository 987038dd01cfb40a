"""A test event: made up, for one endpoint, and sent the way of all events."""

from typing import Any

from chalicelib import outbox, settings, table
from chalicelib.webhooks import deliveries, replay
from chalicelib.webhooks.model import Delivery, EventKind


def send(endpoint_id: str, kind: EventKind | None) -> Delivery:
    """Its delivery. `kind` None: the first that the endpoint takes. Raises NotFound, WebhookPaused.

    The stream brings the event to the fan-out, which finds the delivery made.
    """
    endpoint = replay.receiving(endpoint_id)
    event = kind or endpoint.events[0]
    body = outbox.body(event, sample(event))
    item = {**outbox.item([(event.value, body)]), "only": endpoint.id, "test": True}
    table.put(item, table=settings.outbox_table())
    (announced,) = outbox.events_of(item)
    return deliveries.create(announced, endpoint.id, test=True)


def sample(event: EventKind) -> dict[str, Any]:
    """What such an event says, made by the slice that announces it: a receiver that takes this
    takes the real ones."""
    # Imported by whoever sends a test, so that no other request loads those slices.
    match event.value.partition(".")[0]:
        case "order":
            from chalicelib.orders import store as orders

            return orders.sample_of(event.value)
        case "customer":
            from chalicelib.customers import model, store

            return model.show(store.sample())
    from chalicelib.products import store as products

    return products.sample_of(event.value)
