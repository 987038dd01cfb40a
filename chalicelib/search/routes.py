"""One search over everything, for the shop's staff."""

from typing import Annotated

from chalice.app import Response
from pydantic import AfterValidator, Field
from typing_extensions import TypedDict

from chalicelib.customers.model import show as show_customer
from chalicelib.customers.schemas import ShownCustomer
from chalicelib.orders.model import show_order
from chalicelib.orders.schemas import ShownOrder, strip_number_sign
from chalicelib.products.model import show_product
from chalicelib.products.schemas import ShownProduct
from chalicelib.request import Role, Routes, caller, query, reply
from chalicelib.schemas import QueryParameters, about
from chalicelib.search import store

routes = Routes(__name__, "Search")


class Search(QueryParameters):
    q: Annotated[
        str,
        Field(min_length=1, max_length=200, description="Beginnings of words"),
        AfterValidator(strip_number_sign),
    ]


class SearchResult(TypedDict):
    """Up to five of each."""

    orders: Annotated[list[ShownOrder], about("Orders that were found.")]
    products: Annotated[list[ShownProduct], about("Products that were found.")]
    customers: Annotated[list[ShownCustomer], about("Customers that were found.")]


@routes.get(
    "/api/admin/search",
    "Search in everything",
    role=Role.READER,
    query=Search,
    answers={200: SearchResult},
)
def search_everything() -> Response:
    """Orders, products and customers that match all words of `q`: whole matches, such as a number,
    an e-mail address or a SKU, first; then the newest.
    """
    orders, products, customers = store.find(query(Search).q)
    costs = caller().sees_costs
    return reply(
        200,
        {
            "orders": [show_order(order, costs=costs) for order in orders],
            "products": [show_product(product, costs=costs) for product in products],
            "customers": [show_customer(customer) for customer in customers],
        },
    )
