"""Many products in one request: each succeeds or fails independently."""

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Final

from chalicelib.listing import external_ids, words
from chalicelib.problems import Busy, Invalid, NotFound, Problem
from chalicelib.products import merge, store
from chalicelib.products.model import MOST_PARTS, Product, show_product
from chalicelib.products.schemas import NewProduct, ProductChange, ProductRow, ProductStatus
from chalicelib.storage.attributes import Fields
from chalicelib.storage.commit import send_all
from chalicelib.storage.idempotency import Begun
from chalicelib.values import clock, slugs
from chalicelib.values.batches import batches

_Outcome = Product | Problem
_AT_ONCE: Final = 25


def refuse_too_much(rows: Sequence[NewProduct | ProductRow | Problem]) -> None:
    """Raise Invalid if the function would run out of time; called before anything is written."""
    parts = sum(_count_parts(row.sent_fields()) for row in rows if not isinstance(row, Problem))
    if parts > MOST_PARTS:
        message = f"have {parts:,} variants, tags and words to search for; at most {MOST_PARTS:,}"
        raise Invalid.field("products", "too_long", f"{message} are possible in one request")


def _count_parts(given: Fields) -> int:
    variants, tags = given.get("variants") or [], given.get("tags") or []
    texts = [given.get("name"), given.get("vendor"), given.get("sku"), *tags]
    texts += [variant.get(name) for variant in variants for name in ("title", "sku", "barcode")]
    return len(variants) + len(tags) + len(words.index_words(filter(None, texts)))


class Detail(Enum):
    """How much of each row is answered."""

    WHOLE = "products and errors"
    IDS = "ids and errors"
    CODES = "ids and codes"


class NotReached(Busy):
    """A row for which there was no time: it is not written. Send the request again."""

    code = "not_reached"
    text = "There was no time left for this product. It was not written."


def create_many(
    rows: Sequence[NewProduct | Problem], begun: Begun | None = None, ends: float = math.inf
) -> list[_Outcome]:
    """Create the valid rows; rows that are problems stay problems. Emit product.created.

    `begun`: a repeatable request; products that it created before are found, not created again.
    `ends`: the deadline of the answer, by `time.monotonic`; products not reached by then are not
    written, and are NotReached.
    """
    outcomes: dict[int, _Outcome] = {
        place: row for place, row in enumerate(rows) if isinstance(row, Problem)
    }
    news = {place: row for place, row in enumerate(rows) if isinstance(row, NewProduct)}
    ids = {place: begun.id("prod", place) for place in news} if begun else {}
    if begun and begun.again:
        there = {product.id: product for product in store.load(ids.values())}
        outcomes |= {place: there[id] for place, id in ids.items() if id in there}
    left = [place for place in news if place not in outcomes]
    chosen = dict(
        zip(left, choose_slugs([news[place].sent_fields() for place in left]), strict=True)
    )
    for places in batches(left, _AT_ONCE):
        if time.monotonic() > ends:
            outcomes |= dict.fromkeys(places, NotReached())
        else:
            outcomes |= _create_batch({place: news[place] for place in places}, chosen, ids)
    return [outcomes[place] for place in range(len(rows))]


def preview_many(rows: Sequence[NewProduct | Problem]) -> list[_Outcome]:
    """Return the outcomes that `create_many` would have in the shop as it is; write nothing."""
    news = [row.sent_fields() for row in rows if isinstance(row, NewProduct)]
    fields = zip(news, choose_slugs(news), strict=True)
    drafts = [row if isinstance(row, Problem) else _draft_product(*next(fields)) for row in rows]
    products = [draft for draft in drafts if isinstance(draft, Product)]
    slugs_taken = store.taken_slugs(product.slug for product in products)
    holders = external_ids.find_holders(at for one in products for at in one.external_ids)
    outcomes = list[_Outcome]()
    for draft in drafts:
        outcomes.append(draft)
        if isinstance(draft, Problem):
            continue
        try:
            refuse_conflicts(None, draft, slugs_taken, holders)
        except Problem as problem:
            outcomes[-1] = problem
        else:  # a later row cannot have it
            slugs_taken.add(draft.slug)
            holders |= {at: holder.id for at, holder in draft.external_ids.items()}
    return outcomes


def refuse_conflicts(
    before: Product | None,
    after: Product,
    slugs_taken: Collection[str],
    holders: Mapping[tuple[str, str], str],
) -> None:
    """Raise the Problem that writing a product would have in the shop as it is; write nothing.

    `slugs_taken`: those that are in use. `holders`: external id → who has it. Both may have the
    product's own.
    """
    store.build_commit(before, after).raise_if_refused()
    for at, holder in after.external_ids.items():
        if at in holders and not (before and at in before.external_ids):
            raise external_ids.ExternalIdTaken(holder.field, holders[at])
    if after.slug in slugs_taken and not (before and before.slug == after.slug):
        raise store.SlugTaken(after.slug)


def _draft_product(given: Fields, slug: str) -> _Outcome:
    try:
        return store.draft_product(given, slug)
    except Problem as problem:
        return problem


def _create_batch(
    news: Mapping[int, NewProduct], chosen: Mapping[int, str], ids: Mapping[int, str]
) -> dict[int, _Outcome]:
    outcomes: dict[int, _Outcome] = {}
    products: dict[int, Product] = {}
    now = clock.now_iso()
    for place, new in news.items():
        try:
            products[place] = merge.create_product(
                new.sent_fields(), chosen[place], now, ids.get(place)
            )
        except Problem as problem:
            outcomes[place] = problem
    failures = send_all([store.build_commit(None, product) for product in products.values()])
    for (place, product), failure in zip(products.items(), failures, strict=True):
        if failure is None:
            outcomes[place] = product
        elif isinstance(failure, store.ProductChanged):
            outcomes[place] = store.get(product.id)  # created by the same request, sent twice
        elif isinstance(failure, store.SlugTaken) and not news[place].sent_fields().get("slug"):
            again = partial(store.create, news[place], id=product.id)
            outcomes[place] = _write_alone(product.id, again)
        elif isinstance(failure, Problem):
            outcomes[place] = failure
        else:
            raise failure
    return outcomes


def choose_slugs(given: Sequence[Fields]) -> list[str]:
    """Return a slug for each product: the given one, or the simplest that is free.

    Two products of one call get different slugs.
    """
    plain = [row.get("slug") or slugs.of_name(row["name"]) for row in given]
    taken = {row["slug"] for row in given if row.get("slug")}
    taken |= store.taken_slugs(
        slug for slug, row in zip(plain, given, strict=True) if not row.get("slug")
    )
    chosen = []
    for slug, row in zip(plain, given, strict=True):
        free = (one for one in slugs.numbered_slugs(slug) if one not in taken)
        chosen.append(slug if row.get("slug") else next(free))
        taken.add(chosen[-1])
    numbered = [place for place, slug in enumerate(plain) if chosen[place] != slug]
    lost = store.taken_slugs(chosen[place] for place in numbered) if numbered else ()
    for place in numbered:
        if chosen[place] in lost:
            free = (one for one in store.free_slugs(given[place]["name"]) if one not in taken)
            chosen[place] = next(free)
            taken.add(chosen[place])
    return chosen


def _write_alone(id: str, write: Callable[[], Product]) -> _Outcome:
    """Return the outcome of a write that another one was in the way of.

    Alone, a creation finds another free slug, and a change merges.
    """
    try:
        return write()
    except store.ProductChanged:
        return store.get(id)  # created by the same request, sent twice
    except Problem as problem:
        return problem


def set_status(ids: Sequence[str], status: ProductStatus) -> list[_Outcome]:
    """Set the status of products, each independently, in order.

    Emits product.updated for each that changes.
    """
    known = {product.id: product for product in store.load(dict.fromkeys(ids))}
    changed = {id: store.preview_update(known[id], {"status": status.value}) for id in known}
    differing = [id for id in known if changed[id] is not known[id]]
    failures = send_all([store.build_commit(known[id], changed[id]) for id in differing])
    outcomes: dict[str, _Outcome] = {id: NotFound.for_id("product", id) for id in ids}
    outcomes.update(changed)
    for id, failure in zip(differing, failures, strict=True):
        if isinstance(failure, store.ProductChanged):
            asked = ProductChange.model_validate({"status": status})
            outcomes[id] = _write_alone(id, partial(store.update, id, asked, None))
        elif isinstance(failure, Problem):
            outcomes[id] = failure
        elif failure is not None:
            raise failure
    return [outcomes[id] for id in ids]


def show_status_result(ids: Sequence[str], outcomes: Sequence[_Outcome]) -> dict[str, object]:
    """Return the shape of BulkStatusResult."""
    rows = [_show_row(outcome, "updated", Detail.IDS) for outcome in outcomes]
    return _show_rows("updated", [{"id": id, **row} for id, row in zip(ids, rows, strict=True)])


def is_final(outcomes: Sequence[_Outcome]) -> bool:
    """Whether a retry would change nothing."""
    return not any(isinstance(outcome, Busy | NotReached) for outcome in outcomes)


def show_result(outcomes: Sequence[_Outcome], detail: Detail) -> dict[str, object]:
    """Return the shape of BulkResult."""
    return _show_rows("created", [_show_row(outcome, "created", detail) for outcome in outcomes])


def show_upsert(outcomes: Sequence[tuple[str, _Outcome]], detail: Detail) -> dict[str, object]:
    """Return the shape of BulkResult, in the modes `upsert` and `update`."""
    rows = [_show_row(outcome, status, detail) for status, outcome in outcomes]
    numbers = Counter(status for status, _ in outcomes)
    summary = {name: numbers[name] for name in ("created", "updated", "unchanged")}
    data = [{"index": index, **row} for index, row in enumerate(rows)]
    return {"data": data, "summary": {**summary, "failed": numbers["error"]}}


def _show_rows(done: str, rows: Sequence[dict[str, object]]) -> dict[str, object]:
    data = [{"index": index, **row} for index, row in enumerate(rows)]
    failed = sum("error" in row for row in rows)
    return {"data": data, "summary": {done: len(data) - failed, "failed": failed}}


def _show_row(outcome: _Outcome, done: str, detail: Detail) -> dict[str, object]:
    if isinstance(outcome, Product):
        row: dict[str, object] = {"status": done, "id": outcome.id}
        return {**row, "product": show_product(outcome)} if detail is Detail.WHOLE else row
    error = outcome.body()
    if detail is Detail.CODES:
        error = {"code": error["code"], "message": error["message"][:100]}
    return {"status": "error", "error": error}
