"""From text to the words under which a record is found, and from a search to its terms.

A term matches where it is the beginning of a word, or of what follows a start inside a word:
`TSH-BLU-01` is found by `tsh-blu`, `blu` and `01`; order 20417 by `417`; `青いシャツ` by `シャツ`.
Case and accents do not count.
"""

import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

# Text counts up to here; a search is clipped alike, so what is longer still matches itself.
LONGEST_WORD: Final = 40
MOST_TERMS: Final = 8
_SHORTEST_ENDING: Final = 3  # digits of a number that may be searched by its end

# Marks that are accents on a letter. In other scripts (kana, Devanagari) a mark makes another letter.
_ACCENTS: Final = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")
# Scripts written without blanks between words: every character may start one.
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff]"
)


def fold(text: str) -> str:
    """Without case and accents: `ÉTÉ` → `ete`, `Straße` → `strasse`."""
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", bare.casefold())


def terms(search: str) -> list[str]:
    """What a search asks for, each once, at most eight; a term that contains another replaces it."""
    asked = list(dict.fromkeys(word[:LONGEST_WORD] for word in fold(search).split()))
    return _longest_only(asked)[:MOST_TERMS]


def words(texts: Iterable[str], most: int) -> tuple[list[str], int]:
    """The words that the texts of a record are stored under, and how many were left out.

    At most `most`, in the order of the texts, whole words of a text before the starts inside them.
    A word that another one begins with needs no entry of its own.
    """
    found: dict[str, None] = {}
    for text in texts:
        whole = fold(text).split()
        found.update(dict.fromkeys(word[:LONGEST_WORD] for word in whole))
        for word in whole:
            found.update(dict.fromkeys(_inner(word)))
    kept = _longest_only(list(found))
    return kept[:most], max(0, len(kept) - most)


def _inner(word: str) -> Iterable[str]:
    """What follows each start inside a word."""
    for at in range(1, len(word)):
        if _starts(word, at):
            yield word[at : at + LONGEST_WORD]


def _starts(word: str, at: int) -> bool:
    before, here = word[at - 1], word[at]
    if not here.isalnum():
        return unicodedata.category(here) == "So"  # an emoji
    if not before.isalnum() or _UNSPACED.match(here):
        return True
    return here.isdigit() and before.isdigit() and _digits(word, at) >= _SHORTEST_ENDING


def _digits(word: str, at: int) -> int:
    """How many digits stand from here to the end of their run."""
    end = at
    while end < len(word) and word[end].isdigit():
        end += 1
    return end - at


def _longest_only(found: list[str]) -> list[str]:
    """Without the words that others begin with, in the same order."""
    ordered = sorted(found)
    covered = {word for word, after in pairwise(ordered) if after.startswith(word)}
    return [word for word in found if word not in covered]
