"""Jobs in the console: what was done in the background, by whom, to which records, and its undo."""

import re
import time
from collections.abc import Callable

from playwright.sync_api import Route, expect

from tests.e2e.calls import until
from tests.e2e.console.desk import PHONE, Desk, accessible
from tests.e2e.console.test_import import MINUTES
from tests.e2e.console.test_typed import RUN

PICTURE = "https://pictures.example.com/{}.svg"
DRAWN = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>'
)


def pictured(desk: Desk) -> None:
    """Pictures of other hosts are there, but those named `gone`."""

    def answer(route: Route) -> None:
        if "gone" in route.request.url:
            return route.fulfill(status=404)
        return route.fulfill(content_type="image/svg+xml", body=DRAWN)

    desk.page.route("https://pictures.example.com/**", answer)


def test_each_job_says_what_it_did_and_is_undone_in_the_list(another: Callable[..., Desk]) -> None:
    desk = another(viewport=PHONE)
    made = [desk.api.product(f"Jobbed{RUN} {n}", price="10.00") for n in range(3)]
    change = {"price": {"percent": 10}, "addTags": ["autumn"]}
    asked = {"filters": {"search": f"jobbed{RUN}"}, "change": change}
    job = desk.api.post("products/bulk-edit", asked)["jobId"]
    until(lambda: desk.api.get(f"jobs/{job}")["status"] in ("COMPLETED", "FAILED"))
    desk.api.post("exports", {"type": "products", "format": "csv", "all": True})
    desk.open("/jobs")
    row = desk.page.get_by_role("row").filter(has_text=f"jobbed{RUN}")
    expect(row).to_contain_text(f"add tags autumn; price +10 % · all with search jobbed{RUN}")
    expect(row).to_contain_text("3 records changed.")
    assert desk.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    accessible(desk)
    row.get_by_role("button", name="Undo Bulk edit").click()
    desk.dialog.get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("Undone", timeout=MINUTES)
    assert {desk.api.get(f"products/{one['id']}")["price"] for one in made} == {"10.00"}
    row.get_by_role("link", name="Bulk edit").click()
    desk.page.get_by_role("link", name=f"all with search jobbed{RUN}").click()
    desk.heading("Products")
    expect(desk.label("Search")).to_have_value(f"jobbed{RUN}")


def test_what_an_undo_left_is_named_and_linked(desk: Desk) -> None:
    made = [desk.api.product(f"Left{RUN} {n}", price="10.00", vendor="A") for n in range(2)]
    order = desk.api.order(f"Left order {RUN}")
    asked = {"ids": [one["id"] for one in made], "change": {"vendor": "B"}}
    edit = desk.api.post("products/bulk-edit", asked)["jobId"]
    until(lambda: desk.api.get(f"jobs/{edit}")["status"] == "COMPLETED")
    desk.api.call("PUT", f"products/{made[0]['id']}", {"vendor": "C"})
    move = {"ids": [order["id"]], "change": {"status": "PROCESSING"}}
    failed = desk.api.post("orders/bulk-edit", move)["jobId"]
    undo = desk.api.call("POST", f"jobs/{edit}/undo")["jobId"]
    for job, name, title in (
        (undo, made[0]["name"], "Left as they are"),
        (failed, f"Order #{order['number']}", "Failed"),
    ):
        until(lambda job=job: desk.api.get(f"jobs/{job}")["status"] == "COMPLETED")
        desk.open(f"/jobs/{job}")
        table = desk.page.get_by_role("region", name=title, exact=True)
        expect(table.get_by_role("link", name=name)).to_be_visible()
        text = table.inner_text().replace(RUN, "")
        assert not re.search("prod_|ord_|[a-z][A-Z]|[A-Z]_[A-Z]", text), text
        if job == undo:
            said = "1 record is as before the job. 1 record stayed as now"
            expect(desk.page.get_by_text(said)).to_be_visible()
            expect(desk.page.get_by_text("Correct these by hand")).to_be_visible()
            desk.page.get_by_role("link", name="The job that was undone").click()
            desk.heading("Bulk edit")
            twice = desk.api.call("POST", f"jobs/{edit}/undo")["jobId"]
            until(lambda twice=twice: desk.api.get(f"jobs/{twice}")["status"] == "COMPLETED")
            desk.open(f"/jobs/{twice}")
            expect(desk.page.get_by_text("Nothing was undone. 2 records stayed")).to_be_visible()
    desk.open(f"/jobs/{failed}")
    desk.page.get_by_role("link", name=f"Order #{order['number']}").click()
    desk.heading(f"Order #{order['number']}")


def test_every_change_of_an_order_is_told_without_ids(desk: Desk) -> None:
    order = desk.api.order(f"Told {RUN}", customer={"email": f"told1{RUN}@example.com"}, tags=["a"])
    other = desk.api.post("customers", {"email": f"told2{RUN}@example.com", "firstName": "Otto"})
    sold = desk.api.product(f"Added{RUN}", price="4.00")["variants"][0]["id"]
    more = {"add": [{"variantId": sold, "quantity": 1}], "orderDate": "2026-11-01T10:00:00Z"}
    moved = {"customer": {"id": other["id"]}, **more, "reason": "Was mistyped"}
    desk.api.post(f"orders/{order['id']}/edit", moved)
    desk.api.call("PATCH", f"orders/{order['id']}", {"tags": ["a", "b"]})
    entries = f"audit?recordId={order['id']}"
    until(lambda: len(desk.api.get(entries)["data"]) == 3, 120)
    desk.shown(order)
    desk.unfold("Every change")
    told = desk.page.locator("details", has_text="Every change").last
    expect(told).to_contain_text("Tags: a → a, b")
    text = told.inner_text().replace(RUN, "")
    assert not re.search("(cus|var|prod|li|adr)_|[a-z][A-Z]|T\\d\\d:|IN_", text), text
    told.get_by_role("link", name="Customer").last.click()
    desk.heading("Otto")


def test_the_records_of_a_job_lead_to_the_open_orders(desk: Desk) -> None:
    desk.api.order(f"Open{RUN}", salesRepId=f"emp_{RUN}")
    desk.open(f"/orders?status=open&salesRepId=emp_{RUN}")
    desk.button("Export").click()
    desk.dialog.get_by_role("button", name="Export").click()
    expect(desk.dialog).to_contain_text("1 of 1 order exported")
    desk.open(f"/jobs/{desk.api.get('jobs?limit=1')['data'][0]['id']}")
    desk.page.get_by_role("link", name=f"sales rep {RUN}").click()
    expect(desk.label("Status")).to_have_value("open")
    expect(desk.label("Sales rep")).to_have_value(RUN)


def test_a_job_is_followed_again_after_a_look_that_failed(desk: Desk) -> None:
    asked = desk.api.post("products/import/uploads", {"fileName": "awaited.csv"})
    desk.open(f"/jobs/{asked['jobId']}")
    desk.page.route("**/api/admin/jobs/*", lambda route: route.abort(), times=6)
    again = desk.button("Try again")
    expect(again).to_be_visible()
    desk.api.call("POST", f"jobs/{asked['jobId']}/cancel")
    again.click()
    expect(desk.page.locator("header .badge")).to_have_text("Cancelled")
    expect(again).to_have_count(0)


def test_what_is_too_old_or_cannot_be_undone_offers_no_undo(another: Callable[..., Desk]) -> None:
    """Also types of jobs that this version of the console does not know have their row."""
    desk = another()
    counts = {
        "created": 0,
        "deleted": 0,
        "unchanged": 0,
        "failed": 0,
        "processed": 4,
        "progress": 100,
    }
    rest = {"status": "COMPLETED", "dryRun": False, "about": {}, "createdBy": "Ann", "error": None}
    old, new = "2020-01-01T00:00:00.000Z", time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    rows = [
        {"id": f"job_{n}", "type": kind, "updated": 2, "createdAt": at, **counts, **rest}
        for n, (kind, at) in enumerate([("bulk_edit", new), ("bulk_edit", old), ("of_later", new)])
    ]
    page = {"page": 1, "limit": 50, "total": 3, "totalPages": 1}
    body = {"data": rows, "pagination": page, "total": 3}
    desk.page.route("**/api/admin/jobs?*", lambda route: route.fulfill(json=body))
    desk.open("/jobs")
    expect(desk.page.locator("tbody tr")).to_have_count(3)
    expect(desk.page.locator("tbody tr").nth(2)).to_contain_text("Of later")
    expect(desk.page.get_by_role("button", name="Undo")).to_have_count(1)


def test_runs_of_reports_are_one_row_that_has_each(another: Callable[..., Desk]) -> None:
    """Each look at a report is a job: they bury nothing, and one that failed is a row."""
    desk = another(viewport=PHONE)
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    about = {"type": "sales", "by": "day", "from": "2026-11-01", "to": "2026-11-30"}
    given = {"dryRun": False, "createdBy": "Ann", "error": None, "createdAt": now, "progress": 100}
    numbers = {"created": 0, "updated": 0, "deleted": 0, "unchanged": 0, "processed": 4}
    kinds = ["report", "report", "product_import", "report", "report"]
    rows = [
        {"id": f"job_{n}", "type": kind, "status": "COMPLETED", "failed": 0, **given, **numbers}
        | {"about": about if kind == "report" else None}
        for n, kind in enumerate(kinds)
    ]
    rows[2] |= {"fileName": "supplier.csv", "created": 3, "failed": 1}
    rows[3] |= {"status": "FAILED"}
    page = {"page": 1, "limit": 50, "total": 5, "totalPages": 1}
    body = {"data": rows, "pagination": page, "total": 5}
    desk.page.route("**/api/admin/jobs?*", lambda route: route.fulfill(json=body))
    desk.open("/jobs")
    row = desk.page.locator("tbody tr")
    expect(row).to_have_count(4)
    expect(row.nth(1).get_by_role("link", name="supplier.csv")).to_be_visible()
    expect(desk.page.locator("tbody .badge")).to_have_text(["Completed with 1 error", "Failed"])
    assert desk.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert row.nth(1).bounding_box()["height"] < 80  # two lines
    row.nth(0).get_by_text("2 runs of reports").click()
    runs = row.nth(0).get_by_role("link")
    expect(runs).to_have_text(["Sales by day, 2026-11-01 to 2026-11-30"] * 2)
    accessible(desk)
    assert str(runs.nth(1).get_attribute("href")).endswith("/jobs/job_1")


def test_the_preview_of_an_import_shows_products_as_people_know_them(desk: Desk) -> None:
    pictured(desk)
    variants = [{"title": "S", "sku": f"P{RUN}-S", "stock": 3}, {"title": "M", "stock": 5}]
    image = {"url": PICTURE.format("known")}
    desk.api.product(f"Known{RUN}", price="154.00", variants=variants, images=[image])
    lines = [
        "slug,name,sku,price,stock,image",
        f"known{RUN.lower()},Known{RUN},P{RUN}-S,169.40,7,",
        f"fresh{RUN.lower()},Fresh{RUN},F{RUN},12.50,40,{PICTURE.format('gone')}",
    ]
    content = "\n".join(lines).encode()
    file = {"name": "preview.csv", "mimeType": "text/csv", "buffer": content}
    desk.send_file(file, "Preview import")
    desk.button("Continue to the preview").click(timeout=MINUTES)
    preview = desk.page.get_by_role("region", name="Preview").get_by_role("row")
    known = preview.filter(has_text=f"Known{RUN}")
    expect(known).to_contain_text("Changed", timeout=MINUTES)
    expect(known).to_contain_text("Stock 3 → 7")
    expect(known.locator("img")).to_have_attribute("src", image["url"])
    fresh = preview.filter(has_text=f"Fresh{RUN}")
    expect(fresh).to_contain_text("New")
    expect(fresh).to_contain_text("12.50 · 40 in stock")
    expect(desk.page.locator("main")).not_to_contain_text("lowStockThreshold")
    accessible(desk)


def test_the_list_shows_pictures_and_stock_by_variant(another: Callable[..., Desk]) -> None:
    desk = another(viewport={"width": 1440, "height": 900})
    pictured(desk)
    variants = [{"title": "S", "stock": 1}, {"title": "M", "stock": 6}]
    shown = [{"url": PICTURE.format(name)} for name in ("there", "second")]
    given = {"price": "10.00", "type": f"Pictured{RUN}"}
    desk.api.product(f"Seen{RUN}", variants=variants, images=shown, **given)
    desk.api.product(f"Gone{RUN}", images=[{"url": PICTURE.format("gone")}], **given)
    desk.open(f"/products?type=Pictured{RUN}")
    row = desk.page.get_by_role("row").filter(has_text=f"Seen{RUN}")
    picture = row.locator("img")
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 0
    # What cannot be loaded leaves a blank place, without a letter or an icon.
    gone = desk.page.get_by_role("row").filter(has_text=f"Gone{RUN}").locator(".thumb")
    expect(gone).to_have_class("thumb blank")
    assert gone.evaluate("place => place.childNodes.length") == 0
    expect(row.locator("dl")).to_be_hidden()
    row.locator("summary").click()
    assert row.locator("dl").inner_text().split() == ["S", "1", "M", "6"]
    desk.heading("Products")  # the row was not opened
    accessible(desk)
    row.get_by_role("link", name=f"Seen{RUN}").click()
    desk.heading(f"Seen{RUN}")
    pictures = desk.page.locator(".pictures .thumb")
    expect(pictures).to_have_count(2)
    desk.button("More: picture 2").click()
    desk.page.locator(":popover-open").get_by_text("Use another address").click()
    desk.label("Address of the picture").fill(PICTURE.format("third"))
    desk.button("Use this address").click()
    expect(pictures.nth(1)).to_have_attribute("src", PICTURE.format("third"))


def test_a_webhook_that_works_again_offers_what_waits(desk: Desk) -> None:
    webhook = desk.api.webhook("http://127.0.0.1:9/waits")
    path = f"webhooks/{webhook['id']}"
    failing = {"on": True}

    def state(route: Route) -> None:
        answer = route.fetch()
        body = answer.json() | {
            "failingSince": "2026-11-01T00:00:00.000Z" if failing["on"] else None
        }
        route.fulfill(response=answer, json=body)

    def listed(route: Route) -> None:
        if "RETRYING" not in route.request.url:
            return route.continue_()
        rows = [{"id": f"dlv_{n}", "status": "RETRYING"} for n in range(57)]
        return route.fulfill(json={"data": rows, "nextCursor": None})

    sent: list[dict] = []

    def recover(route: Route) -> None:
        sent.append(route.request.post_data_json)
        route.fulfill(status=202, json={"count": 57})

    desk.page.route(f"**/admin/{path}", state)
    desk.page.route(f"**/admin/{path}/deliveries?*", listed)
    desk.page.route(f"**/admin/{path}/recover", recover)
    desk.open(f"/settings/developer/{path}")
    expect(desk.page.get_by_text("No successful delivery since")).to_be_visible()
    expect(desk.page.get_by_role("button", name="Send them now")).to_have_count(0)
    failing["on"] = False
    desk.reload()
    expect(desk.page.locator("main button.main")).to_have_text(["Send them now (57)"])
    accessible(desk)
    desk.button("Send them now (57)").click()
    desk.dialog.get_by_role("button", name="Resend 57 deliveries").click()
    expect(desk.page.locator(".toast")).to_have_text("Resending 57 deliveries.")
    assert [one["dryRun"] for one in sent] == [True, False]


def test_jobs_of_customers_name_them_until_they_are_erased(desk: Desk) -> None:
    names = [f"Ina {RUN}", f"Ina Maria {RUN}"]
    one, other = (desk.api.post("customers", {"firstName": name})["id"] for name in names)
    merge = desk.api.post(f"customers/{one}/merge", {"into": other})["jobId"]
    assert desk.api.ended(merge)["status"] == "COMPLETED"
    desk.open("/jobs")
    row = desk.page.get_by_role("row").filter(has_text="Merge of customers").first
    row.get_by_role("link", name=names[1]).click()
    desk.heading(names[1])
    desk.open(f"/jobs/{merge}")
    main = desk.page.locator("main")
    expect(main).to_contain_text(f"Merged into {names[1]}")
    erasure = desk.api.post(f"customers/{other}/erase", {})["jobId"]
    assert desk.api.ended(erasure)["status"] == "COMPLETED"
    for job, word in ((erasure, "The erased customer"), (merge, "the customer who stays")):
        desk.open(f"/jobs/{job}")
        desk.page.get_by_role("link", name=word).click()
        desk.heading("Erased customer")
        assert RUN not in main.inner_text()
