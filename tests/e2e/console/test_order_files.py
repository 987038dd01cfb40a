"""Photos and drawings on the page of an order and on the card of its work."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Response, expect

from tests.e2e.calls import until
from tests.e2e.console.desk import PHONE, Desk, accessible
from tests.e2e.console.test_pictures import PHOTO, is_shown, make_upload

DRAWING = {"name": "Ring größe.dxf", "mimeType": "application/dxf", "buffer": b"0\nSECTION\n"}


def is_from_bucket(answer: Response) -> bool:
    return answer.request.method == "POST" and "/api/" not in answer.url


def files_of(desk: Desk, order: Any) -> Any:
    return desk.api.get(f"orders/{order['id']}/files")["data"]


def test_a_photo_and_a_drawing_are_on_the_order_and_on_the_card_of_its_work(
    another: Callable[..., Desk],
) -> None:
    desk = another(viewport=PHONE)
    line = {"title": "Ring of a dunnock", "price": "5.00", "quantity": 1, "make": True}
    order = desk.shown(desk.api.post("orders", {"lineItems": [line], "paymentStatus": "PAID"}))
    desk.button("Add files").click()
    desk.page.locator(".uploads input[type=file]").first.set_input_files([PHOTO, DRAWING])
    expect(desk.page.locator(".files progress")).to_have_count(0)
    accessible(desk)
    photo, drawing = files_of(desk, order)
    assert (photo["kind"], drawing["kind"]) == ("IMAGE", "FILE")
    assert photo["width"] * photo["height"] < 6_010_000
    is_shown(desk.page.locator(".files img"))
    desk.page.get_by_role("button", name="photo.jpg").click()
    is_shown(desk.dialog.locator("img"))
    accessible(desk)
    desk.dialog.get_by_label("Item").select_option("Ring of a dunnock")
    desk.dialog.get_by_label("Note").fill("As the customer wants it")
    desk.dialog.get_by_role("button", name="Save").click()
    expect(desk.page.locator("dialog")).to_have_count(0)
    changed = files_of(desk, order)[0]
    assert (changed["note"], changed["lineItemId"]) == (
        "As the customer wants it",
        order["lineItems"][0]["id"],
    )
    desk.page.get_by_role("button", name="größe.dxf").click()
    with desk.page.expect_download() as saved:
        desk.dialog.get_by_role("link", name="Download").click()
    assert saved.value.suggested_filename == DRAWING["name"]
    desk.dialog.get_by_role("button", name="Delete").click()
    desk.dialog.get_by_role("button", name="Delete").last.click()
    expect(desk.page.locator("dialog")).to_have_count(0)
    assert len(files_of(desk, order)) == 1
    desk.open("/production")
    desk.page.get_by_role("button", name="Ring of a dunnock").first.click()
    is_shown(desk.dialog.locator(".files img"))


def test_a_file_is_on_the_order_though_its_tab_was_closed_after_the_upload(desk: Desk) -> None:
    order = desk.shown(desk.api.order("Closed tab"))
    desk.button("Add files").click()
    with desk.page.expect_response(is_from_bucket):
        desk.page.locator(".uploads input[type=file]").first.set_input_files(
            [make_upload("a.jpg", b"x")]
        )
    desk.page.close()
    until(lambda: [each["status"] for each in files_of(desk, order)] == ["READY"])
