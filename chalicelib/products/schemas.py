"""The shapes of products, as clients send them and as they are answered.

A field of a request without a text of its own has the text of the same field of its `shape`.
"""

import re
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, ClassVar, Final, Literal, NotRequired, Protocol, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError, PydanticKnownError
from typing_extensions import TypeAliasType, TypedDict

from chalicelib import listing, settings
from chalicelib.files.model import PICTURE_ID, ImageSizes, check_picture_id, is_address_of
from chalicelib.listing import external_ids
from chalicelib.listing.external_ids import ExternalId
from chalicelib.schemas import (
    SEEN,
    Choice,
    Flag,
    QueryParameters,
    Several,
    Sparse,
    Stripped,
    about,
    described_as,
    length,
    null_is,
    optional,
    texts_as_in,
)
from chalicelib.values import money
from chalicelib.values.metadata import ABOUT as METADATA
from chalicelib.values.metadata import Metadata

MOST_VARIANTS: Final = 500
MOST_IMAGES: Final = 100
BARCODE_CHARACTERS: Final = 50
URL_CHARACTERS: Final = 2_000  # of an image
_PICTURE: Final = re.compile(r"https?://[^\s/]+", re.IGNORECASE)
BULK_PRODUCTS: Final = 500  # docs/api.md#products
LARGEST_DESCRIPTION: Final = 32_768  # bytes
MOST_STOCK: Final = 1_000_000_000
DEEPEST_PUBLIC: Final = 10_000  # results that the public may page through
COST: Final = "What one piece costs the shop; null: unknown. Readers and events get null."
_STOREFRONT: Final = "The storefront that it is assigned to; null: all."
PUBLISHED: Final = {True: "yes", False: "no"}


class ProductStatus(Choice):
    """ACTIVE products can be sold; the storefront shows those of them that are published."""

    ACTIVE = "ACTIVE"
    DRAFT = "DRAFT"
    ARCHIVED = "ARCHIVED"


# --- What is answered -----------------------------------------------------------------------------


class Variant(TypedDict):
    """A variant of a product."""

    id: Annotated[str, about("Identifier.")]
    title: Annotated[str, about("Title.")]
    sku: Annotated[str | None, about("Stock keeping unit.")]
    price: Annotated[str, about("A decimal amount, in the shop's currency.")]
    stock: Annotated[int | None, about("How many there are; null: not tracked.")]
    barcode: Annotated[str | None, about("What a scanner reads, such as an EAN.")]
    cost: Annotated[str | None, about(COST)]
    externalId: Annotated[str | None, about(external_ids.ABOUT)]
    metadata: Annotated[dict[str, object], about(METADATA)]


class Image(TypedDict):
    """An image of a product."""

    url: Annotated[str, about("Web address; of an own picture that of its large size.")]
    alt: Annotated[str | None, about("Alternative text of the image.")]
    pictureId: Annotated[str | None, about("Id of the own picture; null: another address.")]
    sizes: Annotated[ImageSizes | None, about("Sizes of an own picture; null: another address.")]


@texts_as_in(Image)
class PublicImage(TypedDict):
    """An image as the storefront shows it."""

    url: str
    alt: str | None
    sizes: ImageSizes | None


class Seo(TypedDict):
    """Title and description for search engines."""

    title: Annotated[str | None, about("Title.")]
    description: Annotated[str | None, about("Free text.")]


class SpecifiedName(TypedDict):
    """What has to be known before a product can be made, such as a ring's size."""

    name: Annotated[str, about("Name, such as Ring size.")]
    required: Annotated[bool, about("Whether work lacks details without a value of it.")]
    choices: Annotated[list[str], about("Its usual values; none: any text.")]


class ShownProduct(TypedDict):
    """A product as the admin interface answers it."""

    id: Annotated[str, about("Identifier.")]
    slug: Annotated[str, about("Its part of a web address, such as blue-shirt.")]
    name: Annotated[str, about("Name.")]
    description: Annotated[str | None, about("Free text.")]
    status: Annotated[ProductStatus, about("Its state.")]
    published: Annotated[bool, about("Whether the storefront may show it.")]
    price: Annotated[str, about("Its own price, or the lowest of its variants'.")]
    compareAtPrice: Annotated[str | None, about("The price before a reduction; a decimal amount.")]
    currency: Annotated[str, about("The shop's currency, ISO 4217.")]
    sku: Annotated[str | None, about("Stock keeping unit.")]
    vendor: Annotated[str | None, about("Who makes or supplies it.")]
    type: Annotated[str | None, about("Product type.")]
    storefront: Annotated[str | None, about(_STOREFRONT)]
    tags: Annotated[list[str], about("Words to find it by.")]
    lowStockThreshold: Annotated[int, about("A stock below this is low.")]
    variants: Annotated[list[Variant], about("Variants; there is at least one.")]
    images: Annotated[list[Image], about("Images, the main one first.")]
    seo: Annotated[Seo, about("What search engines show.")]
    madeToOrder: Annotated[bool, about("Whether it is made when ordered, and takes no stock.")]
    leadDays: Annotated[int | None, about("Days from the order until it is due; null: no date.")]
    specification: Annotated[list[SpecifiedName], about("What a made piece needs to be known.")]
    externalId: Annotated[str | None, about(external_ids.ABOUT)]
    metadata: Annotated[dict[str, object], about(METADATA)]
    createdAt: Annotated[str, about("When it was created.")]
    updatedAt: Annotated[str, about("When it was last changed.")]


class MovedStock(TypedDict):
    """A move of a variant's stock, and the stock after it."""

    variantId: Annotated[str, about("Id of the variant, `var_…`.")]
    by: Annotated[int | None, about("Pieces that came in, or went out; null: it was not tracked.")]
    stock: Annotated[int, about("How many there are now.")]
    reason: Annotated[str, about("Why, such as RECEIVED, COUNTED or DAMAGED.")]
    note: NotRequired[Annotated[str, about("The note of the move, if it had one.")]]


class UpdatedProduct(ShownProduct):
    """A product as in `product.updated`."""

    stockMoves: NotRequired[
        Annotated[list[MovedStock], Field(description="The moves, if its stock was moved")]
    ]


class LowStockVariant(TypedDict):
    """A variant whose stock is below its product's threshold."""

    productId: Annotated[str, about("Id of the product.")]
    productName: Annotated[str, about("Name of the product.")]
    variantId: Annotated[str, about("Id of the variant, `var_…`.")]
    variantTitle: Annotated[str, about("Title of the variant.")]
    sku: Annotated[str | None, about("Stock keeping unit.")]
    stock: Annotated[int, about("How many there are; null: not tracked.")]
    threshold: Annotated[int, about("The product's threshold.")]


@texts_as_in(Variant)
class PublicVariant(TypedDict):
    """A variant as the storefront shows it."""

    id: str
    title: str
    sku: str | None
    price: str
    available: Annotated[
        bool, about("Whether it can be ordered: it is in stock, not tracked, or made to order.")
    ]


@texts_as_in(ShownProduct)
class PublicProduct(TypedDict):
    """A product as the storefront answers it: an allow-list, with availability instead of stock."""

    id: str
    slug: str
    name: str
    description: str | None
    price: str
    compareAtPrice: str | None
    currency: str
    sku: str | None
    vendor: str | None
    type: str | None
    tags: list[str]
    variants: list[PublicVariant]
    images: list[PublicImage]
    seo: Seo
    madeToOrder: bool
    leadDays: int | None
    specification: list[SpecifiedName]
    createdAt: str


class PublicValue(TypedDict):
    """A value of a field."""

    value: Annotated[str, about("The value, as it was written.")]
    count: Annotated[int, about("How many public products have it now.")]


class PublicValues(TypedDict):
    """Values in alphabetical order, 100 at most."""

    data: Annotated[list[PublicValue], about("The values.")]
    more: Annotated[bool, about("Whether there are more.")]


class PriceRange(TypedDict):
    """The prices of the public products."""

    min: Annotated[str, about("The lowest; a decimal amount.")]
    max: Annotated[str, about("The highest; a decimal amount.")]


class PublicFacets(TypedDict):
    """What the storefront can be filtered by."""

    types: Annotated[PublicValues, about("Product types.")]
    vendors: Annotated[PublicValues, about("Who makes or supplies them.")]
    tags: Annotated[PublicValues, about("Tags of up to 39 characters, percent-encoded.")]
    price: Annotated[PriceRange | None, about("The prices; null: no product is public.")]
    currency: Annotated[str, about("The shop's currency, ISO 4217.")]


class BulkRow(TypedDict):
    """`id` and `product`, or `error` (as an error body). `updated` and `unchanged` are of the modes
    `upsert` and `update`.
    """

    index: Annotated[int, about("Place in the request, from 0.")]
    status: Annotated[
        Literal["created", "updated", "unchanged", "error"], about("The result for this product.")
    ]
    id: NotRequired[Annotated[str, about("Identifier.")]]
    product: NotRequired[
        Annotated[ShownProduct, about("The product; left out of large answers: use `id`.")]
    ]
    error: NotRequired[Annotated[dict[str, object], about("Why it failed; null: it did not.")]]


class BulkSummary(TypedDict):
    """How many were created, and how many were not."""

    created: Annotated[int, about("How many were created.")]
    updated: NotRequired[Annotated[int, about("How many were changed; not of `create`.")]]
    unchanged: NotRequired[Annotated[int, about("How many were so already; not of `create`.")]]
    failed: Annotated[int, about("How many failed.")]


class BulkStatusRow(TypedDict):
    """`error` (as an error body) if it was not updated."""

    index: Annotated[int, about("Place in the request, from 0.")]
    id: Annotated[str, about("Identifier.")]
    status: Annotated[Literal["updated", "error"], about("The result for this product.")]
    error: NotRequired[Annotated[dict[str, object], about("Why it failed; null: it did not.")]]


class BulkStatusSummary(TypedDict):
    """How many were updated, and how many were not."""

    updated: Annotated[int, about("How many were updated.")]
    failed: Annotated[int, about("How many failed.")]


class BulkStatusResult(TypedDict):
    """One row per id sent, in their order."""

    data: Annotated[list[BulkStatusRow], about("The items.")]
    summary: Annotated[BulkStatusSummary, about("The number of products with each result.")]


class BulkResult(TypedDict):
    """One row per product sent, in their order."""

    data: Annotated[list[BulkRow], about("The items.")]
    summary: Annotated[BulkSummary, about("The number of products with each result.")]


# --- What clients send ----------------------------------------------------------------------------


def _parse_price(value: object) -> str:
    if money.is_rendered(value):
        return str(value)
    amount = money.parse(value)
    if amount < 0:
        raise ValueError("must not be negative")
    return money.render(amount)


def _check_slug(value: str) -> str:
    if not re.fullmatch(r"[^\W_]+(?:[-_.][^\W_]+)*", value) or value != value.lower():
        raise ValueError("must be lower-case words joined by hyphens, such as blue-shirt")
    return value


def is_picture(url: str) -> bool:
    """Whether it can be the address of an image."""
    return len(url) <= URL_CHARACTERS and _PICTURE.match(url) is not None


def _check_web_address(value: str) -> str:
    if not is_picture(value):
        raise ValueError("must be an address that begins with http:// or https://")
    return value


def _require_address(value: str | None, info: ValidationInfo) -> str | None:
    picture_id = info.data.get("picture_id")
    if value is None and not picture_id:
        raise PydanticKnownError("missing")
    if value and picture_id and not is_address_of(picture_id, value):
        raise ValueError("must be absent, or the address of the picture that pictureId names")
    return value


def _check_description(value: str) -> str:
    if len(value.encode()) > LARGEST_DESCRIPTION:
        raise ValueError(f"must be at most {LARGEST_DESCRIPTION:,} bytes")
    return value


def _check_currency(value: str) -> str:
    if value.upper() != settings.currency():
        raise ValueError(f"must be {settings.currency()}, the shop's currency")
    return settings.currency()


def _to_text(value: object) -> object:
    """Return the text of a number: spreadsheets and programs send such SKUs."""
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    return str(value) if is_number else value


Price = Annotated[
    str,
    BeforeValidator(_parse_price),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0, "exclusiveMaximum": int(money.LARGEST)},
                {"type": "string", "pattern": r"^[0-9]{1,12}(\.[0-9]+)?$"},
            ],
            "description": "An amount, at most the currency's decimals",
            "examples": ["19.90"],
        }
    ),
]
ShopCurrency = Annotated[str, AfterValidator(_check_currency)]
Name = Annotated[str, SEEN, length(500, 1)]
Slug = Annotated[
    str,
    length(200, 1),
    AfterValidator(_check_slug),
    described_as(r"^[^\W_A-Z]+([-_.][^\W_A-Z]+)*$"),
]
Sku = Annotated[str, BeforeValidator(_to_text), length(100)]
Barcode = Annotated[str, BeforeValidator(_to_text), length(BARCODE_CHARACTERS)]
Stock = Annotated[int, Field(strict=True, ge=0, le=MOST_STOCK)]
Tags = Annotated[list[Annotated[str, length(100, 1)]], Field(max_length=100)]


class ImageInput(Stripped):
    """An image of a product."""

    shape: ClassVar[type] = Image

    read_only: ClassVar[frozenset[str]] = frozenset({"sizes"})

    picture_id: (
        Annotated[str, AfterValidator(check_picture_id), described_as(PICTURE_ID)] | None
    ) = optional("Id of a picture that is READY, in place of `url`, `pic_…`.")
    url: Annotated[
        Annotated[
            str,
            length(URL_CHARACTERS),
            AfterValidator(_check_web_address),
            described_as("^https?://[^\\s/]+"),
        ]
        | None,
        AfterValidator(_require_address),
    ] = Field(None, validate_default=True)
    alt: Annotated[str, length(500)] | None = None


class SeoInput(Stripped):
    """Title and description for search engines."""

    shape: ClassVar[type] = Seo

    title: Annotated[str, length(255)] | None = None
    description: Annotated[str, length(1_000)] | None = None


class NewVariant(Stripped):
    """A variant of a new product. The id of a copied one is ignored."""

    shape: ClassVar[type] = Variant

    read_only: ClassVar[frozenset[str]] = frozenset({"id"})

    title: Annotated[str, length(255, 1)] | None = None
    sku: Sku | None = None
    price: Price | None = None
    stock: Stock | None = None
    barcode: Barcode | None = None
    cost: Price | None = optional("What one piece costs the shop; a decimal amount.")
    external_id: ExternalId | None = None
    metadata: Metadata | None = None


class VariantInput(NewVariant):
    """A variant of a product; an existing one by `id` or SKU."""

    shape: ClassVar[type] = Variant

    read_only: ClassVar[frozenset[str]] = frozenset()

    id: Annotated[str, length(60)] | None = None


class _Named(Protocol):
    name: str


_NamedPart = TypeVar("_NamedPart", bound=_Named)


def refuse_repeated_names(named: list[_NamedPart]) -> list[_NamedPart]:
    """Return parts that have a name each. Raise an error if two have the same, in any case."""
    known = set[str]()
    for one in named:
        if one.name.casefold() in known:
            raise PydanticCustomError("duplicate", "has {name} twice", {"name": repr(one.name)})
        known.add(one.name.casefold())
    return named


MOST_SPECIFIED: Final = 30  # names in a specification
SpecificationName = Annotated[str, SEEN, length(60, 1)]


class SpecifiedNameInput(Stripped):
    """What has to be known before a product can be made, such as a ring's size."""

    shape: ClassVar[type] = SpecifiedName

    name: SpecificationName
    required: Flag = Field(default_factory=bool)
    choices: Annotated[
        list[Annotated[str, SEEN, length(100, 1)]], null_is([]), Field(max_length=50)
    ] = Field(default_factory=list)


class _ProductFields(Stripped):
    shape: ClassVar[type] = ShownProduct

    read_only: ClassVar[frozenset[str]] = frozenset({"id", "createdAt", "updatedAt"})

    currency: ShopCurrency | None = Field(None, exclude=True)  # checked, not stored
    description: Annotated[str, AfterValidator(_check_description)] | None = None
    status: ProductStatus | None = None
    price: Price | None = optional("A decimal amount, in the shop's currency.")
    compare_at_price: Price | None = None
    sku: Sku | None = None
    vendor: Annotated[str, length(255)] | None = None
    tags: Tags | None = None
    type: Annotated[str, length(255)] | None = None
    storefront: Annotated[str, length(100)] | None = None
    published: bool | None = None
    images: list[ImageInput] | None = Field(None, max_length=MOST_IMAGES)
    seo: SeoInput | None = None
    low_stock_threshold: Stock | None = None
    made_to_order: bool | None = None
    lead_days: Annotated[int, Field(strict=True, ge=0, le=730)] | None = None
    specification: (
        Annotated[
            list[SpecifiedNameInput],
            Field(max_length=MOST_SPECIFIED),
            AfterValidator(refuse_repeated_names),
        ]
        | None
    ) = None
    external_id: ExternalId | None = None
    metadata: Metadata | None = None


class ProductChange(_ProductFields):
    """The fields of a PUT: absent fields stay, null clears."""

    shape: ClassVar[type] = ShownProduct

    name: Name = ""
    slug: Slug = ""
    variants: list[VariantInput] | None = Field(None, max_length=MOST_VARIANTS)


class NewProduct(_ProductFields):
    """The fields of a creation. `price` may be absent only if every variant has one."""

    shape: ClassVar[type] = ShownProduct

    name: Name
    slug: Slug | None = None
    status: ProductStatus | None = ProductStatus.DRAFT
    published: bool | None = True
    variants: list[NewVariant] | None = Field(None, max_length=MOST_VARIANTS)


class ProductRow(ProductChange):
    """A row of the modes `upsert` and `update`: absent fields stay, null clears. A new product
    needs what NewProduct needs.
    """

    read_only: ClassVar[frozenset[str]] = frozenset({"createdAt", "updatedAt"})

    id: Annotated[str, length(60, 1)] | None = None


# The body of a bulk call, for the description only: its rows are validated one by one.
NewProducts = TypeAliasType(
    "NewProducts",
    Annotated[
        list[NewProduct | ProductRow],
        about("The rows of a bulk call; each succeeds or fails independently."),
    ],
)


class BulkMode(Choice):
    """What a bulk call does with its rows."""

    CREATE = "create"
    UPSERT = "upsert"
    UPDATE = "update"


class BulkQuery(QueryParameters):
    mode: Annotated[
        BulkMode,
        Field(
            description="`upsert` changes the products that there are and creates the others;"
            " `update` creates none"
        ),
    ] = BulkMode.CREATE
    dry_run: Annotated[bool, Field(description="Answers the same, and writes nothing")] = False


class BulkStatus(Stripped):
    """The new status, and the products that get it."""

    shape: ClassVar[type] = ShownProduct

    ids: Annotated[
        list[Annotated[str, length(60, 1)]],
        length(BULK_PRODUCTS, 1),
        about("Identifiers, up to 500."),
    ]
    status: ProductStatus


class ProductSort(Choice):
    """The order of a list of products."""

    NEWEST = "-createdAt"
    OLDEST = "createdAt"
    NAME = "name"
    LAST_CHANGED = "-updatedAt"
    FIRST_CHANGED = "updatedAt"


class ListProducts(listing.Filters):
    shape: ClassVar[type] = ShownProduct

    facets = ("status", "type", "storefront", "vendor", "tag")
    exact = ("sku",)

    search: Annotated[str, length(200), Field(description="Beginnings of words")] = ""
    status: Several[ProductStatus] = Field(default_factory=list)
    type: Annotated[str, length(255)] = ""
    storefront: Annotated[str, length(100)] = ""
    vendor: Annotated[str, length(255), Field(description="The exact vendor")] = ""
    tag: Annotated[str, length(100), Field(description="One of the product's tags")] = ""
    published: bool | None = None
    external_id: Annotated[
        ExternalId, Field(description=f"{external_ids.FILTER}, or with such a variant")
    ] = ""
    sku: Annotated[
        str, length(100), about("The whole SKU, of the product or of one of its variants.")
    ] = ""
    sort: Annotated[ProductSort, about("The order of the list.")] = ProductSort.NEWEST

    def accepted_values(self) -> dict[str, frozenset[str]]:
        if self.published is None:
            return super().accepted_values()
        return super().accepted_values() | {"published": frozenset({PUBLISHED[self.published]})}


class PublicSort(Choice):
    """The order of the storefront."""

    NEWEST = "newest"
    NAME = "name"
    CHEAPEST = "price"
    DEAREST = "-price"


def _check_prices(value: str | None, info: ValidationInfo) -> str | None:
    lowest = info.data.get("min_price")
    if value and lowest and Decimal(value) < Decimal(lowest):
        raise ValueError("must not be below minPrice")
    return value


_Values = Annotated[list[Annotated[str, length(255)]], Field(max_length=100)]


_PUBLIC: Final = {
    "status": frozenset({ProductStatus.ACTIVE.value}),
    "published": frozenset({PUBLISHED[True]}),
}


class OfStorefront(QueryParameters):
    shape: ClassVar[type] = PublicProduct

    storefront: Annotated[
        str, length(100), about("Only products that are assigned to it, or to none.")
    ] = ""

    def public_values(self) -> dict[str, frozenset[str]]:
        """Return the accepted values of the facets of what the storefront shows."""
        own = {"storefront": frozenset({self.storefront, ""})} if self.storefront else {}
        return _PUBLIC | own


class BrowseProducts(OfStorefront, listing.Filters):
    """The storefront's query."""

    facets = ("type", "vendor", "tag")

    search: Annotated[str, length(200), Field(description="Beginnings of words")] = ""
    type: _Values = Field(default_factory=list, description="Any of these types; repeatable")
    vendor: _Values = Field(default_factory=list, description="Any of these vendors; repeatable")
    tag: _Values = Field(default_factory=list, description="Any of these tags; repeatable")
    min_price: Annotated[Price | None, about("Only products that cost this or more.")] = None
    max_price: Annotated[
        Price | None, AfterValidator(_check_prices), about("Only products that cost this or less.")
    ] = None
    available: Annotated[
        bool | None, about("Only products of which a variant can be ordered, or of which none can.")
    ] = None
    sort: Annotated[PublicSort, about("The order of the list.")] = PublicSort.NEWEST

    def accepted_values(self) -> dict[str, frozenset[str]]:
        return super().accepted_values() | self.public_values()

    def query(self) -> listing.Query:
        lowest, highest = self.min_price, self.max_price
        bounds = listing.Range(
            money.sort_key(lowest or "0"), f"{money.sort_key(highest or money.LARGEST)}~"
        )
        return replace(
            super().to_query(),
            deepest=DEEPEST_PUBLIC,
            order="" if self.sort is PublicSort.NEWEST else f"live-{self.sort.removeprefix('-')}",
            forward=self.sort in {PublicSort.NAME, PublicSort.CHEAPEST},
            measures={"price": bounds} if lowest or highest else {},
        )


class ProductFields(Sparse):
    shape: ClassVar[type] = ShownProduct


class ListProductFields(ListProducts, ProductFields):
    updated_from: listing.UpdatedFrom = ""


class PublicFields(Sparse):
    shape: ClassVar[type] = PublicProduct


class BrowseProductFields(BrowseProducts, PublicFields):
    pass
