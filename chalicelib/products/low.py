"""Products with low stock, without reading the others.

`low-stock` / `<ulid>`: `products`, those of one commit in which a variant fell below its threshold.
Such an entry is never changed: one order can push sixty products below it, and a transaction has
room for one such item, not for sixty. So the entries name every product with low stock, and some
without, which readers skip; they delete entries without any. So there are not many, and a page of
all that is low reads all of them.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from chalicelib.listing import cursor
from chalicelib.listing.cursor import Cursor
from chalicelib.problems import Busy
from chalicelib.products.model import MOST_LOW_OF_ONE, Product
from chalicelib.products.schemas import ProductStatus
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.values import ids

_PK: Final = "low-stock"
_ENTRIES: Final = 100
_PRODUCTS: Final = 100  # that are loaded together
_LOADS: Final = 5  # for a page
_LIST: Final = {"kind": "low stock"}

_Load = Callable[[Iterable[str]], list[Product]]


def low_variants(product: Product) -> set[str]:
    """Return the ids of the variants whose stock is below the threshold."""
    threshold = product.low_stock_threshold
    return {id for id, stock in product.quantities.items() if stock < threshold}


def show_low_stock(product: Product, variant_id: str, stock: int) -> dict[str, object]:
    """Return a variant that runs low, as inventory.low announces and the summary lists it."""
    variant = product.variant(variant_id)
    return {
        "productId": product.id,
        "productName": product.fields["name"],
        "variantId": variant_id,
        "variantTitle": variant and variant["title"],
        "sku": variant and variant["sku"],
        "stock": stock,
        "threshold": product.low_stock_threshold,
    }


def _show_low_variants(product: Product, after: str = "") -> list[dict[str, object]]:
    """Its low variants, those whose ids are after this one."""
    ids = sorted(id for id in low_variants(product) if id > after)
    return [show_low_stock(product, id, product.quantities[id]) for id in ids]


def note_low_products(commit: Commit, product_ids: Sequence[str]) -> None:
    """Part of the commit in which these products became low."""
    if product_ids:
        commit.put({"pk": _PK, "sk": ids.ulid(), "products": list(product_ids)})


def newest_low_stock(load: _Load, most: int) -> list[dict[str, object]]:
    """Return low variants, the latest first, of 500 products at most.

    Drafts and archived products need no reordering, and are left out. `load` gets products by their
    ids.
    """
    rows, looked_at = list[dict[str, object]](), set[str]()
    for entries in islice(table.pages(_PK, forward=False, limit=_ENTRIES), _LOADS):
        left = [id for id in _named_products(entries) if id not in looked_at][:_PRODUCTS]
        looked_at.update(left)
        for product in _load_active(load, entries, left):
            rows += _show_low_variants(product)[:MOST_LOW_OF_ONE]
        if len(rows) >= most:
            break
    return rows[:most]


def list_low_stock(
    load: _Load, most: int, after: str
) -> tuple[list[dict[str, object]], str | None]:
    """Return a page of all low variants, of the newest product first, and the next cursor.

    The cursor is None at the end. A page can be shorter than `most`. In an order that no sale
    changes, what is low throughout comes exactly once. Raises Invalid for a cursor of another list.
    """
    product_id, _, variant_id = cursor.parse(after, _LIST).position.partition("#")
    entries = table.query_all(_PK, forward=False)
    left = sorted(_named_products(entries), reverse=True)
    if product_id:
        left = [id for id in left if id <= product_id]
    rows = list[dict[str, object]]()
    for _ in range(_LOADS):
        looked_at, left = left[:_PRODUCTS], left[_PRODUCTS:]
        for product in _load_active(load, entries, looked_at):
            rows += _show_low_variants(product, variant_id if product.id == product_id else "")
        if len(rows) > most or not left:
            break
    if len(rows) > most:
        last = rows[most - 1]
        position = f"{last['productId']}#{last['variantId']}"
    elif left:
        position = f"{looked_at[-1]}#~"  # after each variant of it
    else:
        return rows, None
    return rows[:most], Cursor(position, 1).to_text(_LIST)


def _named_products(entries: list[Item]) -> list[str]:
    return list(dict.fromkeys(id for entry in entries for id in entry["products"]))


def _load_active(load: _Load, entries: list[Item], looked_at: list[str]) -> list[Product]:
    """Those of the products that are for sale; deletes outdated entries."""
    products = {product.id: product for product in load(looked_at)}
    _delete_outdated(entries, set(looked_at), products)
    return [one for one in products.values() if one.fields["status"] == ProductStatus.ACTIVE]


def _delete_outdated(
    entries: list[Item], looked_at: set[str], products: dict[str, Product]
) -> None:
    """Delete entries whose products are all in a newer entry, or not low.

    A product that becomes low meanwhile gets a new entry.
    """
    outdated, named_by_newer = list[Key](), set[str]()
    for entry in entries:
        names = set(entry["products"]) - named_by_newer
        named_by_newer |= names
        live = any(id in products and low_variants(products[id]) for id in names)
        if not live and names <= looked_at:
            outdated.append((_PK, entry["sk"]))
    if outdated:  # otherwise a reader would wait until it may write
        with suppress(Busy):  # the next reader deletes the others
            table.batch_write(deletes=outdated)
