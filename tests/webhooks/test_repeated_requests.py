"""Two creations of a webhook with one Idempotency-Key make one webhook."""

from chalicelib import settings
from tests.support.webhook_world import World
from tests.webhooks.build import PATH, URL

KEY = {"Idempotency-Key": "erp"}


def test_a_repeated_creation_makes_one_webhook_and_stores_no_secret(world: World) -> None:
    sent = {"url": URL, "events": ["ORDER.PAID", "order.created"], "enabled": None}
    first = world.shop.post(PATH, sent, headers=KEY)
    assert first.status == 201, first.text
    changed = {"description": "since then", "events": ["order.paid"]}
    assert world.shop.put(f"{PATH}/{first.json['id']}", changed).status == 200
    again = world.shop.post(PATH, sent, headers=KEY)
    assert (again.status, again.text) == (201, first.text)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert world.shop.get(PATH).json["total"] == 1
    assert first.json["secret"] not in str(world.double.items(settings.table()))
    other = world.shop.post(PATH, {**sent, "events": ["order.paid"]}, headers=KEY)
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")
    assert world.shop.post(PATH, sent).json["id"] != first.json["id"]
