"""The public side of the catalogue: what is active and published, without what is internal."""

from chalice.app import Response

from chalicelib import schemas
from chalicelib.problems import NotFound
from chalicelib.products import store
from chalicelib.products.model import BrowseProducts
from chalicelib.products.shown import PublicProduct, show_public
from chalicelib.request import Routes, query
from chalicelib.request.answer import reply_public
from chalicelib.schemas import Walked

routes = Routes(__name__, "Storefront")


@routes.get(
    "/api/products",
    "Browse products",
    query=BrowseProducts,
    answers={200: Walked[PublicProduct], 304: None},
)
def browse() -> Response:
    """Newest first. `storefront` shows what is assigned to it, and what is assigned to none."""
    asked = query(BrowseProducts)
    page = store.page(asked.query())
    return reply_public(schemas.walked([show_public(product) for product in page.records], page))


@routes.get(
    "/api/products/{id_or_slug}",
    "Get a product by id or slug",
    answers={200: PublicProduct, 304: None},
    problems=[NotFound],
)
def get(id_or_slug: str) -> Response:
    product = store.find(id_or_slug) or store.find_by_slug(id_or_slug)
    if product is None or not product.is_live:
        raise NotFound.of("product", id_or_slug)
    return reply_public(show_public(product))
