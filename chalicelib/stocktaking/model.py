"""Counts of stock: what clients send, and what the API shows."""

import json
from bisect import bisect_right
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, NamedTuple

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib import listing
from chalicelib.products.model import Product, title_of
from chalicelib.products.schemas import Stock
from chalicelib.schemas import SEEN, Choice, Chosen, Input, NullIsAbsent, PageQuery, about, optional
from chalicelib.storage.attributes import Fields
from chalicelib.values import ids

KIND: Final = listing.Kind("stock_count")
MOST_VARIANTS: Final = 10_000  # of a count
MOST_LINES: Final = 500  # of a request

_VariantId = Annotated[
    str, Field(min_length=1, max_length=60, description="Id of the variant, `var_…`.")
]


class CountStatus(Choice):
    """OPEN: it takes lines. APPLIED: a job changes the stock by its differences, or has done so."""

    OPEN = "OPEN"
    APPLIED = "APPLIED"
    CANCELLED = "CANCELLED"


class NewStockCount(Chosen):
    """What is counted: variants, or all of the products that match filters, if they are tracked."""

    ids_in: ClassVar[str] = "variant_ids"
    read_only: ClassVar[frozenset[str]] = frozenset(
        {"id", "status", "variants", "counted", "different", "jobId"}
        | {"createdAt", "createdBy", "closedAt"}
    )

    name: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
        SEEN,
        about("Such as the room or the shelf."),
    ]
    variant_ids: (
        Annotated[list[_VariantId], Field(min_length=1, max_length=MOST_VARIANTS)] | None
    ) = optional(f"Ids of variants, up to {MOST_VARIANTS:,}.")


_BEFORE: Final = (
    "What was shown as counted when this was entered; null: nothing. If it is not so any more,"
    " because somebody else counted, the answer is 409 `count_changed`."
)


class CountedLine(NullIsAbsent):
    """What was counted of a variant."""

    null_clears: ClassVar[frozenset[str]] = frozenset({"before"})
    read_only: ClassVar[frozenset[str]] = frozenset(
        {"productId", "sku", "title", "stock", "expected", "difference", "countedAt", "countedBy"}
    )

    variant_id: _VariantId
    counted: Annotated[Stock, about("Pieces that are there.")]
    add: bool = Field(
        default_factory=bool,
        description="Add them to what was counted before, such as on another shelf.",
    )
    before: Annotated[Stock | None, about(_BEFORE)] = None

    def is_outdated(self, line: "Line | None") -> bool:
        """Say whether the line is not as it was when the pieces were counted."""
        now = line.counted if line else None
        return "before" in self.model_fields_set and self.before != now


class CountedLines(Input):
    """Lines of a count."""

    lines: Annotated[
        list[CountedLine],
        Field(min_length=1, max_length=MOST_LINES, description="All of them are kept, or none."),
    ]


class LineState(Choice):
    """DIFFERENT: counted, and not what was expected."""

    COUNTED = "COUNTED"
    UNCOUNTED = "UNCOUNTED"
    DIFFERENT = "DIFFERENT"


class ListLines(PageQuery):
    state: LineState | None = optional("Only such lines.")


class ShownStockCount(TypedDict):
    """A count of stock."""

    id: Annotated[str, about("Identifier, `cnt_…`.")]
    name: Annotated[str, about("Its name.")]
    status: Annotated[CountStatus, about("Its state.")]
    variants: Annotated[int, about("How many variants are to be counted.")]
    counted: Annotated[int, about("How many of them were.")]
    different: Annotated[int, about("How many of the counted ones differ from what was expected.")]
    filters: Annotated[
        dict[str, object] | None, about("The filters that chose them; null: ids, or all.")
    ]
    jobId: Annotated[str | None, about("The job that applies it; null: it is not applied.")]
    createdAt: Annotated[str, about("When it was created.")]
    createdBy: Annotated[str, about("Name of the API key that created it.")]
    closedAt: Annotated[str | None, about("When it was applied or cancelled; null: it is open.")]


class ShownStockCountLine(TypedDict):
    """A variant of a count."""

    variantId: Annotated[str, about("Id of the variant.")]
    productId: Annotated[str, about("Id of its product.")]
    sku: Annotated[str | None, about("Stock keeping unit.")]
    title: Annotated[
        str | None,
        about("Name of the product, and of the variant if it has several; null: it is gone."),
    ]
    stock: Annotated[int | None, about("Pieces in stock now; null: not tracked.")]
    expected: Annotated[int | None, about("Pieces in stock when it was counted; null: it was not.")]
    counted: Annotated[int | None, about("Pieces that were there; null: not counted.")]
    difference: Annotated[int | None, about("`counted` less `expected`: what applying it adds.")]
    countedAt: Annotated[str | None, about("When it was last counted.")]
    countedBy: Annotated[str | None, about("Name of the API key that counted it.")]


class EnteredLines(TypedDict):
    """The lines as they are kept."""

    lines: Annotated[list[ShownStockCountLine], about("One for each variant.")]


class Line(NamedTuple):
    """What was counted of a variant, as stored. `expected`: its stock when it was first counted."""

    counted: int
    expected: int
    at: str
    by: str

    @property
    def difference(self) -> int:
        return self.counted - self.expected


@dataclass(frozen=True)
class Count(listing.Record):
    """A count as stored; names as shown where they are shown."""

    @property
    def status(self) -> CountStatus:
        return CountStatus(self.fields["status"])

    @property
    def parts(self) -> int:
        """Return how many items have the lines of the count."""
        return len(self.fields["starts"])

    def part_of(self, variant_id: str) -> int:
        """Return the item that has the line of a variant, if it is in this count."""
        return max(0, bisect_right(self.fields["starts"], variant_id) - 1)


def index_of(fields: Fields) -> listing.Index:
    return listing.Index.build(sort=fields["createdAt"], facets={})


def show(count: Count) -> dict[str, object]:
    """Return the count in the shape of ShownStockCount."""
    shown = {name: count.fields.get(name) for name in ShownStockCount.__annotations__}
    return shown | {"filters": json.loads(count.fields["filters"])}


def show_line(variant_id: str, line: Line | None, product: Product | None) -> dict[str, object]:
    """Return a line in the shape of ShownStockCountLine."""
    variant = product.variant(variant_id) if product else None
    title = title_of(product.fields["name"], variant["title"]) if product and variant else None
    return {
        "variantId": variant_id,
        "productId": ids.product_of(variant_id),
        "sku": variant["sku"] if variant else None,
        "title": title,
        "stock": product.quantities.get(variant_id) if product else None,
        "expected": line.expected if line else None,
        "counted": line.counted if line else None,
        "difference": line.difference if line else None,
        "countedAt": line.at if line else None,
        "countedBy": line.by if line else None,
    }
