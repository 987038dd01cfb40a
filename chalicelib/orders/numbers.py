"""The numbers of orders.

Their item, `sequence` / `order-number`, has `n`, how many were taken, and `at`, when the last one
was taken (milliseconds of Unix time).

In a quiet shop the order's own commit takes its number, without another call and without gaps. If
another function took the last one a moment ago, commits would conflict, so a separate call takes
the number first; gaps are harmless.
"""

import threading
from typing import Final

from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.values import clock

KEY: Final[Key] = ("sequence", "order-number")
_BEFORE: Final = 1_000  # the first order is 1001
_CALM_MS: Final = 500
# `n`: the last number that was taken here. A function handles one request at a time, so it does not
# conflict with itself. (A thread is a function in simulations.)
_own: Final = threading.local()


class NumberTaken(Exception):
    """The number was taken since it was read."""


class Numbers:
    """The number of one order, through all attempts to place it."""

    def __init__(self) -> None:
        self.are_contended = False
        self._taken: int | None = None
        self._item: Item | None = None

    def choose_number(self, item: Item | None, *, has_room: bool) -> str:
        """Choose the number for the next attempt to place the order, and return it as text.

        If orders compete, or the commit has no room, the number is taken at once, by a write, and
        stays this order's in later attempts. Otherwise it is the one after `item`, which `write`
        takes. `item`: what was read at KEY, kept for `write`. `has_room`: for one item more in the
        commit. A number that is taken is noted as this process's last (`_is_calm`).
        """
        self._item = item
        alone = self.are_contended or not has_room
        now = clock.unix_ms()
        if self._taken is None and (alone or not _is_calm(item, now)):
            self._taken = _own.n = int(table.update(KEY, add={"n": 1}, assign={"at": now})["n"])
        return str(_BEFORE + (self._taken or _following_number(item)))

    def write(self, commit: Commit) -> None:
        """Add to the commit that it takes the next number, unless `choose_number` has taken one.

        Sending the commit raises NumberTaken if another order takes the number first.
        """
        if self._taken is None:
            unchanged = Attr("n").eq(self._item["n"]) if self._item else table.absent
            _own.n = _following_number(self._item)
            new = {"n": _own.n, "at": clock.unix_ms()}
            commit.update(KEY, assign=new, when=unchanged, otherwise=NumberTaken(), waits=False)


def next_number(item: Item | None) -> str:
    """Return the number that the next order gets, unless another takes it first."""
    return str(_BEFORE + _following_number(item))


def _following_number(item: Item | None) -> int:
    """Return the count after that of the item of numbers; 1 without one."""
    return int(item["n"]) + 1 if item else 1


def _is_calm(item: Item | None, now: int) -> bool:
    """Return whether no other process takes numbers just now, so that a conflict is unlikely.

    True if no number was ever taken, if this process took the last one, however recently, or if it
    was taken `_CALM_MS` ago or more. `now`: milliseconds.
    """
    if item is None or int(item["n"]) == getattr(_own, "n", None):
        return True
    return now - int(item.get("at", 0)) >= _CALM_MS
