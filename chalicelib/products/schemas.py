"""How a product is shown: to the admin interface, and to the public."""

from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Any, ClassVar, Final, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib import settings
from chalicelib.listing import external_ids
from chalicelib.products.model import BrowseProducts, ListProducts, Product, ProductStatus, Variant
from chalicelib.schemas import Sparse, about
from chalicelib.storage.attributes import Fields
from chalicelib.values.metadata import ABOUT as METADATA


class Image(TypedDict):
    """An image of a product."""

    url: Annotated[str, about("Web address.")]
    alt: Annotated[str | None, about("Alternative text of the image.")]


class Seo(TypedDict):
    """Title and description for search engines."""

    title: Annotated[str | None, about("Title.")]
    description: Annotated[str | None, about("Free text.")]


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
    storefront: Annotated[str | None, about("The storefront that it is assigned to; null: all.")]
    tags: Annotated[list[str], about("Words to find it by.")]
    lowStockThreshold: Annotated[int, about("A stock below this is low.")]
    variants: Annotated[list[Variant], about("Variants; there is at least one.")]
    images: Annotated[list[Image], about("Images, the main one first.")]
    seo: Annotated[Seo, about("What search engines show.")]
    externalId: Annotated[str | None, about(external_ids.ABOUT)]
    metadata: Annotated[dict[str, object], about(METADATA)]
    createdAt: Annotated[str, about("When it was created.")]
    updatedAt: Annotated[str, about("When it was last changed.")]


_SHOWN: Final = ShownProduct.__annotations__


class ProductFields(Sparse):
    shape: ClassVar[type] = ShownProduct


class ListProductFields(ListProducts, ProductFields):
    pass


def show(product: Product, fields: Collection[str] = (), *, costs: bool = True) -> dict[str, Any]:
    """The shape of ShownProduct, or these fields of it. Without `costs` each is null."""
    shown = _in_order(_SHOWN, fields, product, product.variants)
    return shown if costs else without_costs(shown)


def without_costs(shown: Fields) -> dict[str, object]:
    """As those see it who do not see what it costs, among them webhooks."""
    variants = [{**variant, "cost": None} for variant in shown.get("variants", ())]
    return {**shown, **({"variants": variants} if "variants" in shown else {})}


def _in_order(
    names: Collection[str],
    asked: Collection[str],
    product: Product,
    variants: Callable[[], Sequence[object]],
) -> dict[str, object]:
    """The fields with these names, or those of them that are asked for."""
    wanted = [name for name in names if name in asked] if asked else names
    shown = {name: product.fields.get(name) for name in wanted}
    if "price" in shown:
        shown["price"] = product.price
    if "currency" in shown:
        shown["currency"] = settings.currency()
    if "variants" in shown:
        shown["variants"] = variants()
    return shown


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


class PublicVariant(TypedDict):
    """A variant as the storefront shows it."""

    id: Annotated[str, about("Identifier.")]
    title: Annotated[str, about("Title.")]
    sku: Annotated[str | None, about("Stock keeping unit.")]
    price: Annotated[str, about("A decimal amount, in the shop's currency.")]
    available: Annotated[
        bool, about("Whether it can be ordered: its stock is above zero, or is not tracked.")
    ]


class PublicProduct(TypedDict):
    """A product as the storefront answers it: an allow-list, with availability instead of stock."""

    id: Annotated[str, about("Identifier.")]
    slug: Annotated[str, about("Its part of a web address, such as blue-shirt.")]
    name: Annotated[str, about("Name.")]
    description: Annotated[str | None, about("Free text.")]
    price: Annotated[str, about("Its own price, or the lowest of its variants'.")]
    compareAtPrice: Annotated[str | None, about("The price before a reduction; a decimal amount.")]
    currency: Annotated[str, about("The shop's currency, ISO 4217.")]
    sku: Annotated[str | None, about("Stock keeping unit.")]
    vendor: Annotated[str | None, about("Who makes or supplies it.")]
    type: Annotated[str | None, about("Product type.")]
    tags: Annotated[list[str], about("Words to find it by.")]
    variants: Annotated[list[PublicVariant], about("Variants; there is at least one.")]
    images: Annotated[list[Image], about("Images, the main one first.")]
    seo: Annotated[Seo, about("What search engines show.")]
    createdAt: Annotated[str, about("When it was created.")]


_PUBLIC: Final = PublicProduct.__annotations__


class PublicFields(Sparse):
    shape: ClassVar[type] = PublicProduct


class BrowseProductFields(BrowseProducts, PublicFields):
    pass


def show_public(product: Product, fields: Collection[str] = ()) -> dict[str, object]:
    """The shape of PublicProduct, or these fields of it."""
    return _in_order(
        _PUBLIC, fields, product, lambda: [_public_variant(v) for v in product.variants()]
    )


def _public_variant(variant: Variant) -> PublicVariant:
    stock = variant["stock"]
    return {
        "id": variant["id"],
        "title": variant["title"],
        "sku": variant["sku"],
        "price": variant["price"],
        "available": stock is None or stock > 0,
    }


class BulkRow(TypedDict):
    """`id` and `product` if it was created, otherwise `error` (as an error body)."""

    index: Annotated[int, about("Place in the request, from 0.")]
    status: Annotated[Literal["created", "error"], about("The result for this product.")]
    id: NotRequired[Annotated[str, about("Identifier.")]]
    product: NotRequired[Annotated[ShownProduct, about("The product, where it was created.")]]
    error: NotRequired[Annotated[dict[str, object], about("Why it failed; null: it did not.")]]


class BulkSummary(TypedDict):
    """How many were created, and how many were not."""

    created: Annotated[int, about("How many were created.")]
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
