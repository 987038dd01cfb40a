"""Where the walk through the pages of a list left off."""

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar, cast

from chalicelib import clock, table
from chalicelib.attributes import Item

T = TypeVar("T")
Recall = list[Callable[[], str | None]]  # one call, or none
_KEPT_SECONDS: Final = 3_600


class Walk:
    """Remembers where the last page of a list ended, for each walker (`""` is nobody).

    A walk through all pages thereby costs the same for each, and misses and repeats no record that
    is there throughout, whatever else is written. A jump, or the same page again, is counted from
    the newest record.

    `walk#<walker>` / `<digest of what is asked>`: `page`, `end`, `expiresAt`.
    """

    def __init__(self, walker: str, asked: Mapping[str, Any]) -> None:
        self._walker = walker
        digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]
        self._key = (f"walk#{walker}", digest)
        self._last: Item | None = None

    def recall(self, page: int) -> Recall:
        """The call that tells behind which position this page starts, if the walker had the page
        before it last; none where nothing can be known."""
        return [partial(self._recalled, page)] if page > 1 and self._walker else []

    def _recalled(self, page: int) -> str | None:
        last = self._last = table.get(self._key)
        return str(last["end"]) if last and _is_before(last, page) else None

    def ended(self, page: int) -> None:
        """There was nothing on this page, and the page behind it goes on here, too: a total that
        has grown since the walk began makes a client ask for it."""
        if self._last and _is_before(self._last, page):
            table.put({**self._last, "page": page})

    def served(self, page: int, end: str, load: Callable[[], T]) -> T:
        """What `load` gives, remembered as the walker's last page, which ends at this position.

        Both at the same time. A page that cannot be loaded was not given: the next request for it
        goes on where this one did.
        """
        if not self._walker:
            return load()
        pk, sk = self._key
        until = clock.unix() + _KEPT_SECONDS
        now = {"pk": pk, "sk": sk, "page": page, "end": end, "expiresAt": until}
        # The load may call `table.together` itself, so it is the first.
        loaded, _ = table.together([partial(_attempted, load), partial(table.put, now)])
        if isinstance(loaded, Exception):
            if self._last:
                table.put(self._last)
            raise loaded
        return cast(T, loaded)


def _is_before(last: Item, page: int) -> bool:
    return bool(last["expiresAt"] > clock.unix() and last["page"] == page - 1)


def _attempted(load: Callable[[], T]) -> T | Exception:
    try:
        return load()
    except Exception as error:
        return error
