"""A server in memory, for the Python client."""

from typing import Any

import httpx
import pytest
from backroom import Backroom

Step = httpx.Response | Exception | Any


class Answering:
    """A transport's handler. It answers with one step after the other, or by path below
    `/api/admin`: with a response, an error, or JSON; with a list of them, one after the other."""

    def __init__(self, *steps: Step, **by_path: Step) -> None:
        self.steps = list(steps)
        self.answers = {"/" + path.replace("__", "/"): each for path, each in by_path.items()}
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        path = request.url.path.removeprefix("/api/admin")
        found = self.answers[path] if self.answers else self.steps
        step = found.pop(0) if isinstance(found, list) else found
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, httpx.Response) else httpx.Response(200, json=step)

    def client(self) -> httpx.Client:
        return httpx.Client(transport=httpx.MockTransport(self))


def answered(patch: pytest.MonkeyPatch, handler: Any, **more: Any) -> None:
    """From now on, all clients are answered by the handler. `more`: of their options."""
    begin, http = Backroom.__init__, httpx.Client(transport=httpx.MockTransport(handler))

    def asking(self: Backroom, url: str, key: str | None = None, **options: Any) -> None:
        begin(self, url, key, **{**options, "http": http, **more})

    patch.setattr(Backroom, "__init__", asking)
