"""What a process remembers of its shop, and its threads. Tests share a process, in any order."""

from threading import Barrier

from chalicelib import threads
from chalicelib.orders import numbers
from chalicelib.request import authenticate, rate
from chalicelib.storage import feed
from chalicelib.webhooks import master_key, waking


def begins() -> None:
    """As in a new process: nothing is remembered."""
    authenticate._admitted.clear()
    rate._failed.clear()
    feed._open.cache_clear()
    master_key._parameters.cache_clear()
    numbers._own.__dict__.clear()
    waking.forget()


def rests() -> None:
    """Returns when no thread of `threads.together` is at work."""
    everybody = Barrier(17)
    threads.together([everybody.wait] * 17)
