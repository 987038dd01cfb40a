"""Home and Reports: how the shop is doing and what is to be done; each number leads to its list."""

import csv
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.request import urlopen
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.e2e.calls import until
from tests.e2e.console.desk import PHONE, Desk, day_from_today, held

pytestmark = pytest.mark.usefixtures("same_day")


def sold(desk: Desk, name: str, price: str = "5", **more: Any) -> Any:
    return desk.api.order(desk.api.product(name, price=price), **more)


def tile(desk: Desk, name: str) -> Locator:
    return desk.page.locator(".tile").filter(has=desk.page.get_by_text(name, exact=True))


def shown(amount: str) -> str:
    """As the page writes an amount."""
    return f"${Decimal(amount):,.2f}"


def test_money_and_counts_are_of_the_same_orders(desk: Desk) -> None:
    sold(desk, "Paid of today's orders", paymentStatus="PAID")
    sold(desk, "Not paid today")
    sold(desk, "Paid last week", "7", orderDate=day_from_today(-7), paymentStatus="PAID")
    desk.open("/")
    summary = desk.api.get("summary")
    today, before = summary["today"], summary["days"][-8]
    assert 0 < today["paid"] < today["orders"]
    now = desk.page.locator("p.today")
    expect(now.get_by_role("link")).to_have_text(shown(today["revenue"]))
    expect(now).to_contain_text(f"{today['paid']} of {today['orders']} orders with a payment")
    day = f"{datetime.now(UTC):%A} last week: {shown(before['revenue'])}"
    expect(now).to_contain_text(f"{day}, {before['paid']} of")
    now.get_by_role("link").click()
    desk.heading("Orders")
    expect(desk.label("Date")).to_have_value("0")


def test_a_day_is_chosen_by_pointer_and_by_keys_and_leads_to_its_orders(desk: Desk) -> None:
    sold(desk, "Five days ago", "31", orderDate=day_from_today(-5), paymentStatus="PAID")
    desk.open("/")
    chart = desk.page.get_by_role("slider", name="Paid, last 30 days")
    day = desk.api.get("summary")["days"][-6]
    named = f"{datetime.fromisoformat(day['date']):%b} {int(day['date'][8:])}"
    chart.focus()
    for key in ("End", *["ArrowLeft"] * 5):
        desk.page.keyboard.press(key)
    said = re.compile(f"^{named}: {re.escape(shown(day['revenue']))}, {day['paid']} of")
    expect(chart).to_have_attribute("aria-valuetext", said)
    expect(chart).to_have_attribute("aria-valuenow", "25")
    size = chart.bounding_box()
    assert size is not None
    chart.hover(position={"x": 1, "y": size["height"] / 2})
    expect(chart).to_have_attribute("aria-valuenow", "1")
    desk.page.mouse.move(0, 0)
    expect(chart).to_have_attribute("aria-valuetext", said)
    table = desk.page.get_by_role("table").filter(has_text="Day")
    desk.page.get_by_text("Show as table").click()
    expect(table.get_by_role("row").nth(6)).to_contain_text(shown(day["revenue"]))
    chart.focus()
    desk.page.keyboard.press("Tab")
    desk.page.keyboard.press("Enter")
    desk.heading("Orders")
    assert f"from={day['date']}&to={day['date']}" in desk.page.url


def test_what_is_due_and_since_when_leads_to_its_orders(desk: Desk) -> None:
    rest = {"salesRepId": "emp_due"}
    part = sold(desk, "Due", payments=[{"amount": 2, "method": "CASH"}], **rest)
    late = sold(desk, "Overdue", orderDate=day_from_today(-15), **rest)
    recent = sold(desk, "Only due", orderDate=day_from_today(-14), **rest)
    sold(desk, "All paid", paymentStatus="PAID", **rest)
    desk.api.move(sold(desk, "Called off", **rest), "CANCELLED")
    receivables = desk.api.get("summary")["receivables"]
    rows = desk.page.locator("tbody tr")
    for place, says, orders in (
        (0, f"of {receivables['orders']} order", [part, recent, late]),
        (1, "of orders of more than 14 days ago", [late]),
    ):
        desk.open("/")
        expect(tile(desk, "Due")).to_contain_text(says)
        tile(desk, "Due").get_by_role("link").nth(place).click()
        expect(desk.label("Balance")).to_have_value("due")
        desk.label("Sales rep").fill("due")
        expect(rows.locator("td.key")).to_have_text([f"#{order['number']}" for order in orders])
    desk.open("/")
    desk.page.get_by_role("link", name="Confirmed", exact=True).click()
    desk.heading("Orders")
    expect(desk.label("Status")).to_have_value("PAID")


def test_the_money_of_today_is_shown_by_method(desk: Desk) -> None:
    sold(desk, "By voucher", payments=[{"method": "VOUCHER", "amount": "4.50"}])
    desk.open("/")
    known = desk.api.get("summary?clock=received")["moneyToday"]
    taken = tile(desk, "Taken today")
    expect(taken).to_contain_text(
        f"Voucher {shown(next(one['amount'] for one in known if one['method'] == 'VOUCHER'))}"
    )
    expect(desk.page.locator(".tile").first).to_contain_text("Taken today")
    sums = sum(Decimal(one["amount"]) for one in known)
    expect(taken.get_by_role("link")).to_have_text(shown(str(sums)))
    taken.get_by_role("link").click()
    desk.heading("Reports")
    expect(desk.label("By")).to_have_value("paymentMethod")
    desk.button("Refresh").click()
    # Other tests of the same shop make methods of their own that begin with the same word.
    row = desk.page.get_by_role("row").filter(
        has=desk.page.get_by_role("cell", name="Voucher", exact=True)
    )
    expect(row).to_contain_text("$4.50")


def test_a_day_of_refunds_is_less_than_nothing(desk: Desk) -> None:
    def refunded(route: Route) -> None:
        money = [{"method": "CASH", "amount": "0.00"}, {"method": "OTHER", "amount": "-50.10"}]
        route.fulfill(json={**route.fetch().json(), "moneyToday": money})

    desk.page.route("**/api/admin/summary?*", refunded)
    desk.open("/")
    expect(tile(desk, "Taken today").get_by_role("link")).to_have_text("-$50.10")


def test_what_is_chosen_while_a_report_is_added_up_stays_and_is_answered(desk: Desk) -> None:
    old = {"orderDate": "2019-03-05T12:00:00Z", "source": "PHONE", "paymentStatus": "PAID"}
    sold(desk, "Of an old year", **old)
    with held(desk) as answer_to_the_first:
        with desk.page.expect_request(lambda request: request.url.endswith("/admin/reports")):
            desk.page.goto(f"{desk.console_url}#/reports?from=2019-03-01&to=2019-03-09")
        desk.heading("Reports")
        desk.label("By").select_option("source")
        desk.label("To").fill("2019-03-07")
        by = desk.page.get_by_role("columnheader", name="Source")
        expect(by).to_be_visible()
        answer_to_the_first()
    expect(desk.page.get_by_role("row").filter(has_text="Phone")).to_contain_text("$5.00")
    expect(by).to_be_visible()
    expect(desk.label("By")).to_have_value("source")
    expect(desk.label("To")).to_have_value("2019-03-07")
    assert "by=source&from=2019-03-01&to=2019-03-07" in desk.page.url


def test_a_product_says_what_was_sold_of_it(desk: Desk) -> None:
    order = sold(desk, "Sold lately", "6", paymentStatus="PAID")
    desk.open(f"/products/{order['lineItems'][0]['productId']}")
    sums = desk.page.locator("details", has_text="Sold in the last 30 days")
    sums.locator("summary").click()
    expect(sums).to_contain_text("1 piece in 1 order, $6.00 net. Added up")
    days = sums.get_by_role("slider")
    days.focus()
    desk.page.keyboard.press("End")
    expect(days).to_have_attribute("aria-valuetext", re.compile(r": \$6\.00, 1 order$"))
    desk.page.keyboard.press("ArrowLeft")
    expect(days).to_have_attribute("aria-valuetext", re.compile(r": \$0\.00$"))
    sums.get_by_text("Show as table").click()
    expect(sums.get_by_role("row").nth(1)).to_contain_text("$6.00")
    sums.get_by_role("link", name="1 order").first.click()
    expect(desk.label("To")).to_have_value(order["orderDate"][:10])


def test_low_stock_is_shown_by_product_then_page_by_page_and_found_by_a_search(desk: Desk) -> None:
    sizes = [{"title": f"Size {n}", "sku": f"AVOCET-{n:03}", "stock": 0} for n in range(102)]
    new = {"price": 5, "status": "ACTIVE", "lowStockThreshold": 3, "variants": sizes}
    desk.api.post("products", {"name": "Avocet", **new})
    desk.open("/")
    card = desk.page.locator(".card", has_text="Low stock")
    row = card.get_by_role("row").filter(has_text="Avocet")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("+ more of")
    expect(row.get_by_label("Stock of Avocet")).to_have_value("0")  # what is out comes first
    card.get_by_role("link", name="View all low stock").click()
    fields = desk.page.get_by_label("Stock of Avocet")
    expect(fields).to_have_count(100)
    expect(desk.page.get_by_text("The first 100 variants below the threshold.")).to_be_visible()
    fields.first.fill("7")
    desk.button("Show more").press("Enter")
    expect(fields).to_have_count(102)
    expect(desk.page.locator(":is(tr, tr *):focus")).to_have_count(1)  # in the first new line
    expect(fields.first).to_have_value("7")
    fields.first.fill("0")
    desk.open("/")
    desk.open("/products/low-stock")
    shown = desk.page.locator("tbody tr").filter(visible=True)
    for number in (0, 50, 101):
        desk.label("Search").fill(f"avocet-{number:03}")
        expect(shown).to_have_count(1)
        expect(shown).to_contain_text(f"Size {number}")
    expect(desk.button("Show more")).to_be_hidden()
    desk.label("Search").fill("avocet size 101")
    expect(shown).to_have_count(1)
    shown.get_by_role("link", name="Avocet").click()
    expect(desk.label("Stock of variant 102")).to_be_focused()


def test_deliveries_in_trouble_lead_to_their_list(desk: Desk) -> None:
    hook = desk.api.webhook("http://127.0.0.1:9/no")
    desk.api.post(f"webhooks/{hook['id']}/test", {})
    until(lambda: desk.api.get("deliveries?status=RETRYING,FAILED&limit=1")["data"])
    desk.open("/")
    needs = desk.page.get_by_role("region", name="Needs someone")
    expect(needs).to_contain_text("failing in the last 7 days")
    needs.get_by_role("link", name=re.compile("failing$")).click()
    desk.heading("Deliveries")
    expect(desk.label("Status")).to_have_value("RETRYING,FAILED")
    expect(desk.page.locator("tbody tr").first).to_be_visible()
    desk.api.call("PUT", f"webhooks/{hook['id']}", {"enabled": False})


def test_a_report_is_a_table_with_bars_and_a_file(another: Callable[..., Desk]) -> None:
    desk = another(viewport=PHONE)
    name = f"Bittern {uuid4().hex[:6]}"
    sold(desk, name, "1234.50", source="FAIR", paymentStatus="PAID")
    desk.open("/reports?by=product")
    desk.button("Refresh").click()
    row = desk.page.get_by_role("row").filter(has_text=name)
    expect(row).to_contain_text("$1,234.50")
    expect(row.get_by_role("link")).to_have_attribute("href", re.compile("#/products/prod_"))
    width = desk.page.evaluate("document.documentElement.scrollWidth")
    assert width == PHONE["width"]
    desk.button("Export report").click()
    file = desk.dialog.get_by_role("link", name="Download CSV").get_attribute("href")
    desk.page.keyboard.press("Escape")
    with urlopen(str(file)) as answer:
        rows = list(csv.DictReader(io.StringIO(answer.read().decode("utf-8-sig"))))
    total = desk.page.get_by_role("row").filter(has_text="Total")
    expect(total).to_contain_text(shown(str(sum(Decimal(each["net"]) for each in rows))))
    desk.label("By").select_option("source")
    desk.page.get_by_role("cell", name="Fair", exact=True).get_by_role("link").click()
    desk.heading("Orders")
    assert f"source=FAIR&from={day_from_today(-29)}&to={day_from_today(0)}" in desk.page.url
    desk.go_back()
    expect(desk.label("By")).to_have_value("source")
    desk.open("/jobs")
    about = f"Sales by product, {day_from_today(-29)} to {day_from_today(0)}"
    expect(desk.page.get_by_role("row").filter(has_text=about).first).to_be_visible()


def test_a_second_look_at_a_report_has_what_was_sold_and_deleted_meanwhile(desk: Desk) -> None:
    name = f"Curlew {uuid4().hex[:6]}"
    product = desk.api.product(name, variants=[{"price": "20", "cost": "12.50"}])
    page = f"/reports?by=product&from={day_from_today(-400)}&to={day_from_today(-399)}"
    row = desk.page.get_by_role("row").filter(has_text=name)
    desk.open(page)
    expect(desk.button("Refresh")).to_be_visible()
    first, second = (desk.api.order(product, orderDate=day_from_today(-400)) for _ in range(2))
    desk.open("/")
    desk.open(page)
    expect(row).to_contain_text("$40.00")
    expect(row.get_by_role("cell").last).to_have_text("$15.00")
    desk.api.call("DELETE", f"orders/{first['id']}")
    desk.reload()
    expect(row).to_contain_text("$20.00")
    expect(desk.page.locator(".shares li").filter(has_text=name)).to_contain_text("$20.00")
    desk.api.call("DELETE", f"orders/{second['id']}")
    desk.button("Refresh").click()
    expect(row).to_have_count(0)


def test_a_report_says_which_part_of_the_net_its_profit_covers(desk: Desk) -> None:
    known = desk.api.product("Stint", variants=[{"price": "20", "cost": "12.50"}])
    page = f"/reports?from={day_from_today(-500)}&to={day_from_today(-499)}"
    desk.api.order(known, orderDate=day_from_today(-500))
    desk.api.order(known, orderDate=day_from_today(-502))
    desk.open(page)
    sums = desk.page.get_by_role("region", name="Totals")
    expect(sums).to_contain_text("Profit$7.50")
    expect(sums).to_contain_text("The 2 days before$20.00")
    expect(desk.page.get_by_text("The profit covers")).to_have_count(0)
    sold(desk, "Of no known cost", "3", orderDate=day_from_today(-499))
    desk.button("Refresh").click()
    expect(desk.page.get_by_text("The profit covers $20.00 of $23.00")).to_be_visible()
    rows = desk.page.get_by_role("region", name="Sums").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("Total")
    expect(rows.nth(2)).to_contain_text("$3.00")  # the newest day
    expect(desk.page.get_by_role("columnheader", name="Net with cost")).to_be_visible()
    expect(desk.page.get_by_role("columnheader", name="Tax")).to_have_count(0)
    desk.button("Show all columns").click()
    expect(desk.page.get_by_role("columnheader", name="Tax")).to_be_visible()


def test_a_period_is_one_press_and_names_its_file(desk: Desk) -> None:
    sold(desk, "Dunlin", "1234.5", paymentStatus="PAID")
    desk.open("/reports")
    today = datetime.now(UTC)
    last = today.replace(day=1) - timedelta(days=1)
    for name, first, end in (
        ("Last month", f"{last:%Y-%m}-01", f"{last:%Y-%m-%d}"),
        ("This year", f"{today:%Y}-01-01", day_from_today(0)),
        ("This month", f"{today:%Y-%m}-01", day_from_today(0)),
        ("Today", day_from_today(0), day_from_today(0)),
    ):
        desk.button(name).click()
        expect(desk.label("From")).to_have_value(first)
        expect(desk.label("To")).to_have_value(end)
        expect(desk.page).to_have_url(re.compile(f"from={first}&to={end}"))
        expect(desk.button(name)).to_have_attribute("aria-pressed", "true")
    desk.button("Export report").click()
    desk.label("Number format").select_option("semicolon")
    desk.reload()
    desk.button("Export report").click()
    expect(desk.label("Number format")).to_have_value("semicolon")
    file = desk.dialog.get_by_role("link", name="Download CSV")
    with urlopen(str(file.get_attribute("href"))) as answer:
        named = answer.headers["Content-Disposition"]
        (row,) = csv.DictReader(io.StringIO(answer.read().decode("utf-8-sig")), delimiter=";")
    assert f'"sales-by-day-{day_from_today(0)}-to-{day_from_today(0)}.csv"' in named
    total = Decimal(row["gross"].replace(",", "."))
    assert "," in row["gross"] and total >= Decimal("1234.5")


def test_a_report_says_what_a_period_must_be(desk: Desk) -> None:
    desk.open("/reports")
    expect(desk.page.get_by_role("slider")).to_be_visible()
    expect(desk.button("Last 30 days")).to_have_attribute("aria-pressed", "true")
    desk.button("Other days").click()
    desk.label("To").fill("2026-01-01")
    says = "must be the first day, or at most 365 days after it"
    expect(desk.field("to").locator(".error")).to_have_text(says)
    desk.label("To").fill(day_from_today(0))
    expect(desk.field("to").locator(".error")).to_be_empty()
    desk.label("Report").select_option("tax")
    expect(desk.label("By").locator("option")).to_have_text(["Day"])
    expect(desk.page.get_by_role("columnheader", name="Charged")).to_be_visible()


@pytest.mark.parametrize("width", [390, 768, 1024, 1440, 1920])
def test_the_tiles_of_home_are_a_grid_without_holes(
    another: Callable[..., Desk], width: int
) -> None:
    desk = another(viewport={"width": width, "height": 900})
    desk.open("/")
    tiles = desk.page.locator(".tile")
    expect(tiles.first).to_contain_text("Taken today")
    desk.filled()
    boxes = tiles.evaluate_all("all => all.map((each) => each.getBoundingClientRect().toJSON())")
    rows: dict[float, list[tuple[float, float]]] = {}
    for box in boxes:
        rows.setdefault(box["y"], []).append((box["x"], box["right"]))
    # Each row begins and ends where the first does.
    assert len({(row[0][0], round(row[-1][1])) for row in rows.values()}) == 1
    assert len(boxes) == 4 and len(next(iter(rows.values()))) in {2, 4}
    assert desk.page.evaluate("document.documentElement.scrollWidth") == width


def test_each_number_of_home_leads_to_as_many_records(desk: Desk) -> None:
    closed = sold(desk, "Closed though confirmed", paymentStatus="PAID")
    desk.api.post(f"orders/{closed['id']}/close", {"keep": closed["total"], "reason": "Stopped"})
    sold(desk, "Confirmed and open", paymentStatus="PAID")
    for name in ("Open orders", "Confirmed"):
        desk.open("/")
        shown = desk.page.locator(".tile, .shares li").filter(
            has=desk.page.get_by_text(name, exact=True)
        )
        count = re.findall(r"[0-9]+", shown.first.inner_text())[0]
        shown.first.get_by_role("link").click()
        expect(desk.page.locator(".count")).to_have_text(re.compile(f"^{count} orders?$"))
