"""No answer is larger than Lambda can send: 6 MB, with non-ASCII characters escaped."""

import json
from typing import Any

import pytest

from chalicelib import settings
from chalicelib.request import size
from chalicelib.safe_post.post import PostResult
from chalicelib.storage import outbox, table
from tests.orders.build import new_order
from tests.products.build import new_product
from tests.support.shop import Answer, Shop
from tests.support.webhook_world import World, announce
from tests.webhooks.build import add

pytestmark = pytest.mark.thorough

SIX_MB = 6_291_556  # AWS: of the answer of a function
BULK = "/api/admin/products/bulk"
HUGE = "é" * 90_000  # 180 KB, and 540 KB of an answer
PICTURES = [{"url": f"https://example.com/{n}", "alt": "é" * 500} for n in range(60)]


def sent(answer: Answer) -> int:
    """Its size as the runtime of Python 3.11 and earlier sends it."""
    whole = {"statusCode": answer.status, "headers": dict(answer.headers), "body": answer.text}
    return len(json.dumps(whole))


def filled(shop: Shop, number: int) -> list[str]:
    """Creates products of almost the largest size; their ids, the newest first."""
    ids = []
    for _ in range(number):
        made = shop.made("/api/admin/products", new_product(status="ACTIVE", images=PICTURES))
        ids.append(made["id"])
    return ids[::-1]


def test_the_largest_page_is_the_one_at_which_every_page_fits() -> None:
    small, half, whole = "x" * 10, "x" * 2_900_000, "x" * 5_994_990
    assert size.largest_page([small] * 7) == 7
    assert size.largest_page([half] * 7) == 2
    assert size.largest_page([half, small, half, half]) == 3
    assert size.largest_page([whole, whole]) == size.largest_page([small, whole]) == 1
    assert size.largest_page([whole * 2, small]) == size.largest_page([whole * 2]) == 1


def test_a_page_that_does_not_fit_says_how_many_would() -> None:
    shown = size.AnswerTooLarge(7).body()
    assert "Ask for 7 at a time" in shown["message"] and shown["limit"] == 7


def test_the_size_of_an_answer_includes_its_quotes_and_escapes() -> None:
    assert size.fits("x" * 5_999_998) and not size.fits("x" * 5_999_999), "with two quotes"
    assert size.fits("😀" * 499_999) and not size.fits("😀" * 500_001)


@pytest.mark.parametrize("path", ["/api/admin/products", "/api/products"])
def test_a_large_page_by_number_is_refused_with_a_fitting_limit_and_one_by_cursor_ends_early(
    shop: Shop, path: str
) -> None:
    ids = filled(shop, 40)
    refused = shop.get(f"{path}?limit=40")
    assert (refused.status, refused.json["code"]) == (422, "answer_too_large")
    limit = refused.json["limit"]
    assert 30 < limit < 40
    answer = shop.get(f"{path}?limit={limit}")
    assert (answer.status, len(answer.json["data"])) == (200, limit)
    assert sent(answer) <= SIX_MB
    assert shop.get(f"{path}?limit={limit + 1}").status == 422
    read = list[str]()
    for number, answer in enumerate(shop.pages(f"{path}?limit=100"), 1):
        assert sent(answer) <= SIX_MB
        assert answer.json["pagination"]["page"] == number
        assert answer.json["total"] == 40
        read += [product["id"] for product in answer.json["data"]]
    assert read == ids


@pytest.mark.parametrize(
    "path", ["/api/admin/orders", "/api/admin/customers", "/api/admin/products?search=hat"]
)
def test_every_list_ends_a_large_page_early(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """With a smaller size limit, which their records reach."""
    monkeypatch.setattr("chalicelib.request.size.LARGEST_ANSWER", 12_000)
    rows = [new_product(name=f"Hat {n}", status="ACTIVE") for n in range(40)]
    hat = shop.post(BULK, rows[:1]).json["data"][0]["product"]["variants"][0]["id"]
    shop.post(BULK, rows[1:])
    for n in range(40):
        person = {"email": f"{n}@example.com", "firstName": "é" * 90}
        order = new_order({"variantId": hat, "quantity": 1}, customer=person)
        assert shop.post("/api/admin/orders", order).status == 201
    join = "&" if "?" in path else "?"
    refused = shop.get(f"{path}{join}limit=40")
    assert (refused.status, refused.json["code"]) == (422, "answer_too_large")
    pages = [*shop.pages(f"{path}{join}limit=40")]
    assert max(len(json.dumps(page.text)) for page in pages) <= 12_000
    read = [record["id"] for page in pages for record in page.json["data"]]
    assert len(read) == len(set(read)) == 40
    assert len(pages) > 2


def test_a_first_page_by_cursor_takes_a_star_and_no_page_number(shop: Shop) -> None:
    shop.post(BULK, [new_product() for _ in range(3)])
    begun = shop.get("/api/admin/products?cursor=*&limit=2").json
    assert begun == shop.get("/api/admin/products?limit=2").json
    assert shop.get("/api/admin/products?cursor=*&page=2").status == 422


def test_the_feed_ends_a_large_page_early(world: World) -> None:
    for n in range(15):
        body = outbox.body("order.paid", {"id": str(n), "note": HUGE})
        table.put(outbox.build_item([("order.paid", body)]), table=settings.outbox_table())
        world.sleep(minutes=1)
    announce("order.paid")
    world.sleep(minutes=1)
    read, after = list[dict[str, Any]](), ""
    while True:
        answer = world.shop.get(f"/api/admin/events?limit=500{after}")
        assert answer.status == 200 and sent(answer) <= SIX_MB
        if not answer.json["data"]:
            break
        read += answer.json["data"]
        after = f"&after={answer.json['next']}"
    assert [event["data"]["id"] for event in read][:15] == [str(n) for n in range(15)]
    assert len(read) == 16


def test_a_delivery_with_many_attempts_is_shown(world: World) -> None:
    """Each answer of its receiver is 16 KB that are not UTF-8."""
    webhook = add(world)
    noise = PostResult(status=200, body=b"\xff" * 16_384, headers={"x": "é" * 16_000})
    world.answer = lambda posted: noise
    announce()
    world.run()
    path = f"/api/admin/deliveries/{webhook.only()['id']}"
    for _ in range(40):
        assert world.shop.post(f"{path}/replay").status == 202
        world.run()
    answer = world.shop.get(path)
    assert answer.status == 200 and sent(answer) <= SIX_MB
    attempts = answer.json["attempts"]
    assert len(attempts) == 41
    assert attempts[-1]["response"]["body"] == "\ufffd" * 16_384
    assert attempts[0]["response"]["body"] == "" and attempts[0]["response"]["truncated"]
    assert attempts[0]["response"]["status"] == 200
