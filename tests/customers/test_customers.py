"""Customers are created, changed, listed and deleted; an e-mail belongs to one customer."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import tzdata

from chalicelib import listing
from chalicelib.nightly import check
from chalicelib.storage import table
from chalicelib.values import addresses
from tests.customers.build import CUSTOMERS, address, customer, new_customer
from tests.orders.build import (
    ORDERS,
    before_the_commit,
    counts_agree,
    keys_written,
    line,
    new_order,
    placed,
    variant,
)
from tests.support.dynamodb_double import Double
from tests.support.shop import Answer, Record, Shop


def ids(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.text
    return [one["id"] for one in answer.json["data"]]


def kinds(shop: Shop) -> list[str]:
    return [event["event"] for event in shop.events() if event["event"].startswith("customer")]


def test_a_created_customer_is_returned_with_every_field(shop: Shop) -> None:
    sent = new_customer(
        lastName="Hopper",
        company="Eckert-Mauchly",
        phone="+1 (212) 555-0199",
        note="Prefers mornings",
        tags=["navy", "vip", "navy"],
        addresses=[address(), address(city="Paris", countryCode="fr", postalCode="75001")],
    )
    answer = shop.post(CUSTOMERS, sent)
    made = Record(shop, CUSTOMERS, answer.json)
    assert answer.status == 201 and made["id"].startswith("cus_")
    for name in ("email", "firstName", "lastName", "company", "phone", "note"):
        assert made[name] == sent[name]
    assert made["tags"] == ["navy", "vip"]
    first, second = made["addresses"]
    assert first["id"].startswith("adr_") and first["id"] != second["id"]
    assert (second["countryCode"], second["province"]) == ("FR", None)
    assert made["defaultAddressId"] == first["id"]
    assert (made["ordersCount"], made["totalSpent"]) == (0, "0.00")
    got = made.fetch()
    assert got.json == made and got.headers["ETag"] == answer.headers["ETag"]
    assert kinds(shop) == ["customer.created"] and shop.events()[-1]["data"] == made


@pytest.mark.parametrize(
    "who", [{"phone": "030 1"}, {"firstName": "Ann"}, {"lastName": "Lee"}, {"company": "Acme"}]
)
def test_a_customer_without_an_email_is_created(shop: Shop, who: dict[str, str]) -> None:
    answer = shop.post(CUSTOMERS, who)
    assert (answer.status, answer.json["email"]) == (201, None)
    assert shop.post(CUSTOMERS, who).status == 201  # without an e-mail it is another customer
    changed = shop.patch(f"{CUSTOMERS}/{answer.json['id']}", {"lastName": "Byron"})
    assert (changed.status, changed.json["email"], changed.json["lastName"]) == (200, None, "Byron")


def test_a_customer_without_name_email_and_phone_is_refused(shop: Shop) -> None:
    (error,) = shop.post(CUSTOMERS, {"note": "?", "email": None}).json["errors"]
    assert error["field"] == "email" and "a phone, a company or a name" in error["message"]
    assert shop.post(CUSTOMERS, {"firstName": "\u200b", "phone": "\u2060"}).refused == ["email"]
    made = customer(shop, firstName=None)
    assert made.patch({"email": None}).refused == ["email"]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"email": "nobody"}, "email"),
    ({"firstName": "x" * 101}, "firstName"),
    ({"company": "x" * 101}, "company"),
    ({"phone": "1" * 101}, "phone"),
    ({"note": "x" * 5_001}, "note"),
    ({"email": "x" * 243 + "@example.com"}, "email"),
    ({"tags": ["x" * 51]}, "tags.0"),
    ({"tags": [""]}, "tags.0"),
    ({"tags": [str(n) for n in range(51)]}, "tags"),
    ({"addresses": [{**address(), "id": "x" * 61}]}, "addresses.0.id"),
    ({"addresses": [address()] * 21}, "addresses"),
    ({"addresses": [address(), {"city": "B", "countryCode": "DE"}]}, "addresses.1.address1"),
    ({"addresses": [{"address1": "A", "countryCode": "DE"}]}, "addresses.0.city"),
    ({"addresses": [{"address1": "A", "city": "B"}]}, "addresses.0.countryCode"),
    ({"addresses": [address(countryCode="XX")]}, "addresses.0.countryCode"),
    ({"addresses": [address(countryCode="DEU")]}, "addresses.0.countryCode"),
    ({"addresses": [address(countryCode="UK")]}, "addresses.0.countryCode"),
    ({"addresses": [address(postalCode="1" * 21)]}, "addresses.0.postalCode"),
    ({"addresses": [address(city="\u200e")]}, "addresses.0.city"),
    ({"addresses": [address(street="A")]}, "addresses.0.street"),
    ({"defaultAddressId": "adr_nobody"}, "defaultAddressId"),
    ({"age": 3}, "age"),
]


@pytest.mark.parametrize(("sent", "field"), BAD, ids=[f"{f}-{n}" for n, (_, f) in enumerate(BAD)])
def test_bad_input_is_refused_by_field_and_stores_nothing(
    shop: Shop, sent: dict[str, Any], field: str
) -> None:
    assert shop.post(CUSTOMERS, new_customer() | sent).refused == [field]
    assert shop.get(CUSTOMERS).json["total"] == 0
    made = customer(shop)
    assert made.patch(sent).refused == [field]
    assert made.read() == made


def test_a_phone_number_is_found_by_its_first_twenty_digits(shop: Shop) -> None:
    phone = "1234567890" * 3
    made = customer(shop, phone=phone)
    assert ids(shop.get(f"{CUSTOMERS}?search={phone[:20]}")) == [made["id"]]
    assert ids(shop.get(f"{CUSTOMERS}?search={phone[:21]}")) == []


def test_every_iso_country_is_accepted() -> None:
    """By the list of the time zone database."""
    table = Path(tzdata.__file__).parent / "zoneinfo/iso3166.tab"
    lines = table.read_text(encoding="utf-8").splitlines()
    codes = {line.split("\t")[0] for line in lines if line and not line.startswith("#")}
    assert codes == addresses.COUNTRIES and len(codes) == 249


def test_a_change_keeps_the_omitted_fields(shop: Shop) -> None:
    made = customer(shop, phone="1", tags=["a"], addresses=[address(), address(city="Bath")])
    home, bath = made["addresses"]
    after = made.patch({"lastName": "Hopper", "phone": None}).json
    assert (after["lastName"], after["phone"], after["tags"]) == ("Hopper", None, ["a"])
    assert after["addresses"] == made["addresses"]
    # One is changed, one is new, one is removed; the removed one was the default.
    sent = {"addresses": [bath | {"address2": "Flat 2"}, address(city="York")]}
    after = made.patch(sent).json
    assert [one["city"] for one in after["addresses"]] == ["Bath", "York"]
    assert after["addresses"][0] == bath | {"address2": "Flat 2"}
    assert after["defaultAddressId"] == bath["id"]
    york = after["addresses"][1]["id"]
    assert made.patch({"defaultAddressId": york}).json["defaultAddressId"] == york
    assert made.patch({"addresses": [home]}).refused == ["addresses.0.id"]
    assert made.patch({"defaultAddressId": home["id"]}).refused == ["defaultAddressId"]
    none = made.patch({"addresses": []}).json
    assert (none["addresses"], none["defaultAddressId"]) == ([], None)
    assert made.patch({}).refused == ["body"]


def test_the_addresses_of_a_copied_customer_get_their_own_ids(shop: Shop) -> None:
    first, second = ({**address(city=city), "id": f"adr_{city}"} for city in ("Rome", "Oslo"))
    made = customer(shop, addresses=[first, second], defaultAddressId="adr_Oslo")
    ids = [one["id"] for one in made["addresses"]]
    assert not {*ids} & {"adr_Rome", "adr_Oslo"}
    assert made["defaultAddressId"] == ids[1]
    twice = [{**address(), "id": ids[0]}] * 2
    assert made.patch({"addresses": twice}).refused == ["addresses.1.id"]
    assert made.patch({"addresses": [first]}).refused == ["addresses.0.id"]
    kept = made.patch({"addresses": [made["addresses"][0]]}).json
    assert (kept["addresses"], kept["defaultAddressId"]) == (made["addresses"][:1], ids[0])
    assert made.patch({"addresses": None}).json["defaultAddressId"] is None


def test_a_change_of_an_order_without_effect_on_totals_does_not_write_the_customer(
    shop: Shop, dynamodb: Double
) -> None:
    order = placed(shop)
    written = keys_written(dynamodb)
    record = (order["customer"]["id"], "customer")
    order.patch({"note": "x"})
    assert record not in written
    order.patch({"status": "PAID"})
    assert record in written


def test_a_change_of_what_orders_do_not_copy_leaves_the_lock_of_the_address(
    shop: Shop, dynamodb: Double
) -> None:
    id, lock = customer(shop, email="ann@example.com")["id"], ("email#ann%40example.com", "lock")
    written = keys_written(dynamodb)
    shop.patch(f"{CUSTOMERS}/{id}", {"note": "x"})
    assert (id, "customer") in written and lock not in written
    shop.patch(f"{CUSTOMERS}/{id}", {"firstName": "Ann"})
    assert lock in written


def test_a_change_without_effect_announces_nothing(shop: Shop) -> None:
    made = customer(shop, addresses=[address()])
    before = made.fetch()
    assert made.patch(made).json == made  # as it was read
    assert made.fetch().headers["ETag"] == before.headers["ETag"]
    assert kinds(shop) == ["customer.created"]
    changed = made.patch({"note": "x"}).json
    assert kinds(shop) == ["customer.created", "customer.updated"]
    assert shop.events()[-1]["data"] == changed


def test_an_order_changes_what_is_shown_of_its_customer_and_no_version(shop: Shop) -> None:
    made = customer(shop)
    seen = {"If-Match": made.fetch().headers["ETag"]}
    placed(shop, customer={"id": made["id"]})
    assert made.fetch().headers["ETag"] != seen["If-Match"]
    assert made.patch({"note": "first"}, headers=seen).status == 200


def test_an_email_belongs_to_one_customer(shop: Shop) -> None:
    ada = customer(shop, email="Ada@Example.com")
    other = customer(shop)
    for answer in (
        shop.post(CUSTOMERS, new_customer(email="ada@example.COM")),
        other.patch({"email": "ADA@example.com"}),
    ):
        assert (answer.status, answer.json["code"]) == (409, "email_taken")
        assert answer.json["id"] == ada["id"]
    # A change of case alone does not change the owner.
    assert ada.patch({"email": "ada@example.com"}).json["email"] == "ada@example.com"


def test_a_changed_email_frees_the_old_one(shop: Shop) -> None:
    made = customer(shop, email="old@example.com", phone="030 1")
    made.patch({"email": "new@example.com"})
    order = placed(shop, customer={"email": "NEW@example.com", "firstName": "Else"})
    whole = {"id": made["id"], "email": "new@example.com", "firstName": "Grace", "lastName": None}
    assert order["customer"] == {**whole, "phone": "030 1"}
    assert ids(shop.get(f"{CUSTOMERS}?search=new@example.com")) == [made["id"]]
    assert ids(shop.get(f"{CUSTOMERS}?search=old@example.com")) == []
    somebody = placed(shop, customer={"email": "old@example.com"})["customer"]
    assert somebody["id"] != made["id"]


def test_an_order_keeps_a_copy_of_the_customer(shop: Shop) -> None:
    first = placed(shop, customer={"email": "a@example.com", "firstName": "Ada", "phone": "1"})
    assert first["customer"]["phone"] == "1"
    first.customer.patch({"firstName": "Adele", "phone": "2"})
    again = placed(shop, customer={"email": "A@example.com"})
    assert (again["customer"]["firstName"], again["customer"]["phone"]) == ("Adele", "2")
    assert first.read()["customer"] == first["customer"]


def test_two_concurrent_changes_to_one_email_conflict(shop: Shop, dynamodb: Double) -> None:
    one, two = customer(shop), customer(shop)
    taken = {"email": "both@example.com"}
    before_the_commit(dynamodb, lambda: two.patch(taken))
    answer = one.patch(taken)
    assert (answer.status, answer.json["code"]) == (409, "email_taken")
    assert answer.json["id"] == two["id"]
    assert one.read()["email"] == one["email"]
    # And what was held before is unchanged, or free.
    assert shop.post(CUSTOMERS, new_customer(email=one["email"])).status == 409
    assert shop.post(CUSTOMERS, new_customer(email=two["email"])).status == 201


@pytest.mark.parametrize("search", ["---", "(((", ",", "%E2%80%8B"])
def test_a_search_without_a_letter_or_digit_does_not_find_everybody(
    shop: Shop, search: str
) -> None:
    customer(shop)
    assert shop.get(f"{CUSTOMERS}?search={search}").json["total"] == 0


def test_a_customer_is_found_by_phone_company_and_city(shop: Shop) -> None:
    made = customer(
        shop, phone="+49 (0)30 123-45 67", company="Käthe & Söhne", addresses=[address(city="Bath")]
    )
    customer(shop)
    digits = ["+49", "1234567", "4567", "030", "+49%20(0)30%20123-4"]
    for search in [*digits, "kathe", "Söhne", "bath", "grace"]:
        assert made["id"] in ids(shop.get(f"{CUSTOMERS}?search={search.replace('+', '%2B')}"))
    assert ids(shop.get(f"{CUSTOMERS}?search=london")) == []
    made.patch({"addresses": [address(city="York")], "phone": "7"})
    assert ids(shop.get(f"{CUSTOMERS}?search=bath")) == []
    assert ids(shop.get(f"{CUSTOMERS}?search=1234567")) == []
    assert ids(shop.get(f"{CUSTOMERS}?search=york")) == [made["id"]]


def test_a_creation_with_a_key_is_one_call(shop: Shop, dynamodb: Double) -> None:
    first = shop.post(CUSTOMERS, new_customer(), headers={"Idempotency-Key": "once"})
    refused = shop.post(CUSTOMERS, {"note": "Nobody"}, headers={"Idempotency-Key": "once"})
    assert (first.status, refused.json["code"]) == (201, "idempotency_key_reused")
    with dynamodb.metered() as calls:
        shop.post(CUSTOMERS, new_customer(), headers={"Idempotency-Key": "another"})
    assert "TransactWriteItems" in {call.operation for call in calls}
    assert len(calls) == 2  # one is the request's admission


def test_a_customer_without_orders_is_deleted(shop: Shop) -> None:
    made = customer(shop, tags=["a"], addresses=[address()])
    assert made.delete().json == {"id": made["id"], "deleted": True}
    assert made.fetch().status == made.delete().status == 404
    assert shop.get(f"{CUSTOMERS}/cus_{'x' * 2_500}").status == 404
    assert shop.events()[-1]["event"] == "customer.deleted"
    assert shop.events()[-1]["data"] == made
    left = [item["pk"] for item in shop.stored() if made["id"] in f"{item['pk']}{item['sk']}"]
    assert left == []
    assert shop.post(CUSTOMERS, new_customer(email=made["email"])).status == 201


def test_a_customer_with_orders_is_not_deleted_even_if_they_are_cancelled(shop: Shop) -> None:
    order = placed(shop)
    order.patch({"status": "CANCELLED"})
    assert order.customer.fetch().json["ordersCount"] == 0
    answer = order.customer.delete()
    assert (answer.status, answer.json["code"]) == (409, "has_orders")
    order.delete()
    assert order.customer.delete().status == 200


def test_a_cancelled_order_counts_for_nothing_even_if_it_was_paid(shop: Shop) -> None:
    order = placed(shop)
    order.patch({"paymentStatus": "PAID"})
    assert order.patch({"status": "CANCELLED"}).json["paymentStatus"] == "PAID"
    shown = order.customer.read()
    assert (shown["ordersCount"], shown["totalSpent"]) == (0, "0.00")
    assert counts_agree()


def test_an_order_placed_while_its_customer_is_deleted_is_not_lost(
    shop: Shop, dynamodb: Double
) -> None:
    id = variant(shop)
    made = customer(shop)
    order = new_order(line(id), customer={"id": made["id"]})
    # The order comes first: the customer is not deleted.
    before_the_commit(dynamodb, lambda: shop.post(ORDERS, order))
    assert made.delete().json["code"] == "has_orders"
    # The deletion comes first: the id is unknown, the e-mail makes a new customer.
    other = customer(shop)
    order = new_order(line(id), customer={"id": other["id"]})
    before_the_commit(dynamodb, other.delete)
    assert shop.post(ORDERS, order).refused == ["customer.id"]
    third = customer(shop)
    order = new_order(line(id), customer={"email": third["email"]})
    before_the_commit(dynamodb, third.delete)
    made = shop.post(ORDERS, order).json["customer"]
    assert made["id"] != third["id"] and made["email"] == third["email"]


def test_totals_follow_each_order(shop: Shop) -> None:
    def totals() -> tuple[int, str]:
        shown = first.customer.read()
        return shown["ordersCount"], shown["totalSpent"]

    first = placed(shop, line(variant(shop), 2))
    assert totals() == (1, "0.00")
    own = {"customer": {"id": first["customer"]["id"]}}
    second = placed(shop, line(variant(shop), 1, price="0.10"), **own, paymentStatus="PAID")
    assert totals() == (2, "0.10")
    for order, status, expected in (
        (first, "PAID", (2, "39.90")),
        (first, "REFUNDED", (2, "0.10")),
        (second, "PROCESSING", (2, "0.10")),
    ):
        order.moved(status)
        assert totals() == expected
    second.delete()
    assert totals() == (1, "0.00")
    placed(shop, **own).moved("CANCELLED")
    assert totals() == (1, "0.00")


def test_two_concurrent_orders_of_one_customer_both_succeed(shop: Shop, dynamodb: Double) -> None:
    made, id = customer(shop), variant(shop)
    order = new_order(line(id), customer={"id": made["id"]}, paymentStatus="PAID")
    before_the_commit(dynamodb, lambda: shop.post(ORDERS, order))
    assert shop.post(ORDERS, order).status == 201
    shown = made.read()
    assert (shown["ordersCount"], shown["totalSpent"]) == (2, "39.80")


def test_the_nightly_check_finds_wrong_totals(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    order = placed(shop, paymentStatus="PAID")
    id = order["customer"]["id"]
    customer(shop)

    def wrong() -> list[tuple[str, Any]]:
        found = dict(check.list_recounts())["customer totals"]
        return [(one.attribute, one.counted - one.stored) for one in found.wrong]

    assert wrong() == []
    assert dict(check.list_recounts())["customer totals"].records == 2
    monkeypatch.setattr("chalicelib.orders.spending._AT_ONCE", 1)
    table.update((id, "customer"), add={"ordersCount": 1}, assign={"totalSpent": 5})
    assert wrong() == [("ordersCount", -1), ("totalSpent", Decimal("14.90"))]
    check.check_totals()
    assert "total is wrong" in capsys.readouterr().out
    listing.repair(dict(check.list_recounts())["customer totals"].wrong)
    assert wrong() == []
    shown = shop.get(f"{CUSTOMERS}/{id}").json
    assert (shown["ordersCount"], shown["totalSpent"]) == (1, "19.90")
