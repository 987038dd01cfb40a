"""Pictures on the deployed stack: what a browser does, and what the public may."""

import io
import urllib.error
import urllib.request
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.e2e.calls import Api, until
from tests.files.build import exif, picture
from tests.support.forms import form, posted
from tests.support.running import Stack, tool

PHOTO = picture((800, 600), "JPEG", exif=exif(6))


@pytest.fixture
def shop(stack: Stack) -> Api:
    return Api.of(stack)


def announced(shop: Api, data: bytes) -> Any:
    new = {"name": "cup.jpg", "contentType": "image/jpeg", "bytes": len(data)}
    return shop.post("pictures", new)


def finish_upload(shop: Api, path: str, waiting: Any, data: bytes) -> Any:
    """Uploads a picture or file, and returns it as soon as it is rendered or refused."""
    posted(waiting["upload"], data)
    own = f"{path}/{waiting['id']}"
    return until(lambda: (found := shop.get(own))["status"] != "WAITING" and found)


def ready(shop: Api, data: bytes) -> Any:
    return finish_upload(shop, "pictures", announced(shop, data), data)


def public(address: str, method: str = "GET") -> Any:
    """The answer to a browser that knows no key; an error is one, too."""
    try:
        return urllib.request.urlopen(urllib.request.Request(address, method=method), timeout=20)
    except urllib.error.HTTPError as refused:
        return refused


def test_an_uploaded_picture_is_rendered_and_seen_by_everybody(shop: Api) -> None:
    shown = ready(shop, PHOTO)
    assert (shown["status"], shown["width"], shown["height"]) == ("READY", 600, 800)
    image = {"pictureId": shown["id"], "alt": "A cup"}
    new = {"name": "Seen", "price": 1, "status": "ACTIVE", "images": [image]}
    cup = shop.post("products", new)
    sizes = cup["images"][0]["sizes"]
    for size, longest in (("small", 160), ("medium", 640), ("large", 800)):
        with public(sizes[size]) as answer:
            assert answer.headers["Content-Type"] == "image/webp"
            assert "immutable" in answer.headers["Cache-Control"]
            seen = Image.open(io.BytesIO(answer.read()))
        assert max(seen.size) == longest and not seen.getexif()
    bucket = sizes["large"].partition("/pic_")[0]
    assert public(f"{bucket}/").status == 403, "nobody may list the pictures"
    assert public(sizes["large"].replace("large", "original")).status in {403, 404}
    assert public(sizes["large"], "DELETE").status == 403
    assert shop.call("DELETE", f"pictures/{shown['id']}")["deleted"] is True
    assert public(sizes["large"]).status in {403, 404}


def test_a_form_takes_no_other_file(shop: Api) -> None:
    waiting = announced(shop, PHOTO)
    for data in (PHOTO[:-1], PHOTO + b"x"):
        body, kind = form(waiting["upload"]["fields"], data)
        headers = {"Content-Type": kind}
        answer = httpx.post(waiting["upload"]["url"], content=body, headers=headers)
        assert answer.status_code in {400, 403}, answer.text


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("data", "kind"), [(PHOTO, "IMAGE"), (b"<script>alert(1)</script>", "FILE")]
)
def test_a_file_of_an_order_is_a_download_from_s3_and_only_by_a_signed_address(
    shop: Api, data: bytes, kind: str
) -> None:
    line = {"title": "Ring", "price": 10, "quantity": 1}
    order = shop.post("orders", {"lineItems": [line]})
    path = f"orders/{order['id']}/files"
    name = "Größe 52.jpg"
    waiting = shop.post(path, {"name": name, "contentType": "image/jpeg", "bytes": len(data)})
    file = finish_upload(shop, path, waiting, data)
    assert (file["status"], file["kind"]) == ("READY", kind)
    with public(file["urls"]["original"]) as answer:
        assert answer.read() == data
        assert answer.headers["Content-Type"] == "application/octet-stream"
        saved = answer.headers["Content-Disposition"]
    assert saved == "attachment; filename*=UTF-8''Gr%C3%B6%C3%9Fe%2052.jpg"
    if kind == "IMAGE":
        with public(file["urls"]["small"]) as answer:
            assert answer.headers["Content-Type"] == "image/webp"
            seen = Image.open(io.BytesIO(answer.read()))
        assert seen.size == (120, 160) and not seen.getexif()
    unsigned = file["urls"]["original"].partition("?")[0]
    assert public(unsigned).status == 403
    assert shop.call("DELETE", f"orders/{order['id']}")["deleted"] is True
    assert public(file["urls"]["original"]).status == 404


@pytest.mark.thorough
def test_a_file_that_is_no_picture_fails(shop: Api) -> None:
    failed = ready(shop, b"<script>alert(1)</script>")
    assert (failed["status"], failed["error"]) == ("FAILED", "not_an_image")


@pytest.mark.thorough
def test_100_pictures_at_once_are_ready_within_two_minutes(stack: Stack, shop: Api) -> None:
    made = shop.post("keys", {"name": "Photographer", "role": "STAFF"})
    tool(stack, "keys", "limits", made["id"], "--read", "9000", "--write", "9000")
    shop = Api(stack.base_url, made["key"])
    waiting = [announced(shop, PHOTO) for _ in range(100)]
    for one in waiting:
        posted(one["upload"], PHOTO)
    left = {one["id"] for one in waiting}

    def are_ready() -> bool:
        for id in list(left):
            if shop.get(f"pictures/{id}")["status"] == "READY":
                left.discard(id)
        return not left

    assert until(are_ready, 120)
