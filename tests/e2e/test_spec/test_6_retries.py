"""Delivery and retries: what is retried, the schedule of a week, and its end.

With a shortened schedule, and the stream, queues, state machine and clocks of the emulator.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from backroom import verify

from tests.e2e.calls import until
from tests.e2e.recorded import client
from tests.e2e.spec_client import DELIVERIES, WEBHOOKS, Client
from tests.support.running import Stack
from tests.webhooks.receiver import Receiver

# A week of retries takes twelve seconds, and what queues and polling add to each step.
SCALE = 0.00002
PATIENCE = 300.0
# The functions that read the setting.
SCHEDULING = [f"backroom-local{name}" for name in ("", "-fan_out", "-deliver", "-redrive")]


@pytest.fixture(scope="module")
def quick(stack: Stack, shop: Client) -> Iterator[Client]:
    """The shop, whose functions meanwhile have the shortened schedule."""
    functions = client(stack.aws_endpoint, "lambda")
    before = functions.get_function_configuration(FunctionName=SCHEDULING[0])["Environment"]

    def configure(**settings: str) -> None:
        for name in SCHEDULING:
            changed = {"Variables": before["Variables"] | settings}
            functions.update_function_configuration(FunctionName=name, Environment=changed)

    configure(WEBHOOK_SCHEDULE_SCALE=str(SCALE))
    yield shop
    configure()


def hooked(shop: Client, url: str) -> Any:
    return shop.made(WEBHOOKS, {"url": url, "events": ["product.created"]})


def once(shop: Client, webhook: Any, done: Callable[[Any], bool]) -> Any:
    """The only delivery of a webhook with all fields, as soon as `done` is true of it."""

    def found() -> Any:
        for one in shop.get(f"{WEBHOOKS}/{webhook['id']}/deliveries").json()["data"]:
            full = shop.get(f"{DELIVERIES}/{one['id']}").json()
            if done(full):
                return full
        return None

    return until(found, PATIENCE)


def was_tried(delivery: Any) -> bool:
    return len(delivery["attempts"]) > 0 and delivery["status"] != "PENDING"


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
def failing(quick: Client, receiver: Receiver) -> Iterator[dict[str, Any]]:
    """A webhook for each kind of failure, and a product whose event they all get."""
    made = {path: hooked(quick, receiver.url(path)) for path in FAILURES}
    quick.product()
    yield made
    for webhook in made.values():
        quick.call("DELETE", f"{WEBHOOKS}/{webhook['id']}")


@pytest.mark.thorough
@pytest.mark.parametrize("path", FAILURES)
def test_any_other_outcome_is_retried(quick: Client, failing: dict[str, Any], path: str) -> None:
    delivery = once(quick, failing[path], was_tried)
    first = delivery["attempts"][0]
    assert (first["error"], (first["response"] or {}).get("status")) == FAILURES[path]
    assert delivery["status"] in {"RETRYING", "FAILED"} and first["message"]
    if path.startswith("/big"):
        assert len(first["response"]["body"]) == 16_384 and first["response"]["truncated"]
    until(lambda: len(once(quick, failing[path], was_tried)["attempts"]) > 1)


@pytest.fixture(scope="module")
def week(quick: Client, receiver: Receiver) -> Iterator[tuple[Any, Any]]:
    """A webhook that always fails, and its delivery after the whole schedule."""
    made = hooked(quick, receiver.url("/status/500"))
    quick.product()
    yield made, once(quick, made, lambda one: one["status"] not in {"PENDING", "RETRYING"})
    quick.call("DELETE", f"{WEBHOOKS}/{made['id']}")


def waited(delivery: Any, retry: int) -> float:
    """Seconds between the end of an attempt and the start of the next, on the full schedule."""
    before, after = delivery["attempts"][retry - 1 : retry + 1]
    began, again = (datetime.fromisoformat(one["at"]) for one in (before, after))
    return ((again - began).total_seconds() - before["durationMs"] / 1_000) / SCALE


def test_a_delivery_is_retried_on_the_schedule_then_daily_for_7_days_and_fails(
    week: tuple[Any, Any], receiver: Receiver
) -> None:
    """Not earlier. An upper limit is tested with a simulated clock; here, other programs may slow
    the machine."""
    delivery, millisecond = week[1], 0.002 / SCALE
    for retry, seconds in enumerate((60, 300, 1_800, 7_200, 43_200), 1):
        assert waited(delivery, retry) >= seconds - millisecond, retry
    attempts = delivery["attempts"]
    assert [one["number"] for one in attempts] == list(range(1, 14))
    began, last = (datetime.fromisoformat(attempts[n]["at"]) for n in (5, 12))
    assert (last - began).total_seconds() / SCALE >= 7 * 86_400 - 0.1 / SCALE
    assert delivery["status"] == "FAILED" and delivery["nextAttemptAt"] is None
    assert len([one for one in receiver.requests if one.delivery == delivery["id"]]) == 13


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
