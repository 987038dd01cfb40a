"""Pieces of work that wait for AWS, made at the same time in threads.

Independent calls to DynamoDB need none: `storage/dynamodb.py`.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import cache
from typing import Any, Final

_AT_ONCE: Final = 32


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_AT_ONCE - 1, thread_name_prefix="together")


def run_together(pieces: Sequence[Callable[[], object]]) -> list[Any]:
    """Return the results of independent pieces of work, each done in the context of the caller.

    This thread does the first, and afterwards those that no other has begun: so a piece may itself
    use `run_together`, however many wait.
    """
    if not pieces:
        return []
    first, *rest = pieces
    begun = [_pool().submit(copy_context().run, piece) for piece in rest]
    try:
        return [
            first(),
            *(
                piece() if other.cancel() else other.result()
                for piece, other in zip(rest, begun, strict=True)
            ),
        ]
    except BaseException:
        # None of them runs on after this has failed: its work may be done again at once.
        wait([other for other in begun if not other.cancel()])
        raise
