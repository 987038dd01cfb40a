"""Requests that may be repeated: the first answer again, and nothing done twice.

`idem#<API key's id>#<Idempotency-Key>` / `reply`: `{fingerprint, text, etag, expiresAt}`, written
in the commit of what it answers, so there is one exactly when that happened. Kept for 24 hours.
"""

import hashlib
import json
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, Final

from chalice.app import ChaliceUnhandledError

from chalicelib import clock, ids, table
from chalicelib.attributes import Item, Key
from chalicelib.commit import Commit
from chalicelib.conditions import Attr
from chalicelib.problems import Invalid

KEPT_SECONDS: Final = 86_400
LONGEST_KEY: Final = 255
_EXACT: Final = Context(prec=10_000)


class KeyReused(Invalid):
    code = "idempotency_key_reused"

    def __init__(self) -> None:
        super().__init__("This Idempotency-Key came with another body before. Use a new one.")


class Repeated(ChaliceUnhandledError):
    """The request was answered before: `text` is that answer, byte for byte.

    It derives from ChaliceUnhandledError because only those reach the middleware as exceptions.
    """

    def __init__(self, text: str, etag: str) -> None:
        super().__init__("answered before")
        self.text, self.etag = text, etag


@dataclass(frozen=True)
class Once:
    """A request that takes effect once, however often it is sent."""

    key: Key
    fingerprint: str

    @classmethod
    def of(cls, caller_id: str, key: str, sent: Any) -> "Once":
        """`sent`: the JSON value of the request's body; `key`: the header. Raises Invalid."""
        if not 1 <= len(key) <= LONGEST_KEY:
            message = f"must have 1 to {LONGEST_KEY} characters"
            raise Invalid.field("Idempotency-Key", "out_of_range", message)
        return cls((f"idem#{caller_id}#{ids.key_part(key)}", "reply"), fingerprint(sent))

    def look(self) -> None:
        """Raises Repeated, or KeyReused, if the request was answered before."""
        self.judge(table.get(self.key))

    def judge(self, record: Item | None) -> None:
        """`look`, where the record has been read together with other things."""
        if record is not None and record["expiresAt"] > clock.unix():
            raise self._known(record)

    def record(self, commit: Commit, text: str, etag: str) -> None:
        """Part of the commit of what is answered; that raises what `look` does."""
        pk, sk = self.key
        now = clock.unix()
        reply = {"fingerprint": self.fingerprint, "text": text, "etag": etag}
        unknown = table.absent | Attr("expiresAt").lte(now)
        commit.put(
            {"pk": pk, "sk": sk, **reply, "expiresAt": now + KEPT_SECONDS},
            when=unknown,
            otherwise=self._known,
        )

    def _known(self, record: Item | None) -> Exception:
        assert record is not None, "only a record fails the condition that there is none"
        if record["fingerprint"] != self.fingerprint:
            return KeyReused()
        return Repeated(record["text"], record["etag"])


def fingerprint(sent: Any) -> str:
    """The same for equal JSON: whatever order its members and blanks have, `1.50` as `1.5`. Of any
    two values that differ, in a type alone, too, each has its own."""
    text = json.dumps(_canonical(sent), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    """Lists say that they are lists, so that none is taken for the way in which a number is written
    here. JSON that came with a request is nested at most `parse.DEEPEST` levels."""
    if isinstance(value, dict):
        return {name: _canonical(member) for name, member in value.items()}
    if isinstance(value, list):
        return ["list", *map(_canonical, value)]
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return ["number", str(Decimal(value).normalize(_EXACT))]
    return value
