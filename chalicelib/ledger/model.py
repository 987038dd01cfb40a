"""Movements of stock: what the API shows, and the query of their list."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib import listing
from chalicelib.listing.cursor import BEGIN
from chalicelib.products.schemas import LowStockVariant
from chalicelib.schemas import PAGE_SIZE, Choice, Limit, QueryParameters, Several, about

KIND: Final = listing.Kind(
    "movement", listed=("variantId", "productId", "orderId", "jobId", "cause")
)
_COUNTED: Final = 1_000  # movements that a list counts for its total


class MovementCause(Choice):
    """Why a quantity changed. OVERSOLD: it did not, `missing` pieces were sold that were not there.
    EDIT: of an order, if there is an `orderId`, or of the product.
    TRACKED and UNTRACKED: the quantity began or ended to be counted, by whatever way.
    """

    SALE = "SALE"
    OVERSOLD = "OVERSOLD"
    RETURN = "RETURN"
    EDIT = "EDIT"
    MOVE = "MOVE"
    IMPORT = "IMPORT"
    BULK_EDIT = "BULK_EDIT"
    UNDO = "UNDO"
    COUNT = "COUNT"
    TRACKED = "TRACKED"
    UNTRACKED = "UNTRACKED"


class ListMovements(listing.Dated):
    facets = ("variant_id", "product_id", "order_id", "job_id", "cause")
    most_counted = _COUNTED

    variant_id: Annotated[str, Field(max_length=60, description="Of one variant.")] = ""
    product_id: Annotated[str, Field(max_length=60, description="Of one product.")] = ""
    order_id: Annotated[str, Field(max_length=60, description="Of one order.")] = ""
    job_id: Annotated[str, Field(max_length=60, description="Of one job.")] = ""
    cause: Several[MovementCause] = Field(default_factory=list, description="Which causes.")


class ListLowStock(QueryParameters):
    limit: Limit = PAGE_SIZE
    cursor: Annotated[
        str, Field(max_length=2_000, description="`nextCursor` of the previous answer")
    ] = BEGIN


class LowStock(TypedDict):
    """`nextCursor` is null at the end; before it, a page can be short, even empty."""

    data: Annotated[list[LowStockVariant], about("The items.")]
    nextCursor: Annotated[
        str | None, about("Send it as `cursor` for what follows; null at the end.")
    ]


class MovementActor(TypedDict):
    """The API key that asked for it, also where a job did it."""

    keyId: Annotated[str | None, about("Id of the key.")]
    keyName: Annotated[str | None, about("Name of the key.")]


class ShownMovement(TypedDict):
    """One change of a tracked quantity."""

    id: Annotated[str, about("Identifier, `mov_…`.")]
    at: Annotated[str, about("When it was committed.")]
    productId: Annotated[str, about("Id of its product.")]
    variantId: Annotated[str, about("Id of the variant.")]
    sku: Annotated[str | None, about("SKU of the variant at that time.")]
    title: Annotated[
        str | None, about("Name of the product, and of the variant if it has several.")
    ]
    by: Annotated[
        int | None,
        about("Pieces that came in (positive) or went out; null: TRACKED or UNTRACKED."),
    ]
    missing: Annotated[int | None, about("Of OVERSOLD: pieces that were sold but not there.")]
    stock: Annotated[int | None, about("Pieces after it; null: no longer tracked.")]
    cause: Annotated[MovementCause, about("Why.")]
    reason: Annotated[str | None, about("The reason of a move, such as RECEIVED.")]
    orderId: Annotated[str | None, about("Id of the order.")]
    jobId: Annotated[str | None, about("Id of the job.")]
    countId: Annotated[str | None, about("Id of the count that was applied.")]
    note: Annotated[str | None, about("The note of a move.")]
    actor: Annotated[MovementActor, about("Who did it.")]


@dataclass(frozen=True)
class Movement(listing.Record):
    """An entry as stored; names as shown."""

    @cached_property
    def index(self) -> listing.Index:
        facets = {facet: self.fields[facet] or "" for facet in KIND.listed}
        return listing.Index.build(sort=self.fields["at"], facets=facets)


def show(movement: Movement) -> dict[str, object]:
    """Return the movement in the shape of ShownMovement."""
    return {name: movement.fields[name] for name in ShownMovement.__annotations__}
