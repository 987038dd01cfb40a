"""One search in everything: a few orders, products and customers, in two round trips."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from chalicelib import listing, threads
from chalicelib.customers import model as customer
from chalicelib.customers import store as customers
from chalicelib.customers.schemas import strip_phone_notation
from chalicelib.listing import best, words
from chalicelib.orders import model as order
from chalicelib.orders import store as orders
from chalicelib.products import model as product
from chalicelib.products import store as products
from chalicelib.storage import dynamodb

MOST_FOUND: Final = 5  # of each


R = TypeVar("R", bound=listing.Indexed)
# Each kind, how its records are loaded, and what is searched of a text.
_KINDS: Final[
    tuple[tuple[listing.Kind, Callable[[list[str]], list[Any]], Callable[[str], str]], ...]
] = (
    (order.KIND, orders.load, str),
    (product.KIND, products.load, str),
    (customer.KIND, customers.load, strip_phone_notation),
)


def find(search: str) -> list[list[Any]]:
    """Return up to five orders, products and customers each that have all words of the search.

    Those that have one as a whole, such as a number, an e-mail or a SKU, come first; then the
    newest.
    """
    terms = [words.search_terms(bare(search)) for _, _, bare in _KINDS]
    calls = [
        best.candidate_calls(kind, kind_terms)
        for (kind, _, _), kind_terms in zip(_KINDS, terms, strict=True)
    ]
    read = iter(dynamodb.wait_for_results([call for kind_calls in calls for call in kind_calls]))
    results = [
        best.rank_candidates(kind_terms, [next(read) for _ in kind_calls]) if kind_terms else []
        for kind_terms, kind_calls in zip(terms, calls, strict=True)
    ]
    loads = [partial(load, ids) for (_, load, _), ids in zip(_KINDS, results, strict=True) if ids]
    loaded = iter(threads.run_together(loads))
    return [
        _best(search, kind_terms, next(loaded)) if ids else []
        for kind_terms, ids in zip(terms, results, strict=True)
    ]


def _best(search: str, terms: Sequence[str], records: list[R]) -> list[R]:
    whole = {words.whole_word(search), *terms}
    matching = [record for record in records if record.index.matches({}, terms)]
    matching.sort(key=lambda record: whole.isdisjoint(record.index.every_word))
    return matching[:MOST_FOUND]
