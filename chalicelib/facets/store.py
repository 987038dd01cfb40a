"""Values that records have used.

| item | pk | sk |
|---|---|---|
| value | `used#<kind>#<field>` | `<folded value>#<value>` |

A commit writes none of this: the fan-out of the outbox's stream remembers what is new in its
events, so a value is offered half a minute after its first use at the latest. It stays. Those that
lists count are not offered when no record has them any more. An erasure removes those that mention
the person, and tags that only this customer had; events of the person that come later add none.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from chalicelib import listing, telemetry
from chalicelib.audit import store as audit
from chalicelib.customers import store as customers
from chalicelib.facets.model import FIELDS, KINDS, Facet, FacetOf, Facets, ListFacets, used
from chalicelib.listing import words
from chalicelib.storage import dynamodb, outbox, table
from chalicelib.storage.attributes import Fields, Item, Key
from chalicelib.values.batches import batches
from chalicelib.values.forgetting import Person

_LOOKED_AT: Final = 2_000  # values in which a search is found within a value
_SORTED: Final = 120  # characters by which values are in order


def _pk(of: str, field: str) -> str:
    return f"used#{KINDS[of].name}#{field}"


def _folded(text: str) -> str:
    return " ".join(words.fold(text).split())[:_SORTED]


# --- Writing --------------------------------------------------------------------------------------


def enter(items: Iterable[Item]) -> None:
    """The values in the events of these outbox items. Raises Busy."""
    found = list[tuple[list[Item], set[Key]]]()
    for item in items:
        try:
            events = [(e.event.partition(".")[0], e.data()) for e in outbox.events_of(item)]
            new = [value for name, shown in events for value in _values(name, shown)]
            entries = outbox.trace_of(item).get("audit", ())
            persons = {person for entry in entries for person in entry.get("customers", ())}
        except Exception as error:  # a defect must not stop the stream
            telemetry.error("values are unreadable", error, eventId=item["pk"])
        else:
            found.append((new, {audit.unnamed_key(person) for person in persons}))
    _remember(found)


def remember(kind: str, records: Iterable[Mapping[str, object]]) -> None:
    """The values of stored records of a kind, such as `product`. Raises Busy."""
    _remember([([value for record in records for value in _values(kind, record)], set())])


def _values(name: str, record: Mapping[str, object]) -> Iterator[Item]:
    for of, kind in KINDS.items():
        for field, value in used(of, record) if kind.name == name else ():
            sk = f"{_folded(value)}#{value}"
            yield {"pk": _pk(of, field), "sk": sk, "value": value}


def _remember(found: Sequence[tuple[list[Item], set[Key]]]) -> None:
    """Values, each time with what would be there if a customer whose values they are was erased."""
    keys = {(item["pk"], item["sk"]) for values, _ in found for item in values}
    there = table.batch_get(keys.union(*(erased for _, erased in found)), fields=("pk", "sk"))
    kept = (item for values, erased in found if erased.isdisjoint(there) for item in values)
    new = {(item["pk"], item["sk"]): item for item in kept}
    table.batch_write([item for key, item in new.items() if key not in there])


# --- Forgetting -----------------------------------------------------------------------------------


def forget_tags(customer: Fields) -> None:
    """Before a customer is erased: no other customer has these tags."""
    for tag in customer["tags"]:
        if customers.page(listing.Query({"tag": frozenset({tag})}, limit=1)).total <= 1:
            table.delete((_pk(FacetOf.customers, "tag"), f"{_folded(tag)}#{tag}"))


def forget(person: Person) -> int:
    """Delete the values of orders and customers that mention the person; return how many."""
    places = [(of, field) for of in (FacetOf.orders, FacetOf.customers) for field in FIELDS[of]]
    pages = (page for of, field in places for page in table.pages(_pk(of, field)))
    found = [item for page in pages for item in page if person.mentions(item["value"])]
    table.batch_write(deletes=[(item["pk"], item["sk"]) for item in found])
    return len(found)


# --- Reading --------------------------------------------------------------------------------------


def find(asked: ListFacets) -> Facets:
    """Those whose words begin with all terms of the search."""
    pk, terms = _pk(asked.type, asked.field), words.terms(asked.search)
    if asked.search and not terms:  # no visible character
        return {"data": [], "more": False}
    reads = [table.query.call(pk, limit=_LOOKED_AT)]
    if terms:  # among more values, those that begin with it
        begun = table.sk.begins_with(_folded(asked.search))
        reads.append(table.query.call(pk, where=begun, limit=asked.limit + 1))
    read = dynamodb.wait_for_results(reads)
    values = [item["value"] for rows in read for item in rows.items]
    fit = list(dict.fromkeys(value for value in values if _fits(value, terms)))
    offered = _offered(asked, fit)
    shown = list(islice(offered, asked.limit))
    more = next(offered, None) is not None or (read[0].after is not None and not terms)
    return {"data": shown, "more": more}


def _offered(asked: ListFacets, values: Sequence[str]) -> Iterator[Facet]:
    """Those that a record has, or that are not counted; no more are counted than are needed."""
    for some in batches(values, asked.limit + 1):
        counts = listing.sizes(KINDS[asked.type], asked.field, some)
        for value, count in zip(some, counts, strict=True):
            if count != 0:
                yield {"value": value, "count": count}


def _fits(value: str, terms: Iterable[str]) -> bool:
    own = words.words([value])
    return all(any(word.startswith(term) for word in own) for term in terms)
