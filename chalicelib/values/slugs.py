"""Automatic slugs: from a name, a SKU or an id."""

import re
import zlib
from collections.abc import Iterator
from itertools import count
from typing import Final

LONGEST: Final = 120


def plain(text: str) -> str:
    """`Éclair "Blå" 5″` → `eclair-bla-5`. Not shortened, so long texts stay distinct; may be
    empty."""
    if not text.isascii():
        from anyascii import anyascii  # its tables take 15 ms to load

        text = anyascii(text)
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def of_name(name: str) -> str:
    """The slug of a product with only a name."""
    return _shorten(plain(name)) or "product"


def of_key(key: str) -> str:
    """A slug for a SKU or an id; the same only for texts that differ in case alone."""
    slug = plain(key)
    if slug == key.lower() and len(slug) <= LONGEST:
        return slug
    return add_checksum(slug, key.lower())


def add_checksum(slug: str, text: str) -> str:
    """A slug with a checksum that distinguishes it from others of its name; always the same for the
    same text."""
    return f"{_shorten(slug) or 'product'}-{zlib.crc32(text.encode()):08x}"


def numbered_slugs(slug: str) -> Iterator[str]:
    """`hat`, `hat-2`, `hat-3` …"""
    yield slug
    yield from (f"{slug}-{number}" for number in count(2))


def _shorten(slug: str) -> str:
    return slug[:LONGEST].strip("-")
