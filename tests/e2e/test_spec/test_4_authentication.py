"""Authentication: who may call what."""

from typing import Any

import pytest

from tests.e2e.spec_client import ORDERS, PRODUCTS, Client


def test_an_admin_request_carries_a_bearer_key(shop: Client) -> None:
    assert shop.get(PRODUCTS).status == 200


@pytest.mark.parametrize(
    "sent",
    [None, "{key}", "Basic {key}", "Bearer", "Bearer bk_x"],
    ids=["no_header", "no_bearer", "another_scheme", "no_key", "an_unknown_key"],
)
def test_an_admin_request_is_401_with(shop: Client, sent: str | None) -> None:
    headers = {} if sent is None else {"Authorization": sent.format(key=shop.key)}
    answer = shop.get(PRODUCTS, key_="", **headers)
    assert (answer.status, answer.json["code"]) == (401, "unauthorized")


def operations(shop: Client) -> list[tuple[str, str]]:
    """Every method and path that the description has, with ids that nobody has."""
    paths: dict[str, Any] = shop.get("/api/openapi.json").json["paths"]
    return [
        (method.upper(), path.replace("{", "").replace("}", ""))
        for path, item in paths.items()
        for method in item
        if method in {"get", "post", "put", "patch", "delete"}
    ]


def test_every_admin_request_needs_a_key(shop: Client) -> None:
    admin = [one for one in operations(shop) if one[1].startswith("/api/admin")]
    addresses = (f"198.51.100.{n}" for n in range(1, 255))  # 60 failed sign-ins each
    answers = {
        (method, path): shop.call(method, path, key_="", X_Forwarded_For=next(addresses)).status
        for method, path in admin
    }
    assert len(answers) > 50
    assert {one: status for one, status in answers.items() if status != 401} == {}


def test_the_storefront_needs_no_key(shop: Client) -> None:
    assert shop.get("/api/products", key_="").status == 200


@pytest.mark.parametrize("role", ["READER", "STAFF", "ADMIN"])
def test_an_order_is_not_deleted_by(shop: Client, role: str) -> None:
    order = shop.order()
    refused = shop.call("DELETE", f"{ORDERS}/{order['id']}", key_=shop.key_of(role))
    assert (refused.status, refused.json["code"]) == (403, "forbidden")
    assert shop.get(f"{ORDERS}/{order['id']}").status == 200


def test_an_order_is_deleted_by_the_owner(shop: Client) -> None:
    order = shop.order()
    owner = shop.key_of("OWNER")
    assert shop.call("DELETE", f"{ORDERS}/{order['id']}", key_=owner).status == 200
