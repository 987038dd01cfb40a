"""Customers: who they are, and how they are listed. The first order with an e-mail makes one."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from typing_extensions import TypedDict

from chalicelib import listing
from chalicelib.attributes import Item
from chalicelib.schemas import Choice, Input, Walk

# Together with an order's this has to leave room in a transaction: see `orders/model.py`.
KIND: Final = listing.Kind(
    "customer",
    several="tag",
    orders=("name",),
    since=frozenset({"tag", "*name"}),
)


def _email(value: str) -> str:
    # One person is one customer: é has two spellings (RFC 6532, 3.1), and a zero-width space that
    # was copied along is not seen.
    value = unicodedata.normalize("NFC", value)
    if not value.isprintable() or not re.fullmatch(r"[^@\s,;<>\"]+@[^@\s,;<>\"]+", value):
        raise ValueError("must be an e-mail address, such as ada@example.com")
    return value


Name = Annotated[str, Field(max_length=100)]


class CustomerInput(Input):
    """An existing customer by `id`, or one by e-mail, who is made where there is none.

    With an `id` the other fields are ignored: a customer that was read can be sent as it is. One
    who is known by the e-mail keeps the name that is stored.
    """

    model_config = ConfigDict(str_strip_whitespace=True)
    read_only: ClassVar[frozenset[str]] = frozenset({"createdAt"})

    id: Annotated[str, Field(min_length=1, max_length=60)] | None = None
    email: Annotated[str, Field(max_length=254), AfterValidator(_email)] | None = None
    first_name: Name | None = None
    last_name: Name | None = None

    @model_validator(mode="after")
    def _is_somebody(self) -> "CustomerInput":
        if self.id is None and self.email is None:
            raise ValueError("must have an email, or the id of an existing customer")
        return self


class Sort(Choice):
    NEWEST = "-createdAt"
    NAME = "name"


class ListCustomers(Walk):
    search: Annotated[
        str, Field(max_length=200, description="Beginnings of words in name and e-mail")
    ] = ""
    tag: Annotated[str, Field(max_length=100, description="One of the customer's tags")] = ""
    sort: Sort = Sort.NEWEST

    def query(self) -> listing.Query:
        by_name = self.sort is Sort.NAME
        return listing.Query(
            {"tag": frozenset({self.tag})} if self.tag else {},
            self.search,
            self.page,
            self.limit,
            self.cursor,
            order="name" if by_name else "",
            forward=by_name,
        )


class CustomerOfOrder(TypedDict):
    id: str
    email: str
    firstName: str | None
    lastName: str | None


class ShownCustomer(TypedDict):
    """A customer as the admin interface answers it."""

    id: str
    email: str
    firstName: str | None
    lastName: str | None
    createdAt: str


@dataclass(frozen=True)
class Customer:
    """A customer as stored: names as shown, and `index` where it was read to be listed."""

    fields: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.fields["id"])

    @property
    def email(self) -> str:
        return str(self.fields["email"])

    @property
    def index(self) -> listing.Index:
        return listing.Index.read(self.fields["index"])


def made(id: str, asked: CustomerInput, now: str) -> Customer:
    """A new customer with the e-mail that was sent; `now` is ISO 8601."""
    assert asked.email is not None
    names = {"firstName": asked.first_name or None, "lastName": asked.last_name or None}
    fields = {"id": id, "email": asked.email, **names, "createdAt": now}
    return Customer({**fields, "index": index_of(fields).stored()})


def index_of(fields: Mapping[str, Any]) -> listing.Index:
    names = (fields["lastName"], fields["firstName"], fields["email"])
    return listing.Index.of(
        sort=fields["createdAt"],
        facets={},
        several=fields.get("tags", ()),
        orders={"name": " ".join(name for name in names if name)},
        texts=searchable(fields),
        exact=[fields["email"]] if fields["email"] else [],
    )


def searchable(customer: Mapping[str, Any]) -> list[str]:
    """The texts by which a customer, and his orders, are found."""
    texts = (customer["email"], customer["firstName"], customer["lastName"])
    return [text for text in texts if text]


def read(item: Item) -> Customer:
    return Customer({name: value for name, value in item.items() if name not in {"pk", "sk"}})


def show(customer: Customer) -> dict[str, Any]:
    """The shape of ShownCustomer."""
    names = ("id", "email", "firstName", "lastName", "createdAt")
    return {name: customer.fields[name] for name in names}
