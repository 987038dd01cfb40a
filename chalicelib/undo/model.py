"""A job's change of a product, and the product after undoing it: pure functions.

A change is JSON: `{created: edited_at}` or `{deleted: the record}`, `fields: {name: [before,
after]}`, `variants: {id: {name: [before, after]}}`, `added` and `removed`: variants by id, `order:
[before, after]`: ids, `stock: {id: [before, after]}` (null: not tracked), `moves`: how many there
were of variants that were not tracked before or after. What did not change is absent.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from chalicelib.listing import Record
from chalicelib.products.model import Product

FieldChange = dict[str, Any]
Fields = dict[str, Any]

OF_ORDERS: Final = ("status", "salesRepId", "tags")  # what a job can change
# Derived fields, and those about the write itself.
_DERIVED: Final = frozenset(
    {"id", "index", "import", "createdAt", "updatedAt", "recreated", "variants"}
    | {"pk", "sk", "version"}
)


def difference(before: Product | None, after: Product | None) -> FieldChange:
    """Return what changed between two versions of a product."""
    if before is None:
        assert after is not None
        return {
            "created": after.edited_at,
            "stock": _differing_pairs({}, after.quantities),
        }
    if after is None:
        whole = {**before.fields, "version": before.version}
        return {"deleted": whole, "stock": _differing_pairs(before.quantities, {})}
    old = {variant["id"]: variant for variant in before.fields["variants"]}
    new = {variant["id"]: variant for variant in after.fields["variants"]}
    stock = _differing_pairs(before.quantities, after.quantities)
    change: FieldChange = {
        "updatedAt": after.fields["updatedAt"],
        "fields": _differing_pairs(before.fields, after.fields, _DERIVED),
        "variants": {
            id: pairs
            for id in old.keys() & new.keys()
            if old[id] != new[id] and (pairs := _differing_pairs(old[id], new[id]))
        },
        "added": {id: dict(new[id]) for id in new.keys() - old.keys()},
        "removed": {id: dict(old[id]) for id in old.keys() - new.keys()},
        "order": [list(old), list(new)] if list(old) != list(new) else [],
        "stock": stock,
        "moves": {id: before.moves[id] for id in stock if None in stock[id] and id in before.moves},
    }
    return {name: value for name, value in change.items() if value}


def order_difference(before: Record, after: Record) -> FieldChange:
    """Return what changed between two versions of an order."""
    old, new = ({name: version.fields[name] for name in OF_ORDERS} for version in (before, after))
    return {"fields": _differing_pairs(old, new)}


def _differing_pairs(
    before: Mapping[str, object], after: Mapping[str, object], but: Collection[str] = ()
) -> dict[str, list[object]]:
    return {
        name: [before.get(name), after.get(name)]
        for name in {**before, **after}
        if name not in but and before.get(name) != after.get(name)
    }


@dataclass
class Restored:
    """A product with changes undone.

    `left`: fields that were changed since and stay: names such as `price`, `variants.var_1.sku`,
    `stock.var_1`.
    """

    fields: Fields
    quantities: dict[str, int]
    moves: Mapping[str, int]
    left: list[str] = field(default_factory=list)

    @property
    def variants(self) -> dict[str, Fields]:
        return {variant["id"]: variant for variant in self.fields["variants"]}


def is_untouched(product: Product, changes: Sequence[FieldChange]) -> bool:
    """Say whether a product was neither edited nor sold nor moved since the job created it.

    Its version is another one after a reindexing, too.
    """
    written = changes[-1].get("updatedAt") or changes[-1]["created"]
    return product.edited_at == written and not product.moves


def restore_product(product: Product, changes: Iterable[FieldChange]) -> Restored:
    """Return the product without these changes, which are given oldest first."""
    now = Restored(dict(product.fields), dict(product.quantities), product.moves)
    now.fields["variants"] = [dict(variant) for variant in product.fields["variants"]]
    for change in reversed(list(changes)):
        _restore_fields(now.fields, change.get("fields", {}), "", now.left)
        _restore_variants(now, change)
        _restore_stock(now, change)
    now.left = list(dict.fromkeys(now.left))
    return now


def _restore_fields(
    fields: Fields, pairs: Mapping[str, list[object]], below: str, left: list[str]
) -> None:
    for name, (before, after) in pairs.items():
        if fields.get(name) != after:
            left.append(below + name)
        else:
            fields[name] = before


def _restore_variants(now: Restored, change: FieldChange) -> None:
    variants_now = now.variants
    for id, pairs in change.get("variants", {}).items():
        if id in variants_now:
            _restore_fields(variants_now[id], pairs, f"variants.{id}.", now.left)
            if variants_now[id].get("default") is None:
                variants_now[id].pop("default", None)
        else:
            now.left.append(f"variants.{id}")
    for id, variant in change.get("removed", {}).items():
        variants_now.setdefault(id, dict(variant))
    added, stock = change.get("added", {}), change.get("stock", {})
    untouched = {
        id
        for id, variant in added.items()
        if variants_now.get(id) == variant
        if now.quantities.get(id) == stock.get(id, [None, None])[1] and id not in now.moves
    }
    if untouched == variants_now.keys():  # a product has at least one variant
        untouched = set()
    for id in added:
        if id in untouched:
            del variants_now[id]
            now.quantities.pop(id, None)
        elif id in variants_now:
            now.left.append(f"variants.{id}")
    before, after = change.get("order") or (list(variants_now), [])
    kept = [id for id in now.variants if id in variants_now]
    in_order = [id for id in before if id in variants_now]
    if [id for id in after if id in variants_now] == [id for id in kept if id in after]:
        kept = [*in_order, *(id for id in kept if id not in in_order)]
    missing = [id for id in variants_now if id not in kept]
    now.fields["variants"] = [variants_now[id] for id in [*kept, *missing]]


def _restore_stock(now: Restored, change: FieldChange) -> None:
    variants_now = now.variants
    for id, (before, after) in change.get("stock", {}).items():
        is_now = now.quantities.get(id)
        if id not in variants_now or id in change.get("added", {}):
            continue
        if before is None or after is None:
            # It was not tracked before or after: there is no difference to undo.
            moved = now.moves.get(id) != change.get("moves", {}).get(id)
            if is_now != after or moved:
                now.left.append(f"stock.{id}")
            elif before is None:
                now.quantities.pop(id, None)
            else:
                now.quantities[id] = before
        elif is_now is None or is_now + before - after < 0:
            now.left.append(f"stock.{id}")
        else:
            now.quantities[id] = is_now + before - after
