"""A test event: made up, for one endpoint, and sent the way of all events."""

from typing import Any, Final

from chalicelib import outbox, settings, table
from chalicelib.webhooks import deliveries, replay
from chalicelib.webhooks.model import Delivery, EventKind

_CUSTOMER: Final = {
    "id": "cus_00000000000000000000000000",
    "email": "customer@example.com",
    "firstName": "Ada",
    "lastName": "Example",
}
_ORDER: Final = {
    "id": "ord_00000000000000000000000000",
    "number": "1001",
    "status": "PAID",
    "total": "59.70",
    "currency": "USD",
    "customer": _CUSTOMER,
    "paidAt": "2026-01-01T00:00:00.000Z",
}
_PRODUCT: Final = {
    "id": "prod_00000000000000000000000000",
    "slug": "example",
    "name": "Example",
    "status": "ACTIVE",
    "price": "19.90",
    "currency": "USD",
    "createdAt": "2026-01-01T00:00:00.000Z",
    "variants": [],
    "images": [],
    "seo": {"title": None, "description": None},
}
_LOW: Final = {
    "productId": _PRODUCT["id"],
    "productName": "Example",
    "variantId": "var_00000000000000000000000000",
    "variantTitle": "Default",
    "sku": "EXAMPLE",
    "stock": 4,
    "threshold": 5,
}


def send(endpoint_id: str, kind: EventKind | None) -> Delivery:
    """Its delivery. `kind` None: the first that the endpoint takes. Raises NotFound, WebhookPaused.

    The stream brings the event to the fan-out, which finds the delivery made.
    """
    endpoint = replay.receiving(endpoint_id)
    event = kind or endpoint.events[0]
    body = outbox.body(event, _sample(event))
    item = {**outbox.item([(event.value, body)]), "only": endpoint.id, "test": True}
    table.put(item, table=settings.outbox_table())
    (announced,) = outbox.events_of(item)
    return deliveries.create(announced, endpoint.id, test=True)


def _sample(event: EventKind) -> dict[str, Any]:
    match event.value.partition(".")[0]:
        case "order":
            shipped = {"trackingNumber": "EXAMPLE-1"} if event is EventKind.ORDER_SHIPPED else {}
            return {**_ORDER, **shipped}
        case "customer":
            return _CUSTOMER
        case "product":
            return _PRODUCT
    return _LOW
