"""Plain HTTP requests, and waiting for their effects."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any


def call(url: str, key: str | None = None, *, send: object = None) -> tuple[int, Any]:
    """GET, or POST of `send` as JSON; returns the status and the JSON."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    body = None
    if send is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(send).encode()
    try:
        request = urllib.request.Request(url, body, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def until(found: Callable[[], Any], seconds: float = 90, pause: float = 0.3) -> Any:
    """The first non-empty result of `found`. Fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(pause)
    return value
