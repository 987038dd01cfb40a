"""The public catalogue: active and published products, without internal fields."""

from chalice.app import Response

from chalicelib.problems import NotFound
from chalicelib.products import store
from chalicelib.products.model import show_public
from chalicelib.products.schemas import (
    BrowseProductFields,
    OfStorefront,
    PublicFacets,
    PublicFields,
    PublicProduct,
)
from chalicelib.request import Routes, query
from chalicelib.request.answer import page_text, reply_public
from chalicelib.schemas import Walked
from chalicelib.values.compact_json import encode

routes = Routes(__name__, "Storefront")


@routes.get(
    "/api/products",
    "Browse products",
    query=BrowseProductFields,
    answers={200: Walked[PublicProduct], 304: None},
)
def browse_products() -> Response:
    """Newest first. `storefront` shows products that are assigned to it or to none. A page may end
    early where few of very many products match: read on until `pagination.next` is null. With
    `available`, `total` is at least what this page has.
    """
    asked = query(BrowseProductFields)
    page = store.browse(asked.query(), asked.fields, asked.available)
    shown = [show_public(product, asked.fields) for product in page.records]
    return reply_public(page_text(shown, page))


@routes.get(
    "/api/products/facets",
    "List what the storefront can be filtered by",
    query=OfStorefront,
    answers={200: PublicFacets, 304: None},
)
def list_public_facets() -> Response:
    """The types, vendors and tags of the public products, each with the number that have it now,
    and the range of prices: for a menu and its filters.
    """
    return reply_public(encode(store.public_facets(query(OfStorefront).public_values())))


@routes.get(
    "/api/products/{id_or_slug}",
    "Get a product by id or slug",
    query=PublicFields,
    answers={200: PublicProduct, 304: None},
)
def get_public_product(id_or_slug: str) -> Response:
    """The ETag is a hash of the answer, with `fields` too."""
    fields = query(PublicFields).fields
    # Whether it is shown at all is judged in any case.
    read = {*fields, "status", "published"} if fields else ()
    product = store.find(id_or_slug, read) or store.find_by_slugs([id_or_slug], read).get(
        id_or_slug
    )
    if product is None or not product.is_live:
        raise NotFound.for_id("product", id_or_slug)
    return reply_public(encode(show_public(product, fields)))
