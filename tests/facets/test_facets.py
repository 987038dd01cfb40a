"""The values in use are offered: of every field that lists and forms choose from, whichever way a
record got them."""

from copy import deepcopy
from typing import Any

import pytest

from chalicelib.facets import store
from tests.customers.build import CUSTOMERS, customer
from tests.stock.build import fanned_out, traced
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.job_desk import JobDesk
from tests.support.reindexing import reindex
from tests.support.shop import Shop

FACETS = "/api/admin/facets"


def values(shop: Shop, of: str, field: str, **asked: Any) -> dict[str, int | None]:
    query = "".join(f"&{name}={value}" for name, value in asked.items())
    answer = shop.read(f"{FACETS}?type={of}&field={field}{query}")
    return {one["value"]: one["count"] for one in answer["data"]}


def product(shop: Shop, **fields: Any) -> Any:
    return shop.made("/api/admin/products", {"name": "Mug", "price": 5, **fields})


def stocked(shop: Shop) -> Any:
    """A product, a paid order of it with a refund, and its customer."""
    shown = {"type": "Mugs", "vendor": "Émile & Co", "storefront": "eu", "tags": ["new", "Blue"]}
    mug = product(shop, **shown)
    line = {"variantId": mug["variants"][0]["id"], "quantity": 1}
    order = {
        **{"lineItems": [line], "customer": {"email": "ann@example.com"}, "tags": ["gift"]},
        **{"source": "FAIR", "salesRepId": "emp_7"},
        "payments": [{"amount": "5", "method": "CASH"}],
    }
    placed = shop.made("/api/admin/orders", order)
    back = {"amount": "1", "method": "VOUCHER"}
    refunded = shop.post(f"/api/admin/orders/{placed['id']}/refunds", back)
    assert refunded.status == 201, refunded.text
    customer = placed["customer"]["id"]
    shop.patch(f"/api/admin/customers/{customer}", {"tags": ["trade"]})
    return mug


USED = [
    ("products", "type", {"Mugs": 1}),
    ("products", "vendor", {"Émile & Co": 1}),
    ("products", "storefront", {"eu": 1}),
    ("products", "tag", {"Blue": None, "new": None}),
    ("orders", "source", {"FAIR": 1}),
    ("orders", "salesRepId", {"emp_7": 1}),
    ("orders", "paymentMethod", {"CASH": None, "VOUCHER": None}),
    ("orders", "tag", {"gift": None}),
    ("customers", "tag", {"trade": None}),
]


def test_what_records_use_is_offered_in_alphabetical_order(shop: Shop, dynamodb: Double) -> None:
    stocked(shop)
    assert values(shop, "products", "vendor") == {}
    fanned_out(dynamodb)
    for of, field, wanted in USED:
        assert list(values(shop, of, field).items()) == list(wanted.items()), field


def test_a_reindexing_finds_what_was_used_before(shop: Shop) -> None:
    stocked(shop)
    reindex()
    for of, field, wanted in USED:
        assert values(shop, of, field) == wanted, field


def test_a_search_finds_beginnings_of_words_in_any_case(shop: Shop, dynamodb: Double) -> None:
    for vendor in ("Rain Jackets", "Jaguar", "Émile", "Ajax", "100% Wool"):
        product(shop, vendor=vendor)
    fanned_out(dynamodb)
    for search, found in {
        "ja": ["Jaguar", "Rain Jackets"],
        "JACK%20rai": ["Rain Jackets"],
        "emi": ["Émile"],
        "100%25": ["100% Wool"],
        "x": [],
        "%E2%80%8B": [],  # a zero-width space
    }.items():
        assert list(values(shop, "products", "vendor", search=search)) == found, search


def test_a_value_that_no_record_has_any_more_is_left_out(shop: Shop, dynamodb: Double) -> None:
    mug, other = product(shop, vendor="Acmee"), product(shop, vendor="Acme")
    fanned_out(dynamodb)
    assert values(shop, "products", "vendor") == {"Acme": 1, "Acmee": 1}
    shop.put(f"/api/admin/products/{mug['id']}", {"vendor": "Acme"})
    assert values(shop, "products", "vendor") == {"Acme": 2}
    shop.delete(f"/api/admin/products/{other['id']}")
    assert values(shop, "products", "vendor") == {"Acme": 1}


def test_values_that_no_record_has_take_no_place_of_others(shop: Shop, dynamodb: Double) -> None:
    mugs = [product(shop, vendor=f"Vendor {n}") for n in range(7)]
    fanned_out(dynamodb)
    for mug in mugs[:4]:
        shop.put(f"/api/admin/products/{mug['id']}", {"vendor": None})
    path = f"{FACETS}?type=products&field=vendor"
    assert values(shop, "products", "vendor", limit=2) == {"Vendor 4": 1, "Vendor 5": 1}
    assert [shop.get(f"{path}&limit={n}").json["more"] for n in (2, 3)] == [True, False]


def test_the_answer_says_whether_there_are_more(
    shop: Shop, dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(5):
        product(shop, vendor=f"Vendor {n}")
    fanned_out(dynamodb)
    path = f"{FACETS}?type=products&field=vendor"
    assert [shop.get(f"{path}&limit={n}").json["more"] for n in (4, 5)] == [True, False]
    # Beyond those that are looked at, a search finds what begins with it.
    monkeypatch.setattr(store, "_LOOKED_AT", 2)
    assert shop.get(path).json["more"]
    assert values(shop, "products", "vendor", search="vendor%204") == {"Vendor 4": 1}


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.CRASH_AFTER])
def test_values_survive_a_crash_of_the_fan_out(shop: Shop, dynamodb: Double, fault: Fault) -> None:
    stocked(shop)
    dynamodb.fails(fault, "BatchWriteItem")
    with pytest.raises(Crash):
        fanned_out(dynamodb)
    fanned_out(dynamodb)
    for of, field, wanted in USED:
        assert values(shop, of, field) == wanted, field


def test_known_values_are_not_written_again(shop: Shop, dynamodb: Double) -> None:
    stocked(shop)
    fanned_out(dynamodb)
    for _ in range(2):
        product(shop, vendor="Émile & Co")
        with dynamodb.metered() as calls:
            fanned_out(dynamodb)
    assert "BatchWriteItem" not in {call.operation for call in calls}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("field=vendor", "type"),
        ("type=products", "field"),
        ("type=products&field=salesRepId", "field"),
        ("type=vendors&field=vendor", "type"),
        ("type=products&field=vendor&limit=0", "limit"),
        ("type=products&field=vendor&colour=red", "colour"),
    ],
)
def test_a_wrong_question_names_its_parameter(shop: Shop, query: str, field: str) -> None:
    assert shop.get(f"{FACETS}?{query}").refused == [field]


def test_an_erasure_leaves_no_value_of_the_person(jobs: JobDesk) -> None:
    ann = customer(jobs.shop, firstName="Annabel", tags=["quill fan", "trade"])
    customer(jobs.shop, tags=["trade"])
    line = {"title": "Ring", "price": 5, "quantity": 1}
    order = {"lineItems": [line], "customer": {"id": ann["id"]}, "tags": ["for Annabel", "gift"]}
    assert jobs.shop.post("/api/admin/orders", order).status == 201
    fanned_out(jobs.dynamodb)
    late = deepcopy(traced(jobs.dynamodb))
    assert values(jobs.shop, "customers", "tag").keys() == {"quill fan", "trade"}
    assert values(jobs.shop, "orders", "tag").keys() == {"for Annabel", "gift"}
    done = jobs.done(f"{CUSTOMERS}/{ann['id']}/erase")
    assert (done["status"], done["touched"]["values"]) == ("COMPLETED", 1)
    assert values(jobs.shop, "customers", "tag").keys() == {"trade"}
    fanned_out(jobs.dynamodb, late)  # the stream may bring events as they were a day later
    assert values(jobs.shop, "customers", "tag").keys() == {"trade"}
    assert values(jobs.shop, "orders", "tag").keys() == {"gift"}
