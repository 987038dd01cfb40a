"""Products in the console: search, edits, conflicts, bulk edits."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.calls import until
from tests.e2e.console.desk import DESKTOP, PHONE, Desk

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def made(desk: Desk, name: str, **more: object) -> dict:
    return desk.api.post("products", {"name": name, "price": 10, **more})


def test_a_product_is_created_with_variants_and_found_while_typing(desk: Desk) -> None:
    desk.open("/products/new")
    desk.label("Name").fill("Harbour Smock")
    desk.label("Price").fill("49.90")
    desk.label("Tags").fill("linen, workwear")
    desk.field("variants.0.title").locator("input").fill("Small")
    desk.field("variants.0.stock").locator("input").fill("7")
    desk.button("Add a variant").click()
    desk.page.keyboard.type("Large")
    desk.field("variants.1.sku").locator("input").fill("SMOCK-L")
    desk.button("Create product").click()
    desk.heading("Harbour Smock")

    desk.open("/products")
    desk.label("Search").press_sequentially("smock-l")
    row = desk.page.get_by_role("row").filter(has_text="Harbour Smock")
    expect(row).to_contain_text("$49.90")
    expect(row).to_contain_text("7")
    expect(desk.page.get_by_role("row")).to_have_count(2)
    expect(desk.page.get_by_role("status")).to_have_text("1 product found.")
    assert "search=smock-l" in desk.page.url
    row.get_by_role("link").click()
    desk.heading("Harbour Smock")
    desk.go_back()
    expect(desk.label("Search")).to_have_value("smock-l")
    expect(desk.page.get_by_role("row")).to_have_count(2)
    (found,) = desk.api.get("products?search=smock-l")["data"]
    assert [(v["title"], v["sku"], v["stock"]) for v in found["variants"]] == [
        ("Small", None, 7),
        ("Large", "SMOCK-L", None),
    ]
    assert found["tags"] == ["linen", "workwear"]


def add_a_value(desk: Desk) -> None:
    """Of the first option, where the names of both are still known; and discards it."""
    desk.page.reload()
    expect(desk.page.locator(".line.head").first).to_contain_text("Size / Hue")
    desk.button("Options").click()
    expect(desk.label("Name of the second option")).to_have_value("Hue")
    expect(desk.label("Values of the second option")).to_have_value("Red, Blue, Tan")
    desk.label("Values of the first option").fill("S, M, L")
    desk.button("Add variants").click()
    expect(desk.label("Title of variant 9")).to_have_value("L / Tan")
    desk.button("Discard changes").click()
    expect(desk.label("Title of variant 6")).to_have_value("M / Tan")
    expect(desk.label("Title of variant 7")).to_have_count(0)


def test_options_make_variants_with_few_keys_and_values_are_copied_down(desk: Desk) -> None:
    """Two options of 2 and 3 values, with price, cost and stock: 14 clicks and 40 keys at most."""
    desk.open("/products/new")
    clicks, keys = 0, 0

    def press(name: str) -> None:
        nonlocal clicks
        clicks += 1
        desk.button(name).last.click()

    def type_in(label: str, text: str) -> None:
        nonlocal clicks, keys
        clicks, keys = clicks + 1, keys + len(text)
        desk.label(label).click()
        desk.page.keyboard.type(text)

    desk.label("Name").fill("Optioned")
    press("Options")
    type_in("Name of the first option", "Size")
    type_in("Values of the first option", "S,M")
    type_in("Name of the second option", "Hue")
    type_in("Values of the second option", "Red,Blue,Tan")
    press("Add variants")
    for name, text in (("Price", "34.90"), ("Cost", "12"), ("Stock", "5")):
        type_in(f"{name} of variant 1", text)
        press(f"Copy {name.lower()} down")
    assert clicks <= 14 and keys <= 40, (clicks, keys)
    desk.button("Create product").click()
    desk.heading("Optioned")
    (made,) = desk.api.get("products?search=optioned")["data"]
    titles = [f"{size} / {colour}" for size in "SM" for colour in ("Red", "Blue", "Tan")]
    assert [v["title"] for v in made["variants"]] == titles
    assert {(v["price"], v["cost"], v["stock"]) for v in made["variants"]} == {
        ("34.90", "12.00", 5)
    }
    assert made["metadata"] == {"optionNames": ["Size", "Hue"]}
    add_a_value(desk)
    desk.button("More").last.click()
    desk.page.get_by_role("link", name="Duplicate").click()
    desk.heading("New product")
    expect(desk.label("Name")).to_have_value("Optioned (copy)")
    desk.button("Create product").click()
    desk.heading("Optioned (copy)")
    copy = desk.api.get(f"products/{desk.page.url.rpartition('/')[2]}")
    assert [v["title"] for v in copy["variants"]] == titles
    assert {(v["price"], v["stock"]) for v in copy["variants"]} == {("34.90", None)}
    assert (copy["status"], copy["sku"], copy["slug"]) == ("DRAFT", None, "optioned-copy")
    assert copy["metadata"] == made["metadata"]


def prices_and_skus(desk: Desk, product: Any) -> list[tuple[str, str]]:
    variants = desk.api.get(f"products/{product['id']}")["variants"]
    return [(variant["price"], variant["sku"]) for variant in variants]


COVERED = """() => {
    const {left, top, width, height} = document.activeElement.getBoundingClientRect();
    const seen = document.elementFromPoint(left + width / 2, top + Math.min(height, 30) / 2);
    return !document.activeElement.contains(seen) && !seen?.contains(document.activeElement);
}"""


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP])
def test_what_saves_stays_in_sight_and_covers_no_field(
    another: Callable[..., Desk], viewport: dict
) -> None:
    desk = another(viewport=viewport)
    sizes = [{"title": str(size), "stock": 1} for size in range(8)]
    product = desk.shown(made(desk, "Long page", variants=sizes))
    desk.unfold("Made to order")
    desk.unfold("Search engine listing")
    desk.label("Name").first.fill("Longer page")
    for key in ("Tab", "Shift+Tab"):
        for _ in range(75):
            desk.page.keyboard.press(key)
            bar = desk.button("Save").bounding_box()
            assert bar and 0 <= bar["y"] <= viewport["height"] - bar["height"]
            focused = desk.page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
            is_field = desk.page.evaluate("document.activeElement.matches('form *')")
            assert not (is_field and desk.page.evaluate(COVERED)), focused
    desk.save()
    assert desk.api.get(f"products/{product['id']}")["name"] == "Longer page"


@pytest.mark.parametrize("variants", [None, [{"price": "5", "sku": "ONE-SKU"}]])
def test_one_variant_has_one_price_and_one_sku_which_it_follows(
    desk: Desk, variants: list | None
) -> None:
    given = {"variants": variants} if variants else {}
    product = desk.shown(made(desk, "Alone", price="5", sku="ONE-SKU", **given))
    expect(desk.field("variants.0.price").locator("input")).to_be_hidden()
    expect(desk.field("variants.0.sku").locator("input")).to_be_hidden()
    desk.label("Price").fill("7")
    bar = desk.page.locator(".save")
    expect(desk.page.locator(".changed")).to_have_count(1)
    box = bar.bounding_box()
    assert box and box["y"] + box["height"] <= desk.page.viewport_size["height"]  # type: ignore[index]
    desk.label("SKU").fill("TWO-SKU")
    desk.save()
    until(lambda: prices_and_skus(desk, product) == [("7.00", "TWO-SKU")])  # a second request
    expect(desk.field("variants.0.price").locator("input")).to_be_hidden()
    desk.button("Add a variant").click()
    expect(desk.field("variants.0.price").locator("input")).to_be_visible()


def test_a_stale_edit_shows_the_conflicting_changes(desk: Desk) -> None:
    product = made(desk, "Edited by two", vendor="Nordhaus", variants=[{"title": "S", "stock": 9}])
    path = f"products/{product['id']}"
    desk.open(f"/{path}")
    desk.label("Vendor").fill("Mine")
    desk.label("Type").fill("Coat")
    desk.api.call("PUT", path, {"vendor": "Theirs", "description": "New"})
    desk.button("Save").click()
    expect(desk.dialog).to_contain_text("was changed while you were editing")
    row = desk.dialog.get_by_role("row").filter(has_text="Vendor")
    expect(row.get_by_role("cell")).to_have_text(["Vendor", "Nordhaus", "Theirs", "Mine"])
    assert desk.api.get(path)["vendor"] == "Theirs"
    desk.dialog.get_by_role("button", name="Keep editing").click()
    expect(desk.label("Vendor")).to_have_value("Mine")
    desk.button("Save").click()
    desk.dialog.get_by_role("button", name="Save my version").click()
    expect(desk.page.locator(".toast")).to_have_text("Saved.")
    saved = desk.api.get(path)
    assert (saved["vendor"], saved["type"], saved["description"]) == ("Mine", "Coat", "New")


def states(desk: Desk, search: str) -> dict[str, str]:
    return {p["name"]: p["status"] for p in desk.api.get(f"products?search={search}")["data"]}


def test_all_matching_products_are_changed_though_one_page_is_shown(desk: Desk) -> None:
    rows = [{"name": f"Pilchard {n}", "price": 5} for n in range(60)]
    desk.api.post("products/bulk", rows)
    desk.select_all("/products?search=pilchard")
    desk.button("Select all 60 products that match").click()
    expect(desk.page.locator(".chosen")).to_contain_text("60 selected")
    desk.button("More changes").click()
    desk.dialog.get_by_label("Add tags").fill("fish, small")
    desk.dialog.get_by_role("button", name="Continue").click()
    desk.dialog.get_by_role("button", name="Change 60 products").click()
    expect(desk.page.locator(".toast").last).to_contain_text("60 products changed.")
    found = desk.api.get("products?search=pilchard&limit=100")["data"]
    assert [product["tags"] for product in found] == [["fish", "small"]] * 60


def test_returning_to_a_list_restores_its_scroll_position(desk: Desk) -> None:
    rows = [{"name": f"Dunlin {n}", "price": 5} for n in range(40)]
    desk.api.post("products/bulk", rows)
    desk.open("/products?search=dunlin")
    last = desk.page.get_by_role("row").last
    last.scroll_into_view_if_needed()
    place = desk.page.wait_for_function("() => scrollY > 300 && scrollY").json_value()
    last.get_by_role("link").click()
    expect(desk.page.locator("h1")).to_contain_text("Dunlin")
    desk.page.wait_for_function("() => scrollY === 0")
    desk.go_back()
    desk.heading("Products")
    desk.stands()
    desk.page.wait_for_function("place => Math.abs(scrollY - place) < 5", arg=place)


def test_a_save_keeps_the_keyboard_focus(desk: Desk) -> None:
    desk.shown(made(desk, "Held by the keyboard"))
    desk.label("Vendor").fill("Nordhaus")
    desk.label("Vendor").press("Enter")
    expect(desk.page.locator(".toast")).to_have_text("Saved.")
    expect(desk.label("Vendor")).to_be_focused()
    desk.label("Price").fill("ten")
    expect(desk.button("Discard changes")).to_be_visible()
    desk.button("Save").click()
    expect(desk.label("Price")).to_be_focused()


def test_a_dry_run_shows_which_products_cannot_be_changed(desk: Desk) -> None:
    for name in ("Turnstone one", "Turnstone two"):
        made(desk, name)
    desk.select_all("/products?search=turnstone")
    gone = desk.api.get("products?search=turnstone+two")["data"][0]["id"]
    desk.api.call("DELETE", f"products/{gone}")
    desk.button("Set to active").click()
    expect(desk.dialog).to_contain_text("1 product will be changed.")
    expect(desk.dialog).to_contain_text("1 product cannot be changed:")
    desk.dialog.get_by_role("button", name="Cancel").click()
    assert states(desk, "turnstone") == {"Turnstone one": "DRAFT"}


def test_a_hostile_name_is_shown_as_text(desk: Desk) -> None:
    product = made(desk, HOSTILE, vendor="<b>bold</b>", tags=["hostile-tag"], status="ACTIVE")
    line = {"variantId": product["variants"][0]["id"], "quantity": 1}
    customer = {"email": "x@example.com", "firstName": HOSTILE[:90]}
    order = desk.api.post("orders", {"lineItems": [line], "customer": customer, "note": HOSTILE})
    for address in ("/products?search=hostile-tag", f"/products/{product['id']}", "/orders",
                    f"/orders/{order['id']}", "/customers"):  # fmt: skip
        desk.open(address)
        shown = desk.page.get_by_text("<img src=x onerror").locator("visible=true")
        expect(shown.first).to_be_visible()
        assert desk.page.locator("main img, main script, main b:text-is('bold')").count() == 0
        assert "owned" not in desk.page.title().replace(HOSTILE, "")


def test_five_hundred_variants_are_filtered_and_edited(desk: Desk) -> None:
    sizes = [
        {"title": f"Size {n:03}", "sku": f"MANY-{n:03}", "price": 9, "stock": n} for n in range(500)
    ]
    product = desk.shown(made(desk, "Of many sizes", variants=sizes))
    lines = desk.page.locator("[data-field=variants] .line:not(.head)")
    expect(lines).to_have_count(500)
    expect(lines.locator("visible=true")).to_have_count(20)
    assert desk.page.evaluate("document.documentElement.scrollHeight") < 4_000
    desk.label("Filter variants").fill("many-437")
    expect(lines.locator("visible=true")).to_have_count(1)
    desk.field("variants.437.stock").locator("input").fill("1000")
    desk.save()
    stocks = [v["stock"] for v in desk.api.get(f"products/{product['id']}")["variants"]]
    assert stocks == [*range(437), 1000, *range(438, 500)]
    desk.label("Filter variants").fill("")
    expect(lines.locator("visible=true")).to_have_count(20)
    desk.button("Add a variant").click()
    expect(desk.field("variants.500.title").locator("input")).to_be_focused()


@pytest.mark.parametrize(
    ("kind", "name", "changed", "create"),
    [
        ("product", "Name", "Price", "Create product"),
        ("customer", "First name", "Phone", "Add customer"),
    ],
)
def test_a_record_created_again_after_a_lost_answer_is_one(
    desk: Desk, kind: str, name: str, changed: str, create: str
) -> None:
    lost = desk.lost(f"**/api/admin/{kind}s")
    desk.open(f"/{kind}s/new")
    desk.label(name).fill("Lugsail")
    for value, said in (("5", "may or may not have been saved"), ("6", f"This {kind} was already")):
        desk.label(changed).fill(value)
        desk.button(create).click()
        expect(desk.page.locator(".summary")).to_contain_text(said)
    expect(desk.page.locator(".summary a")).to_be_visible()
    desk.label(changed).fill("5")
    desk.button(create).click()
    desk.heading("Lugsail")
    assert lost == [201]
    assert desk.api.get(f"{kind}s?search=lugsail")["total"] == 1


def test_prices_changed_again_after_a_lost_answer_change_once(desk: Desk) -> None:
    made(desk, "Halyard")
    lost = desk.lost("**/products/bulk-edit", lambda body: not body.get("dryRun"))
    desk.open("/products?search=halyard")
    desk.label("Select Halyard").check()
    desk.button("More changes").click()
    desk.dialog.get_by_label("Change prices by percent").fill("-10")
    desk.dialog.get_by_role("button", name="Continue").click()
    apply = desk.dialog.get_by_role("button", name="Change 1 product")
    apply.click()
    expect(desk.page.locator(".toast").last).to_contain_text("may or may not have been saved")
    missed = []  # looks at the job, on a bad line
    desk.page.route("**/jobs/*", lambda route: missed.append(route.abort()), times=2)
    apply.click()
    expect(desk.page.locator(".toast").last).to_contain_text("1 product changed.")
    assert len(lost) == 1
    assert len(missed) == 2
    assert [p["price"] for p in desk.api.get("products?search=halyard")["data"]] == ["9.00"]
