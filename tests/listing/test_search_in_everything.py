"""`GET /api/admin/search`: a few records of each kind, exact matches first, in two round trips."""

import pytest

from chalicelib.listing import best
from tests.orders import build
from tests.support.dynamodb_double import Double
from tests.support.shop import Shop

SEARCH = "/api/admin/search"
NOTHING: dict[str, list[str]] = {"orders": [], "products": [], "customers": []}


@pytest.fixture
def shop(dynamodb: Double) -> Shop:
    shop = Shop()
    product = {"name": "Blue shirt", "price": 1, "sku": "1001", "tags": ["ada"]}
    id = shop.post("/api/admin/products", product).json["variants"][0]["id"]
    ada = {"email": "ada.lovelace@example.com", "firstName": "Ada", "lastName": "Lovelace"}
    for n in range(8):
        build.placed(shop, build.line(id), customer=ada if n % 2 else None)
    for n in range(8):
        shop.post("/api/admin/products", {"name": f"Shirt {n}", "price": 1, "sku": f"1001-{n}"})
    return shop


def found(shop: Shop, q: str) -> dict[str, list[str]]:
    answer = shop.read(f"{SEARCH}?q={q}")
    names = {"orders": "number", "products": "sku", "customers": "email"}
    return {kind: [one[name] for one in answer[kind]] for kind, name in names.items()}


def test_exact_matches_come_first_then_the_newest(shop: Shop) -> None:
    assert found(shop, "1001")["products"] == ["1001", "1001-7", "1001-6", "1001-5", "1001-4"]
    # Its lines have that SKU, too.
    assert found(shop, "%231001")["orders"] == ["1008", "1007", "1006", "1005", "1004"]
    assert found(shop, "1005")["orders"] == ["1005"]
    assert found(shop, "ada.lovelace@example.com")["customers"] == ["ada.lovelace@example.com"]


def test_a_phone_number_is_found_in_any_notation_and_a_sku_as_it_is(shop: Shop) -> None:
    shop.made("/api/admin/customers", {"email": "z@example.com", "phone": "+44 20 7946 0958"})
    for written in ("%2B44%20(20)%207946-0958", "7946/0958"):
        assert found(shop, written)["customers"] == ["z@example.com"]
    assert found(shop, "1001-7")["products"] == ["1001-7"]
    assert found(shop, "...") == NOTHING


def named(shop: Shop, *names: str) -> None:
    """Products with these names, and SKUs `W0` and so on."""
    for n, name in enumerate(names):
        shop.made("/api/admin/products", {"name": name, "price": 1, "sku": f"W{n}"})


@pytest.mark.thorough
@pytest.mark.parametrize("q", ["wo", "wool", "woo%20ca"])
def test_the_newest_of_many_are_found(shop: Shop, monkeypatch: pytest.MonkeyPatch, q: str) -> None:
    monkeypatch.setattr(best, "_BEGINNING", 5)
    monkeypatch.setattr(best, "_BESIDE", 5)
    named(shop, *["Wool cap"] * 40)
    assert found(shop, q)["products"] == ["W39", "W38", "W37", "W36", "W35"]


@pytest.mark.parametrize(("q", "most"), [("wool", {5, 15}), ("wool%20cap", {5, 500})])
def test_a_search_reads_few_entries_of_a_shard(
    shop: Shop, dynamodb: Double, q: str, most: set[int]
) -> None:
    """More of one of several words, because few records may have all of them."""
    queries = dynamodb.asked("Query")
    assert found(shop, q)["products"] == []
    assert {query["Limit"] for query in queries} == most


def test_all_words_have_to_match(shop: Shop) -> None:
    assert found(shop, "ada%20love") == {
        "orders": ["1008", "1006", "1004", "1002"],
        "products": [],
        "customers": ["ada.lovelace@example.com"],
    }
    assert found(shop, "blue%20ada")["products"] == ["1001"]
    assert found(shop, "nothing") == found(shop, "%23") == NOTHING


def test_a_record_with_all_words_is_found_among_many_with_one(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is neither the first nor the newest with either word."""
    monkeypatch.setattr(best, "_WHOLE", 1)
    monkeypatch.setattr(best, "_BEGINNING", 1)
    named(shop, *["Cap", "Wool"] * 10, "Wool cap", *["Wool", "Cap"] * 10)
    assert found(shop, "wool%20cap")["products"] == ["W20"]
    monkeypatch.setattr(best, "_BESIDE", 2)
    assert found(shop, "wool%20shirt")["products"] == []


def test_a_search_without_a_match_loads_no_record(shop: Shop, dynamodb: Double) -> None:
    named(shop, *["Cap", "Wool"] * 40)
    calls: list[str] = []
    dynamodb.faults = lambda operation, _: calls.append(operation)
    assert found(shop, "wool%20cap") == NOTHING
    assert "BatchGetItem" not in calls and "Query" in calls


@pytest.mark.parametrize("q", ["", "q=", f"q={'x' * 201}", "q=a&page=2"])
def test_a_search_takes_only_a_text(shop: Shop, q: str) -> None:
    assert shop.get(f"{SEARCH}?{q}").status == 422


def test_a_search_takes_two_round_trips_in_a_shop_of_any_size(
    shop: Shop, dynamodb: Double, rounds: list[int]
) -> None:
    shop.get(f"{SEARCH}?q=1001")
    with dynamodb.metered() as few:
        shop.get(f"{SEARCH}?q=1001")
    for n in range(40):
        shop.post("/api/admin/products", {"name": "Shirt", "price": 1, "sku": f"1001{n:03d}"})
    rounds.clear()
    with dynamodb.metered() as many:
        assert found(shop, "1001")["products"][0] == "1001"
    assert len(few) == len(many)
    assert [calls for calls in rounds if calls > 1] == [24, 2]
