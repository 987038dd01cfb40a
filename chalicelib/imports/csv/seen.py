"""Which keys came earlier in a file of any length, in little memory."""

import hashlib
from collections.abc import Iterator
from typing import Final, Self

_LEAST: Final = 1 << 16  # bytes
_MOST: Final = 1 << 26
_PROBES: Final = 8
_SHORTEST_PRODUCT: Final = 60  # bytes of a file that one product takes, about
_BYTES_A_KEY: Final = 3


class Seen:
    """A Bloom filter, sized by the file: a key that is new may count as one that came before (1 of
    25,000, more in files above 1.3 GB), never the other way round."""

    def __init__(self, bits: bytearray) -> None:
        self.bits = bits

    @classmethod
    def for_file(cls, size: int) -> Self:
        """None noted yet, of a file of that many bytes."""
        wanted = size // _SHORTEST_PRODUCT * _BYTES_A_KEY
        return cls(bytearray(min(max(wanted, _LEAST), _MOST)))

    def __call__(self, key: str) -> bool:
        """Notes the key; tells whether it was noted before. Case makes no difference."""
        bits, was_there = self.bits, True
        for place in self._places(key):
            byte, mask = place >> 3, 1 << (place & 7)
            if not bits[byte] & mask:
                was_there = False
                bits[byte] |= mask
        return was_there

    def __contains__(self, key: str) -> bool:
        return all(self.bits[place >> 3] & 1 << (place & 7) for place in self._places(key))

    def _places(self, key: str) -> Iterator[int]:
        digest = hashlib.blake2b(key.casefold().encode("utf-8", "replace"), digest_size=16).digest()
        first, step = int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big") | 1
        count = len(self.bits) * 8
        return ((first + probe * step) % count for probe in range(_PROBES))
