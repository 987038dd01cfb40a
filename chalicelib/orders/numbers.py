"""The numbers of orders: `sequence` / `order-number`, with `n`, how many were taken, and `at`, when
the last one was (milliseconds of Unix time).

In a calm shop the order's own commit takes its number: no call more, and no gap. Where the last one
was taken a moment ago, commits would wait for one another, so the number is taken before, by a call
of its own; gaps are no harm, and nobody waits for anybody.
"""

from typing import Final

from chalicelib import clock, table
from chalicelib.attributes import Item, Key
from chalicelib.commit import Commit
from chalicelib.conditions import Attr

KEY: Final[Key] = ("sequence", "order-number")
_BEFORE: Final = 1_000  # the first order is 1001
_CALM_MS: Final = 500


class NumberTaken(Exception):
    """Somebody else took the number since it was read."""


class Numbers:
    """The number of one order, through all attempts to place it."""

    def __init__(self) -> None:
        self.are_contended = False
        self._taken: int | None = None
        self._item: Item | None = None

    def next(self, item: Item | None, *, has_room: bool) -> str:
        """`item`: what was read at KEY. `has_room`: whether the commit can take one item more."""
        self._item = item
        alone = self.are_contended or not has_room
        now = clock.unix_ms()
        if self._taken is None and (alone or not _is_calm(item, now)):
            self._taken = int(table.update(KEY, add={"n": 1}, set={"at": now})["n"])
        return str(_BEFORE + (self._taken or _following(item)))

    def write(self, commit: Commit) -> None:
        """The commit raises NumberTaken where the number is not taken yet and somebody else does
        that first."""
        if self._taken is None:
            unchanged = Attr("n").eq(self._item["n"]) if self._item else table.absent
            new = {"n": _following(self._item), "at": clock.unix_ms()}
            commit.update(KEY, set=new, when=unchanged, otherwise=NumberTaken())


def _following(item: Item | None) -> int:
    return int(item["n"]) + 1 if item else 1


def _is_calm(item: Item | None, now: int) -> bool:
    return item is None or now - int(item.get("at", 0)) >= _CALM_MS
