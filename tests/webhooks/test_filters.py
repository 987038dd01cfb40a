"""Which events pass the filter of a webhook; the others make no delivery."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto.events.models import EventPattern

from chalicelib.orders.model import LARGEST_ORDER
from chalicelib.webhooks import filter as filters
from chalicelib.webhooks.filter import find_faults, lets_through
from tests.support.webhook_world import World, announce
from tests.webhooks.build import PATH, add

ORDER = {
    "event": "order.paid",
    "data": {
        **{"number": "1001", "source": "IN_PERSON", "total": "500.00", "note": None},
        **{"tags": ["rush", "gift"], "customer": {"email": "ada@example.com"}},
        "lineItems": [{"sku": "A", "quantity": 1}, {"sku": "B", "quantity": 9}],
    },
}


def passes(pattern: Any, body: Any = ORDER) -> bool:
    assert list(find_faults(pattern, "filter")) == []
    return lets_through(json.dumps(pattern), json.dumps(body))


@pytest.mark.parametrize(
    ("data", "fits"),
    [
        # Simpler patterns are compared with moto's EventBridge, below.
        ({"source": ["in_person"]}, False),
        ({"source": [{"anything-but": "IN_PERSON"}]}, False),
        ({"source": [{"anything-but": {"prefix": "IN"}}]}, False),
        ({"nothing": [{"anything-but": "IN_PERSON"}]}, False),
        ({"note": [{"anything-but": None}]}, False),
        ({"customer": {"email": [{"exists": True}]}}, True),
        ({"nobody": {"email": [{"exists": False}]}}, True),
        ({"note": {"email": ["x"]}}, False),
        ({"lineItems": {"sku": ["A"], "quantity": [1]}}, True),
        ({"lineItems": {"sku": ["A"], "quantity": [9]}}, False),
        # Amounts compare as numbers, however they are written, and exactly.
        ({"total": [{"numeric": [">=", 500]}]}, True),
        ({"total": [{"numeric": [">", 500]}]}, False),
        ({"total": [{"numeric": ["=", 500.00]}]}, True),
        ({"total": [{"numeric": [">", 100, "<=", 499.99]}]}, False),
        ({"total": [500]}, True),
        ({"total": ["500"]}, False),
        ({"total": [{"anything-but": 500}]}, False),
        ({"source": [{"numeric": [">", 0]}]}, False),
        ({"note": [{"numeric": ["<", 1]}]}, False),
        ({"note": [False]}, False),
    ],
)
def test_an_event_passes_if_every_field_of_the_pattern_matches(data: Any, fits: bool) -> None:
    assert passes({"data": data}) is fits
    assert passes({"event": ["order.paid"], "data": data}) is fits
    assert not passes({"event": ["order.created"], "data": data})


def test_cents_are_compared_exactly() -> None:
    for total, fits in (("0.30", True), ("0.29", False), ("9007199254740993.10", True)):
        body = {"event": "order.paid", "data": {"total": total}}
        assert passes({"data": {"total": [{"numeric": [">=", 0.3]}]}}, body) is fits


_leaves = st.none() | st.sampled_from(["", "a", "ab", "b"]) | st.integers(0, 3)
_values = _leaves | st.lists(_leaves, max_size=3)
_bodies = st.fixed_dictionaries(
    {},
    optional={
        "event": _values,
        "data": st.fixed_dictionaries(
            {}, optional={"a": _values, "b": st.fixed_dictionaries({"c": _values})}
        ),
    },
)
_signs = st.sampled_from(["=", "<", "<=", ">", ">="])
_texts = st.sampled_from(["a", "ab", "b"])
_matchers = st.lists(
    _leaves
    | st.fixed_dictionaries({"exists": st.booleans()})
    | st.fixed_dictionaries({"prefix": _texts})
    | st.fixed_dictionaries({"anything-but": st.lists(_texts, min_size=1, max_size=2)})
    | st.fixed_dictionaries({"numeric": st.tuples(_signs, st.integers(0, 3)).map(list)})
    | st.fixed_dictionaries(
        {"numeric": st.tuples(_signs, st.integers(0, 3), _signs, st.integers(0, 3)).map(list)}
    ),
    min_size=1,
    max_size=3,
)
_patterns = st.fixed_dictionaries(
    {"data": st.fixed_dictionaries({"a": _matchers, "b": st.fixed_dictionaries({"c": _matchers})})},
    optional={"event": _matchers},
)


@given(_patterns, _bodies)
def test_patterns_match_as_motos_eventbridge_does(pattern: Any, body: Any) -> None:
    assert passes(pattern, body) == EventPattern(None, pattern).matches_event(body)


_json = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(_json | _patterns, _json)
def test_an_accepted_pattern_works_on_any_body(pattern: Any, data: Any) -> None:
    found = list(find_faults(pattern, "filter"))
    if not found:
        lets_through(json.dumps(pattern), json.dumps({"event": "order.paid", "data": data}))


@pytest.mark.parametrize(
    ("pattern", "field"),
    [
        ({}, "filter"),
        ({"source": ["ONLINE"]}, "filter.source"),
        ({"data": {}}, "filter.data"),
        ({"data": {"source": "ONLINE"}}, "filter.data.source"),
        ({"data": {"source": []}}, "filter.data.source"),
        ({"data": {"source": ["A", ["B"]]}}, "filter.data.source.1"),
        ({"data": {"source": [{"suffix": "X"}]}}, "filter.data.source.0"),
        ({"data": {"source": [{"prefix": 1}]}}, "filter.data.source.0"),
        ({"data": {"source": [{"exists": "yes"}]}}, "filter.data.source.0"),
        ({"data": {"source": [{"prefix": "a", "exists": True}]}}, "filter.data.source.0"),
        ({"data": {"source": [{}]}}, "filter.data.source.0"),
        ({"data": {"source": [{"anything-but": []}]}}, "filter.data.source.0"),
        ({"data": {"source": [{"anything-but": {"exists": True}}]}}, "filter.data.source.0"),
        ({"data": {"total": [{"numeric": [">"]}]}}, "filter.data.total.0"),
        ({"data": {"total": [{"numeric": ["!=", 1]}]}}, "filter.data.total.0"),
        ({"data": {"total": [{"numeric": [">", "1"]}]}}, "filter.data.total.0"),
        ({"data": {"total": [{"numeric": [">", True]}]}}, "filter.data.total.0"),
        ({"data": {"total": [{"numeric": [">", 1, "<"]}]}}, "filter.data.total.0"),
        ({"data": {"source": list(range(51))}}, "filter"),
        ({"data": {"note": ["x" * 5_000]}}, "filter"),
        ({"data": {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": [1]}}}}}}}}},
         "filter.data.a.b.c.d.e.f.g"),
    ],
)  # fmt: skip
def test_an_invalid_pattern_is_refused_by_its_place(world: World, pattern: Any, field: str) -> None:
    new = {"url": "http://127.0.0.1:9/", "events": ["order.paid"], "filter": pattern}
    assert world.shop.post(PATH, new).refused == [field]
    webhook = add(world, "order.paid")
    assert webhook.put({"filter": pattern}).refused == [field]
    dry = {"dryRun": True, "filter": pattern}
    assert webhook.post("/test", dry).refused == [field]


def test_a_pattern_may_have_4096_bytes() -> None:
    for text, places in (("é" * 2_037, []), ("é" * 2_037 + "x", ["filter"])):
        pattern = {"data": {"note": [text]}}
        assert [place for place, _ in find_faults(pattern, "filter")] == places


def test_a_filtered_event_makes_no_delivery(world: World) -> None:
    def writes() -> int:
        with world.double.metered() as calls:
            world.run()
        return len([call for call in calls if call.write_units])

    expensive = {"data": {"total": [{"numeric": [">=", 500]}]}}
    announce("order.paid", id="ord_1", total="1.00")
    writes()  # the first event of an hour writes one more item
    announce("order.paid", id="ord_1", total="499.99")
    without = writes()
    webhook = add(world, "order.paid", filter=expensive)
    announce("order.paid", id="ord_1", total="499.99")
    assert writes() == without, "as if it were not there"
    assert (world.posted, webhook.listed()) == ([], [])
    announce("order.paid", id="ord_2", total="500.00")
    world.run()
    assert [json.loads(one.body)["data"]["id"] for one in world.posted] == ["ord_2"]
    assert len(webhook.listed()) == 1


def test_a_filter_can_be_read_changed_and_cleared(world: World) -> None:
    pattern = {"data": {"total": [{"numeric": [">=", 499.99, "<", 1000]}, "Größe", None, True]}}
    webhook = add(world, "order.paid", filter=pattern)
    before = webhook.fetch()
    assert webhook["filter"] == before.json["filter"] == pattern
    assert webhook.put({"description": "ERP"}).json["filter"] == pattern
    other = {"event": ["order.paid"]}
    assert webhook.put({"filter": other}).json["filter"] == other
    assert webhook.fetch().headers["ETag"] != before.headers["ETag"]
    assert webhook.put({"filter": None}).json["filter"] is None
    announce("order.paid", id="ord_1")
    world.run()
    assert len(world.posted) == 1


def test_a_test_event_is_always_sent_and_reports_whether_it_passes_the_filter(world: World) -> None:
    for number, (source, fits) in enumerate([("IN_PERSON", True), ("ONLINE", False)], 1):
        webhook = add(world, "order.paid", filter={"data": {"source": [source]}})
        sent = webhook.post("/test", {})
        assert (sent.status, sent.json["passesFilter"]) == (202, fits)
        world.run()
        assert len(world.posted) == number


def test_a_filter_can_be_tried_before_it_is_saved(world: World) -> None:
    webhook = add(world, "order.paid", "order.created", filter={"data": {"source": ["ONLINE"]}})
    tried = webhook.post("/test", {"dryRun": True}).json
    assert (tried["event"], tried["data"]["source"], tried["passesFilter"]) == (
        "order.paid", "IN_PERSON", False,
    )  # fmt: skip
    here = {"dryRun": True, "filter": {"data": {"source": ["IN_PERSON"]}}}
    assert webhook.post("/test", here).json["passesFilter"] is True
    assert webhook.post("/test", {"dryRun": True, "filter": None}).json["passesFilter"] is True
    own = {**tried["data"], "source": "ONLINE"}
    assert webhook.post("/test", {"dryRun": True, "data": own}).json["passesFilter"] is True
    around = len(json.dumps({"event": "order.paid", "data": {"note": ""}}))
    for length, status in ((LARGEST_ORDER - around, 200), (LARGEST_ORDER - around + 1, 422)):
        large = {"dryRun": True, "data": {"note": "é" * (length // 2) + "x" * (length % 2)}}
        assert webhook.post("/test", large).status == status
    assert webhook.post("/test", {"data": own}).refused == ["data"]
    world.run()
    assert world.posted == [] and webhook.listed() == []


def test_a_test_with_null_for_what_only_a_trial_takes_is_sent(world: World) -> None:
    webhook = add(world, "order.paid")
    sent = webhook.post("/test", {"event": None, "dryRun": None, "filter": None, "data": None})
    assert sent.status == 202, sent.text
    world.run()
    assert len(world.posted) == 1


def test_the_largest_pattern_and_body_take_a_bounded_number_of_comparisons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = 0
    equals = filters._equals

    def counted(wanted: Any, value: Any) -> bool:
        nonlocal asked
        asked += 1
        return equals(wanted, value)

    monkeypatch.setattr(filters, "_equals", counted)
    many = {"event": "product.updated", "data": {"metadata": {"list": [0] * 8_000}}}
    assert not passes({"data": {"metadata": {"list": list(range(1, 51))}}}, many)
    assert 0 < asked <= 50 * 8_000
