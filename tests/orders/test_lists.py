"""Lists, filters and search of orders; their customers; sales, low stock and the summary."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from chalicelib import deadline, listing
from chalicelib.nightly import check
from chalicelib.orders.schemas import ListOrders
from chalicelib.storage import table
from chalicelib.values import clock, ids
from tests.orders.build import (
    ORDERS,
    Order,
    before_the_commit,
    line,
    placed,
    product,
    product_path,
    set_stock,
    variant,
)
from tests.support.dynamodb_double import Double, Fault
from tests.support.shop import Answer, Shop

SUMMARY = "/api/admin/summary"


def numbers(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.text
    found = [order["number"] for order in answer.json["data"]]
    assert answer.json["total"] == answer.json["pagination"]["total"] == len(found)
    return found


@pytest.fixture
def busy(shop: Shop) -> Shop:
    id = variant(shop)
    ada = {"email": "ada.lovelace@example.com", "firstName": "Ada", "lastName": "Lovelace"}
    emil = {"email": "EMIL@example.org", "firstName": "Émile", "lastName": "Zola"}
    placed(shop, line(id), customer=ada)
    placed(shop, line(id), customer=emil).moved("PAID")
    backdated = {"orderDate": "2020-01-01", "source": "PRIVATE_COMMISSION"}
    placed(shop, line(id), customer=ada, paymentStatus="PAID", **backdated)
    placed(shop, line(id), customer=None).moved("CANCELLED")
    return shop


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["1004", "1002", "1001", "1003"]),
        ("status=PAID", ["1002", "1003"]),
        ("status=PAID,CANCELLED", ["1004", "1002", "1003"]),
        ("excludeStatus=PAID", ["1004", "1001"]),
        ("excludeStatus=PAID&excludeStatus=CANCELLED", ["1001"]),
        ("status=PAID,PENDING&excludeStatus=PENDING", ["1002", "1003"]),
        ("status=PAID&excludeStatus=PAID", []),
        ("source=PRIVATE_COMMISSION", ["1003"]),
        ("source=IN_PERSON&status=PAID", ["1002"]),
        ("source=NOWHERE", []),
        ("search=1002", ["1002"]),
        ("search=004", ["1004"]),
        ("search=%231002", ["1002"]),
        ("search=lovelace", ["1001", "1003"]),
        ("search=ada.lovelace%40example.com", ["1001", "1003"]),
        ("search=emil%40EXAMPLE", ["1002"]),
        ("search=emile%20zola", ["1002"]),
        ("search=ada&status=PENDING", ["1001"]),
        ("search=ada&source=PRIVATE_COMMISSION", ["1003"]),
        ("search=ada&excludeStatus=PENDING", ["1003"]),
        ("search=nobody", []),
    ],
)
def test_filters_and_search_find_what_matches_by_order_date(
    busy: Shop, query: str, expected: list[str]
) -> None:
    assert numbers(busy.get(f"{ORDERS}?{query}")) == expected


def test_the_limit_of_a_search_is_given_in_characters(shop: Shop) -> None:
    (error,) = shop.get(f"{ORDERS}?search={'x' * 201}").json["errors"]
    assert (error["field"], error["code"]) == ("search", "too_long")
    assert error["message"] == "must have 200 characters or fewer"


@pytest.fixture
def dated(shop: Shop) -> Shop:
    """Orders around the clock change in New York: 2026-11-01 has 25 hours there."""
    id = variant(shop, price="10")
    ada = {"email": "ada@example.com", "firstName": "Ada"}
    for date, more in {
        "2026-11-01T03:59:59.999Z": {"customer": ada},  # 23:59 on the day before
        "2026-11-01T04:00:00Z": {"tags": ["vip", "gift"], "salesRepId": "emp_ann"},
        "2026-11-02T04:30:00Z": {"paymentStatus": "PAID", "customer": ada},  # 23:30
        "2026-11-02T05:00:00Z": {"paymentStatus": "FAILED", "tags": ["vip"]},
    }.items():
        placed(shop, line(id), **{"customer": None, "orderDate": date, **more})
    return shop


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("from=2026-11-01&to=2026-11-01", ["1003", "1002"]),
        ("to=2026-10-31", ["1001"]),
        ("from=2026-11-02", ["1004"]),
        ("from=2026-11-01T04:00:00Z&to=2026-11-02T04:30:00Z", ["1003", "1002"]),
        ("from=2026-11-01T04:00:00.001Z&sort=orderDate", ["1003", "1004"]),
        ("sort=orderDate", ["1001", "1002", "1003", "1004"]),
        ("paymentStatus=PAID,FAILED", ["1004", "1003"]),
        ("paymentStatus=pending&to=2026-11-01", ["1002", "1001"]),
        ("salesRepId=emp_ann", ["1002"]),
        ("salesRepId=emp_bob", []),
        ("tag=vip", ["1004", "1002"]),
        ("tag=vip&status=PENDING&to=2026-11-01", ["1002"]),
        ("tag=vi", []),
        ("customerId={ada}", ["1003", "1001"]),
        ("customerId={ada}&from=2026-11-01&paymentStatus=PAID", ["1003"]),
        ("search=ada&from=2026-11-01", ["1003"]),
        ("search=gift", ["1002"]),
        ("search=vip&tag=vip&sort=orderDate", ["1002", "1004"]),
    ],
)
def test_orders_are_filtered_by_day_payment_customer_rep_and_tag(
    dated: Shop, monkeypatch: pytest.MonkeyPatch, query: str, expected: list[str]
) -> None:
    monkeypatch.setenv("TIMEZONE", "America/New_York")
    (ada,) = dated.get("/api/admin/customers").json["data"]
    assert numbers(dated.get(f"{ORDERS}?{query.format(ada=ada['id'])}")) == expected


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=2026-11-02&to=2026-11-01", "to"),
        ("from=2026-11-02T00:00:01Z&to=2026-11-02T00:00:00Z", "to"),
        ("from=yesterday", "from"),
        ("to=2026-02-30", "to"),
        ("sort=total", "sort"),
        ("status=LOST", "status"),
        ("excludeStatus=x", "excludeStatus"),
        ("paymentStatus=LATE", "paymentStatus"),
        ("colour=red", "colour"),
    ],
)
def test_meaningless_filters_are_refused_by_name(shop: Shop, query: str, field: str) -> None:
    answer = shop.get(f"{ORDERS}?{query}")
    assert answer.status == 422
    assert answer.json["errors"][0]["field"].startswith(field)


def test_a_list_without_parameters_has_no_filter() -> None:
    assert ListOrders.model_validate({}).accepted_values() == {}
    assert ListOrders.model_validate({}).to_query() == listing.Query()


def test_orders_are_found_by_tracking_number_and_items(shop: Shop) -> None:
    variants = [{"title": "Small", "sku": "EM-77", "price": 1}]
    sent = {"name": "Enamel mug", "price": 1, "variants": variants}
    made = shop.post("/api/admin/products", sent).json
    order = placed(shop, line(made["variants"][0]["id"]), paymentStatus="PAID")
    order.moved("PROCESSING")
    order.patch({"trackingNumber": "1Z-999 AA"})
    for search in ("1z-999", "aa", "enamel", "em-77", "77"):
        assert numbers(shop.get(f"{ORDERS}?search={search}")) == [order["number"]], search


def test_a_sale_late_in_the_evening_belongs_to_the_shops_day(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIMEZONE", "America/New_York")
    late = clock.parse("2026-11-22T04:30:00Z")  # 23:30 on the 21st
    monkeypatch.setattr(clock, "now", lambda: late)
    placed(shop, paymentStatus="PAID")
    summary = shop.get(SUMMARY).json
    assert summary["today"]["orders"] == 1
    assert summary["days"][-1]["date"] == "2026-11-21"
    assert sales_counted_again().wrong == []


def test_lists_follow_every_change_immediately(busy: Shop) -> None:
    order = Order(busy, ORDERS, busy.get(f"{ORDERS}?search=1001").json["data"][0])
    order.moved("PAID", "PROCESSING")
    assert numbers(busy.get(f"{ORDERS}?status=PENDING")) == []
    assert numbers(busy.get(f"{ORDERS}?status=PROCESSING")) == ["1001"]
    order.delete()
    assert numbers(busy.get(f"{ORDERS}?search=lovelace")) == ["1003"]
    assert numbers(busy.get(f"{ORDERS}?source=IN_PERSON")) == ["1004", "1002"]


def test_the_summary_has_sales_open_orders_and_low_stock(shop: Shop) -> None:
    mugs = product(shop, 9, 2, 9, name="Mug", price="10")
    first, low, _ = (v["id"] for v in mugs["variants"])
    today = clock.now()
    placed(shop, line(first, 3), paymentStatus="PAID")
    placed(shop, line(first, 2))
    week = clock.iso(today - timedelta(days=7))
    placed(shop, line(low), paymentStatus="PAID", orderDate=week)
    old = clock.iso(today - timedelta(days=30))
    placed(shop, line(low), paymentStatus="PAID", orderDate=old)
    summary = shop.get(SUMMARY).json
    assert summary["today"] == {"orders": 2, "paid": 1, "revenue": "30.00"}
    assert summary["last30Days"] == {"orders": 3, "paid": 2, "revenue": "40.00"}
    assert [day for day in summary["days"] if day["orders"]] == [
        {"date": week[:10], "orders": 1, "paid": 1, "revenue": "10.00"},
        {"date": clock.iso(today)[:10], "orders": 2, "paid": 1, "revenue": "30.00"},
    ]
    assert len(summary["days"]) == 30
    assert summary["openOrders"]["total"] == 4
    assert summary["openOrders"]["byStatus"] == {
        **{"PENDING": 1, "PAID": 3, "IN_PRODUCTION": 0, "PROCESSING": 0, "SHIPPED": 0}
    }
    assert [(v["variantId"], v["stock"], v["productName"]) for v in summary["lowStock"]] == [
        *sorted([(first, 4, "Mug"), (low, 0, "Mug")])
    ]


def test_the_summary_has_the_money_of_today_by_method(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = clock.now() - timedelta(days=2)
    with pytest.MonkeyPatch.context() as before:
        before.setattr(clock, "now", lambda: old)
        placed(shop, payments=[{"method": "CASH", "amount": "1"}])
    assert shop.get(SUMMARY).json["moneyToday"] == []
    id = variant(shop, price="65")
    amounts = {"CASH": "20", "BANK": "7.5", "CARD": "7.5", "GIFT_CARD": "30"}
    paid = [{"method": method, "amount": amount} for method, amount in amounts.items()]
    order = placed(shop, line(id), payments=paid)
    shop.post(f"{ORDERS}/{order['id']}/refunds", {"amount": "12.50", "method": "CASH"})
    known = shop.get(SUMMARY).json["moneyToday"]
    sums = {one["method"]: one["amount"] for one in known}
    assert sums == {"GIFT_CARD": "30.00", "BANK": "7.50", "CARD": "7.50", "CASH": "7.50"}
    assert list(sums) == ["GIFT_CARD", "BANK", "CARD", "CASH"]
    monkeypatch.setattr("chalicelib.summary.store.MOST_COUNTED", 2)
    assert shop.get(SUMMARY).json["moneyToday"] is None


def test_cancellation_refund_and_deletion_reduce_sales(shop: Shop) -> None:
    id = variant(shop, price="10")
    orders = [placed(shop, line(id), paymentStatus="PAID") for _ in range(3)]
    pending = [placed(shop, line(id)) for _ in range(2)]
    assert shop.get(SUMMARY).json["today"] == {"orders": 5, "paid": 3, "revenue": "30.00"}
    orders[0].moved("REFUNDED")
    orders[1].delete()
    pending[0].moved("CANCELLED")
    pending[1].moved("PAID")
    assert shop.get(SUMMARY).json["today"] == {"orders": 3, "paid": 2, "revenue": "20.00"}
    assert shop.get(SUMMARY).json["openOrders"]["total"] == 2


def sales_counted_again() -> listing.Recount:
    return dict(check.list_recounts())["sales"]


def test_recounted_sales_equal_those_that_orders_recorded(shop: Shop) -> None:
    id = variant(shop, price="10.05")
    for date in (clock.now(), clock.now() - timedelta(days=29), clock.now() - timedelta(days=99)):
        for moves in ([], ["PAID"], ["CANCELLED"], ["PAID", "REFUNDED"], ["PAID", "PROCESSING"]):
            order = placed(shop, line(id), orderDate=clock.iso(date))
            assert not moves or order.moved(*moves).status == 200
    order = placed(shop, line(id), paymentStatus="PAID")
    order.patch({"paymentStatus": "FAILED"})
    shop.delete(f"{ORDERS}/{placed(shop, line(id), paymentStatus='PAID')['id']}")
    assert sales_counted_again() == listing.Recount(11, [])


def test_wrong_sales_are_found_reported_and_repaired(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    id = variant(shop, price="10")
    placed(shop, line(id), paymentStatus="PAID")
    today, yesterday = (clock.iso(clock.now() - timedelta(days=n))[:10] for n in (0, 1))
    table.update(("sales", f"{today}#3"), add={"revenue": Decimal("0.50")})
    table.update(("sales", f"{yesterday}#3"), add={"n": -1})
    wrong = sales_counted_again().wrong
    assert [(one.name, one.stored, one.counted) for one in wrong] == [
        (f"sales/{yesterday}", -1, 0),
        (f"sales/{today} revenue", Decimal("10.5"), 10),
    ]
    check.check_totals()
    assert '"CountsWrong":2' in capsys.readouterr().out
    listing.repair(wrong)
    assert sales_counted_again().wrong == []
    assert shop.get(SUMMARY).json["last30Days"] == {"orders": 1, "paid": 1, "revenue": "10.00"}


def test_orders_placed_during_a_recount_are_no_disagreement(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop)
    placed(shop, line(id))

    def client(operation: str, request: Any) -> None:
        if operation == "Query":
            dynamodb.faults = lambda operation, request: None
            placed(shop, line(id), paymentStatus="PAID")
            dynamodb.faults = client

    dynamodb.faults = client
    assert sales_counted_again().wrong == []
    assert shop.get(SUMMARY).json["today"]["orders"] > 10


def low(shop: Shop) -> list[tuple[Any, ...]]:
    return [(v["variantId"], v["stock"]) for v in shop.get(SUMMARY).json["lowStock"]]


def test_low_stock_is_listed_after_every_kind_of_change(shop: Shop) -> None:
    sold, edited, born, raised, fine = (variant(shop, n) for n in (6, 9, 3, 7, 50))
    order = placed(shop, line(sold, 2))
    set_stock(shop, edited, 4)
    shop.put(product_path(raised), {"lowStockThreshold": 8})
    assert low(shop) == [(raised, 7), (edited, 4), (sold, 4), (born, 3)]
    order.moved("CANCELLED")
    set_stock(shop, edited, None)
    shop.put(product_path(raised), {"lowStockThreshold": 7})
    shop.delete(product_path(born))
    assert low(shop) == []
    placed(shop, line(raised), line(fine))
    assert low(shop) == [(raised, 6)]


def walked(shop: Shop, limit: int, meanwhile: Callable[[], object]) -> list[list[str]]:
    """The pages of all low variants; `meanwhile` happens after each."""
    pages, cursor = list[list[str]](), "*"
    while cursor:
        answer = shop.get(f"/api/admin/stock/low?limit={limit}&cursor={cursor}").json
        pages.append([one["variantId"] for one in answer["data"]])
        cursor = answer["nextCursor"]
        meanwhile()
    return pages


@pytest.mark.parametrize(("limit", "sizes"), [(3, [3] * 7), (6, [6, 6, 6, 3]), (100, [21])])
def test_all_low_stock_is_paged_each_variant_once(
    shop: Shop, dynamodb: Double, limit: int, sizes: list[int]
) -> None:
    """Also while variants of it fall again, and other readers delete outdated entries."""
    made = [product(shop, *[3] * 7) for _ in range(3)]
    product(shop, 1, status="DRAFT")
    gone = variant(shop, 2)
    shop.delete(product_path(gone))
    rising = iter(made * 3)

    def meanwhile() -> None:
        one = next(rising)
        move = {"variantId": one["variants"][-1]["id"], "reason": "COUNTED"}
        for stock in (20, 1):
            moves = {"moves": [{**move, "to": stock}]}
            assert shop.post(f"/api/admin/products/{one['id']}/stock", moves).status == 200
        low(shop)

    pages = walked(shop, limit, meanwhile)
    made.sort(key=lambda one: str(one["id"]), reverse=True)
    expected = [id for one in made for id in sorted(each["id"] for each in one["variants"])]
    assert [len(page) for page in pages] == sizes
    assert [id for page in pages for id in page] == expected


@pytest.mark.parametrize(("many", "empty"), [(10, 1), (11, 2)])
def test_a_page_of_low_stock_ends_early_after_many_products_that_are_not_low(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, many: int, empty: int
) -> None:
    monkeypatch.setattr("chalicelib.products.low._PRODUCTS", 1)
    ids = [variant(shop, 3) for _ in range(many)]
    for id in ids[1:]:
        change = {"variants": [{"id": id, "stock": 20}]}
        shop.put(product_path(id), change)
    assert walked(shop, 5, lambda: None) == [*([[]] * empty), ids[:1]]
    assert shop.get("/api/admin/stock/low").json["data"][0]["stock"] == 3
    refused = shop.get("/api/admin/stock/low?cursor=abc")
    assert refused.refused == ["cursor"]


def test_a_page_of_low_stock_looks_at_no_more_than_it_shows_and_keeps_the_newest_entries(
    shop: Shop, dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = (variant(shop, 3) for _ in range(3))
    for stock in (20, 3):
        set_stock(shop, first, stock)
    reads = dynamodb.asked("BatchGetItem")
    with monkeypatch.context() as patched:
        patched.setattr("chalicelib.products.low._PRODUCTS", 1)
        assert len(shop.get("/api/admin/stock/low?limit=1").json["data"]) == 1
    assert sum("prod_" in str(read) for read in reads) == 2
    assert len(shop.get("/api/admin/stock/low").json["data"]) == 3
    assert low(shop) == [(first, 3), (third, 3), (second, 3)]


def test_drafts_and_archived_products_do_not_count_as_low(shop: Shop) -> None:
    id = variant(shop, 3)
    assert low(shop) == [(id, 3)]
    for status in ("DRAFT", "ARCHIVED"):
        shop.put(product_path(id), {"status": status})
        assert low(shop) == []
    shop.put(product_path(id), {"status": "ACTIVE"})
    assert low(shop) == [(id, 3)]


def test_a_hundred_new_drafts_do_not_hide_what_is_low(shop: Shop) -> None:
    id = variant(shop, 3)
    draft = {"name": "Draft", "price": 5, "variants": [{"title": "S", "stock": 1}]}
    assert shop.post("/api/admin/products/bulk", [draft] * 120).json["summary"]["failed"] == 0
    assert low(shop) == [(id, 3)]


def test_entries_that_are_no_longer_low_are_removed(shop: Shop, dynamodb: Double) -> None:
    id = variant(shop, 6)
    for _ in range(5):
        placed(shop, line(id, 2)).moved("CANCELLED")
    assert dynamodb.partition_sizes("backroom-test")["low-stock"] == 5
    assert low(shop) == []
    assert dynamodb.partition_sizes("backroom-test")["low-stock"] == 0
    for _ in range(3):
        placed(shop, line(id, 2)).moved("CANCELLED")
    placed(shop, line(id, 2))
    assert low(shop) == [(id, 4)]
    assert dynamodb.partition_sizes("backroom-test")["low-stock"] == 1
    assert low(shop) == [(id, 4)]


def test_entries_of_deleted_products_are_removed(shop: Shop, dynamodb: Double) -> None:
    for _ in range(30):
        table.put({"pk": "low-stock", "sk": ids.ulid(), "products": [ids.new_id("prod")]})
    assert low(shop) == []
    assert dynamodb.partition_sizes("backroom-test")["low-stock"] == 0


@pytest.mark.parametrize("fault", [None, Fault.LOST, Fault.THROTTLE])
def test_a_cleanup_keeps_products_that_become_low_meanwhile(
    shop: Shop, dynamodb: Double, monkeypatch: pytest.MonkeyPatch, fault: Fault | None
) -> None:
    monkeypatch.setattr(deadline, "PATIENCE_SECONDS", 0.01)
    id = variant(shop, 6)
    placed(shop, line(id, 2)).moved("CANCELLED")
    sold: list[Any] = []

    def sold_before_the_cleanup(operation: str, request: Any) -> Fault | None:
        if operation != "BatchWriteItem":
            return None
        if not sold:
            sold.append(None)
            placed(shop, line(id, 2))
        return fault

    dynamodb.faults = sold_before_the_cleanup
    assert low(shop) == []
    assert sold
    assert low(shop) == [(id, 4)]


def test_a_threshold_change_during_a_sale_announces_low_stock(shop: Shop, dynamodb: Double) -> None:
    bought, raised = variant(shop, 7), variant(shop, 9)
    raise_it = {"lowStockThreshold": 7}
    before_the_commit(dynamodb, lambda: shop.put(product_path(bought), raise_it))
    placed(shop, line(bought))
    fallen = [e["data"] for e in shop.events() if e["event"] == "inventory.low"]
    assert [(data["stock"], data["threshold"]) for data in fallen] == [(6, 7)]
    before_the_commit(dynamodb, lambda: placed(shop, line(raised, 2)))
    shop.put(product_path(raised), {"lowStockThreshold": 8})
    assert low(shop) == [(raised, 7), (bought, 6)]
