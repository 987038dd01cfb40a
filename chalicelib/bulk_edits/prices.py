"""Changed prices of a product: pure arithmetic in the shop's currency."""

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal

from chalicelib.problems import Invalid
from chalicelib.products.model import Product
from chalicelib.storage.attributes import Fields
from chalicelib.values import money


def reprice_product(product: Product, change: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of a price change: `price`, and `variants` if any has its own price.

    `change`: `set`, `add` or `percent`, and `roundTo`, as sent. Raises Invalid if a price would
    fall below zero, or become zero without a `set` of 0.
    """
    changes: dict[str, object] = {}
    own = product.fields["price"]
    if own is not None:
        changes["price"] = _change_price(own, change, "price")
    changes["variants"] = [
        {"id": variant["id"]}
        if variant["price"] is None
        else {
            "id": variant["id"],
            "price": _change_price(variant["price"], change, f"variants.{place}.price"),
        }
        for place, variant in enumerate(product.fields["variants"])
    ]
    return changes


def _change_price(price: str, change: Mapping[str, object], field: str) -> str:
    before = Decimal(price)
    if "set" in change:
        after = Decimal(str(change["set"]))
    elif "add" in change:
        after = before + Decimal(str(change["add"]))
    else:
        after = before * (100 + Decimal(str(change["percent"]))) / 100
    is_free = "set" in change and after == 0
    after = _round_amount(after, Decimal(str(change.get("roundTo") or 0)))
    if after < 0:
        raise Invalid(f"{field}: {price} would become {after:f}", code="negative_price")
    if after == 0 and before > 0 and not is_free:
        message = f"{field}: {price} would become zero; set it to 0 instead"
        raise Invalid(message, code="price_to_zero")
    return money.render(after)


def _round_amount(amount: Decimal, multiple: Decimal) -> Decimal:
    """Round to a multiple, or to the currency's smallest unit; a half rounds up."""
    unit = multiple or Decimal(1).scaleb(-money.decimals())
    return (amount / unit).to_integral_value(ROUND_HALF_UP) * unit


def compare_at_price(product: Product, change: Fields) -> str | None:
    """Return the compare-at price after a change: `set`, `clear` or `fromPrice`, as sent."""
    if change.get("fromPrice"):
        return product.price
    return None if change.get("clear") else change.get("set", product.fields["compareAtPrice"])
