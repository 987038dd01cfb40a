"""How an order is shown, in answers and in events."""

from collections.abc import Collection
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.customers.shown import OrderCustomer
from chalicelib.orders.model import ListOrders, Order, OrderStatus, PaymentStatus
from chalicelib.schemas import Sparse
from chalicelib.values.addresses import Address


class LineItem(TypedDict):
    """`title`, `sku` and `price` as when the order was placed."""

    id: str
    variantId: str
    productId: str
    title: str
    sku: str | None
    quantity: int
    price: str
    total: str


class OrderHistoryEntry(TypedDict):
    """`by`: the name of the API key. `change`: such as `status PENDING → PAID`."""

    at: str
    by: str
    change: str


class ShownOrder(TypedDict):
    """An order as the admin interface answers it, and as the order events carry it."""

    id: str
    number: str
    status: OrderStatus
    paymentStatus: PaymentStatus
    paymentMethod: str | None
    source: str
    customer: OrderCustomer | None
    shippingAddress: Annotated[Address | None, Field(description="A copy; null if none was given")]
    billingAddress: Annotated[Address | None, Field(description="A copy; null if none was given")]
    salesRepId: str | None
    lineItems: list[LineItem]
    currency: str
    subtotal: str
    tax: str
    total: str
    note: str | None
    tags: list[str]
    trackingNumber: str | None
    orderDate: str
    paidAt: Annotated[str | None, Field(description="When it was first paid.")]
    shippedAt: str | None
    createdAt: str
    updatedAt: str
    history: list[OrderHistoryEntry]


_LINE: Final = tuple(LineItem.__annotations__)
_ORDER: Final = tuple(name for name in ShownOrder.__annotations__ if name != "lineItems")


class OrderFields(Sparse):
    shape: ClassVar[Any] = ShownOrder


class ListOrderFields(ListOrders, OrderFields):
    pass


def show(order: Order, fields: Collection[str] = ()) -> dict[str, Any]:
    """The shape of ShownOrder, or these fields of it."""
    shown = {name: order.fields[name] for name in _ORDER if not fields or name in fields}
    if not fields or "lineItems" in fields:
        lines = order.fields["lineItems"]
        shown["lineItems"] = [{name: line[name] for name in _LINE} for line in lines]
    return shown
