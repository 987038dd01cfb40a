"""A test event: made up, for one endpoint, and sent the way of all events."""

from typing import Any, Final

from chalicelib import outbox, settings, table
from chalicelib.webhooks import deliveries, replay
from chalicelib.webhooks.model import Delivery, EventKind

# In full, as `show` of each slice has it: a receiver that takes these takes the real ones.
_AT: Final = "2026-01-01T00:00:00.000Z"
_BUYER: Final = {
    "id": "cus_00000000000000000000000000",
    "email": "customer@example.com",
    "firstName": "Ada",
    "lastName": "Example",
}
_CUSTOMER: Final = {**_BUYER, "createdAt": _AT}
_VARIANT: Final = "var_000000000000000000000000000000000000"
_PRODUCT: Final = {
    "id": "prod_00000000000000000000000000",
    "slug": "example",
    "name": "Example",
    "description": None,
    "status": "ACTIVE",
    "published": True,
    "price": "19.90",
    "compareAtPrice": None,
    "currency": "USD",
    "sku": "EXAMPLE",
    "vendor": None,
    "type": None,
    "storefront": None,
    "tags": [],
    "lowStockThreshold": 5,
    "variants": [
        {"id": _VARIANT, "title": "Default", "sku": "EXAMPLE", "price": "19.90", "stock": 4}
    ],
    "images": [],
    "seo": {"title": None, "description": None},
    "metadata": {},
    "createdAt": _AT,
    "updatedAt": _AT,
}
_ORDER: Final = {
    "id": "ord_00000000000000000000000000",
    "number": "1001",
    "status": "PAID",
    "paymentStatus": "PAID",
    "paymentMethod": "CARD_TERMINAL",
    "source": "IN_PERSON",
    "customer": _BUYER,
    "salesRepId": None,
    "lineItems": [
        {
            "id": "line_00000000000000000000000000",
            "variantId": _VARIANT,
            "productId": _PRODUCT["id"],
            "title": "Example",
            "sku": "EXAMPLE",
            "quantity": 3,
            "price": "19.90",
            "total": "59.70",
        }
    ],
    "currency": "USD",
    "subtotal": "59.70",
    "tax": "0.00",
    "total": "59.70",
    "note": None,
    "tags": [],
    "trackingNumber": None,
    "orderDate": _AT,
    "paidAt": _AT,
    "shippedAt": None,
    "createdAt": _AT,
    "updatedAt": _AT,
    "history": [],
}
_LOW: Final = {
    "productId": _PRODUCT["id"],
    "productName": "Example",
    "variantId": _VARIANT,
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
