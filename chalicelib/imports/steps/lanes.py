"""How much of a file is on the queue at once: small imports do not wait for a large one.

The planner keeps the messages of all chunks in S3 and sends the first few pages of them. The first
message of each page sends the next unsent page once its chunk is finished, by any worker. It is not
deleted before, so that no page is lost.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from chalicelib import settings
from chalicelib.imports import files
from chalicelib.imports.steps import queue
from chalicelib.imports.steps.queue import ChunkMessage

_AHEAD: Final = 3  # pages
_KEPT_TOGETHER: Final = 500  # messages of one object in S3: a multiple of each size of a page


def _page() -> int:
    """Messages of a page: three pages on the queue are one and a half times the workers."""
    return max(1, settings.imports_at_once() // 2)


class Plan:
    """The messages of a file while it is being cut."""

    def __init__(self, job_id: str) -> None:
        self._job_id = job_id
        self._size = _page()
        self.count = 0
        self._first: list[ChunkMessage] = []
        self._kept: list[ChunkMessage] = []

    def add(self, message: ChunkMessage) -> None:
        page, place = divmod(self.count, self._size)
        if place == 0:
            message = {**message, "page": page, "pageSize": self._size}
        if page < _AHEAD:
            self._first.append(message)
        self._kept.append(message)
        self.count += 1
        if len(self._kept) == _KEPT_TOGETHER:
            self._keep()

    def send(self) -> None:
        """Called after the whole file was read."""
        if self._kept and self.count > len(self._first):
            self._keep()
        queue.send(self._first)

    def _keep(self) -> None:
        number = (self.count - 1) // _KEPT_TOGETHER
        files.keep(self._job_id, _name(number), json.dumps(self._kept).encode())
        self._kept = []


def send_next_page(message: Mapping[str, Any]) -> None:
    """Sends the next page, for the first message of a page. Repeating it is harmless.

    The size is the planner's: a deployment may have changed the number of workers since.
    """
    if "page" not in message:
        return
    size = int(message["pageSize"])
    number, start = divmod((int(message["page"]) + _AHEAD) * size, _KEPT_TOGETHER)
    with suppress(files.FileChanged):  # it was the last
        kept = json.loads(files.read_kept(message["job"], _name(number)))
        queue.send(kept[start : start + size])


def _name(number: int) -> str:
    return f"plan-{number:06d}"
