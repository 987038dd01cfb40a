"""Creating and reading orders, over HTTP."""

import json
import threading
from contextvars import copy_context
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.orders import model, numbers, store
from chalicelib.storage import table
from chalicelib.storage.commit import Commit
from chalicelib.values import clock
from tests.orders.build import (
    ORDERS,
    Order,
    before_the_commit,
    counts_agree,
    kinds,
    line,
    new_order,
    placed,
    product,
    stock_of,
    variant,
    variants,
)
from tests.support.dynamodb_double import Double
from tests.support.shop import Shop

NOTHING = "var_01ARZ3NDEKTSV4RRFFQ69G5FAV0123456789"


def test_a_created_order_is_returned_with_every_field(shop: Shop) -> None:
    made = product(shop, 9, 9, name="Shirt", price="20")
    first, second = (v["id"] for v in made["variants"])
    sent = {
        "source": "PRIVATE_COMMISSION",
        "customer": {"email": "Ada@Example.com", "firstName": "Ada", "lastName": "Lovelace"},
        "salesRepId": "emp_42",
        "lineItems": [line(first, 2), line(second, 1, price=15.5)],
        "currency": "USD",
        "tax": 1.1,
        "paymentStatus": "PAID",
        "paymentMethod": "CARD_TERMINAL",
        "note": "gift wrap for Zoë",
        "tags": ["vip", "fair", "vip"],
        "orderDate": "2026-01-05T10:00:00+02:00",
    }
    answer = shop.post(ORDERS, sent)
    order = Order(shop, ORDERS, answer.json)
    assert answer.status == 201
    assert "Zoë" in answer.text
    assert order["id"].startswith("ord_") and order["number"] == "1001"
    assert (order["status"], order["paymentStatus"]) == ("PAID", "PAID")
    assert order["customer"]["id"].startswith("cus_")
    assert order["customer"] == {**sent["customer"], "id": order["customer"]["id"], "phone": None}
    for name in ("source", "salesRepId", "paymentMethod", "note", "currency"):
        assert order[name] == sent[name]
    assert order["tags"] == ["vip", "fair"]
    assert order["orderDate"] == "2026-01-05T08:00:00.000Z"
    assert order["paidAt"] == order["createdAt"] == order["updatedAt"]
    assert (order["shippedAt"], order["trackingNumber"]) == (None, None)
    shown = ("variantId", "productId", "title", "quantity", "price", "total")
    assert [tuple(one[name] for name in shown) for one in order["lineItems"]] == [
        (first, made["id"], "Shirt / V0", 2, "20.00", "40.00"),
        (second, made["id"], "Shirt / V1", 1, "15.50", "15.50"),
    ]
    assert order["itemsCount"] == 3
    assert (order["subtotal"], order["tax"], order["total"]) == ("55.50", "1.10", "56.60")
    assert [entry["change"] for entry in order["history"]] == ["created"]
    read = order.fetch()
    assert read.json == shop.get(ORDERS).json["data"][0] == answer.json
    assert read.headers["ETag"] == answer.headers["ETag"]
    known = order.fetch(headers={"If-None-Match": read.headers["ETag"]})
    assert known.status == 304


def test_a_stored_order_is_read_as_it_was_written(shop: Shop) -> None:
    made = placed(shop)
    order = store.get(made["id"])
    pk, sk = made["id"], "order"
    item = table.get((pk, sk))
    assert item == {"pk": pk, "sk": sk, **model.to_item(order)}
    assert model.from_item(item) == order and order.fields.keys().isdisjoint(
        {"pk", "sk", "version"}
    )


def test_the_events_contain_the_order_and_the_customer(shop: Shop) -> None:
    order = placed(shop, paymentStatus="PAID")
    events = {event["event"]: event["data"] for event in shop.events()}
    assert kinds(shop) == ["order.created", "order.paid", "customer.created"]
    assert events["order.created"] == events["order.paid"] == order
    assert {"id", "number", "total", "currency", "customer", "paidAt"} <= order.keys()
    assert {"id", "email"} <= order["customer"].keys()
    path = f"/api/admin/customers/{order['customer']['id']}"
    assert events["customer.created"] == shop.get(path).json


def test_an_order_needs_only_a_line(shop: Shop) -> None:
    made = shop.post("/api/admin/products", {"name": "Mug", "price": "3"}).json
    id = made["variants"][0]["id"]
    order = shop.post(ORDERS, {"lineItems": [{"variantId": id, "quantity": 2}]}).json
    assert (order["status"], order["paymentStatus"]) == ("PENDING", "PENDING")
    assert (order["source"], order["customer"], order["paidAt"]) == ("OTHER", None, None)
    assert (order["lineItems"][0]["title"], order["total"]) == ("Mug", "6.00")
    assert order["orderDate"] == order["createdAt"]
    assert kinds(shop) == ["order.created"]


def test_given_sums_are_kept(shop: Shop) -> None:
    id = variant(shop, price="10")
    given = placed(shop, line(id), subtotal="9.50", tax="2", total="11")
    assert (given["subtotal"], given["tax"], given["total"]) == ("9.50", "2.00", "11.00")
    partly = placed(shop, line(id), subtotal=0, tax="2")
    assert (partly["subtotal"], partly["total"]) == ("0.00", "2.00")


@pytest.mark.parametrize(
    ("currency", "price", "total", "finer"),
    [("JPY", 1990, "5970", "10.5"), ("KWD", "1.005", "3.015", "1.0001")],
)
def test_amounts_have_the_decimals_of_the_currency(  # noqa: PLR0917
    shop: Shop, monkeypatch: pytest.MonkeyPatch, currency: str, price: Any, total: str, finer: str
) -> None:
    monkeypatch.setenv("CURRENCY", currency)
    id = variant(shop, price=price)
    order = placed(shop, line(id, 3), currency=currency)
    assert (order["lineItems"][0]["total"], order["total"]) == (total, total)
    assert order["currency"] == currency
    assert order.pay(finer).refused == ["amount"]
    assert order.pay().json["payments"][0]["amount"] == total
    assert shop.get("/api/admin/summary").json["today"]["revenue"] == total
    whole = order.refund(lines=[order.first_line(quantity=3)])
    assert whole.json["amountRefunded"] == total
    assert shop.post(ORDERS, new_order(line(id), tax="0.00001")).refused == ["tax"]
    assert counts_agree()


@pytest.mark.parametrize(
    ("one", "same"),
    [("ada@example.com", "ADA@example.com"), ("zo\u00eb@example.com", "ZOE\u0308@example.com")],
)
def test_a_customer_is_matched_by_email_in_any_case_and_unicode_form(
    shop: Shop, one: str, same: str
) -> None:
    id = variant(shop)
    known = placed(shop, line(id), customer={"email": one, "firstName": "Ada"})["customer"]
    for who in ({"email": same, "firstName": "Countess"}, {"id": known["id"]}, known):
        assert placed(shop, line(id), customer=who)["customer"] == known
    assert kinds(shop).count("customer.created") == 1
    assert shop.get("/api/admin/customers").json["total"] == 1


@pytest.mark.parametrize("who", [{"phone": "030 1"}, {"firstName": "Ann"}, {"lastName": "Lee"}])
def test_a_customer_without_an_email_is_created_as_the_list_of_customers_does(
    shop: Shop, who: dict[str, str]
) -> None:
    first, second = (placed(shop, customer=who) for _ in range(2))
    assert first["customer"] == {
        **dict.fromkeys(("email", "firstName", "lastName", "phone")),
        **who,
        "id": first["customer"]["id"],
    }
    assert first["customer"]["id"] != second["customer"]["id"]  # no e-mail says who it is
    assert kinds(shop).count("customer.created") == 2
    assert first.customer.read()["ordersCount"] == 1
    assert counts_agree()


def _records(shop: Shop) -> list[dict[str, Any]]:
    """Everything that is stored, besides what counts the requests of a key."""
    return [item for item in shop.stored() if not item["pk"].startswith("key")]


def test_a_dry_run_says_what_the_order_would_be_and_writes_nothing(shop: Shop) -> None:
    id = variant(shop, 3, price="1381.50")
    lines = [line(id, 2, discount={"percent": "2.5"}), {"title": "Box", "price": 3, "quantity": 1}]
    cash = {"amount": 900, "method": "CASH", "tendered": 1000}
    sent = new_order(*lines, discount={"percent": 5}, shipping="7.90", tax="1", payments=[cash])
    sent["deposit"] = {"percent": "30"}
    before, events = _records(shop), shop.events()
    key = {"Idempotency-Key": "till-1"}
    answer = shop.post(ORDERS, {**sent, "dryRun": True}, headers=key)
    assert (answer.status, "ETag" in answer.headers) == (200, False)
    preview = answer.json
    assert (_records(shop), shop.events()) == (before, events)
    made = shop.made(ORDERS, sent, headers=key)  # with the key, which is still new
    assert made["number"] == "1001" and (preview["id"], preview["number"]) == (None, None)
    assert preview["customer"] is None
    assert preview["payments"][0]["change"] == "100.00"
    for name in ("lineItems", "payments"):
        shown = [{part: one[part] for part in preview[name][0]} for one in made[name]]
        assert preview[name] == shown
    same = preview.keys() - {"id", "number", "customer", "lineItems", "payments", "orderDate"}
    assert {name: preview[name] for name in same} == {name: made[name] for name in same}
    known = shop.post(ORDERS, {**sent, "lineItems": lines[1:], "payments": [], "dryRun": True})
    assert known.json["customer"] == made["customer"]


def test_stock_is_checked_over_all_lines_and_only_for_tracked_variants(shop: Shop) -> None:
    tracked, untracked, none = variants(shop, 5, None, 0)
    placed(shop, line(tracked, 2), line(untracked, 1000), line(tracked, 1))
    assert [stock_of(shop, id) for id in (tracked, untracked, none)] == [2, None, 0]
    other = variant(shop, 3)
    sent = new_order(line(tracked), line(other, 4), line(tracked, 2), line(none))
    refused = shop.post(ORDERS, sent)
    assert shop.post(ORDERS, {**sent, "dryRun": True}).json == refused.json
    assert (refused.status, refused.json["code"]) == (422, "insufficient_stock")
    assert refused.json["lines"] == [
        {"variantId": tracked, "requested": 3, "available": 2},
        {"variantId": none, "requested": 1, "available": 0},
        {"variantId": other, "requested": 4, "available": 3},
    ]
    assert [stock_of(shop, id) for id in (tracked, other)] == [2, 3]
    assert shop.get(ORDERS).json["total"] == 1
    assert shop.get("/api/admin/customers").json["total"] == 1


def test_a_fall_below_the_threshold_is_announced_once(shop: Shop) -> None:
    id = variant(shop, 8, sku="A", lowStockThreshold=5)
    orders = [placed(shop, line(id, n)) for n in (2, 1, 1, 1)]
    low = [event["data"] for event in shop.events() if event["event"] == "inventory.low"]
    assert [(data["variantId"], data["stock"], data["threshold"]) for data in low] == [(id, 4, 5)]
    orders[0].moved("CANCELLED")
    placed(shop, line(id, 2))
    assert kinds(shop).count("inventory.low") == 2


BAD: list[tuple[dict[str, Any], str]] = [
    ({"lineItems": []}, "lineItems"),
    ({"lineItems": None}, "lineItems"),
    ({"lineItems": "x"}, "lineItems"),
    ({"lineItems": [{"quantity": 1}]}, "lineItems.0.variantId"),
    ({"lineItems": [line(NOTHING)] * 201}, "lineItems"),
    ({"lineItems": [line(NOTHING)]}, "lineItems.0.variantId"),
    ({"lineItems": [line("x")]}, "lineItems.0.variantId"),
    ({"lineItems": [line("é" * 50)]}, "lineItems.0.variantId"),
    ({"lineItems": [line(NOTHING, 1.5)]}, "lineItems.0.quantity"),
    ({"lineItems": [line(NOTHING, "1")]}, "lineItems.0.quantity"),
    ({"lineItems": [line(NOTHING, True)]}, "lineItems.0.quantity"),
    ({"lineItems": [line(NOTHING, 0)]}, "lineItems.0.quantity"),
    ({"lineItems": [line(NOTHING, -1)]}, "lineItems.0.quantity"),
    ({"lineItems": [line(NOTHING, 10**30)]}, "lineItems.0.quantity"),
    ({"lineItems": [line(NOTHING, price=-1)]}, "lineItems.0.price"),
    ({"lineItems": [line(NOTHING, price="1.001")]}, "lineItems.0.price"),
    ({"lineItems": [line(NOTHING, price="NaN")]}, "lineItems.0.price"),
    ({"lineItems": [line(NOTHING, discount=1)]}, "lineItems.0.discount"),
    ({"lineItems": [{"title": "\u200b", "quantity": 1, "price": 1}]}, "lineItems.0.title"),
    ({"customer": {"id": "cus_nobody"}}, "customer.id"),
    ({"customer": {"email": "nobody"}}, "customer.email"),
    ({"customer": {"email": "ada@example.com\u200b"}}, "customer.email"),
    ({"customer": {"email": "a\x00da@example.com"}}, "customer.email"),
    ({"customer": {"firstName": " ", "phone": ""}}, "customer"),
    ({"customer": {}}, "customer"),
    ({"customer": "cus_1"}, "customer"),
    ({"customer": {"email": "a@b.c", "phone": 1}}, "customer.phone"),
    ({"source": "in person"}, "source"),
    ({"source": 5}, "source"),
    ({"paymentMethod": "card-terminal"}, "paymentMethod"),
    ({"paymentStatus": "SETTLED"}, "paymentStatus"),
    ({"salesRepId": "ord_1"}, "salesRepId"),
    ({"currency": "EUR"}, "currency"),
    ({"tax": -1}, "tax"),
    ({"total": "a lot"}, "total"),
    ({"total": 10**12}, "total"),
    ({"subtotal": [1]}, "subtotal"),
    ({"note": "x" * 5_001}, "note"),
    ({"note": 5}, "note"),
    ({"tags": "vip"}, "tags"),
    ({"tags": [""]}, "tags.0"),
    ({"tags": ["x"] * 51}, "tags"),
    ({"orderDate": (clock.now() + timedelta(days=365)).isoformat()}, "orderDate"),
    ({"orderDate": (clock.now() + timedelta(hours=25)).isoformat()}, "orderDate"),
    ({"orderDate": "yesterday"}, "orderDate"),
    ({"orderDate": 1_700_000_000}, "orderDate"),
    ({"orderDate": "0001-01-01T00:00:00+14:00"}, "orderDate"),
    ({"processedAt": "20"}, "processedAt"),
    ({"shippingAddress": {"address1": "A", "city": "B"}}, "shippingAddress.countryCode"),
    ({"billingAddress": "1 Street"}, "billingAddress"),
    ({"status": "PAID"}, "status"),
    ({"colour": "blue"}, "colour"),
]


@pytest.mark.parametrize(("sent", "field"), BAD, ids=[f"{f}-{n}" for n, (_, f) in enumerate(BAD)])
def test_bad_input_is_refused_by_field_and_stores_nothing(
    shop: Shop, sent: dict[str, Any], field: str
) -> None:
    id = variant(shop, 9)
    before = sorted(item["pk"] for item in shop.stored() if item["pk"] != "sequence")
    body = {**new_order(line(id)), **sent}
    refused = shop.post(ORDERS, body)
    assert refused.refused == [field]
    assert shop.post(ORDERS, {**body, "dryRun": True}).json == refused.json
    assert before == sorted(item["pk"] for item in shop.stored() if item["pk"] != "sequence")
    assert [event["event"] for event in shop.events()] == ["product.created"]


def test_a_line_has_up_to_a_million_pieces_and_a_total_below_the_limit(shop: Shop) -> None:
    id = variant(shop, price=1)
    assert placed(shop, line(id, 10**6))["total"] == "1000000.00"
    assert shop.post(ORDERS, new_order(line(id, 10**6 + 1))).refused == ["lineItems.0.quantity"]
    exactly = new_order(line(id, 10**6, price=10**6))
    assert shop.post(ORDERS, exactly).refused == ["lineItems.0.quantity"]
    assert placed(shop, line(id, 10**6, price="999999.99"))["total"] == "999999990000.00"
    placed(shop, *[line(id)] * 200)


def test_an_unknown_variant_of_a_known_product_is_refused(shop: Shop) -> None:
    id = variant(shop, 9)
    sent = new_order(line(id), line(id[:-1] + ("0" if id[-1] != "0" else "1")))
    assert shop.post(ORDERS, sent).refused == ["lineItems.1.variantId"]


def test_an_order_is_dated_at_most_24_hours_ahead(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)
    assert placed(shop, orderDate=clock.iso(now + timedelta(hours=24)))
    late = new_order(line(variant(shop)), orderDate=clock.iso(now + timedelta(hours=24, seconds=1)))
    assert shop.post(ORDERS, late).refused == ["orderDate"]


def test_a_total_beyond_the_limit_is_refused(shop: Shop) -> None:
    id = variant(shop, price="900000000000")
    assert shop.post(ORDERS, new_order(line(id, 2))).refused == ["lineItems.0.quantity"]
    assert shop.post(ORDERS, new_order(line(id), line(id))).refused == ["total"]
    largest = new_order(line(id), subtotal="999999999999.98", tax="0.01")
    assert shop.post(ORDERS, largest).json["total"] == "999999999999.99"
    assert shop.post(ORDERS, {**largest, "tax": "0.02"}).refused == ["total"]


def test_the_date_can_be_given_by_either_name(shop: Shop) -> None:
    date = "2020-02-29T00:00:00.000Z"
    assert placed(shop, processedAt="2020-02-29")["orderDate"] == date
    soon = clock.iso(clock.now() + timedelta(hours=23))
    assert placed(shop, orderDate=soon)["orderDate"] == soon


@pytest.mark.parametrize(
    ("zone", "begins"),
    [
        ("America/New_York", "2026-11-01T04:00:00.000Z"),  # a day of 25 hours
        ("Europe/Berlin", "2026-10-31T23:00:00.000Z"),
        ("UTC", "2026-11-01T00:00:00.000Z"),
    ],
)
def test_a_day_as_the_order_date_is_that_day_in_the_shop(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, zone: str, begins: str
) -> None:
    monkeypatch.setenv("TIMEZONE", zone)
    placed(shop, orderDate="2026-10-31")
    order = placed(shop, orderDate="2026-11-01")
    assert order["orderDate"] == begins
    for last in ("2026-11-01", "9999-12-31", "9999-12-31T23:59:59.9999999Z"):
        (listed,) = shop.get(f"{ORDERS}?from=2026-11-01&to={last}").json["data"]
        assert listed["id"] == order["id"]


@pytest.mark.parametrize(
    "written", ["20261101", "2026-305", "2026-W44", "2026-W44-7T08:00", "20261101T080000Z"]
)
def test_a_week_or_a_day_without_hyphens_is_refused(shop: Shop, written: str) -> None:
    sent = new_order(line(variant(shop)), orderDate=written)
    report = {"type": "sales", "from": written, "to": written}
    assert shop.post(ORDERS, sent).refused == ["orderDate"]
    assert shop.get(f"{ORDERS}?from={written}&to={written}").refused == ["from", "to"]
    assert shop.post("/api/admin/reports", report).refused == ["from", "to"]


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_a_date_that_is_on_no_day_of_the_shop_is_refused(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    monkeypatch.setenv("TIMEZONE", zone)
    # What programs in .NET send for a date that was never set.
    sent = new_order(line(variant(shop)), orderDate="0001-01-01T00:00:00Z")
    answer = shop.post(ORDERS, sent)
    assert answer.status == (201 if zone == "Asia/Tokyo" else 422), answer.text
    if answer.status == 422:
        assert answer.refused == ["orderDate"]


@pytest.mark.thorough
def test_the_largest_order_fits_one_transaction(shop: Shop, dynamodb: Double) -> None:
    ids = [variant(shop, 6) for _ in range(60)]
    names = {"firstName": " ".join("abcdefghijklmnop"), "lastName": " ".join("qrstuvwxyz01234")}
    customer = {"email": ".".join("abcdefghijklmnop") + "@a.b.c.d.e.f.g", **names}
    commits = dynamodb.asked("TransactWriteItems")
    headers = {"Idempotency-Key": "k"}
    more = {"salesRepId": "emp_ann", "tags": [f"tag{n}" for n in range(50)]}
    sent = new_order(*(line(id, 2) for id in ids), customer=customer, paymentStatus="PAID", **more)
    order = Order(shop, ORDERS, shop.made(ORDERS, sent, headers=headers))
    assert len(commits[0]["TransactItems"]) > 90
    assert kinds(shop).count("inventory.low") == 60
    change = {"status": "REFUNDED", "salesRepId": "emp_bob", "tags": ["a", "b", "c", "d"]}
    assert order.patch(change).status == 200
    assert {stock_of(shop, id) for id in ids} == {6}
    assert order.delete().status == 200
    sizes = [len(commit["TransactItems"]) for commit in commits]
    assert max(sizes) <= 97  # three are left for other writes
    too_many = new_order(*(line(id) for id in [*ids, variant(shop)]))
    assert shop.post(ORDERS, too_many).refused == ["lineItems"]


@pytest.mark.thorough
def test_an_order_with_any_number_of_tags_fits_one_transaction(
    shop: Shop, dynamodb: Double
) -> None:
    lines = [line(variant(shop, 6, name="Shirt"), 2) for _ in range(60)]
    sizes: list[int] = []
    for tags in range(20):
        person = {"email": f"{tags}@x.org", "firstName": "Ada Bea Cleo Dora Eve Fay Gil Hal"}
        tagged = {"tags": [f"tag{n}" for n in range(tags)]}
        more = {"paymentStatus": "PAID", "customer": person, **tagged}
        commits = dynamodb.asked("TransactWriteItems")
        order = shop.post(ORDERS, new_order(*lines, **more), headers={"Idempotency-Key": f"{tags}"})
        sizes += [len(commit["TransactItems"]) for commit in commits]
        dynamodb.faults = lambda _, request: None
        assert Order(shop, ORDERS, order.json).moved("REFUNDED").status == 200
    assert len(sizes) == 20 and 90 < max(sizes) <= 97


def test_an_order_that_would_not_fit_its_events_is_refused(shop: Shop) -> None:
    ids = variants(shop, *[9] * 100, name="é" * 500)
    for more in ({}, {"dryRun": True}):
        assert shop.post(ORDERS, new_order(*map(line, ids), **more)).refused == ["lineItems"]
    assert placed(shop, *(line(id) for id in ids[:50]))["lineItems"]
    small = product(shop, *[5] * 100, name="x")
    lines = [line(v["id"]) for v in small["variants"]]
    assert shop.post(ORDERS, new_order(*lines, paymentStatus="PAID")).status == 201
    assert {
        v["stock"] for v in shop.get(f"/api/admin/products/{small['id']}").json["variants"]
    } == {4}
    low = [one for one in shop.events() if one["event"] == "inventory.low"]
    assert len({one["id"] for one in low}) == len(low) == 100


def test_an_order_has_up_to_82000_bytes_of_json(shop: Shop) -> None:
    id = variant(shop, name="é" * 200)
    lines = [line(id)] * 103
    made = placed(shop, *lines, note="x")
    customer = {"id": made["customer"]["id"]}
    for one in made["lineItems"]:
        del one["shippedQuantity"], one["toShip"]  # which have room of their own
    del made["shippingStatus"], made["shipments"]
    room = 82_000 - len(json.dumps(made, ensure_ascii=False).encode()) + 1
    assert 0 < room < 5_000
    sent = new_order(*lines, customer=customer, note="x" * room)
    largest = Order(shop, ORDERS, shop.made(ORDERS, sent))
    assert shop.post(ORDERS, {**sent, "note": "x" * (room + 1)}).refused == ["lineItems"]
    largest.patch({"note": "🎁" * 5_000})
    assert largest.edit(shipping=1).status == 200  # in which a note does not count


@pytest.mark.parametrize(
    ("passed", "has_room", "taken"), [(500, True, 5), (499, True, 6), (500, False, 6)]
)
def test_a_number_is_reserved_separately_only_if_orders_are_dense_or_the_commit_is_full(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch, passed: int, has_room: bool, taken: int
) -> None:
    """In a quiet shop numbers have no gaps. In a busy one, requests do not wait for each other."""
    monkeypatch.setattr(clock, "unix_ms", lambda: 1_800_000_000_000)
    pk, sk = numbers.KEY
    item = {"pk": pk, "sk": sk, "n": 5, "at": 1_800_000_000_000 - passed}
    table.put(item)
    mine = numbers.Numbers()
    assert mine.choose_number(item, has_room=has_room) == "1006"
    assert mine.choose_number(item, has_room=has_room) == "1006"
    stored = table.get(numbers.KEY)
    assert stored is not None and stored["n"] == taken
    commit = Commit()
    mine.write(commit)
    assert len(commit) == (taken == 5)


def test_a_function_that_took_the_last_number_takes_the_next_in_the_commit(
    shop: Shop, dynamodb: Double
) -> None:
    """It cannot conflict with itself. Another function, which can, reserves a number first, and so
    does one that had a conflict."""
    id = variant(shop)
    alone: list[str] = []

    def noted(operation: str, request: Any) -> None:
        if request.get("Key", {}).get("sk") == {"S": numbers.KEY[1]}:
            alone.append(operation)

    def place() -> None:
        placed(shop, line(id))

    dynamodb.faults = noted
    place()
    place()
    assert alone == []
    another = threading.Thread(target=copy_context().run, args=[place])
    another.start()
    another.join()
    assert alone == ["UpdateItem"]
    place()
    alone.clear()
    before_the_commit(dynamodb, lambda: table.update(numbers.KEY, add={"n": 1}))
    place()
    assert alone == ["UpdateItem"] * 2  # that one, and the order's
