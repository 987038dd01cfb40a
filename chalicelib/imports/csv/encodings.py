"""The encoding of bytes that are not UTF-8: detected, or asked for, and never guessed.

An encoding is possible if as many words as in any other are of one alphabet, but for some of
another language. If several are, and give different words, the user must choose.
"""

import codecs
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain, pairwise
from typing import Final, NamedTuple

from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.csv.lines import LARGEST_LINE

# Encodings by Python's names, which `encoding=` uses too, and the letters of their languages.
# Western languages share one alphabet, because shops borrow words from them (Crêpe, Süßes).
_ALPHABETS: Final[Mapping[str, str]] = {
    "cp1252": "äöüßàâæçéèêëîïôœùûÿáíñóúìòãõåø áæéðíóöúýþ äõöüšž",
    "cp1250": "äöüß ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű ăâîşţ čćđšž ëç",
    "cp1251": "абвгдежзийклмнопрстуфхцчшщъыьэюяё абвгґдеєжзиіїйклмнопрстуфхцчшщьюя "
    "абвгдђежзијклљмнњопрстћуфхцчџш абвгдеёжзійклмнопрстуўфхцчшыьэюя",
    "cp1253": "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",
    "cp1254": "çğıöşüâîûi̇éñøš",
    "iso8859_2": "ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű čćđšž",
    "koi8_r": "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
    "mac_cyrillic": "абвгдежзийклмнопрстуфхцчшщъыьэюяё абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
    "mac_roman": "äöüßàâæçéèêëîïôœùûÿáíñóúìòãõåø",
}
# East Asian encodings; older, smaller ones that have their everyday characters; and the bytes that
# those begin with: marks, kana, and the half of the signs that is used most.
_SIGNS: Final[Mapping[str, tuple[str, frozenset[int]]]] = {
    "gb18030": ("gb2312", frozenset({0xA1, 0xA3, *range(0xB0, 0xD8)})),
    "big5": ("big5", frozenset({0xA1, *range(0xA4, 0xC7)})),
    "cp932": ("shift_jis", frozenset({0x81, 0x82, 0x83, *range(0x88, 0x99)})),
    "euc_jp": ("euc_jp", frozenset({0xA1, 0xA3, 0xA4, 0xA5, *range(0xB0, 0xD0)})),
    "euc_kr": ("euc_kr", frozenset({0xA1, 0xA3, *range(0xB0, 0xC9)})),
}
_UNICODE: Final = ("utf-8", "utf-16-le", "utf-16-be")
KNOWN: Final = (*_UNICODE, *_ALPHABETS, *_SIGNS)
_ALIASES: Final[Mapping[str, str]] = {
    **{"utf8": "utf-8", "utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf16": "utf-16-le"},
    **{f"windows-{number}": f"cp{number}" for number in range(1250, 1255)},
    **dict.fromkeys(("latin-1", "latin1", "iso-8859-1"), "cp1252"),
    **{"iso-8859-2": "iso8859_2", "latin2": "iso8859_2", "koi8-r": "koi8_r"},
    **dict.fromkeys(("macroman", "macintosh", "mac-roman"), "mac_roman"),
    **dict.fromkeys(("maccyrillic", "x-mac-cyrillic"), "mac_cyrillic"),
    **dict.fromkeys(("gbk", "gb2312", "cp936"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "windows-31j"), "cp932"),
    **{"euc-jp": "euc_jp", "euc-kr": "euc_kr", "cp949": "euc_kr"},
}
_CSV_MARKS: Final = b'a9,;\t|"\r\n'
_SAMPLE: Final = 1 << 16
_NEARLY_ALL: Final = 0.75
_FOREIGN: Final = 0.1  # of the words may be of another language, as brands are
_SHOWN: Final = 8  # words
_TELLING: Final = 40  # bytes
_WITHOUT_KANA: Final = 12  # signs
# Words with a non-ASCII byte. The second byte of an East Asian character may be ASCII.
_WORD: Final = re.compile(rb"(?<![A-Za-z])[A-Za-z]*[\x80-\xff][\x40-\x7e\x80-\xff]*")
_MARKS: Final = str.maketrans(
    dict.fromkeys("’‘“”„«»‹›–—…·•€£¥©®™°ªºµ±²³½¼¾×§¿¡№")
    | dict.fromkeys("￥、。，・（）「」【】！？：；％")
)
# What stands in no word: a mark between letters; and letters where their languages never have them.
# A Slovak `ŕ` at the end is an Italian `à`, a Polish `ń` before a vowel a Spanish `ñ`.
_IN_NO_WORD: Final = re.compile(
    r"[^\W\d_][“„«»‹›–—…•€£¥©®™°ª±²³½¼¾×§¿¡№]+[^\W\d_]"
    r"|[ŕĺ]\b|\b[ŕĺ]|[aeiou][ŕĺů]|[ŕĺ][aeiouy]|\b[řěůňťďľ]\b"
    r"|(?<![bdfmnptvw])ě|ń[aeiouyáéíóú]|ă[aeo]|ã[bcdglmrtvz]",
    re.IGNORECASE,
)
_MONEY: Final = re.compile("[€£¥]+")
_MIXED: Final = re.compile(r"[A-Za-z][^\x00-\x7f]|[^\x00-\x7f][A-Za-z]")
# The apostrophe of `women’s` and a dash are letters in MacRoman.
_MAC: Final = re.compile(r"(?<=[b-df-hj-np-tv-z])í(?:s|t|ll|ve|re)\b|\b[ñîìíó]\b")
_CYRILLIC: Final = re.compile(rf"{_MIXED.pattern}|\b[ьы]|[аеёиоуыэюя]ь", re.IGNORECASE)
_NOT_HERE: Final = {
    **dict.fromkeys(("cp1251", "koi8_r", "mac_cyrillic"), _CYRILLIC),
    **{"cp1253": _MIXED, "mac_roman": _MAC},
}


class DecodedSample(NamedTuple):
    """The first words of a file in an encoding."""

    encoding: str
    samples: list[str]


class Undecided(FileRejected):
    """Several encodings fit: `readings` has each different reading once."""

    def __init__(self, readings: list[DecodedSample]) -> None:
        candidates = "; ".join(
            f"{each.encoding}: {', '.join(each.samples)}" for each in readings[:6]
        )
        message = (
            "The file is not UTF-8, and several encodings fit its words. Save it as CSV "
            f"UTF-8, or set `encoding=`. Its first words would be: {candidates}."
        )
        super().__init__("unknown_encoding", message)
        self.readings = readings


def find_encoding(name: str) -> str:
    """Return the usual name of an encoding. Raises FileRejected: unknown_encoding.

    It is one of `KNOWN`, or any other of Python's in which the marks of a CSV are those of
    ASCII.
    """
    plain = name.strip().lower()
    known = _ALIASES.get(plain, plain)
    if known in KNOWN:
        return known
    with suppress(LookupError, UnicodeError, ValueError):
        if _CSV_MARKS.decode(known) == _CSV_MARKS.decode():
            return codecs.lookup(known).name
    message = (
        f'"{name[:40]}" is not a known encoding, such as {", ".join(KNOWN)}. Save the file as CSV'
        " UTF-8."
    )
    raise FileRejected("unknown_encoding", message)


def judge_encoding(pieces: Iterable[bytes], may_be_utf8: bool = False) -> str:
    """Return the encoding of bytes that are not, or not all, UTF-8. Raises Undecided.

    All bytes are read, because the first words may be the same in several encodings.
    """
    words = _collect_words(pieces)
    fits = {name: _measure_fit(words, name) for name in (*_ALPHABETS, *_SIGNS)}
    possible = _choose_possible(words, fits)
    readings = _decode_samples(words, possible)
    nearly_all = len(words) * _NEARLY_ALL
    if len(readings) == 1 and fits[possible[0]].of_one >= nearly_all and not may_be_utf8:
        return readings[0].encoding
    if len(readings) == 1:
        possible = [name for name, fit in fits.items() if any(fit)] or list(fits)
    possible.sort(key=fits.__getitem__, reverse=True)
    raise Undecided(_decode_samples(words, ["utf-8", *possible] if may_be_utf8 else possible))


def _collect_words(pieces: Iterable[bytes]) -> list[bytes]:
    """Read the pieces; return the different words that are not ASCII, until they fill a sample."""
    words: dict[bytes, None] = {}
    size, held = 0, b""
    for piece in chain(pieces, [b"\n"]):
        held += piece
        end = max(held.rfind(b"\n"), held.rfind(b"\r")) + 1 or len(held) - len(held) % LARGEST_LINE
        lines, held = held[:end], held[end:]
        if lines.isascii():
            continue
        for line in lines.splitlines():
            for word in _WORD.findall(line) if not line.isascii() else ():
                size += 0 if word in words else len(word)
                words[word] = None
        if size > _SAMPLE:
            break
    return list(words)


class _Fit(NamedTuple):
    """How many words are of the alphabet that has most of them, and of any."""

    of_one: int
    of_any: int


def _choose_possible(words: list[bytes], fits: Mapping[str, _Fit]) -> list[str]:
    """Return the encodings that may be right: at least one.

    These are the one in which most words are of one alphabet, and those in which nearly as many
    are; fewer, if amounts of money or Korean signs decide.
    """
    most_words = max(fits.values()).of_one
    possible = [
        name
        for name, fit in fits.items()
        if fit.of_one >= max(1, most_words - len(words) * _FOREIGN)
        or (fit.of_any == len(words) and fit.of_one >= most_words - 1)
    ]
    if fits["euc_kr"].of_one == len(words) and sum(map(len, words)) >= _TELLING:
        return ["euc_kr"]  # some Chinese and Japanese signs would begin with other bytes
    text = b"".join(words)
    # `12 €` is likelier than `12 Ђ`. (In MacRoman the € of cp1251 is an à.)
    latin = [name for name in possible if name != "cp1251"]
    money = [name for name in latin if _MONEY.fullmatch(text.decode(name, "replace"))]
    return money or possible or list(fits)


def _measure_fit(words: list[bytes], encoding: str) -> _Fit:
    """Return how many words, read in an encoding, are of the alphabet that has most, and of any.

    Of an East Asian encoding, they are words of everyday signs, and words that can be read.
    """
    read = [word.decode(encoding, "replace") for word in words]
    if encoding in _SIGNS:
        text = "".join(read).translate(_MARKS)
        latin = sum(c.isascii() and c.isalpha() for c in text)
        signs = [c for c in text if not c.isascii()]
        # One sign by itself may be two letters of another encoding. Longer Japanese has kana.
        is_chinese = len(signs) > _WITHOUT_KANA and not any("ぁ" <= c <= "ヿ" for c in signs)
        if len(signs) < max(2, latin) or (is_chinese and encoding in {"cp932", "euc_jp"}):
            return _Fit(0, 0)
        everyday = sum(_is_everyday(each.translate(_MARKS), encoding) for each in read)
        return _Fit(everyday, sum("\ufffd" not in each for each in read) if everyday else 0)
    plain = [text.translate(_MARKS) for text in read if _may_be_word(text, encoding)]
    letters = [{c for c in text.lower() if not c.isascii()} for text in plain]
    alphabets = [{*alphabet} for alphabet in _ALPHABETS[encoding].split()]
    return _Fit(
        max(sum(each <= alphabet for each in letters) for alphabet in alphabets),
        sum(any(each <= alphabet for alphabet in alphabets) for each in letters),
    )


def _is_everyday(text: str, encoding: str) -> bool:
    """Return whether all signs of an East Asian text are everyday ones."""
    smaller, everyday = _SIGNS[encoding]
    try:
        return all(c.encode(smaller)[0] in everyday for c in text if not c.isascii())
    except UnicodeEncodeError:
        return False


def _may_be_word(text: str, encoding: str) -> bool:
    """Return whether a text may be a word that was read in the right encoding.

    Against it speak letters and marks in places where no language has them, for some encodings
    more of these than for others, and a capital inside a word. Digits and signs are no reason.
    """
    not_here = _NOT_HERE.get(encoding)
    is_odd = not_here and not_here.search(text.translate(_MARKS))
    return not (is_odd or _IN_NO_WORD.search(text) or _has_inner_capital(text))


def _has_inner_capital(text: str) -> bool:
    """Return whether a capital follows a small letter, or a small letter several capitals.

    `CafÈ`, `ìBest`, `PERñ`: one of the two is not ASCII.
    """
    pairs = [
        (a, b) for a, b in pairwise(text) if a.isalpha() and b.isalpha() and not (a + b).isascii()
    ]
    return any(a.islower() and b.isupper() for a, b in pairs) or (
        text[:2].isupper() and any(a.isupper() and b.islower() and b not in "ßı" for a, b in pairs)
    )


def _decode_samples(words: list[bytes], possible: Iterable[str]) -> list[DecodedSample]:
    """Return each different reading of the words once, with the encoding that reads it so.

    Only its first words are in it, cut; words in which the readings differ are first. Of encodings
    with the same reading, the first in `possible` counts.
    """
    read = {name: [word.decode(name, "replace") for word in words] for name in possible}
    same = [len({each[at] for each in read.values()}) == 1 for at in range(len(words))]
    shown = sorted(range(len(words)), key=same.__getitem__)[:_SHOWN]
    name_by_reading = {tuple(texts): name for name, texts in reversed([*read.items()])}
    return [
        DecodedSample(name, [texts[at][:40] for at in shown])
        for texts, name in reversed([*name_by_reading.items()])
    ]
