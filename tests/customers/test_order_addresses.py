"""The addresses of an order: copies, which can be changed until it is delivered."""

from typing import Any

import pytest

from tests.customers.build import address, customer
from tests.orders.build import ORDERS, line, new_order, placed, variant
from tests.support.shop import Shop

EMPTY = dict.fromkeys(("firstName", "lastName", "company", "address2", "province"))
EMPTY |= {"postalCode": None, "phone": None}


def test_an_order_has_separate_shipping_and_billing_addresses(shop: Shop) -> None:
    order = placed(shop, shippingAddress=address(), billingAddress=address(city="Bath"))
    assert order["shippingAddress"] == {**EMPTY, **address()}
    assert order["billingAddress"] == {**EMPTY, **address(city="Bath")}
    assert order.read() == order
    (event,) = (one for one in shop.events() if one["event"] == "order.created")
    assert event["data"] == order
    assert placed(shop)["shippingAddress"] is None


def test_an_address_read_from_a_customer_is_accepted_in_an_order(shop: Shop) -> None:
    made = customer(shop, addresses=[address()])
    sent = {"customer": made, "shippingAddress": made["addresses"][0]}
    order = placed(shop, **sent)
    assert order["shippingAddress"] == {**EMPTY, **address()}
    made.patch({"addresses": [address(city="York")]})
    assert order.read()["shippingAddress"]["city"] == "London"


def test_addresses_change_until_the_order_is_delivered(shop: Shop) -> None:
    order = placed(shop, billingAddress=address())
    order.moved("PAID", "PROCESSING", "SHIPPED")
    changed = order.patch({"shippingAddress": address(city="York"), "billingAddress": None})
    assert changed.json["shippingAddress"]["city"] == "York"
    assert changed.json["billingAddress"] is None
    assert changed.json["history"][-1]["change"] == "shippingAddress, billingAddress"
    assert shop.events()[-1]["event"] == "order.updated"
    order.moved("DELIVERED")
    assert order.patch({"shippingAddress": address()}).refused == ["shippingAddress"]
    assert order.patch({"billingAddress": address()}).refused == ["billingAddress"]
    read = order.fetch().json
    read.pop("status")
    assert order.patch(read).status == 200  # sent back as it was read, it changes nothing


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        (address(countryCode="ZZ"), "countryCode"),
        (address(address1="x" * 101), "address1"),
        ({"city": "A", "countryCode": "DE"}, "address1"),
        (address(phone=7), "phone"),
    ],
)
def test_an_invalid_address_is_refused_by_field(shop: Shop, sent: Any, field: str) -> None:
    for name in ("shippingAddress", "billingAddress"):
        order = new_order(line(variant(shop)), **{name: sent})
        assert shop.post(ORDERS, order).refused == [f"{name}.{field}"]
        path = f"{ORDERS}/{placed(shop)['id']}"
        assert shop.patch(path, {name: sent}).refused == [f"{name}.{field}"]
