"""The encoding of bytes that are not UTF-8: detected, or asked for, and never guessed.

An encoding is possible if its words use one alphabet. If several give different words,
charset-normalizer decides which is likelier; if it cannot, the user must.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import chain, pairwise
from typing import Final, NamedTuple

from chalicelib.imports.csv.faults import FileRejected
from chalicelib.imports.csv.lines import LARGEST_LINE

# Encodings by Python's names, which `encoding=` uses too, and the letters of their languages.
# Western languages share one alphabet, because shops borrow words from them (Crêpe, Süßes).
_ALPHABETS: Final[Mapping[str, str]] = {
    "cp1252": "äöüßàâæçéèêëîïôœùûÿáíñóúìòãõ åäöéèüæø áæéðíóöúýþ áéíóúâêîôûŵŷ äõöüšž",
    "cp1250": "äöüß ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű ăâîşţ čćđšž ëç",
    "cp1251": "абвгдежзийклмнопрстуфхцчшщъыьэюяё абвгґдеєжзиіїйклмнопрстуфхцчшщьюя "
    "абвгдђежзијклљмнњопрстћуфхцчџш абвгдеёжзійклмнопрстуўфхцчшыьэюя",
    "cp1253": "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",
    "cp1254": "çğıöşüâîûi̇",
    "iso8859_2": "ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű čćđšž",
    "koi8_r": "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
    "mac_roman": "äöüßàâæçéèêëîïôœùûÿáíñóúìòãõ åäöéèüæø",
}
# East Asian encodings, and older, smaller encodings that have their everyday characters.
_SIGNS: Final[Mapping[str, str]] = {
    "gb18030": "gb2312",
    "big5": "big5",
    "cp932": "shift_jis",
    "euc_jp": "euc_jp",
    "euc_kr": "euc_kr",
}
_UNICODE: Final = ("utf-8", "utf-16-le", "utf-16-be")
KNOWN: Final = (*_UNICODE, *_ALPHABETS, *_SIGNS)
_ALIASES: Final[Mapping[str, str]] = {
    **{"utf8": "utf-8", "utf-16": "utf-16-le", "utf16": "utf-16-le"},
    **{f"windows-{number}": f"cp{number}" for number in range(1250, 1255)},
    **dict.fromkeys(("latin-1", "latin1", "iso-8859-1", "iso-8859-15"), "cp1252"),
    **{"iso-8859-2": "iso8859_2", "latin2": "iso8859_2", "koi8-r": "koi8_r"},
    **dict.fromkeys(("macroman", "macintosh", "mac-roman"), "mac_roman"),
    **dict.fromkeys(("gbk", "gb2312", "cp936"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "windows-31j"), "cp932"),
    **{"euc-jp": "euc_jp", "euc-kr": "euc_kr", "cp949": "euc_kr"},
}
_SAMPLE: Final = 1 << 16
_MARGIN: Final = 0.1
_SHOWN: Final = 8  # words
# Words with a non-ASCII byte. The second byte of an East Asian character may be ASCII.
_WORD: Final = re.compile(rb"[A-Za-z]*[\x80-\xff][\x40-\x7e\x80-\xff]*")
_MARKS: Final = str.maketrans(
    dict.fromkeys("’‘“”„«»‹›–—…·•€£¥©®™°º²³½¼¾×§¿¡№")
    | dict.fromkeys("￥、。，・（）「」【】！？：；％")
)
_MARK_WITHIN: Final = re.compile(r"[^\W\d_][“„«»‹›…•€£¥©®™°²³½¼¾×§¿¡№][^\W\d_]")
_OTHER_SCRIPTS: Final = frozenset({"cp1251", "cp1253", "koi8_r"})
_MIXED: Final = re.compile(r"[A-Za-z][^\x00-\x7f]|[^\x00-\x7f][A-Za-z]")


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


def named(name: str) -> str:
    """The given encoding. Raises FileRejected: unknown_encoding."""
    plain = name.strip().lower()
    found = _ALIASES.get(plain, plain)
    if found not in KNOWN:
        message = f'"{name[:40]}" is not a known encoding. Known: {", ".join(KNOWN)}.'
        raise FileRejected("unknown_encoding", message)
    return found


def judged(pieces: Iterable[bytes], may_be_utf8: bool = False) -> str:
    """The encoding of bytes that are no UTF-8, at least not all of them: of all, because the first
    words may be the same in several. Raises Undecided."""
    words = _words_in(pieces)
    sample = b" ".join(words)
    read = {name: _words(sample, name) for name in (*_ALPHABETS, *_SIGNS)}
    possible = {name: text for name, text in read.items() if text is not None}
    if len(set(possible.values())) > 1:
        possible = {name: possible[name] for name in _likeliest(sample, list(possible))}
    if len(set(possible.values())) == 1 and not may_be_utf8:
        return next(iter(possible))
    others = possible or dict.fromkeys(name for name in KNOWN if name not in _UNICODE)
    raise Undecided(_readings(words, ["utf-8", *others] if may_be_utf8 else others))


def _words_in(pieces: Iterable[bytes]) -> list[bytes]:
    """Different words that are no ASCII, as far as there is room in a sample."""
    found: dict[bytes, None] = {}
    size, held = 0, b""
    for piece in chain(pieces, [b"\n"]):
        held += piece
        end = max(held.rfind(b"\n"), held.rfind(b"\r")) + 1 or len(held) - len(held) % LARGEST_LINE
        lines, held = held[:end], held[end:]
        if lines.isascii():
            continue
        for line in lines.splitlines():
            for word in _WORD.findall(line) if not line.isascii() else ():
                size += 0 if word in found else len(word)
                found[word] = None
        if size > _SAMPLE:
            break
    return list(found)


def _words(sample: bytes, encoding: str) -> str | None:
    """The sample in an encoding, if its words are of one alphabet."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return None
    plain = text.translate(_MARKS)
    if encoding in _SIGNS:
        return text if _is_east_asian(plain, _SIGNS[encoding]) else None
    if _MARK_WITHIN.search(text) or _has_inner_capital(plain):
        return None
    if encoding in _OTHER_SCRIPTS and _MIXED.search(plain):
        return None
    letters = {c for c in plain.lower() if not c.isascii()}
    alphabets = _ALPHABETS[encoding].split()
    return text if any(letters <= set(alphabet) for alphabet in alphabets) else None


def _is_east_asian(text: str, everyday: str) -> bool:
    """Whether there are everyday signs, and more of them than Latin letters: one by itself may be
    two letters of another encoding."""
    signs = [c for c in text if not c.isascii()]
    try:
        "".join(signs).encode(everyday)
    except UnicodeEncodeError:
        return False
    return len(signs) >= max(2, sum(c.isalpha() for c in text if c.isascii()))


def _has_inner_capital(text: str) -> bool:
    """Whether a non-ASCII capital follows a small letter: `CafÈ`."""
    return any(a.islower() and b.isupper() and not b.isascii() for a, b in pairwise(text))


def _likeliest(sample: bytes, possible: list[str]) -> list[str]:
    from charset_normalizer import from_bytes  # for the few files that need it

    found = from_bytes(sample, cp_isolation=possible, threshold=0.8, enable_fallback=False)
    ranked = [match for match in found if match.encoding in possible]
    if not ranked:
        return possible
    first = ranked[0]
    same = [m.encoding for m in ranked if m.chaos - first.chaos < _MARGIN]
    return [name for name in possible if name in same]


def _readings(words: Iterable[bytes], possible: Iterable[str]) -> list[DecodedSample]:
    shown = [word[:40] for word in dict.fromkeys(words)][:_SHOWN]
    found: dict[tuple[str, ...], DecodedSample] = {}
    for name in possible:
        samples = [word.decode(name, "replace") for word in shown]
        found.setdefault(tuple(samples), DecodedSample(name, samples))
    return list(found.values())
