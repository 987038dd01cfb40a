"""Repeated, late and large bulk calls: each product is created once and returned."""

import json
from datetime import timedelta

import pytest

from chalicelib.storage.idempotency import Once
from chalicelib.values import clock, ids
from tests.products.build import PRODUCTS, new_product
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.shop import Answer, Shop

BULK = f"{PRODUCTS}/bulk"
JSON = {"Content-Type": "application/json"}
KEY = {"Idempotency-Key": "nightly-7"}


def test_a_repeated_bulk_creates_nothing_twice_and_has_the_same_answer(shop: Shop) -> None:
    rows = [new_product(name="Hat"), new_product(name="Hat"), {"name": ""}, new_product(slug="x")]
    first = shop.post(BULK, rows, headers=KEY)
    made = ids.made_at(first.json["data"][0]["product"]["id"])
    assert abs(made - clock.now()) < timedelta(minutes=1)
    shop.post(PRODUCTS, new_product(name="Hat"))
    again = shop.post(BULK, rows, headers=KEY)
    assert (again.status, again.text) == (200, first.text)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert shop.get(PRODUCTS).json["total"] == 4
    other = shop.post(BULK, rows[:2], headers=KEY)
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")
    assert [e["event"] for e in shop.events()].count("product.created") == 4


def test_all_parts_of_a_kept_answer_expire_together(shop: Shop) -> None:
    shop.post(BULK, [new_product(name="Hat")], headers=KEY)
    kept = [item for item in shop.stored() if item["pk"].startswith("idem#")]
    assert {item["sk"] for item in kept} == {"reply", "part#0"}
    (expires,) = {item["expiresAt"] for item in kept}
    assert abs(expires - clock.unix() - 24 * 3_600) < 60


@pytest.mark.thorough
@pytest.mark.parametrize("calls", range(1, 11))
def test_repeating_a_bulk_that_crashed_at_any_call_creates_each_product_once(
    shop: Shop, dynamodb: Double, calls: int
) -> None:
    """A crash at each call, before and after its effect."""
    assert shop.owner
    rows = [new_product(name="Hat", sku=f"H-{n}") for n in range(30)]
    for after in (False, True):
        dynamodb.crashes(nth=calls, after=after)
        key = {"Idempotency-Key": f"crash {after}"}
        with pytest.raises(Crash):
            shop.post(BULK, rows, headers=key)
        dynamodb.faults = lambda operation, request: None
        answer = shop.post(BULK, rows, headers=key)
        assert answer.json["summary"] == {"created": 30, "failed": 0}
        assert shop.post(BULK, rows, headers=key).text == answer.text
    assert shop.get(PRODUCTS).json["total"] == 60
    assert len(shop.events()) == 60


def test_a_repeat_does_not_rewrite_created_products(shop: Shop, dynamodb: Double) -> None:
    rows = [new_product(name="Hat") for _ in range(3)]
    dynamodb.faults = lambda operation, _: Fault.CRASH if operation == "BatchWriteItem" else None
    with pytest.raises(Crash):
        shop.post(BULK, rows, headers=KEY)  # all are made, but not the answer
    calls = list[str]()
    dynamodb.faults = lambda operation, _: calls.append(operation)
    assert shop.post(BULK, rows, headers=KEY).json["summary"] == {"created": 3, "failed": 0}
    assert "TransactWriteItems" not in calls and "BatchWriteItem" in calls


def test_a_product_that_the_same_bulk_creates_meanwhile_under_another_slug_is_returned(
    shop: Shop, dynamodb: Double
) -> None:
    rows, first = [new_product(name="Hat")], list[Answer]()

    def take_the_slug() -> None:
        shop.post(PRODUCTS, new_product(name="Hat"))
        dynamodb.meanwhile("TransactWriteItems", overtake)

    def overtake() -> None:
        first.append(shop.post(BULK, rows, headers=KEY))

    assert shop.owner
    dynamodb.meanwhile("TransactWriteItems", take_the_slug)
    second = shop.post(BULK, rows, headers=KEY)
    assert second.text == first[0].text
    assert second.json["data"][0]["product"]["slug"] == "hat-2"


def test_a_product_that_the_same_bulk_creates_meanwhile_is_returned(
    shop: Shop, dynamodb: Double
) -> None:
    rows, first = [new_product(name="Hat", slug="hat")], list[Answer]()
    assert shop.owner
    dynamodb.meanwhile(
        "TransactWriteItems", lambda: first.append(shop.post(BULK, rows, headers=KEY))
    )
    second = shop.post(BULK, rows, headers=KEY)
    assert second.text == first[0].text and second.json["summary"]["created"] == 1


def test_rows_without_time_left_are_created_by_the_repeat(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [new_product(name="Hat") for n in range(40)]
    monkeypatch.setattr("chalicelib.products.routes._BULK_SECONDS", -1.0)
    late = shop.post(BULK, rows, headers=KEY).json
    assert {row["error"]["code"] for row in late["data"]} == {"not_reached"}
    assert shop.get(PRODUCTS).json["total"] == 0
    monkeypatch.setattr("chalicelib.products.routes._BULK_SECONDS", 1e9)
    answer = shop.post(BULK, rows, headers=KEY)
    assert answer.json["summary"] == {"created": 40, "failed": 0}
    assert shop.get(PRODUCTS).json["total"] == 40


@pytest.mark.thorough
def test_a_bulk_that_would_take_too_long_is_refused_before_writing(
    shop: Shop, dynamodb: Double
) -> None:
    variants = [{"title": f"V{n}", "sku": f"S{n}"} for n in range(400)]
    rows = [new_product(name="Hat", variants=variants) for _ in range(26)]
    assert shop.owner
    with dynamodb.metered() as calls:
        refused = shop.post(BULK, rows, headers=KEY)
    assert shop.post(BULK, [{}] * 501).refused == ["products"]
    assert refused.status == 422
    (error,) = refused.json["errors"]
    assert (error["field"], error["code"]) == ("products", "too_long")
    assert "variants, tags and words" in error["message"] and "30,000" in error["message"]
    assert [call for call in calls if call.write_units > 1] == []
    assert not any("Transact" in call.operation for call in calls)
    assert shop.get(PRODUCTS).json["total"] == 0
    assert shop.post(BULK, rows[:20], headers=KEY).json["summary"]["created"] == 20
    assert "30,000" in str(shop.get("/api/openapi.json").json["paths"][BULK]["post"])


@pytest.mark.thorough
def test_the_largest_bulks_fit_the_throughput_of_a_new_table(
    shop: Shop, dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4,000 write units a second, for the rows closest to the limits."""
    monkeypatch.setattr("chalicelib.products.routes._BULK_SECONDS", 1e9)
    tags = [f"t{n}" for n in range(60)]
    stocked = [{"title": f"V{n}", "sku": f"S{n}", "stock": 9} for n in range(14)]
    for rows in (
        [new_product(name="Hat", description="x" * 11_000) for _ in range(500)],
        [new_product(name="Hat", tags=tags[:28]) for _ in range(500)],
        [new_product(name="Hat", variants=stocked) for _ in range(500)],
    ):
        with dynamodb.metered() as calls:
            answer = shop.post(BULK, rows)
        assert answer.status == 200, answer.text[:300]
        assert answer.json["summary"] == {"created": 500, "failed": 0}
        assert 30_000 < sum(call.write_units for call in calls) < 80_000


def test_a_large_bulk_returns_ids_and_errors_only(shop: Shop) -> None:
    rows = [new_product(name="Hat", description="x" * 30_000) for _ in range(70)]
    body = json.dumps([*rows, {"name": ""}]).encode()
    assert len(body) > 2_000_000
    answer = shop.post(BULK, body, headers={"Content-Type": "application/json"})
    assert answer.json["summary"] == {"created": 70, "failed": 1}
    *created, failed = answer.json["data"]
    assert {frozenset(row) for row in created} == {frozenset({"index", "status", "id"})}
    assert shop.get(f"{PRODUCTS}/{created[9]['id']}").json["name"] == "Hat"
    assert failed["error"]["code"] == "validation_failed"


def test_the_answer_of_a_bulk_fits_the_limit_of_lambda(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows with answers larger than themselves: many variants, and errors that repeat the input."""
    monkeypatch.setattr("chalicelib.request.size.LARGEST_ANSWER", 600_000)
    variants = [{"title": str(n)} for n in range(200)]
    grown = shop.post(BULK, [new_product(variants=variants) for _ in range(30)])
    assert grown.json["summary"]["created"] == 30
    assert {frozenset(row) for row in grown.json["data"]} == {frozenset({"index", "status", "id"})}
    wrong = [{f"{n}" + "é" * 190: 1 for n in range(20)} for _ in range(240)]
    errors = shop.post(BULK, json.dumps(wrong, ensure_ascii=False).encode(), headers=JSON)
    for answer in (grown, errors):
        assert answer.status == 200
        assert len(json.dumps(answer.text)) <= 600_000
    assert errors.json["summary"]["failed"] == 240


def test_a_request_that_ends_a_day_late_does_not_answer_for_a_reused_key(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = Once.from_request("key_1", "nightly-7", {"a": 1})
    late = once.begin_or_resume()
    tomorrow = clock.unix() + 86_401
    monkeypatch.setattr(clock, "unix", lambda: tomorrow)
    now = once.begin_or_resume()
    assert not now.again and now.seed != late.seed
    late.finish("yesterday's answer")
    again = once.begin_or_resume()
    assert (again.again, again.seed) == (True, now.seed)
