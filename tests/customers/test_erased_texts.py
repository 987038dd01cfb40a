"""What an erasure leaves of events, kept replies, and attempts of deliveries."""

import json
from typing import Any

import pytest

from chalicelib.storage import idempotency, outbox
from chalicelib.values.forgetting import ERASED, Person
from chalicelib.webhooks import attempts

ANN = Person(frozenset({"cus_1"}), frozenset({"ann@example.com", "Löwe"}))
CUSTOMER = {"id": "cus_1", "email": "ann@example.com", "lastName": "Löwe"}
ORDER = {"id": "ord_1", "number": "7", "customer": {"id": "cus_1", "email": "ann@work.example"}}
OTHER = {"id": "cus_2", "email": "ben@example.com"}


def item(*data: dict[str, Any]) -> dict[str, Any]:
    return outbox.item([("x.updated", outbox.body("x.updated", each)) for each in data])


def test_the_events_about_a_person_are_counted_and_the_others_stay() -> None:
    kept = item(OTHER, CUSTOMER, ORDER)
    about, facts, left = outbox.forgotten(kept, ANN)
    assert (about, facts) == (2, {"ann@example.com", "Löwe", "ann@work.example"})
    assert left["events"][0] == kept["events"][0]
    shown = [event.data() for event in outbox.events_of(left)]
    assert shown[1] == ANN.forget(CUSTOMER) and shown[2] == ANN.forget(ORDER)
    assert {name: left[name] for name in kept if name != "events"} == {
        name: kept[name] for name in kept if name != "events"
    }
    assert outbox.forgotten(left, ANN) == (2, set(), left)


def test_an_item_without_events_about_a_person_stays() -> None:
    kept = item(OTHER)
    assert outbox.forgotten(kept, ANN) == (0, set(), kept)
    unreadable = {**kept, "events": "?"}
    assert outbox.forgotten(unreadable, ANN) == (0, set(), unreadable)


def reply(answer: object, key: str = "idem#key_1#k") -> dict[str, Any]:
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return {"pk": key, "sk": "reply", "text": text}


def test_a_kept_reply_about_a_person_is_shortened() -> None:
    other_letters = {**ORDER, "lineItems": [{"title": "Größe"}]}
    changes = idempotency.forgotten(reply(other_letters), ANN)
    left = json.dumps(ANN.forget(other_letters), ensure_ascii=False, separators=(",", ":"))
    assert changes == {"text": left} and "Größe" in left
    assert idempotency.forgotten({**reply(ORDER), "text": left}, ANN) == {}, "it was before"


def test_other_kept_replies_stay() -> None:
    assert idempotency.forgotten(reply(OTHER), ANN) == {}
    assert idempotency.forgotten(reply(ORDER, key="ord_1"), ANN) == {}, "no reply"
    assert idempotency.forgotten({"pk": "idem#key_1#k", "sk": "part#0", "text": "c$x"}, ANN) == {}
    begun = {"pk": "idem#key_1#k", "sk": "reply", "seed": "0"}
    assert idempotency.forgotten(begun, ANN) == {}


def test_an_attempt_keeps_what_does_not_mention_the_person() -> None:
    item = {
        "body": "no ann@example.com here",
        "headers": {"x-for": "ann@example.com", "x-of": "ben"},
        "message": "",
        "url": "https://example.com/?to=ann%40example.com",
    }
    assert attempts.forgotten(item, ANN) == {
        **{"body": ERASED, "headers": {"x-for": ERASED, "x-of": "ben"}},
        "url": f"https://example.com/?to={ERASED}",
    }
    assert attempts.forgotten({"body": "ok", "message": "refused"}, ANN) == {}


@pytest.mark.thorough
def test_the_time_of_a_search_does_not_grow_with_the_texts_of_a_person() -> None:
    """A search that tried each text at each place would take minutes."""
    facts = {f"{number} Elm Street Flat {number % 97}" for number in range(6_000)}
    person = Person(frozenset({"cus_1"}), frozenset(facts))
    text = "Nothing but 17 Elm Street in a long report. " * 20_000
    assert not person.mentions(text)
    assert person.without("to 17 ELM Street Flat 17, please") == f"to {ERASED}, please"


def test_the_longest_text_that_fits_is_replaced() -> None:
    names = frozenset({"Ann", "Ann Lee", "ann leeds", "Ann Lee Fox", "İbo", "ß"})
    person = Person(frozenset({"cus_1"}), names)
    assert person.without("ann lee foxes") == f"{ERASED} foxes"
    assert person.without("ANN LEE FOX, Annie, Ann") == f"{ERASED}, Annie, {ERASED}"
    assert person.without("Ann Leeds%20Ann İbo ß") == f"{ERASED}%20{ERASED} {ERASED} {ERASED}"
    deep = frozenset("a" * length for length in range(2, 300))
    assert Person(frozenset(), deep).without("a" * 299) == ERASED
