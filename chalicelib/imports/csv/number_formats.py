"""Numbers as a workbook shows them, by the cell's format.

With its currency, percent sign, text, zeros and decimals. `workbooks` reads the formats and asks
for each number's text.

A format is the code of ECMA-376 (part 1, 18.8.31), the same in every locale. What is left out are
thousands separators, which could be taken for decimals. A date, a fraction, an exponent and a
number in thousands are no text of the number: it stays as it is stored.
"""

import re
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Final, NamedTuple

# Formats that a workbook has without writing their code. Those of currencies are always written.
BUILT_IN: Final = {
    **{"1": "0", "2": "0.00", "3": "#,##0", "4": "#,##0.00", "9": "0%", "10": "0.00%"},
    **dict.fromkeys(("37", "38"), "#,##0;(#,##0)"),
    **dict.fromkeys(("39", "40"), "#,##0.00;(#,##0.00)"),
}
_TOKEN: Final = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|[_*].|\[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]'
    r"|\[(?P<bracket>[^\]]*)\]|(?P<general>General)|(?P<char>.)",
    re.DOTALL | re.IGNORECASE,
)
_CONDITION: Final = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[0-9.]+)")
_DIGITS: Final = "0#?"
_LONGEST: Final = 500  # characters of a code
# What a text of a spreadsheet may have between the digits of a number.
_SHOWN: Final = re.compile(r"(\D*?)([0-9](?:[0-9.,' \u00a0\u202f’/-]*[0-9])?)(\D*)", re.DOTALL)


class Section(NamedTuple):
    """A part of a format: for which numbers it is, and what it shows of them.

    `pieces`: `0`, `#` and `?` are digits, `.` the decimal point, `G` the number as it is stored;
    any other text is shown, and begins with a quote.
    """

    condition: tuple[str, Decimal] | None
    pieces: tuple[str, ...]
    percents: int

    @property
    def has_number(self) -> bool:
        """Whether the section shows the number, in digits or as it is stored, not a text alone."""
        return any(piece in {*_DIGITS, "G"} for piece in self.pieces)


@lru_cache(1000)
def parse_format(code: str) -> tuple[Section, ...] | None:
    """Parse the code of a number format into its sections.

    None if its text must not be used: it is `General`, shows a date or a fraction, or is too long.
    """
    if len(code) > _LONGEST:
        return None
    parts: list[list[re.Match[str]]] = [[]]
    for token in _TOKEN.finditer(code):
        if token["char"] == ";":
            parts.append([])
        else:
            parts[-1].append(token)
    sections = [_parse_section(part) for part in parts[:3]]
    known = [section for section in sections if section is not None]
    is_plain = [section.pieces for section in known] == [("G",)]
    return None if is_plain or len(known) < len(sections) else tuple(known)


def show_number(value: float, sections: tuple[Section, ...]) -> str | None:
    """Return the text that a format shows for a number; None if it shows none for it.

    It is without thousands separators; a number below zero has a minus before its first digit.
    """
    number = Decimal(f"{value:.15g}")
    section = _choose_section(number, sections)
    if section is None or not section.has_number:
        return None
    scaled = abs(number) * 100**section.percents
    pieces = section.pieces
    if "G" in pieces:
        digits = iter([f"{scaled:f}"])
        text = "".join(piece[1:] if piece[0] == '"' else next(digits, "") for piece in pieces)
    else:
        text = _fill(scaled, pieces)
    if number <= 0 and section is not sections[0]:
        text = _drop_signs(text)  # a dash, a minus or brackets of its own
    first = next(at for at, char in enumerate(text) if char.isdecimal())
    return f"{text[:first]}{'-' if number < 0 else ''}{text[first:]}".strip()


def normalize_shown(text: str, value: float) -> str | None:
    """Return the text shown for a number without thousands separators and with a decimal point.

    Digits joined by `-` or `/`, a code, stay as they are. None if it is no text of that number,
    such as a date or an exponent.
    """
    match = _SHOWN.fullmatch(text.strip())
    if not match or len(text) > _LONGEST:
        return None
    before, core, after = match.groups()
    digits = re.sub("[^0-9]", "", core)
    scaled = abs(Decimal(f"{value:.15g}")) * (100 if "%" in before + after else 1)
    last = max(core.rfind("."), core.rfind(","))
    for places in (len(core) - last - 1 if last >= 0 else 0, 0):
        shown = f"{_round(scaled, places):f}".replace(".", "")
        if digits.lstrip("0") == shown.lstrip("0") and len(digits) > places:
            if "-" in core or "/" in core:
                return text.strip()  # a code
            whole, decimals = digits[: len(digits) - places], digits[len(digits) - places :]
            number = f"{whole}.{decimals}" if places else whole
            if value < 0:
                before, after, number = _drop_signs(before), _drop_signs(after), f"-{number}"
            return f"{before}{number}{after}".strip()
    return None


def _drop_signs(text: str) -> str:
    """Return a text without minus signs, dashes and brackets."""
    return re.sub("[-−–()]", "", text)


def _parse_section(tokens: Iterable[re.Match[str]]) -> Section | None:
    """Parse a section of a format; None if it shows a date, duration, fraction or thousands."""
    condition = None
    pieces: list[str] = []
    percents = 0
    for token in tokens:
        char, literal = token["char"], token["quoted"] or token["escaped"] or token["currency"]
        if literal:
            pieces.append(f'"{literal}')
        elif token["bracket"] is not None:
            if token["bracket"].lower().strip("hms") == "":
                return None  # a duration
            if compared := _CONDITION.fullmatch(token["bracket"]):
                condition = compared[1], Decimal(compared[2])
        elif token["general"]:
            pieces.append("G")
        elif char == "%":
            percents += 1
            pieces.append('"%')
        elif char and char in "yYmMdDhHsSeE@":
            return None
        elif char == "/" and pieces and pieces[-1] in {*_DIGITS}:
            return None  # a fraction
        elif char == ",":
            pieces.append(",")
        elif char:
            pieces.append(char if char in _DIGITS or char == "." else f'"{char}')
    return _without_commas(Section(condition, tuple(pieces), percents))


def _without_commas(section: Section) -> Section | None:
    """Return the section without thousands separators; None if it shows a number in thousands.

    It does if a comma follows its last whole digit. Without any digit, commas are text.
    """
    pieces = section.pieces
    digits = [at for at, piece in enumerate(pieces) if piece in _DIGITS]
    commas = [at for at, piece in enumerate(pieces) if piece == ","]
    whole = [at for at in digits if "." not in pieces[:at]]
    if digits and any(at > whole[-1] if whole else True for at in commas):
        return None
    if not digits and commas:
        return section._replace(pieces=tuple('",' if p == "," else p for p in pieces))
    return section._replace(pieces=tuple(piece for piece in pieces if piece != ","))


def _choose_section(number: Decimal, sections: tuple[Section, ...]) -> Section | None:
    """Return the section for a number, by its condition or its sign; None if no condition fits."""
    if any(section.condition for section in sections):
        fitting = (each for each in sections if _fulfils(number, each.condition))
        return next(fitting, None)
    if number < 0 and len(sections) > 1:
        return sections[1]
    return sections[2] if not number and len(sections) > 2 else sections[0]


def _fulfils(number: Decimal, condition: tuple[str, Decimal] | None) -> bool:
    """Return whether a number fulfils a section's condition, such as (">=", 100)."""
    if condition is None:
        return True
    sign, limit = condition
    order = (number > limit) - (number < limit)
    return {"<": order < 0, ">": order > 0, "=": order == 0}.get(
        sign, {"<=": order <= 0, ">=": order >= 0, "<>": order != 0}.get(sign, False)
    )


def _fill(number: Decimal, pieces: tuple[str, ...]) -> str:
    """Return the text of a number, without its sign, in the pieces of a section.

    It is rounded half up to as many decimals as there are digits after the point; zeros at the end
    are left out where those are not `0`.
    """
    point = pieces.index(".") if "." in pieces else len(pieces)
    places = [piece for piece in pieces[point:] if piece in _DIGITS]
    whole, _, decimals = f"{_round(number, len(places)):f}".partition(".")
    needed = max((at for at, piece in enumerate(places, 1) if piece == "0"), default=0)
    decimals = decimals[:needed] + decimals[needed:].rstrip("0")
    before = _fill_from_right(whole, pieces[:point])
    decimals_left = iter(decimals)
    after = "".join(
        next(decimals_left, "") if piece in _DIGITS else piece[1:] for piece in pieces[point + 1 :]
    )
    is_pointed = bool(decimals) or (point < len(pieces) and not places)  # `0.-` shows 12.-
    return before + ("." if is_pointed else "") + after


def _fill_from_right(whole: str, pieces: Iterable[str]) -> str:
    """Return the whole digits of a number in these pieces; the first takes all that are left."""
    digits, text = whole.lstrip("0"), ""
    backwards = list(pieces)[::-1]
    last = max((at for at, piece in enumerate(backwards) if piece in _DIGITS), default=-1)
    for at, piece in enumerate(backwards):
        if piece not in _DIGITS:
            text = piece[1:] + text
        elif at == last:
            text = (digits or ("0" if piece == "0" else "")) + text
        else:
            text = (digits[-1:] or ("0" if piece == "0" else "")) + text
            digits = digits[:-1]
    if last < 0:
        return text + (digits or "0")
    return text if any(char.isdecimal() for char in text) else _insert_zero(text, backwards)


def _insert_zero(text: str, backwards: list[str]) -> str:
    """Return a text that has no digit, with a 0 where the last digit would be.

    A price of nothing is no blank. `backwards`: the pieces of the format, the last first.
    """
    after = "".join(piece[1:] for piece in reversed(backwards[: _first_digit(backwards)]))
    return text[: len(text) - len(after)] + "0" + after


def _first_digit(backwards: list[str]) -> int:
    """Return the place of the first digit; there has to be one."""
    return next(at for at, piece in enumerate(backwards) if piece in _DIGITS)


def _round(number: Decimal, places: int) -> Decimal:
    """Return a number rounded half up to so many decimals."""
    return number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
