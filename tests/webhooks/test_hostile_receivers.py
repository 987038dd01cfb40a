"""Hostile receivers from registration to the Deliveries view, with false answers about names, and
over real sockets."""

import os
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from chalicelib.safe_post import post as safe_post
from tests.support.webhook_world import World, announce
from tests.webhooks.build import PATH, add
from tests.webhooks.receiver import Receiver

PUBLIC = "93.184.215.14"
METADATA = "169.254.169.254"


class Names:
    """`zone`: name → its answers in order; the last one is repeated. An answer is a list of
    addresses."""

    def __init__(self) -> None:
        self.zone: dict[str, list[list[str]]] = {}
        self.asked: list[str] = []

    def getaddrinfo(self, host: str, port: int, **_: Any) -> list[Any]:
        self.asked.append(host)
        answers = self.zone[host]
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    names = Names()
    monkeypatch.setattr(socket, "getaddrinfo", names.getaddrinfo)
    return names


def post_for_real(world: World, allowed: str) -> None:
    """Real attempts, which may only reach the allowed networks."""
    os.environ["WEBHOOK_ALLOWED_NETWORKS"] = allowed  # `world` restores it
    world.answer = lambda posted: safe_post.post(
        *(posted.url, posted.headers, posted.body),
        allowed_networks=allowed.split(),
        timeout=2 if STRANGE.get(urlsplit(posted.url).path, ("",))[0] == "timeout" else 10,
    )


def first_attempt(world: World, url: str) -> Any:
    webhook = add(world, url=url)
    announce()
    world.step()
    world.step()
    return webhook.only()["attempts"][0]


def test_a_name_with_an_internal_address_is_refused_at_registration(
    world: World, names: Names
) -> None:
    post_for_real(world, "")
    names.zone["hooks.example.com"] = [[PUBLIC, METADATA]]
    sent = {"url": "https://hooks.example.com/", "events": ["product.created"]}
    refused = world.shop.post(PATH, sent)
    assert refused.refused == ["url"]
    assert "not public" in refused.json["errors"][0]["message"]
    assert names.asked == ["hooks.example.com"]


def test_a_name_with_an_internal_address_later_is_blocked_with_a_reason(
    world: World, names: Names
) -> None:
    post_for_real(world, "")
    names.zone["hooks.example.com"] = [[PUBLIC], [METADATA]]
    attempt = first_attempt(world, "https://hooks.example.com/")
    assert (attempt["error"], attempt["address"], attempt["response"]) == ("blocked", None, None)
    assert "hooks.example.com has the address" in attempt["message"]
    assert "not public" in attempt["message"]


STRANGE = {
    "/redirect?to=http://169.254.169.254/latest/meta-data": ("status", "Redirects are not"),
    "/big?bytes=100000000": ("status", "answered 500"),
    "/big?bytes=100000000&status=200": (None, ""),
    "/headers": ("protocol", "more than 100 headers"),
    "/hang": ("timeout", "waiting for the answer"),
    "/drip": ("timeout", "reading the body"),
    "/drip-head": ("timeout", "waiting for the answer"),
}


@pytest.mark.parametrize("path", STRANGE)
def test_the_answer_of_a_hostile_receiver_is_truncated_and_shown(
    world: World, names: Names, receiver: Receiver, path: str
) -> None:
    post_for_real(world, "127.0.0.1/32")
    names.zone["odd.example.com"] = [["127.0.0.1"]]
    attempt = first_attempt(world, f"http://odd.example.com:{receiver.port}{path}")
    error, said = STRANGE[path]
    assert attempt["error"] == error and said in (attempt["message"] or "")
    assert len(receiver.requests) == 1
    if response := attempt["response"]:
        assert len(response["body"]) <= 16_384
    if path.startswith("/big"):
        assert response["truncated"]
    if path.startswith("/redirect"):
        assert METADATA in response["headers"]["location"]
        assert names.asked == ["odd.example.com"] * 2, "the redirect was not followed"
