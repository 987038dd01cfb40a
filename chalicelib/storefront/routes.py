"""The public catalogue: active and published products, without internal fields."""

from chalice.app import Response

from chalicelib.problems import NotFound
from chalicelib.products import store
from chalicelib.products.model import show_public
from chalicelib.products.schemas import BrowseProductFields, PublicFields, PublicProduct
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
    """Newest first. `storefront` shows products that are assigned to it or to none."""
    asked = query(BrowseProductFields)
    page = store.page(asked.query(), asked.fields)
    shown = [show_public(product, asked.fields) for product in page.records]
    return reply_public(page_text(shown, page))


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
