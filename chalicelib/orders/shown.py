"""How an order is shown, in answers and in events."""

from collections.abc import Collection
from typing import Annotated, ClassVar, Final

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.customers.shown import OrderCustomer
from chalicelib.orders.model import ListOrders, Order, OrderStatus, PaymentStatus
from chalicelib.schemas import Sparse, about
from chalicelib.values.addresses import Address


class LineItem(TypedDict):
    """`title`, `sku` and `price` as when the order was placed."""

    id: Annotated[str, about("Identifier.")]
    variantId: Annotated[str, about("Id of the variant, `var_…`.")]
    productId: Annotated[str, about("Id of the product.")]
    title: Annotated[str, about("Title.")]
    sku: Annotated[str | None, about("Stock keeping unit.")]
    quantity: Annotated[int, about("How many pieces.")]
    price: Annotated[str, about("Of one piece, when the order was placed.")]
    total: Annotated[str, about("Quantity times price; a decimal amount.")]


class OrderHistoryEntry(TypedDict):
    """`by`: the name of the API key. `change`: such as `status PENDING → PAID`."""

    at: Annotated[str, about("When it happened.")]
    by: Annotated[str, about("Name of the API key.")]
    change: Annotated[str, about("What was changed, such as `status PENDING → PAID`.")]


class ShownOrder(TypedDict):
    """An order as the admin interface answers it, and as the order events carry it."""

    id: Annotated[str, about("Identifier.")]
    number: Annotated[str, about("Number for people, such as 1001.")]
    status: Annotated[OrderStatus, about("Its state.")]
    paymentStatus: Annotated[PaymentStatus, about("Whether it is paid.")]
    paymentMethod: Annotated[str | None, about("How it is paid, such as CARD_TERMINAL.")]
    source: Annotated[str, about("Where the order came from, such as IN_PERSON.")]
    customer: Annotated[OrderCustomer | None, about("Who ordered; null: no customer.")]
    shippingAddress: Annotated[Address | None, Field(description="A copy; null if none was given")]
    billingAddress: Annotated[Address | None, Field(description="A copy; null if none was given")]
    salesRepId: Annotated[str | None, about("Employee who sold it, `emp_…`; null: none.")]
    lineItems: Annotated[list[LineItem], about("Items of the order.")]
    currency: Annotated[str, about("The shop's currency, ISO 4217.")]
    subtotal: Annotated[str, about("Sum of the lines; a decimal amount.")]
    tax: Annotated[str, about("A decimal amount.")]
    total: Annotated[str, about("What is to be paid; a decimal amount.")]
    note: Annotated[str | None, about("Free text about it.")]
    tags: Annotated[list[str], about("Words to find it by.")]
    trackingNumber: Annotated[str | None, about("Of the parcel; null: none is known.")]
    orderDate: Annotated[str, about("When it was ordered; may be in the past.")]
    paidAt: Annotated[str | None, Field(description="When it was first paid.")]
    shippedAt: Annotated[str | None, about("When it was shipped; null: it is not.")]
    createdAt: Annotated[str, about("When it was created.")]
    updatedAt: Annotated[str, about("When it was last changed.")]
    history: Annotated[list[OrderHistoryEntry], about("What changed, oldest first.")]


_LINE: Final = tuple(LineItem.__annotations__)
_ORDER: Final = tuple(name for name in ShownOrder.__annotations__ if name != "lineItems")


class OrderFields(Sparse):
    shape: ClassVar[type] = ShownOrder


class ListOrderFields(ListOrders, OrderFields):
    pass


def show(order: Order, fields: Collection[str] = ()) -> dict[str, object]:
    """The shape of ShownOrder, or these fields of it."""
    shown = {name: order.fields[name] for name in _ORDER if not fields or name in fields}
    if not fields or "lineItems" in fields:
        lines = order.fields["lineItems"]
        shown["lineItems"] = [{name: line[name] for name in _LINE} for line in lines]
    return shown
