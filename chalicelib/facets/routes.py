"""Values to choose from, for forms and filters."""

from chalice.app import Response

from chalicelib.facets import store
from chalicelib.facets.model import Facets, ListFacets
from chalicelib.request import Role, Routes, query, reply

routes = Routes(__name__, "Search")


@routes.get(
    "/api/admin/facets",
    "List values in use",
    role=Role.READER,
    query=ListFacets,
    answers={200: Facets},
)
def list_facets() -> Response:
    """The values that the shop has used in a field, in alphabetical order: of products `type`,
    `vendor`, `storefront` and `tag`; of orders `source`, `salesRepId`, `paymentMethod` and `tag`;
    of customers `tag`. A new value is here half a minute after its first use at the latest. Values
    that no record has any more are left out where they are counted.
    """
    return reply(200, store.find(query(ListFacets)))
