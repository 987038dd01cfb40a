"""A customer as the API shows it."""

from collections.abc import Collection
from typing import Annotated, ClassVar, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.customers.model import Customer, ListCustomers
from chalicelib.listing import external_ids
from chalicelib.schemas import Sparse, about
from chalicelib.values import money
from chalicelib.values.addresses import Address
from chalicelib.values.metadata import ABOUT as METADATA


class OrderCustomer(TypedDict):
    """As the customer was when the order was placed."""

    id: Annotated[str, about("Identifier.")]
    email: Annotated[str | None, about("E-mail address.")]
    firstName: Annotated[str | None, about("Given name.")]
    lastName: Annotated[str | None, about("Family name.")]
    phone: Annotated[str | None, about("Phone number, as it is written.")]


class CustomerAddress(Address):
    """A postal address of a customer."""

    id: Annotated[str, about("Identifier.")]


class ShownCustomer(TypedDict):
    """A customer as the admin interface answers it."""

    id: Annotated[str, about("Identifier.")]
    email: Annotated[str | None, about("E-mail address.")]
    firstName: Annotated[str | None, about("Given name.")]
    lastName: Annotated[str | None, about("Family name.")]
    company: Annotated[str | None, about("Company.")]
    phone: Annotated[str | None, about("Phone number, as it is written.")]
    note: Annotated[str | None, about("Free text about it.")]
    tags: Annotated[list[str], about("Words to find it by.")]
    addresses: Annotated[
        list[CustomerAddress], about("Where parcels and bills may go, at most 20.")
    ]
    defaultAddressId: Annotated[str | None, about("Id of the default address.")]
    externalId: Annotated[str | None, about(external_ids.ABOUT)]
    metadata: Annotated[dict[str, object], about(METADATA)]
    ordersCount: Annotated[int, Field(description="Orders that are not cancelled")]
    totalSpent: Annotated[
        str,
        Field(description="What was paid for the orders and not refunded, at most what is owed"),
    ]
    createdAt: Annotated[str, about("When it was created.")]
    updatedAt: Annotated[str, about("When it was last changed.")]
    erasedAt: NotRequired[Annotated[str, Field(description="Only if the customer was erased")]]


class CustomerFields(Sparse):
    shape: ClassVar[type] = ShownCustomer


class ListCustomerFields(ListCustomers, CustomerFields):
    pass


def show(customer: Customer, asked: Collection[str] = ()) -> dict[str, object]:
    """Return the customer in the shape of ShownCustomer, or these fields of it."""
    fields = customer.fields
    there = fields.keys() & asked if asked else fields
    shown = {name: fields[name] for name in ShownCustomer.__annotations__ if name in there}
    if "totalSpent" in shown:
        shown["totalSpent"] = money.render(shown["totalSpent"])
    return shown


def of_order(customer: Customer) -> OrderCustomer:
    """Return the customer as an order keeps it."""
    fields = {name: customer.fields[name] for name in OrderCustomer.__annotations__}
    return cast(OrderCustomer, fields)
