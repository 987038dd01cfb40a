"""The shapes of customers, as clients send them and as they are answered.

A field of a request without a text of its own has the text of the same field of its `shape`.
"""

import re
import unicodedata
from typing import Annotated, ClassVar, Final, NotRequired

from pydantic import AfterValidator, Field, model_validator
from typing_extensions import TypedDict

from chalicelib import listing
from chalicelib.listing import external_ids
from chalicelib.listing.external_ids import ExternalId
from chalicelib.schemas import (
    Choice,
    Sparse,
    Stripped,
    about,
    described_as,
    length,
    not_empty,
    texts_as_in,
)
from chalicelib.values.addresses import Address, AddressInput, Phone, Text
from chalicelib.values.metadata import ABOUT as METADATA
from chalicelib.values.metadata import Metadata

MOST_ADDRESSES: Final = 20
TAGS: Final = 50
NOTE_CHARACTERS: Final = 5_000  # characters

# --- What is answered -----------------------------------------------------------------------------


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


@texts_as_in(ShownCustomer)
class OrderCustomer(TypedDict):
    """As the customer was when the order was placed."""

    id: str
    email: str | None
    firstName: str | None
    lastName: str | None
    phone: str | None


# --- What clients send ----------------------------------------------------------------------------


def _check_email(value: str) -> str:
    # One person is one customer: é has two spellings (RFC 6532, 3.1), and a zero-width space that
    # was copied along is not seen.
    value = unicodedata.normalize("NFC", value)
    if not value.isprintable() or not re.fullmatch(r"[^@\s,;<>\"]+@[^@\s,;<>\"]+", value):
        raise ValueError("must be an e-mail address, such as ada@example.com")
    return value


Email = Annotated[
    str,
    Field(max_length=254),
    AfterValidator(_check_email),
    described_as(r"^[^@\s,;<>]+@[^@\s,;<>]+$"),
]
Note = Annotated[str, Field(max_length=NOTE_CHARACTERS)]
Tags = Annotated[list[Annotated[str, length(50, 1)]], Field(max_length=TAGS)]


class OrderCustomerInput(Stripped):
    """An existing customer by `id`, or one by e-mail, which is created if unknown.

    With an `id` the other fields are ignored, so a customer that was read can be sent back. A
    customer known by the e-mail keeps the stored name and phone. Without an e-mail, a phone or a
    name makes a new customer, as `NewCustomer` does.
    """

    shape: ClassVar[type] = ShownCustomer

    read_only: ClassVar[frozenset[str]] = frozenset(
        {"createdAt", "updatedAt", "ordersCount", "totalSpent", "defaultAddressId", "erasedAt"}
        | {"company", "note", "tags", "addresses", "externalId", "metadata"}
    )

    id: Annotated[str, length(60, 1)] | None = None
    email: Email | None = None
    first_name: Text | None = None
    last_name: Text | None = None
    phone: Phone | None = None

    @model_validator(mode="after")
    def _is_somebody(self) -> "OrderCustomerInput":
        if not any((self.id, self.email, self.phone, self.first_name, self.last_name)):
            message = "must have an email, a phone or a name, or the id of an existing customer"
            raise ValueError(message)
        return self


class CustomerAddressInput(AddressInput):
    """With the `id` of an existing address, it takes the place of that one; otherwise it is new."""

    shape: ClassVar[type] = CustomerAddress

    read_only: ClassVar[frozenset[str]] = frozenset()

    id: Annotated[str, length(60, 1)] | None = None


class _Editable(Stripped):
    shape: ClassVar[type] = ShownCustomer

    read_only: ClassVar[frozenset[str]] = frozenset(
        {"id", "createdAt", "updatedAt", "ordersCount", "totalSpent", "erasedAt"}
    )

    email: Email | None = None
    first_name: Text | None = None
    last_name: Text | None = None
    company: Text | None = None
    phone: Phone | None = None
    note: Note | None = None
    tags: Tags | None = None
    addresses: Annotated[list[CustomerAddressInput], Field(max_length=MOST_ADDRESSES)] | None = None
    default_address_id: str | None = Field(
        None, max_length=60, description="Default: the first one"
    )
    external_id: ExternalId | None = None
    metadata: Metadata | None = None


class NewCustomer(_Editable):
    """The fields of a creation: an e-mail, a phone, a company or a name at least."""


class CustomerChange(_Editable):
    """The fields of a PATCH: absent fields stay, null clears, a list replaces the old list."""

    _not_empty = model_validator(mode="after")(not_empty)


class CustomerSort(Choice):
    """The order of a list of customers."""

    NEWEST = "-createdAt"
    NAME = "name"
    LAST_CHANGED = "-updatedAt"
    FIRST_CHANGED = "updatedAt"


def strip_phone_notation(search: str) -> str:
    """Return a search without the notation of a phone number, which is searched by its digits."""
    if re.fullmatch(r"[-+()/. 0-9]{3,}", search):
        return re.sub(r"[-()/.]", " ", search)
    return search


ExactEmail = Annotated[
    str,
    Field(max_length=254, description="The customer's whole e-mail address, in any case"),
    AfterValidator(lambda email: email.strip().lower()),
]


class ListCustomers(listing.Filters):
    facets = ("tag",)
    exact = ("email",)

    search: Annotated[
        str,
        Field(
            max_length=200,
            description="Beginnings of words in name, e-mail, company, city; digits of the phone",
        ),
        AfterValidator(strip_phone_notation),
    ] = ""
    tag: Annotated[str, Field(max_length=100, description="One of the customer's tags")] = ""
    external_id: Annotated[ExternalId, Field(description=external_ids.FILTER)] = ""
    email: ExactEmail = ""
    sort: Annotated[CustomerSort, about("The order of the list.")] = CustomerSort.NEWEST


class CustomerFields(Sparse):
    shape: ClassVar[type] = ShownCustomer


class ListCustomerFields(ListCustomers, CustomerFields):
    updated_from: listing.UpdatedFrom = ""
