"""Requests per minute and source address, for callers who have no key."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from chalicelib.problems import RateLimited
from chalicelib.storage import table
from chalicelib.storage.attributes import Key
from chalicelib.storage.conditions import Attr
from chalicelib.values import clock, ids

# docs/api.md#limits
STOREFRONT_PER_MINUTE: Final = 300
FAILED_SIGN_INS_PER_MINUTE: Final = 60

_MOST_ADDRESSES: Final = 1_000
_failed: dict[tuple[str, int], int] = {}  # sign-ins of an address in a minute, in this process


@dataclass(frozen=True)
class Window:
    """One minute of a key or an address, for the X-RateLimit headers."""

    limit: int
    used: int
    minute: int

    @property
    def reset(self) -> int:
        """Return the end of the minute, in Unix seconds."""
        return (self.minute + 1) * 60

    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(max(0, self.limit - self.used)),
            "X-RateLimit-Reset": str(self.reset),
        }

    def to_rate_limited(self) -> RateLimited:
        wait = max(1, self.reset - clock.unix())
        return RateLimited(
            f"More than {self.limit} requests in a minute. Try again in {wait} s.",
            headers={"Retry-After": str(wait), **self.headers()},
        )


def this_minute() -> int:
    return clock.unix() // 60


def count(address: str) -> Callable[[], Window]:
    """Start to count a request of an address.

    The function that it returns waits for that, and raises RateLimited beyond the limit.
    """
    minute = this_minute()
    requests = Attr("n")
    call = table.update.call(
        _key(address, minute),
        assign={"expiresAt": (minute + 60) * 60},
        add={"n": 1},
        when=requests.not_exists() | requests.lt(STOREFRONT_PER_MINUTE),
    )
    call.send()

    def wait_for_window() -> Window:
        try:
            used = int(call.wait_for_result()["n"])
        except table.ConditionFailed:
            raise Window(
                STOREFRONT_PER_MINUTE, STOREFRONT_PER_MINUTE, minute
            ).to_rate_limited() from None
        return Window(STOREFRONT_PER_MINUTE, used, minute)

    return wait_for_window


def count_failed_sign_in(address: str) -> Window:
    """Count a failed sign-in of an address, in this process only.

    A wrong key costs no call besides the one that looked for it. Raises RateLimited beyond the
    limit of the address.
    """
    minute = this_minute()
    used = _failed.get((address, minute), 0)
    if used >= FAILED_SIGN_INS_PER_MINUTE:
        raise Window(FAILED_SIGN_INS_PER_MINUTE, used, minute).to_rate_limited()
    if len(_failed) >= _MOST_ADDRESSES:
        _failed.clear()
    _failed[address, minute] = used + 1
    return Window(FAILED_SIGN_INS_PER_MINUTE, used + 1, minute)


def peek(address: str) -> Window:
    """Return how much an address has used, without counting."""
    minute = this_minute()
    item = table.get(_key(address, minute))
    return Window(STOREFRONT_PER_MINUTE, int(item["n"]) if item else 0, minute)


def _key(address: str, minute: int) -> Key:
    return f"rate#{ids.key_part(address)}#storefront", str(minute)
