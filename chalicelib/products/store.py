"""Products in the table: the record, its stock, the lock on its slug, its index, its events.

| item | pk | sk |
|---|---|---|
| product | `prod_…` | `product` |
| stock | `prod_…` | `stock` |
| slug lock | `slug#<slug>` | `lock` |
| SKU lock | `sku#<SKU>` | `lock` |

Two products may have one SKU. Its lock names the last product that was created with it, so that of
two imports that create a product at once the second sees it (`writes`).

The stock item has conditions of its own (`stock.py`): a sale never changes the product's version,
an edit never overwrites a sale.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from itertools import chain, islice
from typing import Final, TypeVar

from chalicelib import listing, settings
from chalicelib.files import store as files
from chalicelib.listing import external_ids
from chalicelib.listing.lookup import find_records_by_text
from chalicelib.problems import Busy, Conflict, Invalid, NotFound, PreconditionFailed
from chalicelib.products import low, merge, stock
from chalicelib.products.model import (
    KIND,
    MOST_EXTERNAL_IDS,
    Product,
    attributes_of,
    from_item,
    index_of,
    reads_stock,
    show_product,
    to_item,
    without_costs,
)
from chalicelib.products.schemas import (
    MovedStock,
    NewProduct,
    ProductChange,
    PublicFacets,
    PublicValues,
)
from chalicelib.storage import outbox, table
from chalicelib.storage.attributes import Fields, Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.storage.idempotency import Once, unless_answered
from chalicelib.values import clock, ids, money, slugs
from chalicelib.values.compact_json import encode

T = TypeVar("T")
_TRIES = 8
_NUMBERED: Final = 21  # slugs of a name, before they get a random part

_Shown = Fields | None

_HOLDERS: Final = 100  # AWS: operands of IN
_CANDIDATES: Final = 400  # products that are loaded to find who has a SKU, until so many have it
_EXCESS: Final = (
    "make too large an event, such as of the low stock of hundreds; change fewer at once"
)


class SlugTaken(Conflict):
    code = "slug_taken"

    def __init__(self, slug: str) -> None:
        super().__init__(f"Another product has the slug {slug!r}.", field="slug")
        self.slug = slug


class SkuTaken(Exception):
    """A product with the SKU was created since the look-up."""

    def __init__(self, sku: str, product_id: str) -> None:
        super().__init__(sku)
        self.sku = sku
        self.product_id = product_id


class ProductChanged(Exception):
    """The product, or its stock, was changed since it was read."""


def _product_key(id: str) -> Key:
    return id, "product"


RECORDS: Final = listing.Records(KIND, _product_key, index_of, partial(from_item, stock=None))


def _lock_key(slug: str) -> Key:
    return f"slug#{ids.key_part(slug)}", "lock"


def _sku_key(sku: str) -> Key:
    return f"sku#{ids.key_part(sku)}", "lock"


# --- Reading --------------------------------------------------------------------------------------


def keys(id: str) -> tuple[Key, Key]:
    """Return the keys to read for `from_items`, where a product is read with other things."""
    return _product_key(id), stock.key(id)


def from_items(id: str, items: Mapping[Key, Item]) -> Product | None:
    """Return the product, if it is among the items that were read."""
    record = items.get(_product_key(id))
    return from_item(record, items.get(stock.key(id))) if record else None


def load(ids: Iterable[str], fields: Iterable[str] = ()) -> list[Product]:
    """Return the products with these ids that exist, in the order of the ids.

    `fields`: only what these fields are made of; empty: all.
    """
    wanted = list(ids)
    asked = [keys(id) if reads_stock(fields) else [_product_key(id)] for id in wanted]
    items = table.batch_get(chain.from_iterable(asked), fields=attributes_of(fields))
    found = (from_items(id, items) for id in wanted)
    return [product for product in found if product]


def find(id: str, fields: Iterable[str] = ()) -> Product | None:
    found = load([id], fields) if ids.may_be("prod", id) else []
    return next(iter(found), None)


def get(id: str, fields: Iterable[str] = ()) -> Product:
    """Return the product with this id. Raise NotFound."""
    return NotFound.unless(find(id, fields), "product", id)


def find_by_slugs(wanted: Iterable[str], fields: Iterable[str] = ()) -> dict[str, Product]:
    """Return the products with one of these slugs, by slug; `load` says what `fields` are."""
    locks = table.batch_get(_lock_key(slug) for slug in wanted)
    asked = {"slug", *fields} if fields else ()
    products = load((lock["product"] for lock in locks.values()), asked)
    return {product.slug: product for product in products}


def find_by_skus(skus: Iterable[str]) -> dict[str, list[Product]]:
    """Return the products with exactly one of these SKUs, their own or a variant's, by SKU.

    Of a SKU that hundreds have, it returns some of them.
    """
    left = {sku: sorted(ids) for sku, ids in find_records_by_text(KIND, skus).items()}
    found: dict[str, list[Product]] = {sku: [] for sku in left}
    while some := {
        sku: may[:_CANDIDATES] for sku, may in left.items() if may and len(found[sku]) < _CANDIDATES
    }:
        products = {product.id: product for product in load(set().union(*some.values()))}
        for sku, may in some.items():
            there = [products[id] for id in may if id in products]
            found[sku] += [product for product in there if sku in product.skus]
            left[sku] = left[sku][_CANDIDATES:]
    return found


def select_by_skus(
    own: str | None, skus: Iterable[str], by_sku: Mapping[str, Sequence[Product]]
) -> list[Product]:
    """Return the products with a row's own SKU, or else with any of its SKUs, each once.

    `by_sku`: what `find_by_skus` returned.
    """
    if own and by_sku.get(own):
        return list(by_sku[own])
    found = {product.id: product for sku in skus for product in by_sku.get(sku, ())}
    return list(found.values())


def has_none() -> bool:
    return listing.count(KIND, {}) == 0


def page(query: listing.Query, fields: Iterable[str] = ()) -> listing.Page[Product]:
    return listing.read_page(KIND, query, partial(load, fields=query.fields_to_load(fields)))


def browse(
    query: listing.Query, fields: Iterable[str], available: bool | None
) -> listing.Page[Product]:
    """Return a page of what the storefront shows; `available`: only of products that are, or not.

    Raises what `listing.Shelf` does.
    """
    if query.search and not (query.order or query.measures or available is not None):
        return page(query, fields)
    needed = query.fields_to_load(fields)
    if needed and available is not None:
        needed = (*needed, "available")

    def accepts(product: Product) -> bool:
        return product.is_available is available

    def load_fields(ids: Iterable[str], only: Iterable[str]) -> list[Product]:
        return load(ids, only or needed)

    judge = None if available is None else accepts
    return listing.Shelf(KIND, query, load_fields, judge, f"available={available}").read_page()


def public_facets(where: Mapping[str, frozenset[str]]) -> PublicFacets:
    """Return what the storefront can be filtered by. Raise Reindexing."""
    menus, prices = listing.read_menus(KIND, where, "price")

    def show_values(facet: str) -> PublicValues:
        menu = menus[facet]
        return {
            "data": [{"value": value, "count": n} for value, n in menu.values.items()],
            "more": menu.more,
        }

    amounts = [money.render(Decimal(price)) for price in prices]
    return {
        "types": show_values("type"),
        "vendors": show_values("vendor"),
        "tags": show_values("tag"),
        "price": {"min": amounts[0], "max": amounts[-1]} if amounts else None,
        "currency": settings.currency(),
    }


def newest_low_stock(most: int) -> list[dict[str, object]]:
    """Variants below their threshold, as inventory.low shows them; the latest first."""
    return low.newest_low_stock(load, most)


def list_low_stock(most: int, after: str) -> tuple[list[dict[str, object]], str | None]:
    """Return a page of all low variants, and the cursor of the next page."""
    return low.list_low_stock(load, most, after)


# --- The stock, for orders ------------------------------------------------------------------------

StockMoved, VariantGone = stock.StockMoved, stock.VariantGone
stock_levels, find_shortages, sell_pieces = (
    stock.stock_levels,
    stock.find_shortages,
    stock.sell_pieces,
)
all_stock_levels = stock.all_stock_levels
return_pieces, gone_variants = stock.return_pieces, stock.gone_variants
match_variants = merge.match_variants


# --- Writing --------------------------------------------------------------------------------------


def draft_product(given: Mapping[str, object], slug: str, id: str | None = None) -> Product:
    """Return a new product that is not written yet. Raise Invalid.

    `given`: as NewProduct gives it.
    """
    return merge.create_product(given, slug, clock.now_iso(), id)


def sample_product() -> Product:
    """Return a product that does not exist, for test events."""
    given = {
        "name": "Example",
        "description": "A product that a test event is about.",
        "price": "19.90",
        "sku": "EXAMPLE",
        "status": "ACTIVE",
        "variants": [{"title": "Default", "sku": "EXAMPLE", "price": "19.90", "stock": 4}],
    }
    return draft_product(NewProduct.model_validate(given).sent_fields(), "example")


def sample_event_data(event: str) -> dict[str, object]:
    """Return what an event about the sample product sends."""
    product = sample_product()
    if event != "inventory.low":
        return show_product(product)
    (variant_id,) = low.low_variants(product)
    return low.show_low_stock(product, variant_id, product.quantities[variant_id])


def preview_update(
    product: Product, given: Mapping[str, object], *, exactly: bool = False
) -> Product:
    """Return the product as a change would leave it; the same if nothing differs. Raise Invalid."""
    return merge.apply_change(product, given, clock.now_iso(), exactly=exactly)


def rewrite_fields(
    product: Product, fields: dict[str, object], quantities: dict[str, int]
) -> Product:
    """Return the product with these stored fields and this stock. Raise Invalid.

    It is the same object if nothing differs.
    """
    return merge.rewrite_fields(product, fields, quantities, clock.now_iso())


def recreate_product(deleted: Product) -> Product:
    """Return a product that was deleted as it is created again, not written yet. Raise Invalid."""
    return merge.recreate_product(deleted, clock.now_iso())


def create(new: NewProduct, once: Once | None = None, id: str | None = None) -> Product:
    """Create a product. Emit product.created.

    Raises SlugTaken for a slug that was given, and Invalid; with `once` also Repeated and
    KeyReused; with an `id` of its own ProductChanged, where that is there already.
    """
    # Perhaps the same request, sent before, has taken the slug.
    with unless_answered(once):
        return _create_with_slug(new, once, id)


def _create_with_slug(new: NewProduct, once: Once | None, id: str | None) -> Product:
    given = new.sent_fields()
    for slug in [given["slug"]] if given.get("slug") else free_slugs(given["name"]):
        product = merge.create_product(given, slug, clock.now_iso(), id)
        commit = build_commit(None, product)
        if once:
            once.record(commit, encode(show_product(product)), product.etag)
        try:
            commit.send()
        except SlugTaken:
            if given.get("slug"):
                raise
            continue
        return product
    raise Busy


def free_slugs(name: str) -> Iterable[str]:
    """Slugs for a name that seem free, the simplest first."""
    plain = slugs.of_name(name)
    yield plain
    numbered = list(islice(slugs.numbered_slugs(plain), 1, _NUMBERED))
    taken = taken_slugs(numbered)
    yield from (slug for slug in numbered if slug not in taken)
    yield from (slugs.add_checksum(plain, ids.ulid()) for _ in range(3))


def taken_slugs(asked: Iterable[str]) -> set[str]:
    """Those of some slugs that a product has."""
    wanted = list(asked)
    found = table.batch_get(map(_lock_key, wanted))
    return {slug for slug in wanted if _lock_key(slug) in found}


def update(
    id: str, asked: ProductChange, if_match: frozenset[str] | None, once: Once | None = None
) -> Product:
    """Merge a change into a product, and write what differs.

    Emits product.updated, and inventory.low if stock falls below the threshold. Raises NotFound,
    Invalid, SlugTaken, PreconditionFailed, Conflict; with `once` also Repeated and KeyReused.
    """
    given = asked.sent_fields()
    # Perhaps the same request, sent before, has changed what If-Match names.
    with unless_answered(once):
        return rewrite(id, lambda product: preview_update(product, given), if_match, once=once)[1]


def rewrite(
    id: str,
    draft: Callable[[Product], Product],
    if_match: frozenset[str] | None = None,
    *,
    also: Callable[[Commit, Product, Product], None] = lambda commit, before, after: None,
    once: Once | None = None,
) -> tuple[Product, Product]:
    """Write the product that `draft` makes of the current one; return both.

    `draft` returns the same object if nothing changes. `also`: adds to the commit. Raises what
    `update` does.
    """

    def rewrite_once() -> tuple[Product, Product]:
        if once:
            once.check()
        before = _require_unchanged(if_match, get(id))
        after = draft(before)
        commit = Commit()
        if after is not before:
            commit = build_commit(before, after, exactly=if_match is not None)
            also(commit, before, after)
        if once:
            once.record(commit, encode(show_product(after)), after.etag)
        if after is not before or once:
            commit.send()
        return before, after

    return _retry_if_changed(rewrite_once)


def delete(id: str, if_match: frozenset[str] | None) -> None:
    """Delete a product. Raise NotFound, PreconditionFailed, Conflict."""

    def delete_once() -> None:
        before = _require_unchanged(if_match, get(id))
        while len(before.external_ids) > MOST_EXTERNAL_IDS:
            fewer = _without_some_external_ids(before)
            build_commit(before, fewer).send()
            before = get(id)
        build_commit(before, None, exactly=if_match is not None).send()

    _retry_if_changed(delete_once)


def _without_some_external_ids(product: Product) -> Product:
    """Before it is deleted: not all are in one transaction."""
    variants = product.fields["variants"]
    held = [variant["id"] for variant in variants if variant["externalId"]]
    ids = set(held[:MOST_EXTERNAL_IDS])
    left = [{**v, "externalId": None} if v["id"] in ids else v for v in variants]
    return rewrite_fields(product, {**product.fields, "variants": left}, dict(product.quantities))


def _require_unchanged(if_match: frozenset[str] | None, product: Product) -> Product:
    if if_match is not None and product.etag not in if_match:
        raise PreconditionFailed.for_kind("product")
    return product


def _retry_if_changed(attempt: Callable[[], T]) -> T:
    """Repeat a write that another one was in the way of.

    It is merged into the current state, or refused for that by its If-Match.
    """
    for _ in range(_TRIES):
        with suppress(ProductChanged):
            return attempt()
    raise Conflict("The product keeps changing. Try again.")


def build_commit(
    before: Product | None,
    after: Product | None,
    exactly: bool = False,
    once: Mapping[str, Sequence[str]] | None = None,
    is_undo: bool = False,
) -> Commit:
    """All writes between two versions of a product, as one commit.

    `exactly`: only if the stock has not changed either. `once`: a new product only if none was
    created with its SKU, except those given, by SKU, which no longer have it, or are known to be
    others; the last of them count. `is_undo`: it may show pictures that are gone. It raises
    ProductChanged, SlugTaken, SkuTaken, PictureNotReady or Invalid.
    """
    commit = Commit()
    commit.explain_excess("variants", _EXCESS)
    product = after or before
    assert product is not None
    unchanged = Attr("version").eq(before.version) if before else table.absent
    old_ids, new_ids = (one.external_ids if one else {} for one in (before, after))
    locks = external_ids.count_writes(old_ids, new_ids)
    if locks > MOST_EXTERNAL_IDS:
        message = f"would change {locks} external ids; at most {MOST_EXTERNAL_IDS} at once"
        commit.refuse(Invalid.field("variants", "too_many_external_ids", message))
        return commit
    was, now = (one.picture_fields if one else {} for one in (before, after))
    new = {id: field for id, field in now.items() if id not in was and not is_undo}
    if refusal := files.find_refusal(new):
        commit.refuse(refusal)
        return commit
    RECORDS.write(
        commit,
        product.id,
        before.index if before else None,
        after.index if after else None,
        to_item(after) if after else {},
        when=unchanged,
        otherwise=ProductChanged(),
        inside=KIND.inside - locks,
        room=KIND.room - locks,
    )
    external_ids.change(commit, product.id, old_ids, new_ids)
    _write_slug(commit, before, after)
    if after and not before:
        _write_skus(commit, after, once)
    old, shown = (show_product(one) if one else None for one in (before, after))
    done = "deleted" if shown is None else "created" if old is None else "updated"
    commit.announce(f"product.{done}", without_costs(shown or old or {}))
    stock.write_edit(commit, before, after, exactly=exactly, otherwise=ProductChanged())
    commit.audit(_audit_entry(product, old, shown))
    return commit


def build_move_commit(
    before: Product, after: Product, made: Sequence[MovedStock], **of: str
) -> Commit:
    """Return the commit of the moves between two versions of a product.

    `of`: what else their entries in the ledger say. The commit raises ProductChanged.
    """
    commit = Commit()
    if made:
        was, now = show_product(before), show_product(after)
        commit.announce("product.updated", {**without_costs(now), "stockMoves": made})
        if before.quantities.keys() != after.quantities.keys():
            # It begins to be tracked, which an edit that takes it away would not notice.
            require_unedited(commit, before)
        steps = [{**_stock_step(one), **of} for one in made]
        raised = ProductChanged()
        stock.write_edit(commit, before, after, exactly=False, otherwise=raised, moved=steps)
        commit.audit(_audit_entry(after, was, now, "product.stock_moved"))
    return commit


def _stock_step(made: MovedStock) -> stock.Step:
    begins = made["by"] is None
    changed = {"stock": made["stock"]} if begins else {"by": made["by"]}
    said = {name: made[name] for name in ("variantId", "reason", "note") if made.get(name)}
    return {**said, **changed}


def _audit_entry(product: Product, was: _Shown, now: _Shown, action: str = "") -> dict[str, object]:
    name = product.fields["name"]
    return outbox.audit_entry("product", product.id, was, now, show=dict, action=action, name=name)


def require_unedited(commit: Commit, product: Product) -> None:
    """Add the condition that a product was not edited since it was read to a commit.

    The commit does not write the product; it raises ProductChanged.
    """
    commit.check(_product_key(product.id), Attr("version").eq(product.version), ProductChanged())


def _write_slug(commit: Commit, before: Product | None, after: Product | None) -> None:
    if before and after and before.slug == after.slug:
        return
    if after:
        pk, sk = _lock_key(after.slug)
        lock = {"pk": pk, "sk": sk, "product": after.id}
        commit.put(lock, when=table.absent, otherwise=SlugTaken(after.slug))
    if before:
        commit.delete(_lock_key(before.slug))


def locked_skus(product: Product) -> list[str]:
    """Return the SKUs of which a lock makes two creations of one product conflict.

    These are its own and the first of its variants', because a transaction has no room for all.
    """
    first = min((sku for v in product.fields["variants"] if (sku := v["sku"])), default=None)
    return sorted({product.fields["sku"], first} - {None})


def _write_skus(commit: Commit, product: Product, once: Mapping[str, Sequence[str]] | None) -> None:
    for sku in locked_skus(product):
        pk, sk = _sku_key(sku)
        lock = {"pk": pk, "sk": sk, "product": product.id}
        if once is None:
            commit.put(lock)
            continue
        free = table.absent
        if sku in once:
            free |= Attr("product").is_in(once[sku][-_HOLDERS:])
        commit.put(lock, when=free, otherwise=_sku_taken(sku))


def _sku_taken(sku: str) -> Callable[[Item | None], Exception]:
    return lambda lock: SkuTaken(sku, str(lock["product"])) if lock else ProductChanged()
