"""The signature of a delivery (docs/webhooks.md#verify-a-delivery).

It is also given in the form of Standard Webhooks, for libraries that verify it
(https://www.standardwebhooks.com).
"""

import base64
import hashlib
import hmac
from collections.abc import Sequence

from chalicelib.storage.outbox import Event

SECRET_PREFIX = "whsec_"


def secret(master_key: bytes, endpoint_id: str, version: int) -> str:
    """Derive the signing secret of one endpoint: `whsec_` and 64 hex digits; all of it is the key.

    It is derived when needed and not stored, so a copy of the table cannot sign. A rotation
    increases `version`: earlier secrets can still be derived during an overlap. Raises ValueError
    for a master key below 32 bytes.
    """
    if len(master_key) < 32:
        raise ValueError("The master key must have at least 32 bytes.")
    # The label separates these secrets from any later use of the master key.
    message = f"webhook-secret\n{endpoint_id}\n{version}".encode()
    return SECRET_PREFIX + hmac.new(master_key, message, hashlib.sha256).hexdigest()


def sign(timestamp: int, body: bytes, secrets: Sequence[str]) -> str:
    """Return X-Service-Signature: `t=<timestamp>,v1=<hex>`, a `v1` for each secret, in order.

    `timestamp`: Unix seconds; `body`: the exact bytes that are sent.
    """
    signed = b"%d.%b" % (timestamp, body)
    marks = (hmac.new(key.encode(), signed, hashlib.sha256).hexdigest() for key in secrets)
    return ",".join([f"t={timestamp}", *(f"v1={mark}" for mark in marks)])


def sign_standard(delivery_id: str, timestamp: int, body: bytes, secrets: Sequence[str]) -> str:
    """Return webhook-signature: `v1,<base64>` for each secret, in order, with blanks between.

    The key is the part after the secret's prefix, decoded as base64; our hex digits are valid
    base64.
    """
    signed = b"%b.%d.%b" % (delivery_id.encode(), timestamp, body)
    keys = (base64.b64decode(each.removeprefix(SECRET_PREFIX)) for each in secrets)
    marks = (base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys)
    return " ".join(f"v1,{mark.decode()}" for mark in marks)


def headers(
    event: Event,
    delivery_id: str,
    timestamp: int,
    body: bytes,
    secrets: Sequence[str],
    *,
    test: bool = False,
) -> dict[str, str]:
    """Return the headers of one attempt, {name: value}, those of Standard Webhooks among them.

    docs/webhooks.md#verify-a-delivery lists them. `secrets`: the current one first; each signs. A
    test delivery has one more header.
    """
    table = {
        "Content-Type": "application/json",
        "X-Service-Event": event.event,
        "X-Service-Event-Id": event.id,
        "X-Service-Occurred-At": event.at,
        "X-Service-Delivery": delivery_id,
        "X-Service-Timestamp": str(timestamp),
        "X-Service-Signature": sign(timestamp, body, secrets),
        "webhook-id": delivery_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign_standard(delivery_id, timestamp, body, secrets),
    }
    return table | {"X-Service-Test": "true"} if test else table
