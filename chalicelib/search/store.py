"""One search in everything: a few orders, products and customers, in two round trips."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from chalicelib import listing, threads
from chalicelib.customers import model as customer
from chalicelib.customers import store as customers
from chalicelib.listing import best, words
from chalicelib.orders import model as order
from chalicelib.orders import store as orders
from chalicelib.products import model as product
from chalicelib.products import store as products
from chalicelib.storage import dynamodb

MOST_FOUND: Final = 5  # of each


R = TypeVar("R", bound=listing.Indexed)
_KINDS: Final[tuple[tuple[listing.Kind, Callable[[list[str]], list[Any]]], ...]] = (
    (order.KIND, orders.load),
    (product.KIND, products.load),
    (customer.KIND, customers.load),
)


def find(search: str) -> list[list[Any]]:
    """Up to five orders, products and customers each that have all words of the search: first what
    has one as a whole, such as a number, an e-mail or a SKU; then the newest."""
    terms = words.terms(search)
    if not terms:
        return [[] for _ in _KINDS]
    calls = [best.reading(kind, terms) for kind, _ in _KINDS]
    read = iter(dynamodb.together([call for some in calls for call in some]))
    found = [best.candidates(terms, [next(read) for _ in some]) for some in calls]
    loads = [partial(load, ids) for (_, load), ids in zip(_KINDS, found, strict=True) if ids]
    loaded = iter(threads.together(loads))
    return [_best(search, terms, next(loaded)) if ids else [] for ids in found]


def _best(search: str, terms: Sequence[str], records: list[R]) -> list[R]:
    whole = {words.whole(search), *terms}
    matching = [record for record in records if record.index.matches({}, terms)]
    matching.sort(key=lambda record: whole.isdisjoint(record.index.every_word))
    return matching[:MOST_FOUND]
