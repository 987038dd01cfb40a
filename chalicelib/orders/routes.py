"""Orders, for the shop's staff and programs."""

from chalice.app import Response

from chalicelib.orders import store
from chalicelib.orders.model import NewOrder, OrderChange
from chalicelib.orders.shown import ListOrderFields, OrderFields, ShownOrder, show
from chalicelib.problems import NotFound, PreconditionFailed
from chalicelib.request import (
    IDEMPOTENT,
    Role,
    Routes,
    body,
    body_once,
    caller,
    if_match,
    query,
    reply,
    reply_page,
)
from chalicelib.request.answer import reply_text
from chalicelib.schemas import Deleted, Walked

routes = Routes(__name__, "Orders")


@routes.get(
    "/api/admin/orders",
    "List orders",
    role=Role.READER,
    query=ListOrderFields,
    answers={200: Walked[ShownOrder]},
)
def list_orders() -> Response:
    """By order date, newest first. `search` finds the beginnings of words in the number (also its
    last three or more digits), tracking number, customer's name and e-mail, tags, and lines."""
    asked = query(ListOrderFields)
    page = store.page(asked.query(), asked.fields)
    shown = [show(order, asked.fields) for order in page.records]
    return reply_page(shown, page)


@routes.post(
    "/api/admin/orders",
    "Create an order",
    role=Role.STAFF,
    body=NewOrder,
    answers={201: ShownOrder},
    headers=IDEMPOTENT,
    reads_first=True,
)
def create() -> Response:
    """Takes stock, or is refused: 422 `insufficient_stock` names the lines. With
    `paymentStatus` PAID it starts as PAID. Emits order.created, and order.paid, customer.created,
    inventory.low where they apply."""
    new, once = body_once(NewOrder)
    order, text = store.place(new, caller().name, once)
    return reply_text(201, text, etag=order.etag)


@routes.get(
    "/api/admin/orders/{id}",
    "Get an order",
    role=Role.READER,
    query=OrderFields,
    answers={200: ShownOrder, 304: None},
    problems=[NotFound],
)
def get(id: str) -> Response:
    """With `fields` there is no ETag."""
    fields = query(OrderFields).fields
    order = store.get(id, fields)
    return reply(200, show(order, fields), etag=None if fields else order.etag)


@routes.patch(
    "/api/admin/orders/{id}",
    "Change an order",
    role=Role.STAFF,
    body=OrderChange,
    answers={200: ShownOrder},
    problems=[NotFound, PreconditionFailed],
    reads_first=True,
)
def update(id: str) -> Response:
    """`status` moves along the transitions only; any other is 422 `invalid_transition` with
    `from`, `to` and `allowed`. PAID and REFUNDED set the payment status too; CANCELLED and REFUNDED
    return the stock. Emits order.updated, and the more specific events."""
    order = store.change(id, body(OrderChange), caller().name, if_match())
    return reply(200, show(order), etag=order.etag)


@routes.delete(
    "/api/admin/orders/{id}",
    "Delete an order",
    role=Role.OWNER,
    answers={200: Deleted},
    problems=[NotFound, PreconditionFailed],
    reads_first=True,
)
def delete(id: str) -> Response:
    """If it was not shipped, its stock is returned."""
    store.remove(id, if_match())
    return reply(200, {"id": id, "deleted": True})
