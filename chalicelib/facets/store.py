"""Values that records have used.

| item | pk | sk |
|---|---|---|
| value | `used#<kind>#<field>` | `<folded value>#<value>` |

A commit writes none of this: a consumer of the outbox (`consumer.py`) writes what is new in its
events, so a value is offered half a minute after its first use at the latest. It stays. Those that
lists count are not offered when no record has them any more. An erasure removes those that mention
the person, and tags that only this customer had; events of the person that come later add none.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from chalicelib import listing
from chalicelib.customers import store as customers
from chalicelib.facets.model import FIELDS, KINDS, Facet, FacetOf, Facets, ListFacets, used
from chalicelib.listing import words
from chalicelib.storage import dynamodb, table
from chalicelib.storage.attributes import Fields, Key
from chalicelib.values.batches import batches
from chalicelib.values.forgetting import Person

_LOOKED_AT: Final = 2_000  # values in which a search is found within a value
_SORTED: Final = 120  # characters by which values are in order
_TYPES: Final = {kind.name: of for of, kind in KINDS.items()}


def _pk(of: str, field: str) -> str:
    return f"used#{KINDS[of].name}#{field}"


def _fold(text: str) -> str:
    return " ".join(words.fold(text).split())[:_SORTED]


# --- Writing --------------------------------------------------------------------------------------


Value = tuple[str, str, str]  # the type of the records, the field, and the value


def values_in(kind: str, record: Mapping[str, object]) -> set[Value]:
    """Return the values of a record, as shown or as stored. `kind`: its name, such as `product`."""
    of = _TYPES.get(kind)
    return {(of, field, value) for field, value in used(of, record)} if of else set()


def key_of(value: Value) -> Key:
    of, field, text = value
    return _pk(of, field), f"{_fold(text)}#{text}"


def save_values(values: Mapping[Key, Value], known: Container[Key]) -> None:
    """Write the values whose keys are not known. Raises Busy."""
    new = {key: value for key, (_, _, value) in values.items() if key not in known}
    table.batch_write({"pk": pk, "sk": sk, "value": value} for (pk, sk), value in new.items())


def remember(kind: str, records: Iterable[Mapping[str, object]]) -> None:
    """Write the values of stored records of a kind that are not there yet. Raises Busy."""
    values = {key_of(value): value for record in records for value in values_in(kind, record)}
    save_values(values, table.batch_get(values, fields=("pk", "sk")))


# --- Forgetting -----------------------------------------------------------------------------------


def forget_tags(customer: Fields) -> None:
    """Before a customer is erased: no other customer has these tags."""
    for tag in customer["tags"]:
        if customers.page(listing.Query({"tag": frozenset({tag})}, limit=1)).total <= 1:
            table.delete((_pk(FacetOf.customers, "tag"), f"{_fold(tag)}#{tag}"))


def forget(person: Person) -> int:
    """Delete the values of orders and customers that mention the person; return how many."""
    places = [(of, field) for of in (FacetOf.orders, FacetOf.customers) for field in FIELDS[of]]
    pages = (page for of, field in places for page in table.pages(_pk(of, field)))
    mentioning = [item for page in pages for item in page if person.is_mentioned_in(item["value"])]
    table.batch_write(deletes=[(item["pk"], item["sk"]) for item in mentioning])
    return len(mentioning)


# --- Reading --------------------------------------------------------------------------------------


def find(filters: ListFacets) -> Facets:
    """Those whose words begin with all terms of the search."""
    pk, terms = _pk(filters.type, filters.field), words.search_terms(filters.search)
    if filters.search and not terms:  # no visible character
        return {"data": [], "more": False}
    reads = [table.query.call(pk, limit=_LOOKED_AT)]
    if terms:  # among more values, those that begin with it
        begun = table.sk.begins_with(_fold(filters.search))
        reads.append(table.query.call(pk, where=begun, limit=filters.limit + 1))
    read = dynamodb.wait_for_results(reads)
    values = [item["value"] for rows in read for item in rows.items]
    fit = list(dict.fromkeys(value for value in values if _fits(value, terms)))
    offered = _count_offered(filters, fit)
    shown = list(islice(offered, filters.limit))
    has_more = next(offered, None) is not None or (read[0].after is not None and not terms)
    return {"data": shown, "more": has_more}


def _count_offered(filters: ListFacets, values: Sequence[str]) -> Iterator[Facet]:
    """Those that a record has, or that are not counted; no more are counted than are needed."""
    for batch in batches(values, filters.limit + 1):
        counts = listing.count_each(KINDS[filters.type], filters.field, batch)
        for value, count in zip(batch, counts, strict=True):
            if count != 0:
                yield {"value": value, "count": count}


def _fits(value: str, terms: Iterable[str]) -> bool:
    own = words.index_words([value])
    return all(any(word.startswith(term) for word in own) for term in terms)
