"""What clients send to change many records at once."""

from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from chalicelib import validation
from chalicelib.orders.model import EmployeeId, OrderStatus
from chalicelib.orders.model import ListOrders as OrderFilters
from chalicelib.orders.model import Tags as OrderTags
from chalicelib.products.model import ListProducts as ProductFilters
from chalicelib.products.model import Price, ProductStatus, Stock
from chalicelib.products.model import Tags as ProductTags
from chalicelib.schemas import Input, NullIsAbsent
from chalicelib.values import money

MOST_IDS: Final = 500

_Ids = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=60)]], Field(max_length=MOST_IDS)
]
_Filters = Annotated[
    dict[str, Any],
    Field(description="The query parameters of the list, except page, limit and sort"),
]
_DryRun = Annotated[bool, Field(description="Report what would change, and change nothing.")]


def _one_of(*names: str) -> Any:
    """A validator: exactly one of these fields was sent."""

    def check(model: Input) -> Input:
        if len(model.model_fields_set & set(names)) != 1:
            raise PydanticCustomError("one_of", f"needs exactly one of {', '.join(names)}")
        return model

    return model_validator(mode="after")(check)


class PriceChange(NullIsAbsent):
    """For a product and its variants."""

    set: Price | None = None
    add: Annotated[
        Decimal | None,
        Field(gt=-money.LARGEST, lt=money.LARGEST, description="An amount; negative to reduce"),
    ] = None
    percent: Annotated[Decimal | None, Field(ge=-100, le=1_000)] = None
    round_to: Annotated[
        Price | None,
        Field(description="Round to a multiple of this; half of it rounds up."),
    ] = None

    _one = _one_of("set", "add", "percent")


class CompareAtPriceChange(NullIsAbsent):
    """`fromPrice`: the price before this change becomes the compare-at price, as for a sale."""

    set: Price | None = None
    clear: bool = Field(default_factory=bool)
    from_price: bool = Field(default_factory=bool)

    _one = _one_of("set", "clear", "from_price")


class ProductEdit(NullIsAbsent):
    """Absent fields stay; null clears."""

    null_clears: ClassVar[frozenset[str]] = frozenset(
        {"status", "published", "storefront", "type", "vendor", "lowStockThreshold"}
    )

    status: ProductStatus | None = None
    published: bool | None = None
    storefront: Annotated[str, Field(max_length=100)] | None = None
    type: Annotated[str, Field(max_length=255)] | None = None
    vendor: Annotated[str, Field(max_length=255)] | None = None
    low_stock_threshold: Stock | None = None
    add_tags: ProductTags = Field(default_factory=list)
    remove_tags: ProductTags = Field(default_factory=list)
    price: PriceChange | None = None
    compare_at_price: CompareAtPriceChange | None = None


class OrderEdit(NullIsAbsent):
    """Absent fields stay; a null `salesRepId` unassigns."""

    null_clears: ClassVar[frozenset[str]] = frozenset({"salesRepId"})

    status: OrderStatus | None = None
    sales_rep_id: EmployeeId | None = None
    add_tags: OrderTags = Field(default_factory=list)
    remove_tags: OrderTags = Field(default_factory=list)


class _BulkEdit(NullIsAbsent):
    ids: _Ids | None = None
    filters: _Filters | None = None
    dry_run: _DryRun = False

    _which = _one_of("ids", "filters")


class BulkProductEdit(_BulkEdit):
    """The products, by `ids` or by `filters`, and the change."""

    change: ProductEdit


class BulkOrderEdit(_BulkEdit):
    """The orders, by `ids` or by `filters`, and the change."""

    change: OrderEdit


def filtered(kind: str, filters: dict[str, Any]) -> ProductFilters | OrderFilters:
    """The filters as a query of the kind's list. Raises Invalid, named `filters.…`."""
    if kind == "product":
        return validation.filters(ProductFilters, filters, "filters")
    return validation.filters(OrderFilters, filters, "filters")
