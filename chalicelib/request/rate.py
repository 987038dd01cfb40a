"""Requests per minute and source address, for callers who have no key."""

from dataclasses import dataclass
from typing import Final

from chalicelib import clock, ids, table
from chalicelib.attributes import Key
from chalicelib.conditions import Attr
from chalicelib.problems import RateLimited

STOREFRONT: Final = "storefront"
SIGN_IN: Final = "sign-in"
LIMITS: Final = {STOREFRONT: 300, SIGN_IN: 60}  # docs/contract.md#rate-limits


@dataclass(frozen=True)
class Window:
    """A minute of somebody's: what the X-RateLimit headers say."""

    limit: int
    used: int
    minute: int

    @property
    def reset(self) -> int:
        """Unix seconds."""
        return (self.minute + 1) * 60

    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(max(0, self.limit - self.used)),
            "X-RateLimit-Reset": str(self.reset),
        }

    def exceeded(self) -> RateLimited:
        wait = max(1, self.reset - clock.unix())
        return RateLimited(
            f"More than {self.limit} requests in a minute. Try again in {wait} s.",
            headers={"Retry-After": str(wait), **self.headers()},
        )


def this_minute() -> int:
    return clock.unix() // 60


@table.Stepwise
def count(address: str, scope: str) -> table.Steps[Window]:
    """Counts a request of an address. Raises RateLimited when it had its share."""
    limit, minute = LIMITS[scope], this_minute()
    requests = Attr("n")
    try:
        item = yield from table.update.steps(
            _key(address, scope, minute),
            set={"expiresAt": (minute + 60) * 60},
            add={"n": 1},
            when=requests.not_exists() | requests.lt(limit),
        )
    except table.ConditionFailed:
        raise Window(limit, limit, minute).exceeded() from None
    return Window(limit, int(item["n"]), minute)


def peek(address: str, scope: str) -> Window:
    """How much an address has used, without counting."""
    minute = this_minute()
    item = table.get(_key(address, scope, minute))
    return Window(LIMITS[scope], int(item["n"]) if item else 0, minute)


def _key(address: str, scope: str, minute: int) -> Key:
    return f"rate#{ids.key_part(address)}#{scope}", str(minute)
