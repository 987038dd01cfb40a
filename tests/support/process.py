"""What a process remembers of its shop, and its threads. Tests share a process, in any order."""

from threading import Barrier

from chalicelib import threads
from chalicelib.events import consumer
from chalicelib.orders import numbers
from chalicelib.request import authenticate, rate
from chalicelib.webhooks import executions, master_key


def begins() -> None:
    """As in a new process: nothing is remembered."""
    authenticate._admitted.clear()
    rate._failed.clear()
    consumer._open_hour.cache_clear()
    master_key._make_ssm_provider.cache_clear()
    numbers._own.__dict__.clear()
    executions.forget_started()


def rests() -> None:
    """Returns when no thread of `threads.run_together` is at work."""
    everybody = Barrier(17)
    threads.run_together([everybody.wait] * 17)
