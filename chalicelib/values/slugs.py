"""Automatic slugs: from a name, a SKU or an id."""

import re
import zlib
from collections.abc import Iterator
from itertools import count
from typing import Final

LONGEST: Final = 120


def plain(text: str) -> str:
    """Return the text in letters, digits and hyphens: `Éclair "Blå" 5″` → `eclair-bla-5`.

    It is not shortened, so long texts stay distinct; it may be empty.
    """
    if not text.isascii():
        from anyascii import anyascii  # its tables take 15 ms to load

        text = anyascii(text)
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def of_name(name: str) -> str:
    """Return the slug of a product with only a name."""
    return _shorten(plain(name)) or "product"


def of_key(key: str) -> str:
    """Return a slug for a SKU or an id; the same only for texts that differ in case alone."""
    slug = plain(key)
    if slug == key.lower() and len(slug) <= LONGEST:
        return slug
    return add_checksum(slug, key.lower())


def add_checksum(slug: str, text: str) -> str:
    """Return the slug with a checksum of `text`, which distinguishes it from others of its name."""
    return f"{_shorten(slug) or 'product'}-{zlib.crc32(text.encode()):08x}"


def numbered_slugs(slug: str) -> Iterator[str]:
    """Yield `hat`, `hat-2`, `hat-3` and so on, without end."""
    yield slug
    yield from (f"{slug}-{number}" for number in count(2))


def _shorten(slug: str) -> str:
    return slug[:LONGEST].strip("-")
