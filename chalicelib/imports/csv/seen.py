"""Which keys came earlier in a file of any length, in little memory."""

import hashlib
import zlib
from collections.abc import Iterator
from typing import Final, Self

_LEAST: Final = 1 << 16  # bytes
_MOST: Final = 1 << 26
_MOST_AGAIN: Final = 1 << 24
_PROBES: Final = 8
_SHORTEST_PRODUCT: Final = 60  # about as many bytes of a file as a small product takes
_BYTES_A_KEY: Final = 3


class Seen:
    """A Bloom filter, sized by the file: a key that is new may count as one that came before (1 of
    25,000, more in files above 1.3 GB), never the other way round. `again`: those that came so."""

    def __init__(self, bits: bytearray, again: "Seen | None" = None) -> None:
        self.bits = bits
        self.again = again

    @classmethod
    def for_file(cls, size: int) -> Self:
        """None noted yet, of a file of that many bytes."""
        wanted = max(size // _SHORTEST_PRODUCT * _BYTES_A_KEY, _LEAST)
        again = cls(bytearray(min(wanted, _MOST_AGAIN)))
        return cls(bytearray(min(wanted, _MOST)), again)

    @classmethod
    def unpacked(cls, data: bytes) -> Self:
        return cls(bytearray(zlib.decompress(data)))

    def packed(self) -> bytes:
        """Small where few keys were noted."""
        return zlib.compress(self.bits, 1)

    def __call__(self, key: str) -> bool:
        """Notes the key; tells whether it was noted before. Case makes no difference."""
        was_there = self._note(key)
        if was_there and self.again is not None:
            self.again(key)
        return was_there

    def _note(self, key: str) -> bool:
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
