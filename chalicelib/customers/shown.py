"""A customer as the API shows it."""

import json
from typing import Annotated, Any, ClassVar, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.customers.model import Customer, ListCustomers
from chalicelib.schemas import Sparse
from chalicelib.values import money
from chalicelib.values.addresses import Address


class OrderCustomer(TypedDict):
    """As the customer was when the order was placed."""

    id: str
    email: str | None
    firstName: str | None
    lastName: str | None
    phone: str | None


class CustomerAddress(Address):
    id: str


class ShownCustomer(TypedDict):
    """A customer as the admin interface answers it."""

    id: str
    email: str | None
    firstName: str | None
    lastName: str | None
    company: str | None
    phone: str | None
    note: str | None
    tags: list[str]
    addresses: list[CustomerAddress]
    defaultAddressId: str | None
    ordersCount: Annotated[int, Field(description="Orders that are not cancelled")]
    totalSpent: Annotated[str, Field(description="Sum of the totals of orders that are paid")]
    createdAt: str
    updatedAt: str
    erasedAt: NotRequired[Annotated[str, Field(description="Only if the customer was erased")]]


class CustomerFields(Sparse):
    shape: ClassVar[Any] = ShownCustomer


class ListCustomerFields(ListCustomers, CustomerFields):
    pass


def show(customer: Customer, asked: Any = ()) -> dict[str, Any]:
    """The shape of ShownCustomer, or these fields of it."""
    fields = customer.fields
    names = [name for name in ShownCustomer.__annotations__ if not asked or name in asked]
    shown = {name: fields[name] for name in names if name in fields}
    if "totalSpent" in shown:
        shown["totalSpent"] = money.render(shown["totalSpent"])
    return shown


def text_of(customer: Customer) -> str:
    """The JSON of an answer that is kept."""
    return json.dumps(show(customer), ensure_ascii=False, separators=(",", ":"))


def of_order(customer: Customer) -> dict[str, Any]:
    """The shape of OrderCustomer."""
    return {name: customer.fields[name] for name in OrderCustomer.__annotations__}
