"""Delivery and retries: successes, the schedule of a week, its end, and replays.

On a deployment with a shortened schedule, with the stream, queues, state machine and clocks of the
emulator.
"""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from backroom import verify

from tests.e2e.calls import until
from tests.e2e.spec_client import DELIVERIES, WEBHOOKS, Client
from tests.support.running import Stack, free_port, running
from tests.webhooks.certificates import issue
from tests.webhooks.receiver import Receiver

# A week of retries takes half a minute, and what queues and polling add to each step.
SCALE = 0.00005
WAITS = {
    1: ("1_minute", 60),
    2: ("5_minutes", 300),
    3: ("30_minutes", 1_800),
    4: ("2_hours", 7_200),
    5: ("12_hours", 43_200),
}
PATIENCE = 150.0


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    home = tmp_path_factory.mktemp("fast")
    setting = f"WEBHOOK_SCHEDULE_SCALE={SCALE}"
    with running(home, free_port(), "--fresh", "--setting", setting) as stack:
        yield stack


@pytest.fixture(scope="module")
def quick(fast: Stack) -> Client:
    return Client(fast)


def hooked(shop: Client, url: str, **more: Any) -> Any:
    return shop.made(WEBHOOKS, {"url": url, "events": ["product.created"], **more})


def deliveries(shop: Client, webhook: Any) -> list[Any]:
    listed: list[Any] = shop.get(f"{WEBHOOKS}/{webhook['id']}/deliveries").json["data"]
    return listed


def once(shop: Client, webhook: Any, done: Callable[[Any], bool]) -> Any:
    """The only delivery of a webhook with all fields, as soon as `done` is true of it."""

    def found() -> Any:
        for one in deliveries(shop, webhook):
            full = shop.get(f"{DELIVERIES}/{one['id']}").json
            if done(full):
                return full
        return None

    return until(found, PATIENCE)


def was_tried(delivery: Any) -> bool:
    return len(delivery["attempts"]) > 0 and delivery["status"] != "PENDING"


def has_ended(delivery: Any) -> bool:
    return delivery["status"] not in {"PENDING", "RETRYING"}


# --- Successes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_an_attempt_is_a_success_if_the_receiver_answers(
    shop: Client, receiver: Receiver, status: int
) -> None:
    made = hooked(shop, receiver.url(f"/status/{status}"))
    shop.product()
    assert once(shop, made, was_tried)["status"] == "DELIVERED"
    shop.call("DELETE", f"{WEBHOOKS}/{made['id']}")


# What the receiver does → the error and status of the first attempt.
FAILURES = {
    "/hang": ("timeout", None),
    "/ok?delay=11": ("timeout", None),  # a 2xx, but not within 10 seconds
    "/reset": ("reset", None),
    "/redirect": ("status", 301),
    "/gone": ("status", 410),
    "/busy?after=120": ("status", 429),
    "/big?bytes=1000000": ("status", 500),
    "/garbage": ("protocol", None),
}


@pytest.fixture(scope="module")
def failing(quick: Client, receiver: Receiver) -> dict[str, Any]:
    """A webhook for each kind of failure, and a product whose event they all get."""
    made = {path: hooked(quick, receiver.url(path)) for path in FAILURES}
    quick.product()
    return made


@pytest.mark.parametrize("path", FAILURES)
def test_any_other_outcome_is_retried(quick: Client, failing: dict[str, Any], path: str) -> None:
    delivery = once(quick, failing[path], was_tried)
    first = delivery["attempts"][0]
    assert (first["error"], (first["response"] or {}).get("status")) == FAILURES[path]
    assert delivery["status"] in {"RETRYING", "FAILED"} and first["message"]
    if path.startswith("/big"):
        assert len(first["response"]["body"]) == 16_384 and first["response"]["truncated"]
    until(lambda: len(once(quick, failing[path], was_tried)["attempts"]) > 1)


def test_an_untrusted_certificate_is_retried_and_nothing_is_sent(
    quick: Client, tmp_path_factory: pytest.TempPathFactory
) -> None:
    certificate = issue(tmp_path_factory.mktemp("certificate"), "127.0.0.1")
    with Receiver(tls=certificate.server) as stranger:
        made = hooked(quick, stranger.url("/ok"))
        quick.product()
        assert once(quick, made, was_tried)["attempts"][0]["error"] == "tls"
        assert stranger.requests == []
        quick.call("DELETE", f"{WEBHOOKS}/{made['id']}")


def test_pending_deliveries_of_a_deleted_webhook_are_cancelled(
    quick: Client, failing: dict[str, Any]
) -> None:
    made = failing["/redirect"]
    quick.product()
    waiting = until(
        lambda: [one["id"] for one in deliveries(quick, made) if one["status"] == "RETRYING"]
    )
    for one in failing.values():
        quick.call("DELETE", f"{WEBHOOKS}/{one['id']}")
    for id in waiting:
        assert quick.get(f"{DELIVERIES}/{id}").json["status"] == "CANCELLED"


# --- The schedule ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def week(quick: Client, receiver: Receiver) -> tuple[Any, Any]:
    """A webhook that always fails, and its delivery after the whole schedule."""
    made = hooked(quick, receiver.url("/status/500"), email="ops@receiver.example")
    quick.product()
    return made, once(quick, made, has_ended)


def waited(delivery: Any, retry: int) -> float:
    """Seconds between the end of an attempt and the start of the next, on the full schedule."""
    before, after = delivery["attempts"][retry - 1 : retry + 1]
    began, again = (datetime.fromisoformat(one["at"]) for one in (before, after))
    return ((again - began).total_seconds() - before["durationMs"] / 1_000) / SCALE


@pytest.mark.parametrize("retry", WAITS, ids=[name for name, _ in WAITS.values()])
def test_a_delivery_is_retried_after(week: tuple[Any, Any], retry: int) -> None:
    """Not earlier. An upper limit is tested with a simulated clock; here, other programs may slow
    the machine."""
    millisecond = 0.002 / SCALE
    assert waited(week[1], retry) >= WAITS[retry][1] - millisecond


def test_the_first_retry_is_a_minute_after_the_failure(shop: Client, receiver: Receiver) -> None:
    """On the full schedule, by the time that the API shows."""
    made = hooked(shop, receiver.url("/status/500"))
    shop.product()
    delivery = once(shop, made, lambda one: one["status"] == "RETRYING")
    (attempt,) = delivery["attempts"]
    moments = [datetime.fromisoformat(text) for text in (attempt["at"], delivery["nextAttemptAt"])]
    assert 60 <= (moments[1] - moments[0]).total_seconds() <= 60 + 6 + 10
    shop.call("DELETE", f"{WEBHOOKS}/{made['id']}")


def test_then_a_delivery_is_retried_daily_for_7_days(week: tuple[Any, Any]) -> None:
    attempts = week[1]["attempts"]
    assert [one["number"] for one in attempts] == list(range(1, 14))
    began, last = (datetime.fromisoformat(attempts[n]["at"]) for n in (5, 12))
    assert (last - began).total_seconds() / SCALE >= 7 * 86_400 - 0.1 / SCALE


def test_after_that_a_delivery_has_failed(week: tuple[Any, Any], receiver: Receiver) -> None:
    assert week[1]["status"] == "FAILED" and week[1]["nextAttemptAt"] is None
    assert len([one for one in receiver.requests if one.delivery == week[1]["id"]]) == 13


def test_failed_deliveries_can_be_counted_and_recovered(
    quick: Client, week: tuple[Any, Any]
) -> None:
    since = {"since": "2026-01-01T00:00:00Z"}
    assert quick.made(f"{WEBHOOKS}/{week[0]['id']}/recover", since) == {"count": 1}


def test_every_retry_has_the_same_id_and_body_and_is_signed_with_its_own_timestamp(
    week: tuple[Any, Any], receiver: Receiver
) -> None:
    posts = [one for one in receiver.requests if one.delivery == week[1]["id"]]
    assert len({one.body for one in posts}) == 1 and len(posts) >= 13
    stamps = [int(post.headers["X-Service-Timestamp"]) for post in posts]
    for post, stamp in zip(posts, stamps, strict=True):
        assert verify(post.body, post.headers, week[0]["secret"], now=stamp)
        assert abs(stamp - post.at) < 60
    # The last eight are more than a second apart.
    assert stamps == sorted(stamps) and len(set(stamps[-8:])) == 8


def test_a_retry_that_succeeds_ends_the_schedule(quick: Client, receiver: Receiver) -> None:
    made = hooked(quick, receiver.url("/nth/3"))
    quick.product()
    delivery = once(quick, made, has_ended)
    assert (delivery["status"], len(delivery["attempts"])) == ("DELIVERED", 3)
    quick.call("DELETE", f"{WEBHOOKS}/{made['id']}")


# --- Replay, and what the Deliveries view shows ---------------------------------------------------


@pytest.fixture(scope="module")
def replayed(shop: Client, receiver: Receiver) -> Iterator[tuple[Any, Any]]:
    """A webhook, and its delivery, which arrived and was replayed."""
    made = hooked(shop, receiver.url("/status/200?body=thanks"))
    shop.product()
    delivered = once(shop, made, has_ended)
    answer = shop.call("POST", f"{DELIVERIES}/{delivered['id']}/replay", {})
    assert answer.status == 202, answer.text
    yield made, once(shop, made, lambda one: len(one["attempts"]) == 2)
    shop.call("DELETE", f"{WEBHOOKS}/{made['id']}")


def test_any_delivery_can_be_replayed(replayed: tuple[Any, Any], receiver: Receiver) -> None:
    posts = [one for one in receiver.requests if one.delivery == replayed[1]["id"]]
    assert len(posts) == 2 and posts[0].body == posts[1].body
    assert [one["number"] for one in replayed[1]["attempts"]] == [1, 2]


def test_a_failed_delivery_can_be_replayed(quick: Client, week: tuple[Any, Any]) -> None:
    answer = quick.call("POST", f"{DELIVERIES}/{week[1]['id']}/replay", {})
    assert answer.status == 202
    once(quick, week[0], lambda one: len(one["attempts"]) > 13)
    quick.call("DELETE", f"{WEBHOOKS}/{week[0]['id']}")


def test_the_view_shows_headers_body_response_and_timing(
    replayed: tuple[Any, Any], receiver: Receiver
) -> None:
    delivery = replayed[1]
    post = next(one for one in receiver.requests if one.delivery == delivery["id"])
    assert delivery["body"].encode() == post.body
    assert json.loads(post.body)["event"] == "product.created"
    first = delivery["attempts"][0]
    assert first["request"]["headers"]["X-Service-Delivery"] == delivery["id"]
    assert first["request"]["headers"]["X-Service-Signature"].startswith("t=")
    assert (first["response"]["status"], first["response"]["body"]) == (200, "thanks")
    assert first["durationMs"] >= 0 and datetime.fromisoformat(first["at"])
