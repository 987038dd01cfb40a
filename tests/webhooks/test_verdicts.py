"""What a message means for a delivery: due, done, with another sender, or left by one that died."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.webhooks.deliveries import Verdict, judge
from chalicelib.webhooks.messages import Message
from chalicelib.webhooks.model import Claim, Delivery, read_delivery

NOW = datetime(2026, 1, 5, tzinfo=UTC)
CLAIM, DROP, WAIT, INTERRUPTED = Verdict
BUSY = Claim(NOW + timedelta(milliseconds=1), replay=False)
LEFT = Claim(NOW, replay=False)
REPLAY = Claim(NOW, replay=True)
A, B, C = "01A", "01B", "01C"  # ids of replays, the oldest first


def delivery(claim: Claim | None = None, **fields: Any) -> Delivery:
    then = "2026-01-05T00:00:00.000Z"
    made: dict[str, Any] = {
        **{"sk": "dlv_1", "event": "order.paid", "createdAt": then, "updatedAt": then},
        **{"status": "PENDING", "schedule": 1, "step": 2, "attempts": 3, "claim": None},
    }
    return replace(read_delivery({**made, **fields}), claim=claim)


def step(schedule: int, step: int) -> Message:
    return Message("dlv_1", schedule, step)


def again(id: str, only_failed: bool = False) -> Message:
    return Message("dlv_1", replay=id, only_failed=only_failed)


@pytest.mark.parametrize(
    ("message", "fields", "verdict"),
    [
        (step(1, 2), {}, CLAIM),
        (step(1, 1), {}, DROP),
        (step(0, 9), {}, DROP),
        (step(1, 3), {}, DROP),
        (step(2, 0), {}, DROP),
        (step(1, 2), {"step": None}, DROP),
        (step(2, 0), {"step": None}, DROP),
        # The sender that has the claim may have queued the next step, or the next schedule.
        (step(1, 2), {"claim": BUSY}, WAIT),
        (step(1, 3), {"claim": BUSY}, WAIT),
        (step(2, 0), {"claim": BUSY}, WAIT),
        (step(1, 2), {"claim": LEFT}, INTERRUPTED),
        (step(1, 3), {"claim": LEFT}, INTERRUPTED),
        (step(2, 0), {"claim": LEFT}, INTERRUPTED),
        (step(1, 1), {"claim": LEFT}, DROP),
        (step(0, 9), {"claim": LEFT}, DROP),
        (step(1, 2), {"claim": LEFT, "step": None}, DROP),
        (again(B), {}, CLAIM),
        (again(B), {"replayed": A}, CLAIM),
        (again(B), {"replayed": B}, DROP),
        (again(B), {"replayed": C}, DROP),
        (again(B), {"claim": BUSY}, WAIT),
        (again(B), {"claim": LEFT}, INTERRUPTED),
        (again(B), {"claim": REPLAY, "replayed": B}, INTERRUPTED),
        (again(B), {"status": "DELIVERED", "step": None}, CLAIM),
        (again(B, only_failed=True), {"status": "FAILED", "step": None}, CLAIM),
        (again(B, only_failed=True), {"status": "DELIVERED", "step": None}, DROP),
        (again(B, only_failed=True), {"status": "RETRYING"}, CLAIM),
        (again(B, only_failed=True), {"status": "PENDING"}, DROP),
    ],
)
def test_the_state_of_a_delivery_decides_what_happens_to_its_message(
    message: Message, fields: dict[str, Any], verdict: Verdict
) -> None:
    assert judge(message, delivery(**fields), NOW) is verdict
