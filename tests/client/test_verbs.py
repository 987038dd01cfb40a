"""Verbs of the command against the application itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
from backroom import Backroom, Policy
from backroom.cli import base, commands, output

from tests.client.inside import client
from tests.orders.build import line, placed, stock_of, variant
from tests.stock.build import fanned_out
from tests.support.dynamodb_double import Double
from tests.support.job_desk import JobDesk
from tests.support.shop import Shop

Run = Callable[..., Any]


@pytest.fixture
def run(shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """What a verb prints as JSON: a document, or a list of lines. With a `code`: its message."""
    made, _ = client(shop)

    @contextmanager
    def opened() -> Iterator[Backroom]:
        yield made

    monkeypatch.setattr(base, "open_own_shop", opened)

    # The application's log goes to stdout, too.
    printed: list[Any] = []
    monkeypatch.setattr(output, "print_json", printed.append)
    monkeypatch.setattr(output, "print_json_line", lambda value: printed.append([value]))

    def of(*words: str, code: int = 0) -> Any:
        printed.clear()
        with pytest.raises(SystemExit) as ended:
            commands.main([*words, "--json"])
        said = capsys.readouterr()
        assert ended.value.code == code, said
        if code:
            return said.err
        lines = [line[0] for line in printed if isinstance(line, list)]
        return lines if lines else printed[0]

    return of


@pytest.fixture
def mug(shop: Shop) -> Any:
    variant = {"title": "Blue", "price": "9.00", "sku": "MUG-1", "stock": 4}
    return shop.post("/api/admin/products", {"name": "Mug", "variants": [variant]}).json


def test_stock_is_received_and_counted(run: Run, mug: Any) -> None:
    assert run("stock", "receive", "MUG-1", "3")["stock"] == 7
    assert run("stock", "count", "MUG-1", "5", "--reason", "INVENTORY")["stock"] == 5
    assert "no variants" in run("stock", "count", "MUG", "5", code=commands.REFUSED)
    assert "reason" in run("stock", "count", "MUG-1", "5", "--reason", "?", code=commands.REFUSED)


def test_who_wrote_what_is_listed(run: Run, mug: Any, aws: Double) -> None:
    run("stock", "receive", "MUG-1", "3")
    fanned_out(aws)
    moved, created = run("audit", mug["id"])
    assert (moved["action"], created["action"]) == ("product.stock_moved", "product.created")
    assert [one["after"] for one in moved["changes"]] == [7]
    assert run("audit", "--type", "product", "--action", "product.created") == [created]
    by_key = ("--key", created["actor"]["keyId"], "--from", "2026-01-01", "--to", "2100-01-01")
    assert run("audit", mug["id"], *by_key) == [moved, created]


def test_a_count_takes_lines_and_is_cancelled(run: Run, mug: Any) -> None:
    count = run("stock", "counts", "start", "Shelf A", "--where", "search=mug")
    assert (count["name"], count["variants"]) == ("Shelf A", 1)
    line = run("stock", "count", "MUG-1", "2", "--in", count["id"])
    line = run("stock", "count", "MUG-1", "1", "--in", count["id"], "--add")
    assert (line["counted"], line["difference"]) == (3, -1)
    assert run("stock", "counts", "show", count["id"], "--state", "DIFFERENT") == [line]
    assert run("stock", "counts")[0]["counted"] == 1
    assert run("stock", "counts", "cancel", count["id"])["status"] == "CANCELLED"
    assert "CANCELLED" in run("stock", "counts", "apply", count["id"], code=commands.REFUSED)
    assert "--in" in run("stock", "count", "MUG-1", "1", "--add", code=commands.USAGE)
    every = run("stock", "counts", "start", "Everything", "--all")
    assert every["variants"] == 1


def test_a_count_is_of_the_products_that_match_any_value_of_a_filter(run: Run, shop: Shop) -> None:
    for status in ("ACTIVE", "DRAFT", "ARCHIVED"):
        sent = {"name": status, "status": status, "price": 1, "variants": [{"stock": 1}]}
        shop.made("/api/admin/products", sent)
    sold = ("--where", "status=ACTIVE", "--where", "status=DRAFT")
    assert run("stock", "counts", "start", "Shelf", *sold)["variants"] == 2
    missing = run("stock", "counts", "start", "Shelf", "--where", "status", code=commands.USAGE)
    assert "--where status: write NAME=VALUE" in missing


def test_a_count_is_applied_and_waited_for(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made, _ = client(jobs.shop, policy=Policy(sleep=lambda seconds: jobs.work()))
    monkeypatch.setattr(base, "open_own_shop", lambda: nullcontext(made))
    id = variant(jobs.shop, 5)
    count = made.create_stock_count({"name": "Shelf", "variantIds": [id]})["id"]
    made.enter_stock_count_lines(count, {"lines": [{"variantId": id, "counted": 3}]})
    with pytest.raises(SystemExit) as ended:
        commands.main(["stock", "counts", "apply", count])
    assert (ended.value.code, stock_of(jobs.shop, id)) == (0, 3)
    assert "stock_count" in capsys.readouterr().out


def test_a_report_is_of_one_product(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made, _ = client(jobs.shop, policy=Policy(sleep=lambda seconds: jobs.work()))
    monkeypatch.setattr(base, "open_own_shop", lambda: nullcontext(made))
    ids = [variant(jobs.shop) for _ in range(2)]
    order = placed(jobs.shop, *(line(id, n, price=5) for n, id in enumerate(ids, 1)))
    day = order["orderDate"][:10]
    period = ("--from", day, "--to", day, "--product", order["lineItems"][1]["productId"])
    printed: list[Any] = []
    monkeypatch.setattr(output, "print_json", printed.append)
    with pytest.raises(SystemExit) as ended:
        commands.main(["report", "sales", *period, "--json"])
    assert ended.value.code == 0, capsys.readouterr()
    assert printed[0]["report"]["totals"]["pieces"] == 2
    with pytest.raises(SystemExit) as ended:
        commands.main(["report", "money", *period])
    assert "is only for sales by day" in capsys.readouterr().err


def test_movements_of_stock_are_listed(run: Run, mug: Any, aws: Double) -> None:
    run("stock", "receive", "MUG-1", "3")
    run("orders", "create", "--item", "MUG-1:2")
    fanned_out(aws)
    assert [(one["cause"], one["by"]) for one in run("stock", "movements", "MUG-1")] == [
        ("SALE", -2),
        ("MOVE", 3),
        ("TRACKED", None),
    ]
    assert len(run("stock", "movements", "--cause", "sale", "--cause", "move")) == 2
    assert "cause" in run("stock", "movements", "--cause", "hope", code=commands.REFUSED)


def test_an_order_is_paid_in_parts_and_a_piece_is_refunded(run: Run, mug: Any) -> None:
    number = run("orders", "create", "--item", "MUG-1:2", "--email", "ada@example.com")["number"]
    assert "SKU" in run("orders", "create", "--item", "NONE", code=commands.REFUSED)
    part = run("orders", "pay", number, "5", "--method", "cash", "--tendered", "10")
    assert (part["balanceDue"], part["payments"][0]["change"]) == ("13.00", "5.00")
    assert "more" in run("orders", "pay", number, "13.01", code=commands.REFUSED)
    assert run("orders", "pay", number, "--method", "CASH")["paymentStatus"] == "PAID"
    moved = ("orders", "update", number, "--status")
    assert run(*moved, "PROCESSING")["status"] == "PROCESSING"
    assert "invalid_transition" in run(*moved, "PENDING", code=commands.REFUSED)
    assert [one["number"] for one in run("orders", "--search", "ada@example.com")] == [number]
    asked = ("orders", "refund", number, "--item", "MUG-1", "--reason", "RETURNED")
    assert run(*asked, "--dry-run")["amount"] == "9.00"
    returned = run(*asked)
    assert (returned["amountRefunded"], returned["refunds"][0]["lines"][0]["restocked"]) == (
        "9.00",
        1,
    )
    assert "no lines" in run("orders", "refund", number, "--item", "CUP", code=commands.REFUSED)
    assert "--amount" in run("orders", "refund", number, code=commands.USAGE)
    assert run("orders", "refund", number, "--amount", "1")["amountRefunded"] == "10.00"


def test_an_order_is_shipped_in_parts_and_its_shipments_are_listed(run: Run, mug: Any) -> None:
    number = run("orders", "create", "--item", "MUG-1:3", "--paid")["number"]
    part = ("shipments", "create", number, "--item", "MUG-1:2")
    part = (*part, "--carrier", "Post", "--number", "RR100", "--number", "RR101")
    would = run(*part, "--dry-run")
    assert (would["statusAfter"], would["left"][0]["quantity"]) == ("PROCESSING", 1)
    assert run(*part)["shippingStatus"] == "PARTIAL"
    assert "exceeds_quantity" in run(*part, code=commands.REFUSED)
    last = run("shipments", "create", number, "--pickup", "--note", "Handed over")
    assert (last["status"], last["shipments"][1]["method"]) == ("SHIPPED", "PICKUP")
    assert [one["orderNumber"] for one in run("shipments")] == [number, number]
    (found,) = run("shipments", "--number", "RR101", "--state", "shipped", "--carrier", "Post")
    assert found["parcels"][0]["trackingNumber"] == "RR100"


def test_work_is_listed_and_moved(run: Run, mug: Any, shop: Shop) -> None:
    line = {"title": "Ring", "price": "90.00", "quantity": 2, "make": True, "dueOn": "2026-12-24"}
    lines = [line, {**line, "title": "Chain", "dueOn": "2026-12-25"}]
    sent = {"lineItems": lines, "paymentStatus": "PAID"}
    order = shop.post("/api/admin/orders", sent).json
    assert [one["title"] for one in run("work", "list", "--stage", "To do")] == ["Ring", "Chain"]
    assert "--line" in run("work", "move", order["number"], "Done", code=commands.REFUSED)
    assert "In work" in run("work", "move", order["number"], "Gone", "--line", "Ring", code=1)
    moved = run("work", "move", order["number"], "Done", "--line", "Ring")
    assert (moved["orderStatus"], moved["state"], moved["made"]) == ("IN_PRODUCTION", "DONE", 2)
    assert run("work", "move", order["number"], "In work")["title"] == "Chain"
    assert [one["title"] for one in run("work", "list", "--state", "done")] == ["Ring"]


def test_an_order_is_edited_after_a_look_at_what_would_change(
    run: Run, mug: Any, shop: Shop
) -> None:
    cup = {"name": "Cup", "variants": [{"title": "Red", "price": "4.00", "sku": "CUP-1"}]}
    assert shop.post("/api/admin/products", cup).status == 201
    placed = ("orders", "create", "--item", "MUG-1:2", "--external-id", "WEB-7")
    number = run(*placed)["number"]
    assert "has this external id" in run(*placed, code=commands.REFUSED)
    asked = ("orders", "edit", number, "--add", "CUP-1", "--set", "MUG-1:1", "--discount", "1")
    asked = (*asked, "--shipping", "2.50", "--reason", "By telephone")
    assert run(*asked, "--dry-run")["after"]["total"] == "14.50"
    assert run("orders", "show", number)["total"] == "18.00"
    edited = run(*asked)
    assert (edited["total"], edited["edits"][0]["reason"]) == ("14.50", "By telephone")
    assert [line["sku"] for line in edited["lineItems"]] == ["MUG-1", "CUP-1"]
    blank = ("orders", "edit", number, "--reason", "None", "--discount", "")
    assert "discount.amount" in run(*blank, code=commands.REFUSED)
    taxed = run("orders", "edit", number, "--tax", "2", "--total", "14.50", "--reason", "Included")
    assert (taxed["tax"], taxed["total"]) == ("2.00", "14.50")
    more = ("orders", "edit", number, "--shipping", "5", "--reason", "More")
    assert "in proportion 2.34" in run(*more, code=commands.REFUSED)
    run("orders", "edit", number, "--tax", "0", "--total", "14.50", "--reason", "Not taxed")
    for nothing in ("0", "0.00"):
        run("orders", "edit", number, "--discount", "1", "--reason", "One off")
        given = ("--discount", nothing, "--reason", "No discount")
        assert run("orders", "edit", number, *given)["discount"] is None
    removed = run("orders", "edit", number, "--set", "MUG-1:0", "--reason", "Sold out")
    assert [line["sku"] for line in removed["lineItems"]] == ["CUP-1"]
    assert "--add" in run("orders", "edit", number, "--reason", "None", code=commands.USAGE)
    assert "no lines" in run(
        "orders", "edit", number, "--set", "MUG-1:1", "--reason", "x", code=commands.REFUSED
    )


def test_the_table_of_orders_has_their_times_in_utc(
    run: Run, mug: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, rows = run("orders", "create", "--item", "MUG-1"), list[Any]()
    monkeypatch.setattr(output, "print_table", lambda columns, given: rows.extend(given))
    with pytest.raises(SystemExit):
        commands.main(["orders"])
    assert [row[:2] for row in rows] == [(order["number"], f"{order['orderDate'][:19]}Z")]


def test_a_key_is_created_for_some_days_and_revoked(run: Run) -> None:
    made = run("keys", "create", "Contractor", "--role", "STAFF", "--days", "7")
    assert made["expiresAt"] and made["key"]
    listed = {each["id"]: each for each in run("keys", "--limit", "0")}
    assert listed[made["id"]]["expiresAt"] == made["expiresAt"]
    run("keys", "revoke", made["id"])
    assert "not_found" in run("keys", "revoke", made["id"], code=commands.REFUSED)
    both = ("--days", "7", "--expires", "2030-01-01T00:00:00Z")
    run("keys", "create", "X", "--role", "STAFF", *both, code=commands.USAGE)


def test_a_customer_is_shown_by_their_email(run: Run, shop: Shop) -> None:
    ada = shop.post("/api/admin/customers", {"email": "ada@example.com"}).json
    shop.post("/api/admin/customers", {"email": "dada@example.com"})
    assert run("customers", "show", "ADA@example.com")["id"] == ada["id"]
    assert run("customers", "show", ada["id"])["email"] == "ada@example.com"
    assert {each["email"] for each in run("customers")} >= {"ada@example.com"}
    assert "no customer" in run("customers", "show", "x@example.com", code=commands.REFUSED)
