"""Matches given variants to existing ones, for PUT and import.

By id; then by SKU, the same title first if several have that SKU; then by title: a variant with a
known title and a new SKU gets that SKU. Others are new, with one exception: if a product without
options gets options, its only variant becomes the first of them, with its price and stock.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence

from chalicelib.problems import Invalid
from chalicelib.products.model import DEFAULT_VARIANT, Product
from chalicelib.storage.attributes import Fields


def matched(listed: Sequence[Fields], product: Product | None) -> list[str | None]:
    """The variant id of each given one, None if it is new. Raises Invalid for an id that the
    product does not have."""
    unclaimed = {variant["id"]: variant for variant in (product.variants() if product else ())}
    ids: list[str | None] = [None] * len(listed)
    for place, wanted in enumerate(listed):
        id = wanted.get("id")
        if id is not None and id not in unclaimed:
            reason = "is no variant of this product" if product else "cannot be chosen"
            raise Invalid.field(f"variants.{place}.id", "unknown_variant", f"{id!r} {reason}")
        if id is not None:
            ids[place] = id
            del unclaimed[id]
    only = _only(listed, product)

    def claim(key: Callable[[Fields], Hashable]) -> None:
        free: defaultdict[Hashable, deque[str]] = defaultdict(deque)
        for id, variant in unclaimed.items():
            free[key(variant)].append(id)
        for place, wanted in enumerate(listed):
            mark = key(wanted) if ids[place] is None else None
            if mark is not None and free[mark]:
                own = ids[place] = free[mark].popleft()
                del unclaimed[own]

    def sku(variant: Fields) -> str | None:
        return variant.get("sku") or None

    def title(variant: Fields) -> str | None:
        # One without a title is named by its SKU, or is the only one.
        return variant.get("title") or only or sku(variant)

    claim(lambda variant: (sku(variant), title(variant)) if sku(variant) else None)
    claim(sku)
    claim(title)
    whole = next(iter(unclaimed.values()), None)
    if product and whole and _stands_for_all(product) and None in ids:
        ids[ids.index(None)] = whole["id"]
    return ids


def _stands_for_all(product: Product) -> bool:
    variants = product.fields["variants"]
    return len(variants) == 1 and variants[0]["title"] == DEFAULT_VARIANT


def _only(listed: Sequence[Fields], product: Product | None) -> str | None:
    """The title of a single variant that is given without one."""
    if len(listed) != 1:
        return None
    there = product.variants() if product else []
    if len(there) != 1:
        return DEFAULT_VARIANT
    (given,), (own,) = listed, there
    wanted, old = given.get("sku"), own["sku"]
    is_another = wanted and old and wanted != old and own["title"] != DEFAULT_VARIANT
    return DEFAULT_VARIANT if is_another else str(own["title"])
