"""Pictures of products: chosen, uploaded, put in order, and seen wherever products are."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.calls import call
from tests.e2e.console.desk import PHONE, Desk, accessible
from tests.files.build import exif, picture


def make_upload(name: str, data: bytes) -> Any:
    return {"name": name, "mimeType": "image/jpeg", "buffer": data}


CUP = make_upload("cup.jpg", picture((400, 300), "JPEG"))
SAUCER = make_upload("saucer.jpg", picture((300, 300), "JPEG"))
TEXT = make_upload("text.jpg", b"This is no picture.")
PHOTO = make_upload("photo.jpg", picture((4032, 3024), "JPEG", exif=exif(6)))


def add_pictures(desk: Desk, *files: Any) -> None:
    """Chooses files, and waits until each is READY or was refused."""
    desk.page.locator(".uploads input[type=file]").first.set_input_files(list(files))
    expect(desk.page.locator(".pictures progress")).to_have_count(0)


def find_tiles(desk: Desk) -> Locator:
    return desk.page.locator(".pictures li")


def press_in_menu(desk: Desk, at: int, name: str) -> None:
    """Presses a button in the menu of a picture."""
    desk.button(f"More: picture {at}").click()
    desk.page.locator(":popover-open").get_by_role("button", name=name).click()
    expect(desk.page.locator(":popover-open")).to_have_count(0)


def is_shown(image: Locator) -> None:
    expect(image).to_have_js_property("complete", True)
    expect(image).not_to_have_js_property("naturalWidth", 0)


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1440, "height": 900}])
def test_pictures_of_a_product_are_uploaded_and_seen_wherever_it_is(
    another: Callable[..., Desk], viewport: Any
) -> None:
    desk = another(viewport=viewport)
    name = f"Gannet{viewport['width']}"
    desk.open("/products/new")
    desk.label("Name").fill(name)
    desk.label("Price").fill("5")
    desk.label("Status").select_option("ACTIVE")
    add_pictures(desk, CUP, TEXT, SAUCER)
    expect(find_tiles(desk).nth(1)).to_contain_text("text.jpg: The file is no picture.")
    desk.button("Create product").click()
    expect(desk.page.get_by_text("text.jpg was not uploaded.")).to_be_visible()
    accessible(desk)
    press_in_menu(desk, 2, "Remove")
    press_in_menu(desk, 2, "Make it the main picture")
    desk.label("Alt text of picture 1").fill("A saucer")
    desk.page.locator(".uploads > .actions").get_by_text("Use another address").click()
    desk.label("Address of the picture").fill("https://pictures.example.com/third.png")
    desk.page.route("https://pictures.example.com/**", lambda route: route.fulfill(status=404))
    desk.button("Use this address").click()
    expect(desk.page.locator("dialog")).to_have_count(0)
    expect(find_tiles(desk).nth(2)).to_contain_text("cannot be loaded")
    desk.button("Create product").click()
    desk.heading(name)
    found = desk.api.get(f"products/{desk.page.url.rpartition('/')[2]}")
    saucer, cup, third = found["images"]
    assert (saucer["alt"], third["url"]) == ("A saucer", "https://pictures.example.com/third.png")
    assert desk.api.get(f"pictures/{cup['pictureId']}")["name"] == "cup.jpg"
    _, seen = call(f"{desk.api.base_url}/api/products/{found['slug']}")
    assert seen["images"][0]["sizes"] == saucer["sizes"]
    small = f'img[src="{saucer["sizes"]["small"]}"]'
    desk.open(f"/products?search={name}")
    is_shown(desk.page.locator(f"tbody {small}"))
    desk.choose(name)
    is_shown(desk.page.locator(f".order-lines {small}"))


def test_a_photo_is_made_smaller_before_it_is_sent_unless_the_original_is_wanted(
    desk: Desk,
) -> None:
    desk.shown(product := desk.api.product("Photographed"))
    add_pictures(desk, PHOTO)
    desk.label("Send original").check()
    add_pictures(desk, PHOTO)
    desk.save()
    images = desk.api.get(f"products/{product['id']}")["images"]
    smaller, original = (desk.api.get(f"pictures/{each['pictureId']}") for each in images)
    assert (original["width"], original["height"]) == (3024, 4032)
    assert smaller["width"] * 4032 == pytest.approx(smaller["height"] * 3024, rel=0.001)
    assert 5_900_000 < smaller["width"] * smaller["height"] < 6_010_000


def test_pictures_outlive_a_reload_a_failure_and_a_page_that_is_left(desk: Desk) -> None:
    desk.shown(product := desk.api.product("Kept", variants=[{"stock": 3}]))
    bucket = re.compile("^(?!.*/(api|console))")
    posted = desk.kept(bucket)
    with desk.page.expect_request(bucket):
        desk.page.locator(".uploads input[type=file]").first.set_input_files([CUP])
    expect(find_tiles(desk)).to_contain_text("Uploading")
    desk.page.evaluate("location.hash = '#/orders'")
    expect(desk.dialog).to_contain_text("being uploaded")
    desk.dialog.get_by_role("button", name="Stay").click()
    posted[0].abort()
    expect(find_tiles(desk)).to_contain_text("The upload was interrupted.")
    posted.release()
    press_in_menu(desk, 1, "Try again")
    expect(desk.page.locator(".pictures progress")).to_have_count(0)
    desk.label("Alt text of picture 1").fill("A cup")
    desk.page.on("dialog", lambda asked: asked.accept())
    desk.page.reload()
    expect(desk.page.get_by_text("What was begun here before is not saved yet.")).to_be_visible()
    expect(desk.label("Alt text of picture 1")).to_have_value("A cup")
    # The stock is saved by a request of its own, which draws the page again.
    desk.label("Stock of variant 1").fill("+2")
    desk.page.locator(".uploads input[type=file]").first.set_input_files([SAUCER])
    desk.save()
    expect(desk.page.get_by_text("Unsaved changes")).to_have_count(0)
    saved = desk.api.get(f"products/{product['id']}")
    assert [each["alt"] for each in saved["images"]] == ["A cup", None]
    assert saved["variants"][0]["stock"] == 5
