"""The public side of the catalogue: what is active and published, without what is internal."""

from chalice.app import Response

from chalicelib import listing, schemas
from chalicelib.problems import NotFound
from chalicelib.products import store
from chalicelib.products.model import DEEPEST_PUBLIC, BrowseProducts
from chalicelib.products.shown import PublicProduct, show_public
from chalicelib.request import Routes, query
from chalicelib.request.answer import reply_public
from chalicelib.request.call import current
from chalicelib.schemas import Listed

routes = Routes(__name__, "Storefront")


@routes.get(
    "/api/products",
    "Browse products",
    query=BrowseProducts,
    answers={200: Listed[PublicProduct], 304: None},
)
def browse() -> Response:
    """Newest first. `storefront` shows what is assigned to it, and what is assigned to none."""
    asked = query(BrowseProducts)
    page = store.page(
        listing.Query(
            asked.where(),
            asked.search,
            asked.page,
            asked.limit,
            walker=current().address,
            deepest=DEEPEST_PUBLIC,
        )
    )
    shown = [show_public(product) for product in page.records]
    return reply_public(schemas.listed(shown, page.total, asked, page.pages))


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
