"""Identifiers: ULIDs with prefixes, and key parts made from clients' texts."""

import hashlib
import os
import re
import time
from datetime import UTC, datetime
from urllib.parse import quote

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [first + second for first in _CROCKFORD for second in _CROCKFORD]
_LETTERS = (_CROCKFORD * 8).encode()  # one for each byte, all equally often
_PLAIN = re.compile(r"[\w.~-]*", re.ASCII)


def ulid() -> str:
    """Return 26 characters: 48 bits of milliseconds, 80 random bits; they sort by time."""
    return _to_letters(int(time.time() * 1000), 5) + os.urandom(16).translate(_LETTERS).decode()


def _to_letters(number: int, pairs: int) -> str:
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(10 * pairs - 10, -1, -10)])


def _ulid(milliseconds: int, chance: int) -> str:
    return _to_letters(milliseconds << 80 | chance, 13)


def new_id(prefix: str) -> str:
    """Return a new identifier, such as `prod_01JD3W…` for the prefix `prod`."""
    return f"{prefix}_{ulid()}"


def may_be(prefix: str, id: str) -> bool:
    """Return whether a client's text may be an id with this prefix; no key is too long then."""
    return id.startswith(f"{prefix}_") and len(id) < 100


def derive_id(prefix: str, milliseconds: int, seed: str) -> str:
    """Return the identifier of this time and seed, always the same."""
    chance = hashlib.sha256(seed.encode()).digest()[:10]
    return f"{prefix}_{_ulid(milliseconds, int.from_bytes(chance, 'big'))}"


def new_variant(product_id: str) -> str:
    """Return `var_<product's part><10 random characters>`.

    It leads to its product without an index.
    """
    return f"var_{product_id.removeprefix('prod_')}{ulid()[-10:]}"


def product_of(variant_id: str) -> str:
    """Return the id of the product of a variant with this id, if it exists."""
    return f"prod_{variant_id.removeprefix('var_')[:26]}"


def key_part(value: str, longest: int = 200) -> str:
    """Return a client's text as part of a key.

    It is percent-encoded, and hashed from `longest` characters on. Hashed texts have exactly that
    many, others fewer: no two texts have the same key. `#` separates the parts of a key, and
    DynamoDB takes 2,048 bytes of partition key and 1,024 of sort key.
    """
    is_plain = _PLAIN.fullmatch(value)  # most are, and need no encoding
    encoded = value if is_plain else quote(value, safe="", errors="surrogatepass")
    if len(encoded) < longest:
        return encoded
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"{encoded[: longest - 33]}~{digest}"


def made_at(id: str) -> datetime:
    """Return the time at which an identifier was made, by the clock of its maker."""
    milliseconds = 0
    for letter in id.partition("_")[2][:10]:
        milliseconds = milliseconds << 5 | _CROCKFORD.index(letter)
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def first_at(moment: datetime) -> str:
    """Return the smallest ULID of a time: those made since sort after it."""
    return _ulid(max(0, int(moment.timestamp() * 1000)), 0)
