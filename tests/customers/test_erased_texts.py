"""How a person's texts are found in other texts."""

from typing import Any

import pytest

from chalicelib.values.forgetting import ERASED, Person, identifying_values


@pytest.mark.thorough
def test_the_time_of_a_search_does_not_grow_with_the_texts_of_a_person() -> None:
    """A search that tried each text at each place would take minutes."""
    facts = {f"{number} Elm Street Flat {number % 97}" for number in range(6_000)}
    person = Person(frozenset({"cus_1"}), frozenset(facts))
    text = "Nothing but 17 Elm Street in a long report. " * 20_000
    assert not person.is_mentioned_in(text)
    assert person.redact("to 17 ELM Street Flat 17, please") == f"to {ERASED}, please"


def test_the_longest_text_that_fits_is_replaced() -> None:
    names = frozenset({"Ann", "Ann Lee", "ann leeds", "Ann Lee Fox", "İbo", "ß"})
    person = Person(frozenset({"cus_1"}), names)
    assert person.redact("ann lee foxes") == f"{ERASED} foxes"
    assert person.redact("ANN LEE FOX, Annie, Ann") == f"{ERASED}, Annie, {ERASED}"
    assert person.redact("Ann Leeds%20Ann İbo ß") == f"{ERASED}%20{ERASED} {ERASED} {ERASED}"
    for written in ("Flat 7/8", "Flat%207/8", "Flat%207%2F8", "flat%207%2f8"):
        assert Person(frozenset(), frozenset({"Flat 7/8"})).redact(f"at {written}.") == (
            f"at {ERASED}."
        )
    deep = frozenset("a" * length for length in range(2, 300))
    assert Person(frozenset(), deep).redact("a" * 299) == ERASED


def test_the_texts_that_a_customer_had_are_in_the_audit_log() -> None:
    changes: list[Any] = [
        {"field": "email", "before": "ann@example.com", "after": None},
        {"field": "addresses[adr_1].address1", "before": None, "after": "7 Elm Street"},
        {"field": "addresses[adr_1].city", "before": "Bern", "after": "Basel"},
        {"field": "firstName", "before": "A", "after": 7},
    ]
    assert identifying_values(changes) == {"ann@example.com", "7 Elm Street"}
