"""A client, a receiver, and a webhook that gets every kind of event."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.spec_client import EVENTS, Client
from tests.support.running import Stack
from tests.webhooks.receiver import Receiver


@pytest.fixture(scope="module")
def shop(stack: Stack) -> Client:
    return Client(stack)


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with Receiver() as listening:
        yield listening


@pytest.fixture(scope="module")
def webhook(shop: Client, receiver: Receiver) -> Iterator[Any]:
    """A webhook that gets every kind of event."""
    made = shop.made("/api/admin/webhooks", {"url": receiver.url("/ok"), "events": list(EVENTS)})
    yield made
    shop.call("DELETE", f"/api/admin/webhooks/{made['id']}")
