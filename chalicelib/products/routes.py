"""The catalogue, for the shop's staff and programs."""

import time
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from chalice.app import Response

from chalicelib.listing.external_ids import resolve_id
from chalicelib.problems import Conflict, Invalid, PreconditionFailed, Problem
from chalicelib.products import bulk, moves, store, upsert
from chalicelib.products.model import LARGEST_BULK, show_product
from chalicelib.products.moves import StockMoves
from chalicelib.products.schemas import (
    BULK_PRODUCTS,
    BulkMode,
    BulkQuery,
    BulkResult,
    BulkStatus,
    BulkStatusResult,
    ListProductFields,
    NewProduct,
    NewProducts,
    ProductChange,
    ProductFields,
    ProductRow,
    ShownProduct,
)
from chalicelib.request import (
    IDEMPOTENT,
    Role,
    Routes,
    body_once,
    caller,
    if_match,
    once,
    parsed_body,
    query,
    raw_body,
    reply,
    reply_page,
    reply_text,
    validate,
)
from chalicelib.request.size import fits
from chalicelib.schemas import Deleted, Walked
from chalicelib.storage.idempotency import Begun, Once
from chalicelib.values.compact_json import encode

routes = Routes(__name__, "Products")
Row = TypeVar("Row", NewProduct, ProductRow)

_BULK_SECONDS: Final = 20.0  # of the 28 that the function has
_WHOLE_ANSWERS: Final = 2_000_000  # bytes of a request whose rows are answered with their products


@routes.get(
    "/api/admin/products",
    "List products",
    role=Role.READER,
    query=ListProductFields,
    answers={200: Walked[ShownProduct]},
)
def list_products() -> Response:
    """Newest first. `search` finds the beginnings of words in name, SKU, vendor, tags and
    variants.
    """
    asked = query(ListProductFields)
    page = store.page(asked.to_query(), asked.fields)
    costs = caller().sees_costs
    shown = [show_product(product, asked.fields, costs=costs) for product in page.records]
    return reply_page(shown, page)


@routes.post(
    "/api/admin/products",
    "Create a product",
    role=Role.STAFF,
    body=NewProduct,
    answers={201: ShownProduct},
    problems=[Conflict],
    headers=IDEMPOTENT,
)
def create() -> Response:
    """Without `slug`, one is made from the name. Emits product.created."""
    new, once = body_once(NewProduct)
    product = store.create(new, once)
    return reply(201, show_product(product), etag=product.etag)


@routes.get(
    "/api/admin/products/{id}",
    "Get a product",
    role=Role.READER,
    query=ProductFields,
    answers={200: ShownProduct, 304: None},
)
def get(id: str) -> Response:
    """The `id` may be `externalId:4711`. With `fields` there is no ETag."""
    fields = query(ProductFields).fields
    product = store.get(resolve_id("product", id), fields)
    shown = show_product(product, fields, costs=caller().sees_costs)
    return reply(200, shown, etag=None if fields else product.etag)


@routes.put(
    "/api/admin/products/{id}",
    "Change a product",
    role=Role.STAFF,
    body=ProductChange,
    answers={200: ShownProduct},
    problems=[Conflict, PreconditionFailed],
    headers=IDEMPOTENT,
    reads_first=True,
)
def update(id: str) -> Response:
    """Absent fields stay, null clears, a list replaces the old list; variants match by id,
    then SKU, then title, and keep absent fields. Emits product.updated if something differs.
    """
    change, once = body_once(ProductChange)
    product = store.update(resolve_id("product", id, once), change, if_match(), once)
    return reply(200, show_product(product), etag=product.etag)


@routes.delete(
    "/api/admin/products/{id}",
    "Delete a product",
    role=Role.STAFF,
    answers={200: Deleted},
    problems=[Conflict, PreconditionFailed],
    reads_first=True,
)
def delete(id: str) -> Response:
    store.delete(id, if_match())
    return reply(200, {"id": id, "deleted": True})


@routes.post(
    "/api/admin/products/{id}/stock",
    "Move the stock of a product",
    role=Role.STAFF,
    body=StockMoves,
    answers={200: ShownProduct},
    headers=IDEMPOTENT,
    reads_first=True,
)
def move_stock(id: str) -> Response:
    """All moves, or none. `by` adds to the current stock and never overwrites a sale; below zero is
    422 `insufficient_stock`. `to` sets a count; an untracked variant needs it. Emits
    product.updated, whose data also has `stockMoves`: `[{variantId, by, stock, reason, note}]`.
    """
    asked, once = body_once(StockMoves)
    product, text = moves.move_stock(id, asked.moves, once)
    return reply_text(200, text, etag=product.etag)


@routes.post(
    "/api/admin/products/bulk",
    "Create up to 500 products",
    role=Role.STAFF,
    query=BulkQuery,
    body=NewProducts,
    answers={200: BulkResult},
    headers=IDEMPOTENT,
    largest_body=LARGEST_BULK,
)
def create_products() -> Response:
    """An array of products, or `{"products": […]}`. Each succeeds or fails independently. It counts
    as one write. Together they have at most 30,000 variants, tags and words of names, vendors,
    SKUs and titles: more is 422 `too_long`, and nothing is written.

    With `mode=upsert` or `update` a row is the product with its `id`; else with its `externalId`,
    its own or a variant's; else the only one with its SKU or one of its variants' (several:
    `ambiguous_sku`). Absent fields, pictures and variants stay, and null clears. A row that names
    one variant of several sets its price and ids. `dryRun` writes nothing.

    If the request exceeds 2 MB, or the answer would exceed 6 MB, rows have the `id` of the created
    product and no `product`. If storage is too slow for 20 seconds, the rest is `not_reached`: it
    was not written, and the same request with its Idempotency-Key continues there.
    """
    ends = time.monotonic() + _BULK_SECONDS
    asked = query(BulkQuery)
    is_create = asked.mode is BulkMode.CREATE
    sent = parsed_body()
    rows = sent.get("products") if isinstance(sent, dict) else sent
    if isinstance(sent, dict) and sent.keys() != {"products"}:
        raise Invalid.field("body", "invalid_type", 'must be an array or {"products": […]}')
    if not isinstance(rows, list):
        raise Invalid.field("products", "invalid_type", "must be an array of products")
    if len(rows) > BULK_PRODUCTS:
        message = f"must be at most {BULK_PRODUCTS} products, not {len(rows)}"
        raise Invalid.field("products", "too_long", message)
    if is_create:
        news = [_parse_row(NewProduct, row) for row in rows]
        bulk.refuse_too_much(news)
        begun = None if asked.dry_run else _begin(once(sent))
        created = bulk.preview_many(news) if asked.dry_run else bulk.create_many(news, begun, ends)
        is_final, show = bulk.is_final(created), partial(bulk.show_result, created)
    else:
        changes = [_parse_row(ProductRow, row) for row in rows]
        bulk.refuse_too_much(changes)
        begun = None if asked.dry_run else _begin(once([asked.mode.value, sent]))
        became = upsert.BulkUpsert(asked.mode, begun, is_dry=asked.dry_run).run(changes, ends)
        is_final = bulk.is_final([outcome for _, outcome in became])
        show = partial(bulk.show_upsert, became)
    text = _show_bulk_result(show)
    if begun and is_final:
        begun.finish(text)
    return reply_text(200, text)


def _begin(repeatable: Once | None) -> Begun | None:
    return repeatable.begin_or_resume() if repeatable else None


def _show_bulk_result(show: Callable[[bulk.Detail], object]) -> str:
    """As much of each row as fits into an answer."""
    is_small = len(raw_body()) <= _WHOLE_ANSWERS
    details = [detail for detail in bulk.Detail if is_small or detail is not bulk.Detail.WHOLE]
    texts = (encode(show(detail)) for detail in details)
    return next(text for text in texts if fits(text))


@routes.post(
    "/api/admin/products/bulk-status",
    "Set the status of up to 500 products",
    role=Role.STAFF,
    body=BulkStatus,
    answers={200: BulkStatusResult},
    headers=IDEMPOTENT,
)
def set_product_statuses() -> Response:
    """Each succeeds or fails independently. It counts as one write. Emits product.updated for each
    that had another status.
    """
    asked, once = body_once(BulkStatus)
    begun = _begin(once)
    outcomes = bulk.set_status(asked.ids, asked.status)
    text = encode(bulk.show_status_result(asked.ids, outcomes))
    if begun and bulk.is_final(outcomes):
        begun.finish(text)
    return reply_text(200, text)


def _parse_row(model: type[Row], sent: object) -> Row | Problem:
    try:
        return validate(model, sent)
    except Invalid as problem:
        return problem
