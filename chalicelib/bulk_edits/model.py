"""What clients send to change many records at once."""

from decimal import Decimal
from typing import Annotated, ClassVar, Final

from pydantic import Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from chalicelib import listing
from chalicelib.orders.schemas import EmployeeId, ListOrders, OrderStatus
from chalicelib.orders.schemas import Tags as OrderTags
from chalicelib.products.schemas import ListProducts, Price, ProductStatus, Stock
from chalicelib.products.schemas import Tags as ProductTags
from chalicelib.schemas import NUMBER, Chosen, Input, NullIsAbsent, Stripped, about, optional
from chalicelib.values import money

MOST_IDS: Final = 500

_Ids = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=60)]], Field(max_length=MOST_IDS)
]
_DryRun = Annotated[bool, Field(description="Report what would change, and change nothing.")]


def _one_of(*names: str) -> object:
    """Return a validator: exactly one of these fields was sent."""

    def check_one(model: Input) -> Input:
        if len(model.model_fields_set & set(names)) != 1:
            choices = ", ".join(map(to_camel, names))
            raise PydanticCustomError("one_of", "needs exactly one of {there}", {"there": choices})
        return model

    return model_validator(mode="after")(check_one)


class PriceChange(NullIsAbsent):
    """For a product and its variants."""

    set: Price | None = optional("The new amount.")
    add: Annotated[Decimal, Field(gt=-money.LARGEST, lt=money.LARGEST), NUMBER] | None = optional(
        "An amount; negative to reduce"
    )
    percent: Annotated[Decimal, Field(ge=-100, le=1_000), NUMBER] | None = optional(
        "Percent to add; negative to reduce."
    )
    round_to: Price | None = optional("Round to a multiple of this; a half rounds up.")

    _one = _one_of("set", "add", "percent")


class CompareAtPriceChange(NullIsAbsent):
    """`fromPrice`: the price before this change becomes the compare-at price, as for a sale."""

    set: Price | None = optional("The new amount.")
    clear: bool = Field(default_factory=bool, description="Remove it.")
    from_price: bool = Field(
        default_factory=bool,
        description="The price before this change becomes the compare-at price.",
    )

    _one = _one_of("set", "clear", "from_price")


class ProductEdit(Stripped, NullIsAbsent):
    """Absent fields stay; null clears."""

    null_clears: ClassVar[frozenset[str]] = frozenset(
        {"status", "published", "storefront", "type", "vendor", "lowStockThreshold"}
    )

    status: ProductStatus | None = optional("Its state.")
    published: bool | None = optional("Whether the storefront may show it.")
    storefront: Annotated[str, Field(max_length=100)] | None = optional(
        "The storefront that it is assigned to; null: all."
    )
    type: Annotated[str, Field(max_length=255)] | None = optional("Product type.")
    vendor: Annotated[str, Field(max_length=255)] | None = optional("Who makes or supplies it.")
    low_stock_threshold: Stock | None = optional("A stock below this is low.")
    add_tags: ProductTags = Field(default_factory=list, description="Tags to add.")
    remove_tags: ProductTags = Field(default_factory=list, description="Tags to remove.")
    price: PriceChange | None = optional(
        "The change of the prices of the product and its variants."
    )
    compare_at_price: CompareAtPriceChange | None = optional(
        "The price before a reduction; a decimal amount."
    )


class OrderEdit(Stripped, NullIsAbsent):
    """Absent fields stay; a null `salesRepId` unassigns."""

    null_clears: ClassVar[frozenset[str]] = frozenset({"salesRepId"})

    status: OrderStatus | None = optional("Its state.")
    sales_rep_id: EmployeeId | None = optional("Employee who sold it, `emp_…`; null: none.")
    add_tags: OrderTags = Field(default_factory=list, description="Tags to add.")
    remove_tags: OrderTags = Field(default_factory=list, description="Tags to remove.")


class _BulkEdit(Chosen):
    ids: _Ids | None = optional("Identifiers, up to 500.")
    dry_run: _DryRun = False


class BulkProductEdit(_BulkEdit):
    """The products, by `ids`, by `filters` or all of them, and the change."""

    change: Annotated[ProductEdit, about("What is changed.")]


class BulkOrderEdit(_BulkEdit):
    """The orders, by `ids`, by `filters` or all of them, and the change."""

    change: Annotated[OrderEdit, about("What is changed.")]


# By kind: the list whose filters choose the records.
LISTS: Final[dict[str, type[listing.Filters]]] = {"product": ListProducts, "order": ListOrders}
