"""Deliveries of the last release continue before, during and after `infra/reindex.py`."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from backroom import verify

from infra import reindex
from tests.support import last_release
from tests.support.shop import Shop
from tests.support.webhook_world import World, failed
from tests.support.webhook_world import world as made

SHOP = last_release.dump()
# The webhooks by description → the state of their delivery.
LEFT = {
    "failed": [("FAILED", 13)],
    "ok": [("DELIVERED", 1)],
    "parked": [("RETRYING", 5)],
    "retrying": [("RETRYING", 1)],
    "pending": [("PENDING", 0)],
    "unread": [],
}


def _before() -> None:
    pass


def _during() -> None:
    reindex.move_all(reindex.ALL[0], 1e9, sleep=lambda seconds: None)


def _after() -> None:
    reindex.main(["--stage", "test", "--rate", "1e9", "--settle", "0"])


@pytest.fixture(params=[_before, _during, _after], ids=["before", "during", "after"])
def world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(reindex.keys, "connect", lambda stage, endpoint_url: None)
    with made() as world:
        last_release.resume(world, SHOP)
        upgrade: Callable[[], None] = request.param
        upgrade()
        yield world


@pytest.fixture
def merchant(world: World) -> Shop:
    return Shop()


@pytest.fixture
def webhooks(merchant: Shop) -> dict[str, Any]:
    return {one["description"]: one for one in merchant.get("/api/admin/webhooks").json["data"]}


def of(merchant: Shop, webhook: Any) -> list[Any]:
    path = f"/api/admin/webhooks/{webhook['id']}/deliveries"
    deliveries: list[Any] = merchant.get(path).json["data"]
    return deliveries


def state(merchant: Shop, webhook: Any) -> list[tuple[str, int]]:
    return [(one["status"], one["attemptCount"]) for one in of(merchant, webhook)]


def test_each_delivery_is_shown_with_its_attempts(merchant: Shop, webhooks: dict[str, Any]) -> None:
    assert {name: state(merchant, one) for name, one in webhooks.items()} == LEFT
    for name, webhook in webhooks.items():
        for listed in of(merchant, webhook):
            full = merchant.get(f"/api/admin/deliveries/{listed['id']}").json
            assert len(full["attempts"]) == LEFT[name][0][1]
            assert full["body"].startswith('{"event":"order.')
    shown = merchant.get("/api/admin/deliveries?limit=100").json["data"]
    assert sorted(one["status"] for one in shown) == sorted(
        status for left in LEFT.values() for status, _ in left
    )


def test_waiting_deliveries_keep_their_id_and_signature(
    world: World, merchant: Shop, webhooks: dict[str, Any]
) -> None:
    """In a queue, parked, or not yet read from the stream."""
    waiting = {
        name: [one["id"] for one in of(merchant, webhooks[name])]
        for name in ("parked", "retrying", "pending")
    }
    world.run(timedelta(days=2))
    after = {"parked": 6, "retrying": 2, "pending": 1, "unread": 1}
    for name, attempts in after.items():
        assert state(merchant, webhooks[name]) == [("DELIVERED", attempts)], name
    posted = {one.url.rpartition("/")[2]: one for one in world.posted}
    assert set(posted) == set(after) and len(world.posted) == 4, "not to a deleted webhook"
    assert {name: [posted[name].delivery] for name in waiting} == waiting
    for name, one in posted.items():
        assert verify(one.body, one.headers, SHOP["secrets"][name], now=one.at.timestamp())


def test_a_delivery_without_success_fails_after_thirteen_attempts(
    world: World, merchant: Shop, webhooks: dict[str, Any]
) -> None:
    world.answer = lambda posted: failed()
    world.run()
    for name in ("parked", "retrying", "pending", "unread"):
        assert state(merchant, webhooks[name]) == [("FAILED", 13)], name


def test_deliveries_of_a_deleted_webhook_are_cancelled(world: World, merchant: Shop) -> None:
    tried = {one["pk"] for one in world.stored() if one["pk"].startswith("dlv_")}
    known = merchant.get("/api/admin/deliveries?limit=100").json["data"]
    (cancelled,) = tried - {one["id"] for one in known}
    world.run(timedelta(days=2))
    assert merchant.get(f"/api/admin/deliveries/{cancelled}").json["status"] == "CANCELLED"
    assert cancelled not in {one.delivery for one in world.posted}


@pytest.mark.parametrize("name", ["failed", "ok", "retrying", "pending"])
def test_each_delivery_can_be_replayed(
    world: World, merchant: Shop, webhooks: dict[str, Any], name: str
) -> None:
    (listed,) = of(merchant, webhooks[name])
    before = merchant.get(f"/api/admin/deliveries/{listed['id']}").json
    answer = merchant.post(f"/api/admin/deliveries/{listed['id']}/replay", {})
    assert answer.status == 202, answer.text
    world.run(timedelta(minutes=5))
    after = merchant.get(f"/api/admin/deliveries/{listed['id']}").json
    assert (after["status"], after["body"]) == ("DELIVERED", before["body"])
    assert after["attempts"][: len(before["attempts"])] == before["attempts"]


def test_failed_deliveries_can_be_recovered(
    world: World, merchant: Shop, webhooks: dict[str, Any]
) -> None:
    path = f"/api/admin/webhooks/{webhooks['failed']['id']}/recover"
    since = {"since": "2026-11-20T00:00:00Z"}
    assert merchant.post(path, since).json["count"] == 1
    merchant.post(path, {**since, "dryRun": False})
    world.run(timedelta(minutes=5))
    assert state(merchant, webhooks["failed"]) == [("DELIVERED", 14)]


def test_failed_deliveries_are_in_the_next_summary(world: World) -> None:
    world.summaries()
    (mail,) = [one for one in world.mails if "failed" in one["Message"]["Subject"]["Data"]]
    assert "order.refunded" in mail["Message"]["Body"]["Text"]["Data"]
