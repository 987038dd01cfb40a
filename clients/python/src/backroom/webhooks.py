"""Deliveries: whether one is genuine, and what makes it so.

The shop signs in two ways with the same secret: `X-Service-Signature`, and `webhook-signature` as
Standard Webhooks has it. `verify` takes either; where both came, both have to be right.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from typing import cast

from backroom.errors import InvalidSignature
from backroom.models import FeedEvent, ReceivedEvent

TOLERANCE = 300  # seconds between the time of signing and now
PREFIX = "whsec_"


def verify(
    body: bytes,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> ReceivedEvent:
    """Return the event of a delivery if it is genuine; otherwise raise InvalidSignature.

    The event's `event` tells the kinds apart: a type checker then knows the type of `data`.

    `body`: the bytes as they came, before anything parses them. `secret`: of the webhook
    (`whsec_…`), or several while you change yours. `tolerance` in seconds, `now` in Unix seconds.
    """
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or not all(secrets):
        raise ValueError("verify needs the secret of the webhook")
    if isinstance(body, str):
        raise TypeError("verify needs the bytes of the body as they came, not text")
    known = {name.lower(): value for name, value in headers.items()}
    moment = time.time() if now is None else now
    id = known.get("webhook-id", known.get("x-service-delivery", ""))
    signed = 0
    if "x-service-signature" in known:
        parts = [part.strip().partition("=") for part in known["x-service-signature"].split(",")]
        stamp = next((value for name, _, value in parts if name == "t"), "")
        given = [value for name, _, value in parts if name == "v1"]
        _check_time(stamp, moment, tolerance)
        _check_signatures(given, [_sign_as_service(each, stamp, body) for each in secrets])
        signed += 1
    if "webhook-signature" in known:  # it also proves the id
        parts = [part.partition(",") for part in known["webhook-signature"].split(" ")]
        stamp = known.get("webhook-timestamp", "")
        given = [value for name, _, value in parts if name == "v1"]
        _check_time(stamp, moment, tolerance)
        _check_signatures(given, [_sign_as_standard(each, id, stamp, body) for each in secrets])
        signed += 1
    if not signed:
        raise InvalidSignature("missing", "The delivery is not signed.")
    event = json.loads(body)
    return cast(ReceivedEvent, {"id": id, "event": event["event"], "data": event["data"]})


def signed_headers(
    event: FeedEvent, delivery_id: str, body: bytes, secret: str, timestamp: int
) -> dict[str, str]:
    """Return the headers with which the shop posts `body`. `timestamp` in Unix seconds."""
    return {
        "Content-Type": "application/json",
        "X-Service-Event": event["event"],
        "X-Service-Event-Id": event["id"],
        "X-Service-Occurred-At": event["occurredAt"],
        "X-Service-Delivery": delivery_id,
        "X-Service-Timestamp": str(timestamp),
        "X-Service-Signature": f"t={timestamp},v1={_sign_as_service(secret, str(timestamp), body)}",
        "webhook-id": delivery_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{_sign_as_standard(secret, delivery_id, str(timestamp), body)}",
    }


def _check_time(stamp: str, now: float, tolerance: float) -> None:
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
        raise InvalidSignature("malformed", "The signature has no timestamp.")
    if abs(now - int(stamp)) > tolerance:
        raise InvalidSignature(
            "stale", f"The delivery was signed {abs(now - int(stamp)):.0f} s away from now."
        )


def _check_signatures(given: Sequence[str], expected: Sequence[str]) -> None:
    """Raise InvalidSignature unless one of the signatures is one of the expected ones.

    While a secret is rotated, there are two on either side.
    """
    pairs = [
        hmac.compare_digest(mark.encode(), right.encode()) for mark in given for right in expected
    ]
    if not any(pairs):
        raise InvalidSignature("forged", "The signature is not by this secret, or of this body.")


def _sign_as_service(secret: str, stamp: str, body: bytes) -> str:
    """Return the `v1` of X-Service-Signature; its key is the whole text of the secret."""
    signed = stamp.encode() + b"." + body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _sign_as_standard(secret: str, id: str, stamp: str, body: bytes) -> str:
    """Return the `v1` of webhook-signature; its key is the base64 after the secret's prefix."""
    try:
        key = base64.b64decode(secret[len(PREFIX) :] if secret.startswith(PREFIX) else secret)
    except binascii.Error:
        raise ValueError("this is not the secret of a webhook (whsec_…)") from None
    signed = f"{id}.{stamp}.".encode() + body
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
