"""What a product becomes by what a client sent: pure functions.

A PUT and an import row merge: what is absent stays, null clears, and a list that is given is the
new list, whose variants keep what they do not mention.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from chalicelib import ids
from chalicelib.problems import Invalid
from chalicelib.products.model import (
    DEFAULT_VARIANT,
    LARGEST_PRODUCT,
    LOW_STOCK,
    Product,
    Status,
    index_of,
)
from chalicelib.products.shown import show

Given = Mapping[str, Any]

_CLEARED: dict[str, Any] = {
    "description": None,
    "status": Status.DRAFT,
    "published": True,
    "price": None,
    "compareAtPrice": None,
    "sku": None,
    "vendor": None,
    "type": None,
    "storefront": None,
    "tags": [],
    "images": [],
    "seo": {"title": None, "description": None},
    "lowStockThreshold": LOW_STOCK,
    "metadata": {},
}


def created(given: Given, slug: str, now: str) -> Product:
    """A new product. `given` has a name; `now` is ISO 8601. Raises Invalid."""
    id = ids.new("prod")
    fields = {
        **_CLEARED,
        **_cleaned(given),
        "id": id,
        "slug": slug,
        "createdAt": now,
        "updatedAt": now,
    }
    fields["variants"], quantities = _variants(id, given.get("variants"), None)
    return _checked(fields, quantities, 1)


def changed(product: Product, given: Given, now: str) -> Product:
    """The product after a change; the same object where nothing differs. Raises Invalid."""
    fields = {**product.fields, **_cleaned(given, product.fields)}
    if product.fields["price"] is None and fields["price"] == product.price:
        fields["price"] = None  # sent back as it was shown, it stays the lowest of the variants'
    quantities = dict(product.quantities)
    if "variants" in given:
        fields["variants"], quantities = _variants(product.id, given["variants"], product)
    if fields == product.fields and quantities == product.quantities:
        return product
    fields["updatedAt"] = now
    return _checked(fields, quantities, product.version + 1)


def _cleaned(given: Given, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The given fields as they are stored: null and blank are what absence would have been."""
    fields: dict[str, Any] = {
        name: _CLEARED.get(name) if value is None or value == "" else value
        for name, value in given.items()
        if name != "variants"
    }
    if "tags" in fields:
        fields["tags"] = list(dict.fromkeys(fields["tags"]))
    if "images" in fields:
        fields["images"] = [{"alt": None, **image} for image in fields["images"]]
    if "seo" in given:
        kept = before["seo"] if before and given["seo"] else _CLEARED["seo"]
        fields["seo"] = {**kept, **fields["seo"]}
    return fields


def _checked(fields: dict[str, Any], quantities: dict[str, int], version: int) -> Product:
    if fields["price"] is None:
        for place, variant in enumerate(fields["variants"]):
            if variant["price"] is None:
                at = "price" if variant.get("default") else f"variants.{place}.price"
                message = "is required unless every variant has a price of its own"
                raise Invalid.field(at, "required", message)
    fields["index"] = index_of(fields).stored()
    product = Product(fields, quantities, version)
    size = len(json.dumps(show(product), default=str))
    if size > LARGEST_PRODUCT:
        message = f"is {size} bytes in all; at most {LARGEST_PRODUCT} are possible"
        raise Invalid.field("product", "too_large", message)
    return product


def _variants(
    product_id: str, given: Iterable[Given] | None, product: Product | None
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The variants that a given list makes, and their stock. Without one, it is the default."""
    listed = list(given or [{}])
    is_only = len(listed) == 1
    variants: list[dict[str, Any]] = []
    quantities: dict[str, int] = {}
    for place, (wanted, old) in enumerate(zip(listed, _matched(listed, product), strict=True)):
        if product and old:
            variant = _merged(wanted, old, product.variant(old["id"]) or {})
        else:
            variant = _new(product_id, wanted, is_only)
        if variant["title"] is None:
            raise Invalid.field(f"variants.{place}.title", "required", "is required")
        variants.append(variant)
        stock = product.quantities.get(variant["id"]) if product else None
        stock = wanted.get("stock", stock)
        if stock is not None:
            quantities[variant["id"]] = int(stock)
    return variants, quantities


def _matched(listed: list[Given], product: Product | None) -> list[dict[str, Any] | None]:
    """For each given variant the one there is that it is about: by id, then by SKU, then, where one
    of the two has no SKU, by title, so that a file without SKUs can be imported again."""
    unclaimed = {v["id"]: v for v in (product.fields["variants"] if product else ())}
    shown = {v["id"]: v for v in (product.variants() if product else ())}
    matched: list[dict[str, Any] | None] = [None] * len(listed)

    for place, wanted in enumerate(listed):
        id = wanted.get("id")
        if id is not None and id not in unclaimed:
            reason = "is no variant of this product" if product else "cannot be chosen"
            raise Invalid.field(f"variants.{place}.id", "unknown_variant", f"{id!r} {reason}")
        if id is not None:
            matched[place] = unclaimed.pop(id)

    def claim(same: Callable[[Given, Given], bool]) -> None:
        for place, wanted in enumerate(listed):
            if matched[place] is None and wanted.get("id") is None:
                found = next((id for id in unclaimed if same(wanted, shown[id])), None)
                matched[place] = unclaimed.pop(found) if found else None

    default = DEFAULT_VARIANT if len(listed) == 1 else None

    def same_title(wanted: Given, old: Given) -> bool:
        return bool((wanted.get("title") or default) == old["title"])

    def same_sku(wanted: Given, old: Given) -> bool:
        return bool(wanted.get("sku")) and wanted.get("sku") == old["sku"]

    claim(lambda wanted, old: same_sku(wanted, old) and same_title(wanted, old))
    claim(same_sku)
    claim(lambda w, old: same_title(w, old) and not (w.get("sku") and old["sku"]))
    return matched


def _merged(wanted: Given, old: dict[str, Any], shown: Given) -> dict[str, Any]:
    """A variant that is sent back as it was shown goes on following its product's SKU and price."""
    news = {
        name: wanted[name] or None
        for name in ("title", "sku", "price")
        if name in wanted and wanted[name] != shown[name]
    }
    variant = {**old, **news}
    if old.get("default") and news.keys() & {"title", "sku"}:
        del variant["default"]
        variant["sku"] = news.get("sku", shown["sku"])
    return variant


def _new(product_id: str, wanted: Given, is_only: bool) -> dict[str, Any]:
    variant: dict[str, Any] = {"id": ids.new_variant(product_id)}
    variant |= {name: wanted.get(name) or None for name in ("title", "sku", "price")}
    if is_only and variant["title"] is None:
        variant["title"] = DEFAULT_VARIANT
        if variant["sku"] is None:
            variant["default"] = True
    return variant
