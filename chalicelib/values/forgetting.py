"""A person who is erased: which data is about the person, and what is left of it.

An order of the person is cleared by its fields. Other texts, such as those of an order that an
edit moved to another customer, may name anybody: they are searched for the person's known texts.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import quote

from chalicelib.values import addresses
from chalicelib.values.changes import Change

ERASED: Final = "[erased]"
_NAMED: Final = ("email", "firstName", "lastName", "company", "phone")
_PLACES: Final = ("shippingAddress", "billingAddress")
_PARTS: Final = ("firstName", "lastName", "company", "address1", "address2", "phone")
_PARTS_OF_ORDER: Final = frozenset({"payments", "refunds", "shipments"})
_TEXTS: Final = frozenset({"reference", "note", "voidReason", "cancelReason"})
_MENTIONING: Final = frozenset({"note", "tags", "metadata", "edits", "discount", "closeReason"})
_SHORTEST: Final = 2  # letters of a text that is searched for
_DEEPEST: Final = 40  # branches within each other, because patterns are parsed recursively

Shown = Mapping[str, Any]  # an order or a customer, or a part of it, as the API shows it


@dataclass(frozen=True)
class Person:
    """A person who is erased: a customer.

    `ids`: of the customer, and of those that were merged into it. `facts`: identifying texts:
    e-mail addresses, names, phones, the lines of addresses.
    """

    ids: frozenset[str]
    facts: frozenset[str] = frozenset()

    def is_about(self, order: Mapping[str, object]) -> bool:
        """Return whether it is an order of this customer."""
        return self._customer_of(order).get("id") in self.ids

    def redact_moved_order(self, data: Shown, places: Iterable[str]) -> dict[str, Any]:
        """Return an order that an edit moved to another customer, without this person.

        `places`: the names of the addresses that are the person's, and go as a whole.
        """
        gone = {name: addresses.forget_address(data[name]) for name in places}
        left = self._redact_members(data, _MENTIONING)
        left["lineItems"] = [
            self._redact_members(line, _mentioning_members(line)) for line in data["lineItems"]
        ]
        for name in _PARTS_OF_ORDER:
            left[name] = [self._redact_members(member, _TEXTS) for member in data[name]]
        return {**left, "externalId": self._own_id(data), **gone}

    def forget_order(self, data: Shown) -> dict[str, object]:
        """Return what is left of the person's order: numbers, lines, money and the country."""
        left = {**data, "note": None}
        facts = self.facts_in(data)
        known = self if facts <= self.facts else Person(self.ids, self.facts | facts)
        if data.get("tags"):
            left["tags"] = [tag for tag in data["tags"] if not known.is_mentioned_in(tag)]
        if "lineItems" in data:
            left["lineItems"] = [known._forget_line(line) for line in data["lineItems"]]
        if data.get("discount"):
            left["discount"] = known.redact(data["discount"])
        if "metadata" in data:
            left["metadata"] = known.redact(data["metadata"])
            left["externalId"] = known._own_id(data)
        if "edits" in data:
            edits = data["edits"]
            left["edits"] = [{**known.redact(edit), "reason": None} for edit in edits]
        left |= dict.fromkeys({"closeReason"} & data.keys())
        left["customer"] = {**dict.fromkeys(data["customer"]), "id": data["customer"]["id"]}
        for name in _PLACES:
            if name in data:
                left[name] = addresses.forget_address(data[name])
        for name in _PARTS_OF_ORDER & data.keys():
            left[name] = [{**part, **dict.fromkeys(_TEXTS & part.keys())} for part in data[name]]
        return left

    def _forget_line(self, line: Shown) -> dict[str, Any]:
        left = self._redact_members(line, _mentioning_members(line))
        if line.get("specification"):
            left["specification"] = [{**one, "value": None} for one in line["specification"]]
        return left | dict.fromkeys({"note"} & line.keys())

    def _own_id(self, data: Shown) -> str | None:
        own_id: str | None = data["externalId"]
        return None if own_id and self.is_mentioned_in(own_id) else own_id

    def _redact_members(self, data: Shown, names: Set[str]) -> dict[str, Any]:
        """Return the data without mentions of the person in the members with these names."""
        return {**data, **{name: self.redact(data[name]) for name in names & data.keys()}}

    def facts_in(self, data: Shown) -> set[str]:
        """Return the identifying texts in a customer or an order."""
        own = data if data.get("id") in self.ids else self._customer_of(data)
        parts = [own.get(name) for name in _NAMED]
        places = [data.get(name) or {} for name in _PLACES]
        places += own.get("addresses") or []
        parts += [place.get(name) for place in places for name in _PARTS]
        return {part for part in parts if part and len(part) >= _SHORTEST}

    def is_mentioned_in(self, text: str) -> bool:
        return bool(self._pattern.search(text))

    def redact(self, value: object) -> Any:
        """Return a JSON value without mentions of the person; names of members stay."""
        if isinstance(value, str):
            return self._pattern.sub(ERASED, value)
        if isinstance(value, list):
            return [self.redact(one) for one in value]
        if isinstance(value, dict):
            return {name: self.redact(member) for name, member in value.items()}
        return value

    def _customer_of(self, data: Mapping[str, object]) -> Shown:
        customer = data.get("customer")
        return customer if isinstance(customer, dict) else {}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Return the pattern that finds the person's facts in a text, as whole words.

        A fact is found as written, without accents, JSON-escaped, and URL-encoded; a phone also as
        its digits. Ann is not in `annual`.
        """
        written = {form for fact in self.facts for form in _written_forms(fact)}
        if not written:
            return re.compile(r"(?!)")
        return re.compile(
            rf"(?:(?<![^\W_])|(?<=%[0-9a-f]{{2}})){_pattern_of_any(sorted(written))}(?![^\W_])",
            re.IGNORECASE,
        )


def identifying_values(changes: Iterable[Change]) -> set[str]:
    """Return the identifying texts that a customer had, by what the audit log says of changes."""
    named = {*_NAMED, *_PARTS}
    texts = [
        value
        for change in changes
        if change["field"].rpartition(".")[2] in named
        for value in (change["before"], change["after"])
    ]
    return {text for text in texts if isinstance(text, str) and len(text) >= _SHORTEST}


def _mentioning_members(line: Shown) -> set[str]:
    """Return the names of the members of a line that may mention somebody.

    The title of a variant's line stays as it was sold.
    """
    return {"note", "discount", "specification", *(["title"] if line.get("isCustom") else [])}


def _pattern_of_any(texts: Sequence[str], at: int = 0, depth: int = 0) -> str:
    """Return a pattern for what follows the first `at` characters of any of these texts.

    It takes the longest that fits. It branches where the texts differ, so that thousands of them
    take no longer than a few.
    """
    if len(texts) == 1 or depth == _DEEPEST:
        longest_first = sorted((text[at:] for text in texts), key=len, reverse=True)
        return f"(?:{'|'.join(map(re.escape, longest_first))})"
    start, following = at, _group_by_letter(texts, at)
    while len(following) == 1 and "" not in following:
        at += 1
        following = _group_by_letter(texts, at)
    ends = following.pop("", None)
    branches = [_pattern_of_any(branch, at, depth + 1) for branch in following.values()]
    return f"{re.escape(texts[0][start:at])}(?:{'|'.join(branches)}{'|' if ends else ''})"


def _group_by_letter(texts: Sequence[str], at: int) -> dict[str, list[str]]:
    """Return the texts by their letter at a place."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(_fold_letter(text[at : at + 1]), []).append(text)
    return groups


def _fold_letter(letter: str) -> str:
    small = letter.lower()
    return small if len(small) == 1 else letter


def _written_forms(fact: str) -> Iterable[str]:
    yield from (fact, json.dumps(fact)[1:-1], quote(fact), quote(fact, safe=""))
    yield "".join(c for c in unicodedata.normalize("NFKD", fact) if not unicodedata.combining(c))
    if _is_phone(fact):
        yield re.sub(r"\D", "", fact)


def _is_phone(fact: str) -> bool:
    return len(re.findall(r"\d", fact)) > 5 and not re.search(r"[^\W\d_]", fact)
