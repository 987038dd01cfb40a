"""Where the walk through the pages of a list left off."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from chalicelib import clock, table

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

    def recall(self, page: int) -> str | None:
        """The position behind which this page starts, if the walker had the page before it last."""
        if page == 1 or not self._walker:
            return None
        last = table.get(self._key)
        if last is None or last["expiresAt"] <= clock.unix() or last["page"] != page - 1:
            return None
        return str(last["end"])

    def remember(self, page: int, end: str) -> None:
        if self._walker:
            pk, sk = self._key
            until = clock.unix() + _KEPT_SECONDS
            table.put({"pk": pk, "sk": sk, "page": page, "end": end, "expiresAt": until})
