"""Requests that may be repeated: they get the first answer again, and nothing is done twice.

`idem#<API key's id>#<hash of the Idempotency-Key>` / `reply`: `{fingerprint, text, etag,
expiresAt}`, written in the commit that it answers, so it exists if and only if that happened. Kept
for 24 hours.

A request with several commits begins with `{fingerprint, seed, at, expiresAt}`. The ids of all its
records are derived from the seed, so that a retry finds those that exist and makes the rest.
It ends with `parts`: the answer, compressed, in as many items `part#<n>`.
"""

import base64
import hashlib
import json
import secrets
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Final

from chalice.app import ChaliceUnhandledError

from chalicelib.problems import Invalid, Problem
from chalicelib.storage import table
from chalicelib.storage.attributes import Item, Key
from chalicelib.storage.commit import Commit
from chalicelib.storage.conditions import Attr
from chalicelib.values import clock, ids

KEPT_SECONDS: Final = 86_400
LONGEST_KEY: Final = 255
_PREFIX: Final = "idem#"
LONGEST_TEXT: Final = 400_000  # bytes of an answer that is kept in one item; DynamoDB takes 400 KB
_PART: Final = 300_000  # of text of an answer in several items
_EXACT: Final = Context(prec=10_000)


class KeyReused(Invalid):
    code = "idempotency_key_reused"
    text = "This Idempotency-Key was used for another request. Use a new one."


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
    def from_request(cls, caller_id: str, key: str, sent: object) -> "Once":
        """Return the Once of a request: its header `key`, and `sent`, the JSON value of its body.

        `caller_id`: of the API key, which has its own Idempotency-Keys. Nothing is read. Raises
        Invalid for a key that is too long or empty.
        """
        if not 1 <= len(key) <= LONGEST_KEY:
            message = f"must have 1 to {LONGEST_KEY} characters"
            raise Invalid.field("Idempotency-Key", "out_of_range", message)
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        return cls((f"{_PREFIX}{caller_id}#{digest}", "reply"), fingerprint(sent))

    def check(self) -> None:
        """Read the record of the key; raise Repeated, or KeyReused, if the request was answered.

        See `check_record`. Nothing is written.
        """
        self.check_record(table.get(self.key))

    def check_record(self, record: Item | None) -> None:
        """Raise Repeated, or KeyReused, if this record of the key says that it was answered.

        Repeated has the answer, which may be read here in parts; KeyReused is for another request.
        Nothing is raised for a record that is None or expired, nor for the same request, begun and
        not finished.
        """
        if record is not None and record["expiresAt"] > clock.unix():
            is_open = "seed" in record and "parts" not in record
            if record["fingerprint"] != self.fingerprint or not is_open:
                raise self._to_error(record)

    def begin_or_resume(self) -> "Begun":
        """Write that a request of several commits has begun, before the first one; or resume it.

        A repetition of a request that was not answered gets the seed and the time of the first try,
        and `again`. Raises Repeated, or KeyReused, as `check` does.
        """
        now, (pk, sk) = clock.unix(), self.key
        fresh: Item = {
            "fingerprint": self.fingerprint,
            "seed": secrets.token_hex(16),
            "at": now,
            "expiresAt": now + KEPT_SECONDS,
        }
        try:
            unknown = table.absent | Attr("expiresAt").lte(now)
            table.put({"pk": pk, "sk": sk, **fresh}, when=unknown)
        except table.ConditionFailed as failed:
            self.check_record(failed.old)
            assert failed.old is not None
            return Begun(self, failed.old["seed"], int(failed.old["at"]), again=True)
        return Begun(self, fresh["seed"], now, again=False)

    def record(self, commit: Commit, text: str, etag: str) -> None:
        """Add the record of the answer to the commit that it answers; nothing is sent here.

        If there is a record by then that has not expired, sending the commit raises Repeated or
        KeyReused.
        """
        pk, sk = self.key
        now = clock.unix()
        reply = {"fingerprint": self.fingerprint, "text": text, "etag": etag}
        unknown = table.absent | Attr("expiresAt").lte(now)
        commit.put(
            {"pk": pk, "sk": sk, **reply, "expiresAt": now + KEPT_SECONDS},
            when=unknown,
            otherwise=self._to_error,
        )

    def _to_error(self, record: Item | None) -> Exception:
        """Return KeyReused if this record is of another request, else Repeated with its answer.

        An answer in parts is read here, and has no ETag ("").
        """
        assert record is not None, "only a record fails the condition that there is none"
        if record["fingerprint"] != self.fingerprint:
            return KeyReused()
        if "parts" in record:
            return Repeated(self._load_parts(int(record["parts"])), "")
        return Repeated(record["text"], record["etag"])

    def _load_parts(self, parts: int) -> str:
        """Read the answer that is stored, compressed, in this many items, and return its text."""
        places = [(self.key[0], f"part#{n}") for n in range(parts)]
        found = table.batch_get(places)
        packed = "".join(found[place]["text"] for place in places)
        return zlib.decompress(base64.b85decode(packed)).decode()


def read_unless_answered(keys: Iterable[Key], once: Once | None) -> dict[Key, Item]:
    """Read items, and the record of `once` with them; return those that exist, by key.

    That record, of a request that was begun or has expired, is among them. Raises Repeated, or
    KeyReused, if the request was answered before. `once` None: the items alone.
    """
    items = table.batch_get([*keys, *([once.key] if once else [])])
    if once:
        once.check_record(items.get(once.key))
    return items


@contextmanager
def unless_answered(once: Once | None) -> Iterator[None]:
    """Run the `with` block; on a Problem, read whether the request was answered meanwhile.

    Then Repeated, or KeyReused, is raised in its place: the problem arose because the same request,
    sent twice, has taken effect. Otherwise the problem is raised as it is. None: never.
    """
    try:
        yield
    except Problem:
        if once:
            once.check()
        raise


@dataclass(frozen=True)
class Begun:
    """A request with several commits. `again`: it was begun before and not answered."""

    once: Once
    seed: str
    at: int
    """Unix seconds."""
    again: bool

    def id(self, prefix: str, place: int) -> str:
        """Return the id of the record that is made at `place`: the same for every repetition.

        `prefix`: of the id; `place`: which record of the request it is.
        """
        return ids.derive_id(prefix, self.at * 1_000, f"{self.seed}#{place}")

    def finish(self, text: str) -> None:
        """Store the answer, compressed, in parts.

        Then note their number with the request: it is answered. The record is not marked if the key
        was used again since, after a day. Raises Repeated, with the first answer, if the same
        request, sent at the same time, was answered first.
        """
        self.once.check()
        pk, _ = self.once.key
        packed = base64.b85encode(zlib.compress(text.encode())).decode()
        parts = [packed[n : n + _PART] for n in range(0, len(packed), _PART)]
        expires = self.at + KEPT_SECONDS
        table.batch_write(
            {"pk": pk, "sk": f"part#{n}", "text": part, "expiresAt": expires}
            for n, part in enumerate(parts)
        )
        unanswered = Attr("seed").eq(self.seed) & Attr("parts").not_exists()
        try:
            table.update(self.once.key, assign={"parts": len(parts)}, when=unanswered)
        except table.ConditionFailed as failed:
            # Otherwise a day has passed, and the key was used again.
            if failed.old and failed.old.get("seed") == self.seed:
                self.once.check_record(failed.old)


@contextmanager
def withdraw_if_refused(begun: Begun | None) -> Iterator[None]:
    """Run the `with` block; on a refusal, remove the record: only successes keep their key.

    It stays if the request was begun before, or may have taken effect. The refusal is raised. None:
    nothing is removed.
    """
    try:
        yield
    except Problem as refusal:
        if begun and not begun.again and not refusal.may_pass:
            with suppress(table.ConditionFailed):
                table.delete(begun.once.key, Attr("seed").eq(begun.seed))
        raise


def fingerprint(sent: object) -> str:
    """Return a hash that is the same for equal JSON, and differs for any other.

    The order of members, blanks, and `1.50` for `1.5` do not matter. Values that differ, even only
    in type, have different fingerprints.
    """
    text = json.dumps(_canonical(sent), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: object) -> object:
    """Return the one form of equal JSON values: lists are ["list", …], numbers ["number", "1.5"].

    Objects keep their members, texts, true, false and null stay. So no list equals a number. The
    JSON of a request is nested at most `parse.DEEPEST` levels.
    """
    if isinstance(value, dict):
        return {name: _canonical(member) for name, member in value.items()}
    if isinstance(value, list):
        return ["list", *map(_canonical, value)]
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return ["number", str(Decimal(value).normalize(_EXACT))]
    return value
