"""What a process remembers of its shop. Tests share a process, in any order."""

from chalicelib.facets import store as facets
from chalicelib.orders import numbers
from chalicelib.request import authenticate
from chalicelib.storage import feed
from chalicelib.webhooks import master_key, waking


def begins() -> None:
    """As in a new process: nothing is remembered."""
    authenticate.forget()
    facets.forget()
    feed._open.cache_clear()
    master_key._parameters.cache_clear()
    numbers._own.__dict__.clear()
    waking.forget()
