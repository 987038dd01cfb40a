"""Products after a request: pure functions.

A PUT and an import row merge: absent fields stay, null clears, and a list replaces the old one,
whose variants keep the fields that are not sent.

Given variants match existing ones (`matched`) by id; then by SKU, the same title first if several
have that SKU; then by title: a variant with a known title and a new SKU gets that SKU. Others are
new, with one exception: if a product without options gets options, its only variant becomes the
first of them, with its price and stock.
"""

import json
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence

from chalicelib.files.model import find_picture_id, picture_sizes
from chalicelib.listing import MOST_WORD_BYTES
from chalicelib.problems import Invalid
from chalicelib.products.model import (
    DEFAULT_VARIANT,
    LARGEST_PRODUCT,
    LOW_STOCK,
    NOT_MADE,
    VARIANT_EXTRAS,
    Product,
    index_of,
    show_product,
)
from chalicelib.products.schemas import ProductStatus
from chalicelib.storage.attributes import Fields, Item
from chalicelib.values import clock, ids

Given = Fields
_as_json = json.JSONEncoder(check_circular=False, default=str).encode

_CLEARED: Item = {
    "description": None,
    "status": ProductStatus.DRAFT,
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
    **NOT_MADE,
    "externalId": None,
    "metadata": {},
}


def create_product(given: Given, slug: str, now: str, id: str | None = None) -> Product:
    """Return a new product. `given` has a name; `now` is ISO 8601. Raise Invalid."""
    id = id or ids.new_id("prod")
    fields = {
        **_CLEARED,
        **_clean_fields(given),
        "id": id,
        "slug": slug,
        "createdAt": now,
        "updatedAt": now,
    }
    fields["variants"], quantities = _merge_variants(id, given.get("variants"), None)
    return _check_product(fields, quantities, 1)


def apply_change(product: Product, given: Given, now: str, *, exactly: bool = False) -> Product:
    """Return the product after a change; the same object if nothing differs. Raise Invalid.

    `exactly`: variants get the given prices, even if one equals the old price that it followed.
    """
    fields = {**product.fields, **_clean_fields(given, product.fields)}
    asked = fields["price"]
    if product.fields["price"] is None and asked == product.price:
        fields["price"] = None  # sent back unchanged, it stays the lowest of the variants'
    quantities = dict(product.quantities)
    if "variants" in given:
        moves = exactly and fields["price"] != product.fields["price"]
        is_priced = fields["price"] is not None and not moves
        listed = given["variants"]
        fields["variants"], quantities = _merge_variants(product.id, listed, product, is_priced)
        if any(variant["price"] is None for variant in fields["variants"]):
            fields["price"] = asked  # which that variant follows
    if fields == product.fields and quantities == product.quantities:
        return product
    return _next_version(product, fields, quantities, now)


def rewrite_fields(
    product: Product, fields: dict[str, object], quantities: dict[str, int], now: str
) -> Product:
    """Return the product with these stored fields and this stock. Raise Invalid.

    It is the same object if nothing differs.
    """
    if fields == product.fields and quantities == product.quantities:
        return product
    return _next_version(product, fields, quantities, now)


def recreate_product(product: Product, now: str) -> Product:
    """Return a product that was deleted as it is created again: later, otherwise the same.

    The stored `recreated` has when it was last edited, by the time of this creation.
    """
    updated = clock.next_iso(product.fields["updatedAt"], now)
    own = {"updatedAt": updated, "recreated": {updated: product.edited_at}}
    return _check_product({**product.fields, **own}, dict(product.quantities), product.version + 1)


def _next_version(product: Product, fields: Item, quantities: dict[str, int], now: str) -> Product:
    updated = clock.next_iso(product.fields["updatedAt"], now)
    return _check_product({**fields, "updatedAt": updated}, quantities, product.version + 1)


def _clean_fields(given: Given, before: Fields | None = None) -> dict[str, object]:
    """Return the given fields as stored: null and blank become the defaults."""
    fields: Item = {
        name: _CLEARED.get(name) if value is None or value == "" else value
        for name, value in given.items()
        if name != "variants"
    }
    if "tags" in fields:
        fields["tags"] = list(dict.fromkeys(fields["tags"]))
    if "images" in fields:
        fields["images"] = list(map(_clean_image, fields["images"]))
    if "specification" in fields:
        plain = {"required": False, "choices": []}
        fields["specification"] = [{**plain, **one} for one in fields["specification"]]
    if "seo" in given:
        kept = before["seo"] if before and given["seo"] else _CLEARED["seo"]
        fields["seo"] = {**kept, **fields["seo"]}
    return fields


def _clean_image(given: Given) -> Item:
    """Return an image as a product in memory has it."""
    return {"url": image_address(given), "alt": given.get("alt")}


def image_address(given: Given) -> str:
    """Return the address by which a product has an image: an own picture's large rendition."""
    picture = given.get("pictureId") or find_picture_id(given["url"])
    return picture_sizes(picture)["large"] if picture else str(given["url"])


def _check_product(fields: Item, quantities: dict[str, int], version: int) -> Product:
    if fields["price"] is None:
        for place, variant in enumerate(fields["variants"]):
            if variant["price"] is None:
                at = "price" if variant.get("default") else f"variants.{place}.price"
                message = "is required unless every variant has its own price"
                raise Invalid.field(at, "required", message)
    index = index_of(fields)
    if index.word_bytes > MOST_WORD_BYTES:
        message = f"has {index.word_bytes} bytes of words to be found by; at most {MOST_WORD_BYTES}"
        raise Invalid.field("product", "too_many_words", f"{message} are possible")
    fields["index"] = index.to_stored()
    product = Product(fields, quantities, version)
    shown = {**show_product(product), "images": fields["images"]}  # without what follows from them
    size = len(_as_json(shown))
    if size > LARGEST_PRODUCT:
        message = f"is {size} bytes in all; at most {LARGEST_PRODUCT} are possible"
        raise Invalid.field("product", "too_large", message)
    return product


def _merge_variants(
    product_id: str, given: Iterable[Given] | None, product: Product | None, is_priced: bool = False
) -> tuple[list[dict[str, object]], dict[str, int]]:
    """Return the variants of a given list, and their stock.

    Without a list: the default variant. `is_priced`: the product has a price of its own that a
    variant may follow.
    """
    listed = list(given or [{}])
    is_only = len(listed) == 1
    known = {v["id"]: v for v in product.fields["variants"]} if product else {}
    shown = {v["id"]: v for v in product.variants()} if product else {}
    variants: list[dict[str, object]] = []
    quantities: dict[str, int] = {}
    for place, (wanted, id) in enumerate(zip(listed, match_variants(listed, product), strict=True)):
        if id is None:
            variant = _new_variant(product_id, wanted, is_only)
        else:
            variant = _merge_variant(wanted, known[id], shown[id], is_priced)
        if variant["title"] is None:
            raise Invalid.field(f"variants.{place}.title", "required", "is required")
        if variant["externalId"] and variant["externalId"] in {v["externalId"] for v in variants}:
            at = f"variants.{place}.externalId"
            raise Invalid.field(at, "duplicate", "is another variant's of this product")
        variants.append(variant)
        stock = product.quantities.get(variant["id"]) if product else None
        stock = wanted.get("stock", stock)
        if stock is not None:
            quantities[variant["id"]] = int(stock)
    return variants, quantities


def _merge_variant(
    wanted: Given, old: dict[str, object], shown: Given, is_priced: bool
) -> dict[str, object]:
    """Return a variant after a change of it.

    One that is sent back unchanged still follows its product's SKU and price.
    """
    news = {
        name: wanted[name] or None
        for name in ("title", "sku", "price")
        if name in wanted and wanted[name] != shown[name]
    }
    news |= _given_extras(wanted)
    if wanted.get("price") and not is_priced:
        news["price"] = wanted["price"]
    variant = {**old, **news}
    if old.get("default") and news.keys() & {"title", "sku"}:
        del variant["default"]
        variant["sku"] = news.get("sku", shown["sku"])
    return variant


def _new_variant(product_id: str, wanted: Given, is_only: bool) -> Item:
    variant: dict[str, object] = {"id": ids.new_variant(product_id)}
    variant |= {name: wanted.get(name) or None for name in ("title", "sku", "price")}
    variant |= {**VARIANT_EXTRAS, **_given_extras(wanted)}
    if is_only and variant["title"] is None:
        variant["title"] = DEFAULT_VARIANT
        if variant["sku"] is None:
            variant["default"] = True
    return variant


def _given_extras(wanted: Given) -> dict[str, object]:
    """Those of VARIANT_EXTRAS that are given: null and blank clear."""
    return {name: wanted[name] or empty for name, empty in VARIANT_EXTRAS.items() if name in wanted}


# --- Which variant is which -----------------------------------------------------------------------


def match_variants(listed: Sequence[Fields], product: Product | None) -> list[str | None]:
    """Return the id of each given variant, None if it is new.

    Raises Invalid for an id that the product does not have.
    """
    there = product.variants() if product else []
    unclaimed = {variant["id"]: variant for variant in there}
    ids: list[str | None] = [None] * len(listed)
    for place, wanted in enumerate(listed):
        id = wanted.get("id")
        if id is not None and id not in unclaimed:
            reason = "is no variant of this product" if product else "cannot be chosen"
            raise Invalid.field(f"variants.{place}.id", "unknown_variant", f"{id!r} {reason}")
        if id is not None:
            ids[place] = id
            del unclaimed[id]
    if not unclaimed:
        return ids
    only = _single_title(listed, there)

    def claim_by(key: Callable[[Fields], Hashable]) -> None:
        free: defaultdict[Hashable, deque[str]] = defaultdict(deque)
        for id, variant in unclaimed.items():
            free[key(variant)].append(id)
        for place, wanted in enumerate(listed):
            mark = key(wanted) if ids[place] is None else None
            if mark is not None and free[mark]:
                own = ids[place] = free[mark].popleft()
                del unclaimed[own]

    def own_sku(variant: Fields) -> str | None:
        return variant.get("sku") or None

    def own_title(variant: Fields) -> str | None:
        # One without a title is named by its SKU, or is the only one.
        return variant.get("title") or only or own_sku(variant)

    claim_by(lambda variant: (own_sku(variant), own_title(variant)) if own_sku(variant) else None)
    claim_by(own_sku)
    claim_by(own_title)
    whole = next(iter(unclaimed.values()), None)
    stands_for_all = len(there) == 1 and there[0]["title"] == DEFAULT_VARIANT
    if whole and stands_for_all and None in ids:
        ids[ids.index(None)] = whole["id"]
    return ids


def _single_title(listed: Sequence[Fields], there: Sequence[Fields]) -> str | None:
    """Return the title of a single variant that is given without one."""
    if len(listed) != 1:
        return None
    if len(there) != 1:
        return DEFAULT_VARIANT
    (given,), (own,) = listed, there
    wanted, old = given.get("sku"), own["sku"]
    is_another = wanted and old and wanted != old and own["title"] != DEFAULT_VARIANT
    return DEFAULT_VARIANT if is_another else str(own["title"])
