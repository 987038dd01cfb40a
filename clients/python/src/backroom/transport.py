"""One request to the shop, sent again where that is safe.

Written by `generate.py` from `asynchronous/transport.py`: do not edit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx

from backroom.shared import SAFE_METHODS, TIMEOUT, Policy, Requests


class Transport(Requests):
    """A sender of requests. Several requests may be under way at the same time."""

    def __init__(
        self, base_url: str, key: str | None, policy: Policy, http: httpx.Client | None = None
    ) -> None:
        super().__init__(base_url, key)
        self.policy = policy
        self._owns = http is None
        self.http = http or httpx.Client(timeout=TIMEOUT)

    def close(self) -> None:
        if self._owns:
            self.http.close()

    def call(self, method: str, path: str, parameters: tuple[str, ...] = (), **options: Any) -> Any:
        """Send a request, again where that is safe, and return what `Requests.read` makes of it.

        `options`: those of `Requests.build`. Raises ApiError, Unreachable.
        """
        request = self.build(self.http, method, path, parameters, **options)
        request.read()  # of a form, so that each retry sends the same bytes
        return self.read(self._send(request))

    def _send(self, request: httpx.Request) -> httpx.Response:
        repeatable = request.method in SAFE_METHODS or "Idempotency-Key" in request.headers
        where = str(request.url.copy_with(query=None))
        retry = 0
        while True:
            retry += 1
            seconds: float | None
            try:
                answer = self.http.send(request)
                seconds = self.policy.after_answer(answer, retry, repeatable=repeatable)
                if seconds is None:
                    return answer
            except httpx.RequestError as failed:
                seconds = self.policy.after_failure(
                    failed, retry, repeatable=repeatable, where=where
                )
            self.policy.sleep(seconds)


def walk(page: Callable[[dict[str, Any]], Any], *, begin: dict[str, Any]) -> Iterator[Any]:
    """Yield all items of a list.

    `page`: returns one page for the parameters that lead to it, which are `begin` at first.
    """
    at = begin
    while True:
        found = page(at)
        for each in found["data"]:
            yield each
        numbers = found.get("pagination", {"next": found.get("nextCursor")})
        if "next" not in numbers:
            at = {"page": numbers["page"] + 1}
            if numbers["page"] >= numbers["totalPages"]:
                return
        elif numbers["next"]:
            at = {"cursor": numbers["next"]}
        else:
            return
