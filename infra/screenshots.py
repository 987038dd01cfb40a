"""Takes the pictures in docs/images (`make screenshots`) from a running `make run FRESH=1`.

It adds orders, work and a webhook whose receiver does not answer to that shop. Needs the
development packages and a browser.
"""

import json
import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from backroom import Backroom
from PIL import Image, ImageDraw
from playwright.sync_api import Page, sync_playwright

from infra import browser, keys

_IMAGES: Final = Path(__file__).resolve().parent.parent / "docs/images"
_SIZE: Final[Any] = {"width": 1280, "height": 860}
_LONG: Final[Any] = {"width": 1280, "height": 1320}
_PATIENCE: Final = 60_000  # milliseconds; the emulator may share its machine
_SOLD: Final = ("LIN-SHIRT-BLU-M", "OXF-SHIRT-L", "LIN-SHIRT-WHT-L")
_ADDRESS: Final[Any] = {
    "firstName": "Ada",
    "lastName": "Byron",
    "address1": "1 High Street",
    "city": "Bath",
    "postalCode": "BA1 1AA",
    "countryCode": "GB",
}


def main() -> None:
    """Fill the shop that runs, and write each picture."""
    chromium = browser.find()
    if chromium is None:
        sys.exit(browser.missing())
    known = json.loads(keys.LOCAL_ENDPOINT.read_text())
    shop = Backroom(known["baseUrl"], known["apiKey"])
    variants = {
        str(variant["sku"]): variant["id"]
        for product in shop.iter_products()
        for variant in product["variants"]
    }
    webhook = shop.create_webhook(
        {"url": "http://127.0.0.1:9/orders", "events": ["order.paid"], "description": "ERP"}
    )
    _place_orders(shop, variants)
    commission = _take_commission(shop, variants)
    product = _show_picture(shop, "Linen Shirt Blue", "#5b7fa6")
    _show_picture(shop, "Oxford Shirt", "#dfe6ee")
    delivery = next(shop.iter_webhook_deliveries(webhook["id"]))
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        context = chrome.new_context(viewport=_SIZE, color_scheme="light", locale="en-GB")
        key = json.dumps(known["apiKey"])
        context.add_init_script(f"sessionStorage.setItem('backroom-key', {key})")
        page = context.new_page()
        page.set_default_timeout(_PATIENCE)
        for name, path in {
            "home": "/",
            "order": f"/orders/{commission}",
            "product": f"/products/{product}",
            "delivery": f"/settings/developer/deliveries/{delivery['id']}",
            "till": "/orders/new",
        }.items():
            page.set_viewport_size(_LONG if name == "product" else _SIZE)
            _open_page(page, f"{known['consoleUrl']}#{path}")
            if name == "till":
                _fill_till(page)
            _take_screenshot(page, name)
        chrome.close()


def _show_picture(shop: Backroom, name: str, colour: str) -> str:
    """Give a product a drawn picture of a shirt, and return the product's id."""
    picture = Image.new("RGB", (900, 900), "#f4f1ea")
    half = [(450, 190), (560, 160), (760, 300), (690, 430), (620, 390), (620, 760), (450, 760)]
    outline = [*half, *((900 - x, y) for x, y in reversed(half))]
    ImageDraw.Draw(picture).polygon(outline, fill=colour, outline="#3c4654", width=6)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shirt.png"
        picture.save(path)
        made = shop.upload_picture(path)
    (product,) = (one for one in shop.iter_products(search=name) if one["name"] == name)
    shop.update_product(product["id"], {"images": [{"pictureId": made["id"], "alt": "A shirt"}]})
    return product["id"]


def _place_orders(shop: Backroom, variants: dict[str, str]) -> None:
    """Place a paid order on most of the last 30 days, and two of today."""
    now = datetime.now().astimezone()
    days = [*(day for day in range(1, 30) if day % 4), 0, 0]
    for number, day in enumerate(days):
        sku = _SOLD[number % len(_SOLD)]
        shop.create_order(
            {
                "lineItems": [{"variantId": variants[sku], "quantity": 1 + number % 4}],
                "orderDate": (now - timedelta(days=day)).isoformat(timespec="seconds"),
                "source": "IN_PERSON",
                "paymentMethod": "CASH" if number % 3 else "CARD_TERMINAL",
                "paymentStatus": "PAID",
                "stockPolicy": "SKIP",
            }
        )


def _take_commission(shop: Backroom, variants: dict[str, str]) -> str:
    """Place an order with a deposit that is in the workshop, and return its id."""
    order = shop.create_order(
        {
            "customer": {
                "email": "ada@example.com",
                "firstName": "Ada",
                "lastName": "Byron",
                "phone": "+44 20 7946 0958",
            },
            "shippingAddress": _ADDRESS,
            "source": "PRIVATE_COMMISSION",
            "lineItems": [
                {
                    "title": "Signet ring, oval",
                    "price": "410.00",
                    "quantity": 1,
                    "make": True,
                    "specification": [
                        {"name": "Size", "value": "54"},
                        {"name": "Engraving", "value": "A. B. 1815"},
                    ],
                },
                {"variantId": variants["LIN-SHIRT-BLU-M"], "quantity": 1},
            ],
            "discount": {"amount": "10.00", "reason": "Regular customer"},
            "shipping": "6.50",
            "deposit": {"percent": 30},
            "dueOn": (datetime.now().astimezone() + timedelta(days=20)).date().isoformat(),
            "note": "Call before delivery, the bell is broken",
        }
    )
    id = str(order["id"])
    shop.pay_order(id, {"amount": "150.00", "method": "CARD_TERMINAL"})
    (work,) = shop.get_work(id)["data"]
    stages = shop.get_production_settings()["stages"]
    shop.change_work(id, work["lineItemId"], {"stage": stages[1]["id"]})
    return id


def _open_page(page: Page, address: str) -> None:
    page.goto("about:blank")
    page.goto(address)
    page.locator("main:not([aria-busy]) h1").wait_for()
    page.wait_for_load_state("networkidle")


def _fill_till(page: Page) -> None:
    for sku in _SOLD[:2]:
        page.keyboard.type(f"{sku}\n")
        page.get_by_text(sku).first.wait_for()
    page.get_by_role("button", name="Paid", exact=True).click()
    page.get_by_role("button", name="Cash", exact=True).click()
    page.get_by_label("Cash received", exact=True).fill("200")


def _take_screenshot(page: Page, name: str) -> None:
    page.wait_for_timeout(1_000)  # pictures, and what slides in
    path = _IMAGES / f"console-{name}.png"
    page.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)
    print(f"docs/images/{path.name}")


if __name__ == "__main__":
    main()
