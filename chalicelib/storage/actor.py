"""Who writes: the key of a request, or the job that works for one.

Commits that leave a trace store it (`outbox.py`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Actor:
    """Who writes: an API key, and the job that works for it.

    `key_id`, `key_name`: None for the service itself.
    """

    key_id: str | None = None
    key_name: str | None = None
    request_id: str | None = None
    job_id: str | None = None
    job_type: str | None = None

    def to_trace(self) -> dict[str, str]:
        """Return {keyId, keyName, requestId, jobId}, without those that are not known.

        No job type.
        """
        known = {
            "keyId": self.key_id,
            "keyName": self.key_name,
            "requestId": self.request_id,
            "jobId": self.job_id,
        }
        return {name: value for name, value in known.items() if value}


_current: Final[ContextVar[Callable[[], Actor]]] = ContextVar("actor", default=Actor)


def current() -> Actor:
    """Return the Actor who writes in this context, as `act_as` set it.

    For the service itself, that is an Actor without ids.
    """
    return _current.get()()


@contextmanager
def act_as(who: Callable[[], Actor]) -> Iterator[None]:
    """Let the writes of the `with` block be by an actor.

    `who` is called each time the actor is asked for: the key of a request may be known later than
    the request.
    """
    token = _current.set(who)
    try:
        yield
    finally:
        _current.reset(token)
