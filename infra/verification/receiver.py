"""A receiver of webhooks, whose answer follows from the path of a request.

Deployed as a function with an address of its own: this file is its code, so it needs only Python.
On this machine `infra/verification/webhooks.py` serves the same answers on loopback.

/ok        200, with the signature and the hash of the body that arrived
/flaky     500 for the first attempt of a delivery, then 204
/slow      200 after 12 seconds, when nobody waits any more
/redirect  302 to /ok
/fail      500
"""

import base64
import hashlib
import json
import time
from typing import Any

import botocore

_SLOW = 12  # seconds
_seen: set[str] = set()  # deliveries that came to /flaky


def answer(path: str, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str], str]:
    """Status, headers and body. `headers`: names in lower case."""
    if path == "/flaky":
        again = headers.get("x-service-delivery", "") in _seen
        _seen.add(headers.get("x-service-delivery", ""))
        return (204, {}, "") if again else (500, {}, "the first time")
    if path == "/slow":
        time.sleep(_SLOW)
    if path == "/redirect":
        return 302, {"location": "/ok"}, ""
    if path == "/fail":
        return 500, {}, "always"
    got = {
        "signature": headers.get("x-service-signature", ""),
        "sha256": hashlib.sha256(body).hexdigest(),
        "botocore": botocore.__version__,  # of Lambda's runtime
    }
    return 200, {"content-type": "application/json"}, json.dumps(got)


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Behind a function's address."""
    text = event.get("body") or ""
    body = base64.b64decode(text) if event.get("isBase64Encoded") else text.encode()
    status, headers, answered = answer(event["rawPath"], event["headers"], body)
    return {"statusCode": status, "headers": headers, "body": answered}
