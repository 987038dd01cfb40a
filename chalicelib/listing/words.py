"""The words under which a record is found, and the terms of a search.

A term matches the beginning of a word, or text from a start inside a word:
`TSH-BLU-01` is found by `tsh-blu`, `blu` and `01`; order 20417 by `417`; `青いシャツ` by `シャツ`.
Case and accents are ignored.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from typing import Final

# Text counts up to here; a search is clipped too, so longer text still matches itself.
LONGEST_WORD: Final = 40
_SHORTEST_ENDING: Final = 3  # digits of a number that may be searched by its end
_LONGEST_WHOLE: Final = 120  # characters
_BLANK: Final = "\x7f"  # not part of any word or term

# Marks that are accents on a letter (in kana and Devanagari, marks make other letters and stay).
# Also invisible characters: soft hyphens, joiners, direction marks (common in pasted text),
# variation selectors, tatweel.
_UNSEEN: Final = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    "\u00ad\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
# Letters that Unicode does not decompose, as typed on keyboards without them. The Turkish ı is an I
# in capitals. Also the apostrophes and dashes that phones and word processors write for ' and -.
_PLAIN: Final = str.maketrans(
    {"ı": "i", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th"}
    | dict.fromkeys("\u2018\u2019\u02bb\u02bc\u2032", "'")
    | dict.fromkeys("\u2010\u2012\u2013\u2014\u2212", "-")
)
# Not text: control characters, and halves of characters, which cannot be stored.
_NO_TEXT: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# Scripts without blanks between words: every character may start one.
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]"
)


def fold(text: str) -> str:
    """Return the text without case, accents and invisible characters: `ÉTÉ` → `ete`.

    `Straße` → `strasse`. Blanks stay, and control characters become blanks.
    """
    if text.isascii():
        return (text if text.isprintable() else _NO_TEXT.sub(" ", text)).lower()
    text = _NO_TEXT.sub(" ", text)
    bare = _UNSEEN.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", bare.casefold().translate(_PLAIN))


def search_terms(search: str) -> list[str]:
    """Return the terms of a search: folded, clipped, each once, without beginnings of others.

    [] if nothing is visible.
    """
    return _longest_only([word[:LONGEST_WORD] for word in fold(search).split()])


def index_words(texts: Iterable[str], exact: Iterable[str] = ()) -> list[str]:
    """Return the words under which a record with these texts is stored, folded, each once.

    They are in the order of the texts, whole words of all texts before the starts inside them. A
    word that is the beginning of another needs no entry. Each of the `exact` texts, such as SKUs,
    always has one, by which `lookup.py` finds it.
    """
    wholes = list(dict.fromkeys(filter(None, map(whole_word, exact))))
    words = [word for text in texts for word in fold(text).split()]
    starts = [word[:LONGEST_WORD] for word in words]
    starts += chain.from_iterable(map(_inner_starts, words))
    return list(dict.fromkeys([*_longest_only([*starts, *wholes]), *wholes]))


def whole_word(text: str) -> str:
    """Return the word for a whole text, folded, a mark for each blank, cut to the longest word.

    "" if nothing of it is visible.
    """
    return _BLANK.join(fold(text).split())[:_LONGEST_WHOLE]


def _inner_starts(word: str) -> Iterable[str]:
    """Yield the text, clipped, from each place inside a word where a search may begin."""
    if word.isascii() and "@" not in word:
        if not word.isalpha():  # most words: no start inside
            yield from (
                word[start.start() : start.start() + LONGEST_WORD]
                for start in _ascii_starts(_SHORTEST_ENDING).finditer(word, 1)
            )
        return
    for at in range(1, len(word)):
        if _is_start(word, at):
            yield word[at : at + LONGEST_WORD]


@lru_cache(2)
def _ascii_starts(digits: int) -> re.Pattern[str]:
    """Return a pattern of the characters at which a word starts in ASCII text without an @.

    These are a letter or a digit that follows neither, and a digit with at least `digits` - 1 more
    after it.
    """
    return re.compile(f"(?<![0-9a-z])[0-9a-z]|[0-9](?=[0-9]{{{digits - 1}}})")


def _is_start(word: str, at: int) -> bool:
    """Return whether a search may begin at this character of a word, not the first."""
    before, here = word[at - 1], word[at]
    if not here.isalnum():
        return unicodedata.category(here) == "So"  # an emoji
    if before != "@" and "@" in word[1:at]:
        return False  # a mail domain is found as a whole: `com` would match nearly all
    if _UNSPACED.match(here) or _UNSPACED.match(before):
        return True
    if not before.isalnum():
        return unicodedata.category(before)[0] != "M"  # a vowel sign belongs to its letter
    digits = word[at : at + _SHORTEST_ENDING]
    return len(digits) == _SHORTEST_ENDING and digits.isdigit()


def _longest_only(words: list[str]) -> list[str]:
    """Return the words, except those that another begins with: that one takes its place."""
    stands_for: dict[str, str] = {}
    longest = ""
    for word in sorted(set(words), reverse=True):
        longest = longest if longest.startswith(word) else word
        stands_for[word] = longest
    return list(dict.fromkeys(map(stands_for.__getitem__, words)))
