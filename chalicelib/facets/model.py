"""Which values of records are offered, and the query for them."""

from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from chalicelib import listing
from chalicelib.customers import model as customers
from chalicelib.orders import model as orders
from chalicelib.products import model as products
from chalicelib.schemas import DIGITS, Choice, QueryParameters, about, at_most
from chalicelib.storage.attributes import Fields

_KEY_BYTES: Final = 500  # a longer value is not offered, because it is part of a key


class FacetOf(Choice):
    """The records that have the values."""

    products = "products"
    orders = "orders"
    customers = "customers"


KINDS: Final[dict[str, listing.Kind]] = {
    FacetOf.products: products.KIND,
    FacetOf.orders: orders.KIND,
    FacetOf.customers: customers.KIND,
}
FIELDS: Final[dict[str, tuple[str, ...]]] = {
    FacetOf.products: ("type", "vendor", "storefront", "tag"),
    FacetOf.orders: ("source", "salesRepId", "paymentMethod", "tag"),
    FacetOf.customers: ("tag",),
}


class ListFacets(QueryParameters):
    type: Annotated[FacetOf, Field(description="Of which records.")]
    field: Annotated[
        str,
        Field(
            max_length=30,
            description="Of which field of these records.",
            json_schema_extra={
                "enum": sorted({name for names in FIELDS.values() for name in names})
            },
        ),
    ]
    search: Annotated[
        str, Field(max_length=200, description="Beginnings of words of the value, in any case.")
    ] = ""
    limit: Annotated[
        int, Field(ge=1, description="How many; more than 50 count as 50."), at_most(50), DIGITS
    ] = 20

    @field_validator("field")
    @classmethod
    def _check_field(cls, name: str, info: ValidationInfo) -> str:
        fields = FIELDS.get(info.data.get("type", ""), ())
        if fields and name not in fields:
            names = {"name": repr(name), "there": ", ".join(fields)}
            raise PydanticCustomError("not_allowed", "has no {name}; there are {there}", names)
        return name


class Facet(TypedDict):
    """A value that was used."""

    value: Annotated[str, about("The value, as it was written.")]
    count: Annotated[
        int | None, about("How many records have it now; null: not counted for this field.")
    ]


class Facets(TypedDict):
    """Values in alphabetical order."""

    data: Annotated[list[Facet], about("The values.")]
    more: Annotated[bool, about("Whether there are more that match.")]


def used(of: str, record: Fields) -> Iterator[tuple[str, str]]:
    """Yield the fields of a record, as shown or as stored, and their values."""
    paid = [*record.get("payments", ()), *record.get("refunds", ())]
    methods = [record.get("paymentMethod"), *(payment["method"] for payment in paid)]
    several = {"tag": record.get("tags"), "paymentMethod": methods}
    for field in FIELDS[of]:
        for value in several.get(field, [record.get(field)]) or ():
            if value and len(str(value).encode("utf-8", "surrogatepass")) <= _KEY_BYTES:
                yield field, str(value)
