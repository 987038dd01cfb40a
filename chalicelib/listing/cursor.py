"""Cursors: reading a list continues after a position, whatever was written meanwhile.

A cursor is bound to its list. It is not a secret and grants no rights: a forged cursor leads to a
position in a list that its sender may read anyway.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from chalicelib.problems import Invalid

BEGIN: Final = "*"  # instead of a cursor: starts from the beginning
_VERSION: Final = 1  # of the meaning of positions: a new version invalidates older cursors
_CHECK: Final = 12  # characters
_LONGEST: Final = 1_000  # bytes of a position; DynamoDB takes 1,024 of a sort key
_MOST_PAGES: Final = 10**15


@dataclass(frozen=True)
class Cursor:
    """A place in a list.

    `position`: of the last record returned. `page`: the number of the next page.
    """

    position: str
    page: int

    def to_text(self, list_identity: Mapping[str, object]) -> str:
        """Return the cursor as an opaque text, bound by a checksum to the list of this identity."""
        body = json.dumps([self.position, self.page], ensure_ascii=False, separators=(",", ":"))
        whole = f"{_checksum(list_identity, body)}{body}".encode("utf-8", "surrogatepass")
        return base64.urlsafe_b64encode(whole).decode().rstrip("=")


def parse(text: str, list_identity: Mapping[str, object]) -> Cursor:
    """Return the cursor that `to_text` made this text of; `*` is the beginning, `Cursor("", 1)`.

    Raises Invalid (field `cursor`) for any other text, and for a list with another identity.
    """
    if text == BEGIN:
        return Cursor("", 1)
    try:
        padded = text + "=" * (-len(text) % 4)
        whole = base64.b64decode(padded, altchars=b"-_", validate=True).decode()
        check, body = whole[:_CHECK], whole[_CHECK:]
        if check == _checksum(list_identity, body):
            position, page = json.loads(body)
            if type(page) is int and 0 < page <= _MOST_PAGES and len(position.encode()) <= _LONGEST:
                return Cursor(position, page)
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass  # anybody can make the check
    message = "is not of this list with these filters, search and order; begin without a cursor"
    raise Invalid.field("cursor", "invalid", message)


def _checksum(list_identity: Mapping[str, object], body: str) -> str:
    """Return the hex digits that bind a cursor's body to its list and to this version."""
    text = json.dumps([_VERSION, list_identity, body], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_CHECK]
