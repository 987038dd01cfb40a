"""The Python client calling the application in this process, without sockets."""

from typing import Any

import httpx
from backroom import Backroom, Policy

from tests.support.shop import Shop


class Inside(httpx.BaseTransport):
    """Passes requests to a shop. `requests`: all of them, the oldest first."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        # The application gets headers as API Gateway writes them.
        headers = {name.title(): value for name, value in request.headers.items()}
        path = request.url.raw_path.decode()
        answer = self._shop.call(
            request.method, path, request.read() or None, headers=headers, key=None
        )
        answered = {name: str(value) for name, value in answer.headers.items()}
        return httpx.Response(answer.status, headers=answered, content=answer.text.encode())


def client(shop: Shop, **options: Any) -> tuple[Backroom, Inside]:
    inside = Inside(shop)
    http = httpx.Client(transport=inside)
    options.setdefault("policy", Policy(sleep=lambda seconds: None))
    return Backroom("http://shop.test", shop.owner, http=http, **options), inside
