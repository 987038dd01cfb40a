"""How much of a file is on the queue at once: small imports do not wait for a large one.

The planner keeps the messages of all chunks in S3 and sends the first few pages of them. The first
message of each page sends the next unsent page once its chunk is finished, by any worker. It is not
deleted before, so that no page is lost.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from chalicelib import settings
from chalicelib.imports import files
from chalicelib.imports.steps import queue
from chalicelib.imports.steps.queue import ChunkMessage
from chalicelib.values.batches import batches

_AHEAD: Final = 3  # pages
_KEPT_TOGETHER: Final = 500  # messages of one object in S3: a multiple of each size of a page


def _page() -> int:
    """Messages of a page: three pages on the queue are one and a half times the workers."""
    return max(1, settings.imports_at_once() // 2)


def send(job_id: str, messages: Iterable[ChunkMessage]) -> int:
    """Keeps the messages of a file while it is being cut; sends the first pages of them after the
    last. Returns how many there are."""
    size, count = _page(), 0
    first: list[ChunkMessage] = []
    for some in batches(enumerate(messages), _KEPT_TOGETHER):
        kept = [
            message if at % size else {**message, "page": at // size, "pageSize": size}
            for at, message in some
        ]
        first += kept[: max(0, _AHEAD * size - count)]
        number, count = count // _KEPT_TOGETHER, count + len(kept)
        if count > len(first) or len(kept) == _KEPT_TOGETHER:
            files.keep(job_id, _name(number), json.dumps(kept).encode())
    queue.send(first)
    return count


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
