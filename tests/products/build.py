"""Valid products; a test overrides the fields it is about."""

from itertools import count
from typing import Any

from tests.support.shop import Shop

PRODUCTS = "/api/admin/products"
_number = count(1)


def new_product(**fields: Any) -> dict[str, Any]:
    return {"name": f"Blue shirt {next(_number)}", "price": "19.90", **fields}


def stored(shop: Shop, **fields: Any) -> Any:
    """A new product, as the API returns it."""
    return shop.made(PRODUCTS, new_product(**fields))


def path_of(product: Any) -> str:
    return f"{PRODUCTS}/{product['id']}"


def of_many_variants(shop: Shop, slug: str = "shirt", word: str = "SH", **fields: Any) -> Any:
    """A stored product with more SKUs than its index has room for: SH-00 to SH-99."""
    variants = [{"title": str(n), "sku": f"{word}-{n:02d}", "stock": 1} for n in range(100)]
    sent = {"name": "Shirt", "slug": slug, "price": 20, "variants": variants, **fields}
    return shop.made(PRODUCTS, sent)
