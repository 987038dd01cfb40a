"""What a dry run shows of a product: the fields that differ, before and after."""

from collections.abc import Mapping
from typing import Any, Final

from chalicelib.products.model import Product, show_product

_LONGEST: Final = 300  # characters of a text
_MOST: Final = 20  # entries of a list
_NOT_SHOWN: Final = {"createdAt", "updatedAt", "currency", "id", "metadata"}


def make_preview(row: int, before: Product | None, after: Product) -> dict[str, object]:
    """Return what a dry run shows of a product, in the shape of ImportPreview.

    `before` and `after` have only the fields that differ, shortened; of variants and pictures only
    those that differ. `before` None: it is new.
    """
    new = _show_product(after)
    old = _show_product(before) if before else {}
    names = [name for name in new if name not in _NOT_SHOWN and old.get(name) != new[name]]
    lists = {
        name: _split_differing(old.get(name) or [], new[name]) for name in ("variants", "images")
    }
    shown_before: dict[str, object] = {}
    shown_after: dict[str, object] = {}
    for name in names:
        was, now = lists.get(name, (old.get(name), new[name]))
        shown_before[name], shown_after[name] = _shorten(was), _shorten(now)
    return {
        "row": row,
        "outcome": "updated" if before else "created",
        "id": before.id if before else None,
        "slug": after.slug,
        "name": new["name"],
        "image": new["images"][0]["url"] if new["images"] else None,
        "before": shown_before if before else None,
        "after": shown_after,
    }


def _show_product(product: Product) -> dict[str, Any]:
    """Return a product as the API shows it, but without its variants' metadata.

    No file changes them, and those of 20 variants may have 200 KB.
    """
    shown: dict[str, Any] = show_product(product)
    variants = [
        {name: value for name, value in variant.items() if name != "metadata"}
        for variant in shown["variants"]
    ]
    return {**shown, "variants": variants}


def _split_differing(old: list[object], new: list[object]) -> tuple[list[object], list[object]]:
    """Return (the elements only in `old`, those only in `new`), in order, by equality.

    If each is in the other, some were only moved: then both lists are returned whole.
    """
    was, now = [e for e in old if e not in new], [e for e in new if e not in old]
    return (was, now) if was or now else (old, new)


def _shorten(value: object) -> object:
    """Return a value with its long texts cut, and of its lists only the first elements.

    A cut text ends with `…`. Objects keep all their members, each of which is shortened too.
    """
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"
    if isinstance(value, list):
        return [_shorten(each) for each in value[:_MOST]]
    if isinstance(value, Mapping):
        return {name: _shorten(each) for name, each in value.items()}
    return value
