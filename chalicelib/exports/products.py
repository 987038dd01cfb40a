"""A product as rows of a CSV: in our own columns, or in Shopify's.

A product with variants is a row of its own values, and one more for each variant; pictures are in
the same rows from the first on. In Shopify's columns the first variant is in the first row.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from chalicelib.exports.cells import Text, flat_text, join_list
from chalicelib.products.model import Product

_Fields = Mapping[str, object]
_Rows = Iterator[list[object]]

BACKROOM: Final = (
    *("slug", "name", "description", "status", "price", "compareAtPrice", "sku", "vendor"),
    *("type", "tags", "variantTitle", "variantSku", "variantPrice", "stock", "barcode", "cost"),
    *("imageUrl", "imageAlt", "published", "storefront", "lowStockThreshold", "seoTitle"),
    *("seoDescription", "madeToOrder", "leadDays", "specification"),
)
# Of these, the ones that a spreadsheet must not take for numbers or dates.
_TEXTS: Final = frozenset(
    (
        *("slug", "name", "description", "sku", "vendor", "type", "tags", "variantTitle"),
        *("variantSku", "barcode", "imageAlt", "storefront", "seoTitle", "seoDescription"),
        "specification",
    )
)
# Shopify's new columns; the last is ours: Shopify has no price of a product besides its variants'.
SHOPIFY: Final = (
    *("Title", "URL handle", "Description", "Vendor", "Type", "Tags"),
    *("Published on online store", "Status", "SKU", "Barcode", "Option1 name", "Option1 value"),
    *("Price", "Compare-at price", "Cost per item", "Inventory tracker", "Inventory quantity"),
    *(
        "Product image URL",
        "Image position",
        "Image alt text",
        "SEO title",
        "SEO description",
        "Backroom price",
    ),
)


def backroom_rows(product: Product) -> _Rows:
    """Return the rows of a product in the columns BACKROOM."""
    fields = product.fields
    variants = product.variants()
    first: _Fields = {
        **{name: fields[name] for name in BACKROOM if name in fields},
        "price": product.price,
        "tags": join_list(fields["tags"]),
        "seoTitle": fields["seo"]["title"],
        "seoDescription": fields["seo"]["description"],
        "specification": flat_text(fields["specification"]),
    }
    if _is_single(product):
        own: list[_Fields] = [{**first, **_variant_cells(variants[0])}]
    else:
        own = [first, *map(_backroom_variant, variants)]
    images = ({"imageUrl": image["url"], "imageAlt": image["alt"]} for image in fields["images"])
    for row in _place_rows(BACKROOM, own, list(images), {"slug": product.slug}):
        yield [
            Text(value) if isinstance(value, str) and column in _TEXTS else value
            for column, value in zip(BACKROOM, row, strict=True)
        ]


def _backroom_variant(variant: _Fields) -> _Fields:
    return {
        "variantTitle": variant["title"],
        "variantSku": variant["sku"],
        "variantPrice": variant["price"],
        **_variant_cells(variant),
    }


def _variant_cells(variant: _Fields) -> _Fields:
    return {name: variant[name] for name in ("stock", "barcode", "cost")}


def shopify_rows(product: Product) -> _Rows:
    """Return the rows of a product in the columns SHOPIFY."""
    fields = product.fields
    single = _is_single(product)
    first: _Fields = {
        "Title": fields["name"],
        "Description": fields["description"],
        "Vendor": fields["vendor"],
        "Type": fields["type"],
        "Tags": join_list(fields["tags"]),
        "Published on online store": fields["published"],
        "Status": str(fields["status"]).capitalize(),
        "Option1 name": "Title",
        "SEO title": fields["seo"]["title"],
        "SEO description": fields["seo"]["description"],
        "Backroom price": product.price,
    }
    variants = [
        {
            "SKU": variant["sku"],
            "Barcode": variant["barcode"],
            "Option1 value": "Default Title" if single else variant["title"],
            "Price": variant["price"],
            "Compare-at price": fields["compareAtPrice"],
            "Cost per item": variant["cost"],
            "Inventory tracker": None if variant["stock"] is None else "shopify",
            "Inventory quantity": variant["stock"],
        }
        for variant in product.variants()
    ]
    images = [
        {"Product image URL": image["url"], "Image position": at, "Image alt text": image["alt"]}
        for at, image in enumerate(fields["images"], 1)
    ]
    own = [{**first, **variants[0]}, *variants[1:]]
    yield from _place_rows(SHOPIFY, own, images, {"URL handle": product.slug})


def _is_single(product: Product) -> bool:
    """Say whether it has no options: its only variant follows its SKU and price."""
    (first, *others) = product.fields["variants"]
    return not others and bool(first.get("default"))


def _place_rows(
    columns: Sequence[str], own: Sequence[_Fields], images: Sequence[_Fields], each: _Fields
) -> _Rows:
    for at in range(max(len(own), len(images))):
        values: dict[str, object] = {}
        for rows in (own, images):
            values |= rows[at] if at < len(rows) else {}
        values |= each
        yield [values.get(column) for column in columns]
