"""A till: finds an article by its SKU, sells it, and says what it cost."""

import sys
from decimal import Decimal
from typing import cast

from backroom import Backroom, Invalid
from backroom.models import CreateOrder, Order


def sell(shop: Backroom, sku: str, quantity: int, receipt: str) -> Order:
    """Place a paid order for pieces of a SKU. The same `receipt` twice is one order."""
    variants = [
        variant
        for product in shop.iter_products(search=sku, status="ACTIVE")
        for variant in product["variants"]
        if variant["sku"] == sku
    ]
    order: CreateOrder = {
        "source": "IN_PERSON",
        "paymentStatus": "PAID",
        "paymentMethod": "CARD_TERMINAL",
        "lineItems": [{"variantId": variants[0]["id"], "quantity": quantity}],
    }
    # Only a request with dryRun is answered with a preview.
    return cast(Order, shop.create_order(order, idempotency_key=receipt))


def main() -> None:
    sku, quantity, receipt = sys.argv[1:]
    with Backroom.from_environment() as shop:
        try:
            order = sell(shop, sku, int(quantity), receipt)
        except Invalid as refused:
            sys.exit(refused.message)  # too few in stock, for instance
    each = Decimal(order["total"]) / int(quantity)
    print(f"order {order['number']}: {order['total']} {order['currency']}, {each} each")


if __name__ == "__main__":
    main()
