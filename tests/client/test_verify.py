"""`verify` accepts only what the shop or the official library has signed."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from backroom import InvalidSignature, verify
from backroom.webhooks import signed_headers
from standardwebhooks.webhooks import Webhook

from chalicelib.storage.outbox import Event
from chalicelib.webhooks import signature

SECRET = signature.secret(b"m" * 32, "wh_1", 1)
NEXT = signature.secret(b"m" * 32, "wh_1", 2)
NOW = 1_800_000_000
BODY = json.dumps({"event": "order.paid", "data": {"id": "ord_1", "number": "1001ü"}}).encode()

EVENT = Event("evt_1", "order.paid", BODY.decode(), "2027-01-15T08:00:00.000Z")


def shops(*secrets: str) -> dict[str, str]:
    """The headers that the shop sends."""
    return signature.headers(EVENT, "dlv_1", NOW, BODY, secrets)


def only(headers: dict[str, str], start: str) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower().startswith(start)}


def test_a_genuine_delivery_is_accepted() -> None:
    event = verify(BODY, shops(SECRET), SECRET, now=NOW)
    assert event == {"id": "dlv_1", **json.loads(BODY)}


@pytest.mark.parametrize("start", ["x-service", "webhook-"])
def test_either_signature_alone_is_enough(start: str) -> None:
    headers = only(shops(SECRET), start)
    assert verify(BODY, headers, SECRET, now=NOW)["id"] == "dlv_1"
    upper = {name.upper(): value for name, value in headers.items()}
    assert verify(BODY, upper, SECRET, now=NOW)["event"] == "order.paid"


@pytest.mark.parametrize("start", ["x-service", "webhook-"])
@pytest.mark.parametrize(("away", "is_good"), [(300, True), (-300, True), (301, False)])
def test_an_old_signature_is_refused(start: str, away: int, is_good: bool) -> None:
    headers = only(shops(SECRET), start)
    if is_good:
        verify(BODY, headers, SECRET, now=NOW + away)
    else:
        with pytest.raises(InvalidSignature) as refused:
            verify(BODY, headers, SECRET, now=NOW + away)
        assert refused.value.reason == "stale"


@pytest.mark.parametrize("start", ["x-service", "webhook-"])
def test_a_forged_signature_is_refused(start: str) -> None:
    headers = only(shops(SECRET), start)
    for body, secret in ((BODY + b" ", SECRET), (BODY, NEXT), (BODY.replace(b"1", b"2"), SECRET)):
        with pytest.raises(InvalidSignature) as refused:
            verify(body, headers, secret, now=NOW)
        assert refused.value.reason == "forged"


def test_a_changed_timestamp_or_id_is_refused() -> None:
    later = {"webhook-timestamp": str(NOW + 200), "X-Service-Timestamp": str(NOW + 200)}
    with pytest.raises(InvalidSignature, match="not by this secret"):
        verify(BODY, only(shops(SECRET), "webhook-") | later, SECRET, now=NOW)
    with pytest.raises(InvalidSignature, match="not by this secret"):
        verify(BODY, shops(SECRET) | {"webhook-id": "dlv_2"}, SECRET, now=NOW)
    stamped = f"t={NOW + 200},{shops(SECRET)['X-Service-Signature'].partition(',')[2]}"
    with pytest.raises(InvalidSignature, match="not by this secret"):
        verify(BODY, {"X-Service-Signature": stamped}, SECRET, now=NOW)


def test_if_both_signatures_are_sent_both_must_be_valid() -> None:
    for name in ("X-Service-Signature", "webhook-signature"):
        wrong = shops(SECRET) | {name: shops(NEXT)[name]}
        with pytest.raises(InvalidSignature):
            verify(BODY, wrong, SECRET, now=NOW)


@pytest.mark.parametrize("start", ["x-service", "webhook-"])
def test_deliveries_verify_during_a_rotation(start: str) -> None:
    both = only(shops(NEXT, SECRET), start)  # the shop signs with both
    assert verify(BODY, both, SECRET, now=NOW) and verify(BODY, both, NEXT, now=NOW)
    one = only(shops(NEXT), start)  # the receiver knows both
    assert verify(BODY, one, [SECRET, NEXT], now=NOW)
    with pytest.raises(InvalidSignature):
        verify(BODY, one, SECRET, now=NOW)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Service-Signature": ""},
        {"X-Service-Signature": "t=,v1="},
        {"X-Service-Signature": f"t={NOW}"},
        {"X-Service-Signature": f"t={NOW},v1=ü"},
        {"X-Service-Signature": "t=" + "9" * 5_000 + ",v1=00"},
        {"X-Service-Signature": f"t=-{NOW},v1=00"},
        {"webhook-signature": "v1,"},
        {"webhook-signature": "v1,x", "webhook-timestamp": str(NOW)},
    ],
)
def test_an_invalid_signature_header_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(InvalidSignature):
        verify(BODY, headers, SECRET, now=NOW)


def test_verify_agrees_with_the_official_library() -> None:
    moment = datetime.fromtimestamp(NOW, UTC)
    made: dict[str, Any] = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(NOW),
        "webhook-signature": Webhook(SECRET).sign("msg_1", moment, BODY.decode()),
    }
    assert verify(BODY, made, SECRET, now=NOW)["id"] == "msg_1"


def test_listen_signs_as_the_shop_does() -> None:
    made: Any = {"id": EVENT.id, "event": EVENT.event, "occurredAt": EVENT.at}
    assert signed_headers(made, "dlv_1", BODY, SECRET, NOW) == shops(SECRET)


def test_misuse_by_the_caller_raises_an_error() -> None:
    with pytest.raises(ValueError, match="secret"):
        verify(BODY, shops(SECRET), "")
    with pytest.raises(TypeError, match="bytes"):
        verify(BODY.decode(), shops(SECRET), SECRET)  # type: ignore[arg-type]
