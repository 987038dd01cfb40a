"""How a product is shown: to the admin interface, and to the public."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib import settings
from chalicelib.products.model import BrowseProducts, ListProducts, Product, ProductStatus
from chalicelib.schemas import Sparse


class Variant(TypedDict):
    id: str
    title: str
    sku: str | None
    price: str
    stock: Annotated[int | None, Field(description="null: not tracked")]


class Image(TypedDict):
    url: str
    alt: str | None


class Seo(TypedDict):
    title: str | None
    description: str | None


class ShownProduct(TypedDict):
    """A product as the admin interface answers it."""

    id: str
    slug: str
    name: str
    description: str | None
    status: ProductStatus
    published: bool
    price: str
    compareAtPrice: str | None
    currency: str
    sku: str | None
    vendor: str | None
    type: str | None
    storefront: str | None
    tags: list[str]
    lowStockThreshold: int
    variants: list[Variant]
    images: list[Image]
    seo: Seo
    metadata: dict[str, Any]
    createdAt: str
    updatedAt: str


_SHOWN: Final = tuple(ShownProduct.__annotations__)


class ProductFields(Sparse):
    shape: ClassVar[Any] = ShownProduct


class ListProductFields(ListProducts, ProductFields):
    pass


def show(product: Product, fields: Collection[str] = ()) -> dict[str, Any]:
    """The shape of ShownProduct, or these fields of it."""
    names = [name for name in _SHOWN if name in fields] if fields else _SHOWN
    return _in_order(names, product, product.variants)


def _in_order(
    names: Iterable[str], product: Product, variants: Callable[[], list[dict[str, Any]]]
) -> dict[str, Any]:
    shown = {name: product.fields.get(name) for name in names}
    if "price" in shown:
        shown["price"] = product.price
    if "currency" in shown:
        shown["currency"] = settings.currency()
    if "variants" in shown:
        shown["variants"] = variants()
    return shown


class MovedStock(TypedDict):
    """A move of a variant's stock, and the stock after it."""

    variantId: str
    by: int
    stock: int
    reason: str


class UpdatedProduct(ShownProduct):
    """A product as in `product.updated`."""

    stockMoves: NotRequired[
        Annotated[list[MovedStock], Field(description="The moves, if its stock was moved")]
    ]


class LowStockVariant(TypedDict):
    """A variant whose stock is below its product's threshold."""

    productId: str
    productName: str
    variantId: str
    variantTitle: str
    sku: str | None
    stock: int
    threshold: int


class PublicVariant(TypedDict):
    id: str
    title: str
    sku: str | None
    price: str
    available: bool


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
    images: list[Image]
    seo: Seo
    createdAt: str


_PUBLIC: Final = tuple(PublicProduct.__annotations__)


class PublicFields(Sparse):
    shape: ClassVar[Any] = PublicProduct


class BrowseProductFields(BrowseProducts, PublicFields):
    pass


def show_public(product: Product, fields: Collection[str] = ()) -> dict[str, Any]:
    """The shape of PublicProduct, or these fields of it."""
    names = [name for name in _PUBLIC if name in fields] if fields else _PUBLIC
    return _in_order(names, product, lambda: [_public_variant(v) for v in product.variants()])


def _public_variant(variant: Mapping[str, Any]) -> dict[str, Any]:
    stock = variant["stock"]
    shown = {name: variant[name] for name in ("id", "title", "sku", "price")}
    return {**shown, "available": stock is None or stock > 0}


class BulkRow(TypedDict):
    """`id` and `product` if it was created, otherwise `error` (as an error body)."""

    index: int
    status: Literal["created", "error"]
    id: NotRequired[str]
    product: NotRequired[ShownProduct]
    error: NotRequired[dict[str, Any]]


class BulkSummary(TypedDict):
    created: int
    failed: int


class BulkStatusRow(TypedDict):
    """`error` (as an error body) if it was not updated."""

    index: int
    id: str
    status: Literal["updated", "error"]
    error: NotRequired[dict[str, Any]]


class BulkStatusSummary(TypedDict):
    updated: int
    failed: int


class BulkStatusResult(TypedDict):
    """One row per id sent, in their order."""

    data: list[BulkStatusRow]
    summary: BulkStatusSummary


class BulkResult(TypedDict):
    """One row per product sent, in their order."""

    data: list[BulkRow]
    summary: BulkSummary
