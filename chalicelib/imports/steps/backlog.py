"""How much of a file is on the queue at once: small imports do not wait for a large one.

The chunks are in S3, in the order of their names. The planner sends the first few pages of them;
the first message of each page sends the next unsent page once its chunk is finished, by any worker.
It is not deleted before, so that no page is lost. Sending a page twice is harmless.
"""

from collections.abc import Mapping
from typing import Any, Final

from chalicelib import settings
from chalicelib.imports import chunks, files
from chalicelib.imports.steps import queue

_AHEAD: Final = 3  # pages


def send_first_pages(job_id: str) -> None:
    """Put the messages of a job's first three pages of chunks on the queue.

    A page has half as many chunks as there are workers, so three pages on the queue are one and
    a half times the workers.
    """
    size = max(1, settings.imports_at_once() // 2)
    _send(job_id, files.list_kept(job_id, chunks.PREFIX, "", _AHEAD * size), size)


def send_next_page(message: Mapping[str, Any]) -> None:
    """If a message is the first of its page, send the messages of the third page after that.

    Any other message sends nothing. The size of a page is in the message: a deployment may have
    changed the number of workers since.
    """
    if "page" in message:
        job_id, size = message["job"], int(message["page"])
        ahead = _AHEAD * size
        names = files.list_kept(job_id, chunks.PREFIX, message["chunk"], ahead + size - 1)
        _send(job_id, names[ahead - 1 :], size)


def _send(job_id: str, names: list[str], size: int) -> None:
    """Send a message {job, step, chunk} for each of these chunks.

    The first of each `size` of them, a page, also has `page`: the size.
    """
    queue.send(
        {"job": job_id, "step": "chunk", "chunk": name, **({} if at % size else {"page": size})}
        for at, name in enumerate(names)
    )
