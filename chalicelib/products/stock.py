"""The stock of products: set by edits, taken by sales, returned by cancellations.

`prod_…` / `stock`: `quantities` (variant id → number, of the tracked variants) and `threshold`,
the product's own, because a sale must know whether it crosses it.

Each write is conditional on its effect: whether a sale does not cross the threshold, crosses it, or
is already below it. If that changed meanwhile, the sale is computed again.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from chalicelib.products import low
from chalicelib.products.model import Product
from chalicelib.storage import table
from chalicelib.storage.attributes import Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, Condition, all_of

# AWS: an expression has at most 4 KB and 300 operators; a condition on one variant takes about 45
# bytes. For more variants than these, the whole map is written, on condition that it is unchanged.
_MOST_CONDITIONS: Final = 40

Wanted = Mapping[str, int]  # variant id → quantity


class StockMoved(Exception):
    """The stock changed since it was read: the sale must be computed again."""


class VariantGone(Exception):
    """A variant no longer exists, or is not tracked: it takes no returned stock."""


def key(product_id: str) -> Key:
    return product_id, "stock"


# --- Sales ----------------------------------------------------------------------------------------


def short(product: Product, wanted: Wanted) -> dict[str, int]:
    """The stock of the variants with too little."""
    stock = product.quantities
    return {id: stock[id] for id, n in wanted.items() if id in stock and stock[id] < n}


def levels(product_ids: Iterable[str]) -> dict[str, dict[str, int]]:
    """The stock of the tracked variants of each existing product."""
    found = table.batch_get(map(key, product_ids))
    return {id: dict(item["quantities"]) for (id, _), item in found.items()}


def sell(commit: Commit, sales: Iterable[tuple[Product, Wanted]]) -> None:
    """Takes the wanted pieces, which are in stock: one item a product, and one more if any falls
    below its threshold. Emits inventory.low. The commit raises StockMoved.

    Untracked variants are neither taken nor checked: if tracking begins during an order, the count
    is of what is left after it.
    """
    fallen = []
    for product, all_wanted in sales:
        wanted = {id: n for id, n in all_wanted.items() if id in product.quantities}
        if not wanted:
            continue
        taken = {id: -n for id, n in wanted.items()}
        left = {id: product.quantities[id] - n for id, n in wanted.items()}
        whole, added = _added(product.quantities, taken)
        same = _same_side(product, wanted)
        commit.update(key(product.id), assign=whole, add=added, when=same, otherwise=StockMoved())
        crossed = _crossed(product.quantities, left, product.low_stock_threshold)
        for id in crossed:
            commit.announce("inventory.low", low.shown(product, id, left[id]))
        if crossed:
            fallen.append(product.id)
    low.note(commit, fallen)


def _same_side(product: Product, wanted: Wanted) -> Condition:
    """The condition that this sale crosses the threshold for the same variants as with the stock
    read."""
    threshold = product.low_stock_threshold
    same = [Attr("threshold").eq(threshold)]
    if len(wanted) > _MOST_CONDITIONS:
        return all_of([*same, Attr("quantities").eq(dict(product.quantities))])
    for id, n in wanted.items():
        stock, there = Attr(f"quantities.{id}"), product.quantities[id]
        if there - n >= threshold:
            same.append(stock.gte(threshold + n))
        elif there >= threshold:
            same.append(stock.eq(there))  # exactly, because the event has the remaining stock
        else:
            same.append(stock.between(n, threshold - 1))
    return all_of(same)


def _crossed(before: Wanted, after: Wanted, threshold: int) -> list[str]:
    return [id for id, n in after.items() if n < threshold <= before[id]]


def give_back(commit: Commit, product_id: str, taken: Wanted) -> None:
    """Returns stock. The commit raises VariantGone if one of the variants cannot take it. Of many
    variants, those that cannot are left out, and it also raises if any stock changes meanwhile."""
    stock: Wanted = {}
    when = all_of(Attr(f"quantities.{id}").exists() for id in taken)
    if len(taken) > _MOST_CONDITIONS:
        stock = levels([product_id]).get(product_id, {})
        when = Attr("quantities").eq(dict(stock))
    whole, added = _added(stock, taken)
    commit.update(key(product_id), assign=whole, add=added, when=when, otherwise=VariantGone())


def _added(stock: Wanted, pieces: Wanted) -> tuple[dict[str, object], dict[str, int]]:
    """What an update sets or adds to add these pieces to the stock; for many, as it was read."""
    if len(pieces) > _MOST_CONDITIONS:
        there = {id: stock[id] + n for id, n in pieces.items() if id in stock}
        return {"quantities": {**stock, **there}}, {}
    return {}, {f"quantities.{id}": n for id, n in pieces.items()}


def still_there(taken: Mapping[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """The pieces taken that can be returned: product id → variant id → pieces."""
    found = table.batch_get(map(key, taken))
    kept = {}
    for product_id, all_taken in taken.items():
        stock = found.get(key(product_id), {}).get("quantities", {})
        wanted = {id: n for id, n in all_taken.items() if id in stock}
        if wanted:
            kept[product_id] = wanted
    return kept


# --- Edits ----------------------------------------------------------------------------------------


def edit(
    commit: Commit,
    before: Product | None,
    after: Product | None,
    *,
    exactly: bool,
    otherwise: Exception,
) -> None:
    """Writes the stock between two versions of a product: only the quantities that differ, each on
    condition that it is still what was read; `exactly`: that all are.

    Emits inventory.low for each variant that becomes low: new, sold, or by another threshold.
    """
    if before is None:
        assert after is not None
        quantities = dict(after.quantities)
        pk, sk = key(after.id)
        threshold = after.low_stock_threshold
        commit.put({"pk": pk, "sk": sk, "quantities": quantities, "threshold": threshold})
    elif after is None:
        all_same = Attr("quantities").eq(dict(before.quantities)) if exactly else None
        commit.delete(key(before.id), when=all_same, otherwise=otherwise)
    else:
        _merge(commit, before, after, exactly, otherwise)
    if after is not None:
        became = low.variants(after) - (low.variants(before) if before else set())
        for id in sorted(became):
            commit.announce("inventory.low", low.shown(after, id, after.quantities[id]))
        low.note(commit, [after.id] if became else [])


def _merge(
    commit: Commit, before: Product, after: Product, exactly: bool, otherwise: Exception
) -> None:
    was, now = before.quantities, after.quantities
    differing = {id for id in was.keys() | now.keys() if was.get(id) != now.get(id)}
    changes: dict[str, object] = {f"quantities.{id}": now[id] for id in differing & now.keys()}
    if before.low_stock_threshold != after.low_stock_threshold:
        # The same variants must be low by the new threshold as computed.
        exactly, changes["threshold"] = True, after.low_stock_threshold
    if len(differing) > _MOST_CONDITIONS:
        exactly, changes = True, {**changes, "quantities": dict(now)}
        changes = {name: value for name, value in changes.items() if "." not in name}
    judged = Attr("threshold").eq(before.low_stock_threshold)  # which are low
    if exactly:
        unchanged = judged & Attr("quantities").eq(dict(was))
    else:
        still = {id: Attr(f"quantities.{id}") for id in differing}
        same = (
            stock.eq(was[id]) if id in was else stock.not_exists() for id, stock in still.items()
        )
        unchanged = all_of([judged, *same])
    if changes or differing:
        gone = (
            [] if "quantities" in changes else [f"quantities.{id}" for id in differing - now.keys()]
        )
        commit.update(
            key(before.id), assign=changes, remove=gone, when=unchanged, otherwise=otherwise
        )
    elif exactly:
        commit.check(key(before.id), unchanged, otherwise)
