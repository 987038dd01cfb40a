"""Webhooks in a world, and what tests ask of them."""

import ssl
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest import mock

from chalicelib.safe_post import post as safe_post
from tests.support.shop import Record
from tests.support.webhook_world import OK, World, announce, failed

URL = "http://127.0.0.1:9/hook"
PATH = "/api/admin/webhooks"


def to(*addresses: str) -> Callable[[str, int], list[str]]:
    """A resolver with these answers."""
    return lambda host, port: list(addresses)


def resolving(resolve: Callable[[str, int], list[str]]) -> Any:
    """The system's resolver, replaced."""
    return mock.patch.object(safe_post, "addresses_of", resolve)


def trusting(certificates: ssl.SSLContext) -> Any:
    """The system's trust, replaced."""
    return mock.patch.object(safe_post, "_system_trust", lambda: certificates)


class Webhook(Record):
    """A webhook as the API returned it when it was made."""

    def __init__(self, world: World, made: Any) -> None:
        super().__init__(world.shop, PATH, made)
        self._world = world

    def listed(self, query: str = "") -> Any:
        """Its deliveries, the newest first."""
        return self.shop.read(f"{self.path}/deliveries{query}")["data"]

    def only(self) -> Any:
        """Its only delivery, with all fields."""
        (delivery,) = self.listed()
        return self.shop.read(f"/api/admin/deliveries/{delivery['id']}")

    def statuses(self) -> set[str]:
        """Of its newest hundred deliveries."""
        return {one["status"] for one in self.listed("?limit=100")}

    def stored(self) -> Any:
        (item,) = [one for one in self._world.stored() if one["sk"] == self["id"]]
        return item


def add(world: World, *events: str, **more: Any) -> Webhook:
    body = {"url": URL, "events": list(events or ["product.created"]), **more}
    return Webhook(world, world.shop.made(PATH, body))


def failing(world: World, events: int = 1, **passed: float) -> Webhook:
    """A webhook whose receiver has failed for that time, or until its deliveries have ended."""
    webhook = add(world)
    world.answer = lambda posted: failed()
    for _ in range(events):
        announce()
    world.run(timedelta(**(passed or {"days": 365})))
    return webhook


def given_up(world: World, count: int = 1) -> Webhook:
    """A webhook with `count` failed deliveries, whose receiver works again."""
    webhook = failing(world, count)
    assert webhook.statuses() == {"FAILED"}
    world.posted.clear()
    world.answer = lambda posted: OK
    return webhook
