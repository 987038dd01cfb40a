"""Hostile receivers from registration to the Deliveries view: the system's resolver uses a name
server with false answers, and requests go over real sockets."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.safe_post import post as safe_post
from tests.support.shop import Shop
from tests.support.webhook_world import World, announce
from tests.webhooks.name_server import NameServer
from tests.webhooks.receiver import Receiver
from tests.webhooks.test_delivery import only

PATH = "/api/admin/webhooks"
PUBLIC = "93.184.215.14"
METADATA = "169.254.169.254"


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServer]:
    with NameServer() as server:
        monkeypatch.setattr(safe_post, "addresses_of", server.resolve)
        yield server


def post_for_real(world: World, allowed: str) -> None:
    """Real attempts, which may only reach the allowed networks."""
    os.environ["WEBHOOK_ALLOWED_NETWORKS"] = allowed  # `world` restores it
    world.answer = lambda posted: safe_post.post(
        posted.url,
        posted.headers,
        posted.body,
        allowed_networks=allowed.split(),
        timeout=2 if "drip" in posted.url else 10,
    )


def register(merchant: Shop, url: str) -> Any:
    return merchant.post(PATH, {"url": url, "events": ["product.created"]})


def first_attempt(world: World, merchant: Shop, webhook: Any) -> dict[str, Any]:
    announce()
    world.step()
    world.step()
    attempt: dict[str, Any] = only(merchant, webhook)["attempts"][0]
    return attempt


def test_a_name_with_an_internal_address_is_refused_at_registration(
    world: World,
    merchant: Shop,
    names: NameServer,
) -> None:
    post_for_real(world, "")
    names.zone["hooks.example.com"] = [[PUBLIC, METADATA]]
    refused = register(merchant, "https://hooks.example.com/")
    assert refused.status == 422
    (error,) = refused.json["errors"]
    assert error["field"] == "url" and "not public" in error["message"]
    assert names.asked == ["hooks.example.com"]


def test_a_name_with_an_internal_address_later_is_blocked_with_a_reason(
    world: World,
    merchant: Shop,
    names: NameServer,
) -> None:
    post_for_real(world, "")
    names.zone["hooks.example.com"] = [[PUBLIC], [METADATA]]
    webhook = register(merchant, "https://hooks.example.com/").json
    attempt = first_attempt(world, merchant, webhook)
    assert (attempt["error"], attempt["address"], attempt["response"]) == ("blocked", None, None)
    assert "hooks.example.com has the address" in attempt["message"]
    assert "not public" in attempt["message"]


STRANGE = {
    "/redirect?to=http://169.254.169.254/latest/meta-data": ("status", "Redirects are not"),
    "/big?bytes=100000000": ("status", "answered 500"),
    "/big?bytes=100000000&status=200": (None, ""),
    "/bomb": (None, ""),
    "/headers": ("protocol", "more than 100 headers"),
    "/drip": ("timeout", "reading the body"),
    "/drip-head": ("timeout", "waiting for the answer"),
}


@pytest.mark.parametrize("path", STRANGE)
def test_the_answer_of_a_hostile_receiver_is_truncated_and_shown(
    world: World,
    merchant: Shop,
    names: NameServer,
    receiver: Receiver,
    path: str,
) -> None:
    post_for_real(world, "127.0.0.1/32")
    names.zone["odd.example.com"] = [["127.0.0.1"]]
    webhook = register(merchant, f"http://odd.example.com:{receiver.port}{path}").json
    attempt = first_attempt(world, merchant, webhook)
    error, said = STRANGE[path]
    assert attempt["error"] == error and said in (attempt["message"] or "")
    assert len(receiver.requests) == 1
    if response := attempt["response"]:
        assert len(response["body"]) <= 16_384
    if path.startswith(("/big", "/bomb")):
        assert response["truncated"]
    if path.startswith("/redirect"):
        assert METADATA in response["headers"]["location"]
        assert names.asked == ["odd.example.com"] * 2, "the redirect was not followed"
