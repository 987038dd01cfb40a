"""The stock of products: set by edits, taken by sales, returned by cancellations.

`prod_…` / `stock`: `quantities` (variant id → number, of the tracked variants), `threshold`, the
product's own, because a sale must know whether it crosses it, and `moves` (variant id → how many
sales and moves there were; of an untracked variant only the first sale counts, so that not each one
writes). An undo leaves what was sold since, even if as many pieces came back.

Each write is conditional on its effect: whether a sale does not cross the threshold, crosses it, or
is already below it. If that changed meanwhile, the sale is computed again.

Each write also traces its moves (`_trace_steps`): the ledger is made of them (`ledger/store.py`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from operator import attrgetter
from types import MappingProxyType
from typing import Final

from chalicelib.products import low
from chalicelib.products.model import Product
from chalicelib.storage import actor, table
from chalicelib.storage.attributes import Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr, Condition, all_of

# AWS: an expression has at most 4 KB and 300 operators; a condition on one variant takes about 45
# bytes. For more variants than these, the whole map is written, on condition that it is unchanged.
_MOST_CONDITIONS: Final = 40

Wanted = Mapping[str, int]  # variant id → quantity
# One change of a quantity: `{variantId, by}`; `{variantId, stock}` where tracking begins with it,
# `{variantId, was}` where it ends. With `reason`, `note` and `countId` if they were given.
Step = Mapping[str, object]

# What an edit may change of it; most edits change none of these.
_stock_of: Final = attrgetter("quantities", "low_stock_threshold", "variant_ids")
_CAUSES: Final = {  # of jobs
    "product_import": "IMPORT",
    "bulk_edit": "BULK_EDIT",
    "undo": "UNDO",
    "stock_count": "COUNT",
}


class StockMoved(Exception):
    """The stock changed since it was read: the sale must be computed again."""


class VariantGone(Exception):
    """A variant no longer exists, or is not tracked: it takes no returned stock."""


def key(product_id: str) -> Key:
    return product_id, "stock"


def _trace_steps(
    commit: Commit, product_id: str, cause: str, steps: Sequence[Step], **of: str
) -> None:
    """Part of each commit that changes quantities. `of`: the `orderId`."""
    if steps:
        group = {"productId": product_id, "cause": cause, **of, "steps": steps}
        commit.trace("moves", group)


def _are_many(variants: Collection[str]) -> bool:
    return len(variants) > _MOST_CONDITIONS


def _signed_steps(pieces: Wanted) -> list[Step]:
    return [{"variantId": id, "by": n} for id, n in pieces.items() if n]


# --- Sales ----------------------------------------------------------------------------------------


def find_shortages(sales: Iterable[tuple[Product, Wanted]]) -> list[dict[str, object]]:
    """Return the variants with too little stock, as an error shows them."""
    return [
        {"variantId": id, "requested": n, "available": product.quantities[id]}
        for product, wanted in sales
        for id, n in wanted.items()
        if id in product.quantities and product.quantities[id] < n
    ]


def stock_levels(product_ids: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the stock of the tracked variants of each existing product."""
    found = table.batch_get(map(key, product_ids))
    return {id: dict(item["quantities"]) for (id, _), item in found.items()}


def all_stock_levels(product_ids: Iterable[str]) -> dict[str, int]:
    """Return the stock of each variant of these products that is tracked or was moved.

    It is 0 for a variant that is not tracked now.
    """
    found = table.batch_get(map(key, product_ids)).values()
    return {
        id: int(item["quantities"].get(id, 0))
        for item in found
        for id in item["quantities"].keys() | item["moves"].keys()
    }


def sell_pieces(
    commit: Commit,
    sales: Iterable[tuple[Product, Wanted]],
    *,
    order_id: str,
    cause: str = "SALE",
    oversold: Wanted = MappingProxyType({}),
) -> None:
    """Take the wanted pieces, which are in stock (negative: they return). Emit inventory.low.

    It is one item a product, and one more if any variant falls below its threshold. `oversold`:
    pieces that are sold but not there, only if the stock is exactly what was read. The commit
    raises StockMoved.

    Untracked variants are neither taken nor checked: if tracking begins during an order, the count
    is of what is left after it.
    """
    fallen = []
    for product, all_wanted in sales:
        wanted = {id: n for id, n in all_wanted.items() if id in product.quantities}
        marked = {id for id, n in wanted.items() if n > 0}
        marked |= all_wanted.keys() - product.moves.keys()
        if not marked and not wanted:
            continue
        taken = {id: -n for id, n in wanted.items()}
        left = {id: product.quantities[id] - n for id, n in wanted.items()}
        whole, added = _addition(product.quantities, taken)
        moves, move, same_moves = _count_moves(product, marked)
        commit.update(
            key(product.id),
            assign=whole | moves,
            add=added | move,
            when=all_of([_crosses_alike(product, wanted, oversold.keys()), *same_moves]),
            otherwise=StockMoved(),
        )
        _trace_steps(commit, product.id, cause, _signed_steps(taken), orderId=order_id)
        missing = [
            {"variantId": id, "by": 0, "missing": oversold[id]} for id in wanted if id in oversold
        ]
        _trace_steps(commit, product.id, "OVERSOLD", missing, orderId=order_id)
        crossed = _find_crossing(product.quantities, left, product.low_stock_threshold)
        for id in crossed:
            commit.announce("inventory.low", low.show_low_stock(product, id, left[id]))
        if crossed:
            fallen.append(product.id)
    low.note_low_products(commit, fallen)


def _crosses_alike(product: Product, wanted: Wanted, exactly: Set[str]) -> Condition:
    """Return the condition that a sale crosses the threshold for the variants as read.

    The stock of those in `exactly` must be what was read, too.
    """
    threshold = product.low_stock_threshold
    same = [Attr("threshold").eq(threshold)]
    if _are_many(wanted):
        return all_of([*same, Attr("quantities").eq(dict(product.quantities))])
    for id, n in wanted.items():
        stock, there = Attr(f"quantities.{id}"), product.quantities[id]
        if id in exactly:
            same.append(stock.eq(there))
        elif n < 0:
            same.append(stock.exists())
        elif there - n >= threshold:
            same.append(stock.gte(threshold + n))
        elif there >= threshold:
            same.append(stock.eq(there))  # exactly, because the event has the remaining stock
        else:
            same.append(stock.between(n, threshold - 1))
    return all_of(same)


def _count_moves(
    product: Product, moved: Set[str]
) -> tuple[dict[str, object], dict[str, int], list[Condition]]:
    """Return what an update sets and adds to count one move of each variant, and its condition."""
    if _are_many(moved):
        whole = {**product.moves, **{id: product.moves.get(id, 0) + 1 for id in moved}}
        return {"moves": whole}, {}, [Attr("moves").eq(dict(product.moves))]
    first = moved - product.moves.keys()
    return (
        {f"moves.{id}": 1 for id in first},
        {f"moves.{id}": 1 for id in moved - first},
        [_is_unchanged("moves", product.moves, id) for id in first],
    )


def _find_crossing(before: Wanted, after: Wanted, threshold: int) -> list[str]:
    return [id for id, n in after.items() if n < threshold <= before[id]]


def return_pieces(commit: Commit, product_id: str, taken: Wanted, *, order_id: str) -> None:
    """Give stock back to its variants. The commit raises VariantGone if one cannot take it.

    Of many variants, those that cannot are left out, and it also raises if any stock changes
    meanwhile.
    """
    stock: Wanted = {}
    when = all_of(Attr(f"quantities.{id}").exists() for id in taken)
    if _are_many(taken):
        stock = stock_levels([product_id]).get(product_id, {})
        when = Attr("quantities").eq(dict(stock))
        taken = {id: n for id, n in taken.items() if id in stock}
    whole, added = _addition(stock, taken)
    commit.update(key(product_id), assign=whole, add=added, when=when, otherwise=VariantGone())
    _trace_steps(commit, product_id, "RETURN", _signed_steps(taken), orderId=order_id)


def _addition(stock: Wanted, pieces: Wanted) -> tuple[dict[str, object], dict[str, int]]:
    """Return what an update sets and adds to add these pieces to the stock.

    Of many pieces it sets the sum with the stock as it was read.
    """
    if _are_many(pieces):
        there = {id: stock[id] + n for id, n in pieces.items() if id in stock}
        return {"quantities": {**stock, **there}}, {}
    return {}, {f"quantities.{id}": n for id, n in pieces.items()}


def gone_variants(taken: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Return the variants of these products that take no returned stock."""
    there = stock_levels(taken)
    return frozenset(
        id for product, ids in taken.items() for id in ids if id not in there.get(product, {})
    )


# --- Edits ----------------------------------------------------------------------------------------


def write_edit(
    commit: Commit,
    before: Product | None,
    after: Product | None,
    *,
    exactly: bool,
    otherwise: Exception,
    moved: Sequence[Step] = (),
) -> None:
    """Write the stock between two versions of a product. Emit inventory.low.

    Only the quantities that differ are written, each on condition that it is still what was read;
    `exactly`: that all are, and nothing was sold. `moved`: the moves between them, if pieces were
    received, counted or written off. A variant becomes low if it is new, sold, or has another
    threshold.
    """
    if before is None:
        assert after is not None
        quantities = dict(after.quantities)
        pk, sk = key(after.id)
        threshold = after.low_stock_threshold
        item = {"quantities": quantities, "threshold": threshold, "moves": {}}
        commit.put({"pk": pk, "sk": sk, **item})
    elif after is None:
        same = Attr("quantities").eq(dict(before.quantities))  # of which the ledger is told
        if exactly:
            same &= Attr("moves").eq(dict(before.moves))
        commit.delete(key(before.id), when=same, otherwise=otherwise)
    elif not (exactly or moved) and _stock_of(before) == _stock_of(after):
        return
    else:
        ids = {str(step["variantId"]) for step in moved}
        _update_stock(commit, before, after, exactly=exactly, otherwise=otherwise, moved=ids)
    product = after or before
    assert product is not None
    cause = _CAUSES.get(actor.current().job_type or "", "MOVE" if moved else "EDIT")
    _trace_steps(commit, product.id, cause, moved or _differing_steps(before, after))
    if after is not None:
        became = low.low_variants(after) - (low.low_variants(before) if before else set())
        for id in sorted(became):
            commit.announce("inventory.low", low.show_low_stock(after, id, after.quantities[id]))
        low.note_low_products(commit, [after.id] if became else [])


def _differing_steps(before: Product | None, after: Product | None) -> list[Step]:
    was, now = (product.quantities if product else {} for product in (before, after))
    steps: list[Step] = [{"variantId": id, "was": n} for id, n in was.items() if id not in now]
    steps += [{"variantId": id, "stock": n} for id, n in now.items() if id not in was]
    return steps + _signed_steps({id: n - was[id] for id, n in now.items() if id in was})


def _update_stock(
    commit: Commit,
    before: Product,
    after: Product,
    *,
    exactly: bool,
    otherwise: Exception,
    moved: Set[str],
) -> None:
    was, now = before.quantities, after.quantities
    # Moves may add up to zero; what they say is still of this stock.
    differing = moved | {id for id, _ in was.items() ^ now.items()}
    changes: dict[str, object] = {f"quantities.{id}": now[id] for id in differing & now.keys()}
    if before.low_stock_threshold != after.low_stock_threshold:
        # The same variants must be low by the new threshold as computed.
        exactly, changes["threshold"] = True, after.low_stock_threshold
    if _are_many(differing):
        exactly, changes = True, {**changes, "quantities": dict(now)}
        changes = {name: value for name, value in changes.items() if "." not in name}
    judged = Attr("threshold").eq(before.low_stock_threshold)  # which are low
    if exactly:
        same = [Attr("quantities").eq(dict(was))]
    else:
        same = [_is_unchanged("quantities", was, id) for id in differing]
    moves, move, same_moves = _count_moves(before, moved)
    gone = before.variant_ids - after.variant_ids
    if gone:
        kept = {id: n for id, n in before.moves.items() if id not in gone}
        moves, same_moves = {"moves": kept}, [Attr("moves").eq(dict(before.moves))]
    changes |= moves
    unchanged = all_of([judged, *same, *same_moves])
    untracked = set() if "quantities" in changes else differing - now.keys()
    if changes or untracked:
        commit.update(
            key(before.id),
            assign=changes,
            add=move,
            remove=[f"quantities.{id}" for id in untracked],
            when=unchanged,
            otherwise=otherwise,
        )
    else:
        commit.check(key(before.id), unchanged, otherwise)


def _is_unchanged(name: str, was: Wanted, id: str) -> Condition:
    """Return the condition that this member of a map is what was read."""
    member = Attr(f"{name}.{id}")
    return member.eq(was[id]) if id in was else member.not_exists()
