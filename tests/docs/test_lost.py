"""docs/lost.md: what was deleted comes back by its event."""

import re
import sys
from datetime import timedelta
from pathlib import Path

import backroom
import pytest

from tests.client.inside import client
from tests.orders.build import ORDERS, counts_agree, placed, product, stock_of
from tests.support.shop import Shop
from tests.support.webhook_world import World

pytestmark = pytest.mark.thorough

PROJECT = Path(__file__).resolve().parents[2]
(PROGRAM,) = re.findall(r"```python\n(.*?)```", (PROJECT / "docs/lost.md").read_text(), re.DOTALL)
SEARCHED = {"prod": "products?search=linen", "cus": "customers?search=ada", "ord": "orders?"}


def bring_back(
    shop: Shop, id: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """Runs the program of the page; the id of the new record."""
    monkeypatch.setattr(sys, "argv", ["bring_back.py", id])
    monkeypatch.setattr(backroom.Backroom, "from_environment", lambda: client(shop)[0])
    capsys.readouterr()
    exec(PROGRAM, {})
    return capsys.readouterr().out.split()[-1]


@pytest.mark.parametrize("kind", SEARCHED)
def test_a_deleted_record_comes_back_by_the_event_of_its_deletion(
    world: World, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = Shop()
    goods = product(shop, 5, 7, name="Linen shirt", externalId="E-1", metadata={"shelf": 3})
    person = {"email": "ada@example.com", "firstName": "Ada", "tags": ["vip"]}
    before = {"prod": goods, "cus": shop.made("/api/admin/customers", person)}
    lines = [{"variantId": product(shop, 9)["variants"][0]["id"], "quantity": 2}]
    order = placed(shop, *lines, customer=None, note="Blue ribbon", discount={"percent": 10})
    order.pay()
    before["ord"] = dict(order.read())
    path = {"prod": "/api/admin/products", "cus": "/api/admin/customers", "ord": ORDERS}[kind]
    lost = before[kind]
    assert shop.delete(f"{path}/{lost['id']}").status == 200
    world.run(timedelta(minutes=1))
    world.sleep(seconds=30)

    made = shop.get(f"{path}/{bring_back(shop, lost['id'], monkeypatch, capsys)}").json

    listed = shop.get(f"/api/admin/{SEARCHED[kind]}").json
    assert ([one["id"] for one in listed["data"]], listed["total"]) == ([made["id"]], 1)
    assert counts_agree()
    same = {"prod": ("name", "slug", "price", "externalId", "metadata"), "cus": ("email", "tags")}
    same["ord"] = ("note", "total", "discount", "status", "paymentStatus", "balanceDue")
    assert [made[name] for name in same[kind]] == [lost[name] for name in same[kind]]
    if kind == "prod":
        assert [one["stock"] for one in made["variants"]] == [5, 7]
    if kind == "ord":
        assert made["number"] != lost["number"]
        assert stock_of(shop, made["lineItems"][0]["variantId"]) == 7
