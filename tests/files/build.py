"""Pictures for tests: made by Pillow, uploaded to S3 in memory, rendered as in Lambda."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest
from PIL import Image, ImageCms

import app
from chalicelib import aws, settings
from tests.orders.build import ORDERS
from tests.support.dynamodb_double import Crash, Double
from tests.support.shop import Answer, Shop

PICTURES = "/api/admin/pictures"
PRODUCTS = "/api/admin/products"


def picture(
    size: tuple[int, int] = (64, 48), kind: str = "PNG", mode: str = "RGB", **options: Any
) -> bytes:
    """A file whose left half is red, and whose right half is blue."""
    image = Image.new("RGB", size, (0, 0, 255))
    image.paste((255, 0, 0), (0, 0, size[0] // 2, size[1]))
    return encoded(image.convert(mode), kind, **options)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def exif(orientation: int) -> Image.Exif:
    """With the orientation, and the place where the picture was taken."""
    made = Image.Exif()
    made[0x0112] = orientation
    made[0x010F] = "A camera"
    made.get_ifd(0x8825).update({1: "N", 2: (52.0, 31.0, 0.0), 3: "E", 4: (13.0, 24.0, 0.0)})
    return made


def p3_profile() -> bytes:
    """A colour profile of RGB that is not sRGB: its reds are elsewhere."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return profile.replace(b"sRGB built-in", b"P3 of a phone")


def run_weekly_look() -> None:
    """Does what the weekly rule does."""
    app.check_counts({"sweep": "pictures"}, None)


@contextmanager
def dies_at(nth: int, *, after: bool) -> Iterator[None]:
    """The function dies at its nth call to S3, before or after it took effect."""
    left = [nth]

    def die(**_: Any) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Crash

    client = aws.client("s3")
    name = "after-call.s3" if after else "before-call.s3"
    client.meta.events.register(name, die)
    yield
    client.meta.events.unregister(name, die)


def act_at(
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType,
    name: str,
    action: Callable[[], object],
    *,
    after: bool = True,
) -> None:
    """Calls `action` once, after the next call of a function of the module, or before it."""
    own = getattr(module, name)

    def act(*given: Any) -> Any:
        monkeypatch.setattr(module, name, own)
        if not after:
            action()
        done = own(*given)
        if after:
            action()
        return done

    monkeypatch.setattr(module, name, act)


class Darkroom:
    """A shop with its two buckets."""

    def __init__(self, shop: Shop, dynamodb: Double) -> None:
        self.shop, self.dynamodb = shop, dynamodb
        self.s3 = aws.client("s3")
        for bucket in (settings.bucket(), settings.pictures_bucket()):
            self.s3.create_bucket(Bucket=bucket)

    def create(self, data: bytes, **fields: Any) -> Any:
        """A picture that waits for this file."""
        new = {"name": "cup.jpg", "contentType": "image/jpeg", "bytes": len(data), **fields}
        return self.shop.made(PICTURES, new)

    def put(self, waiting: Any, data: bytes) -> None:
        """What a browser does with the form."""
        key = waiting["upload"]["fields"]["key"]
        self.s3.put_object(Bucket=settings.bucket(), Key=key, Body=data)

    def render(self, waiting: Any) -> None:
        """What S3's event does, by way of the queue."""
        assert self.run(waiting["upload"]["fields"]["key"]) == []

    def run(self, key: str) -> list[Any]:
        body = json.dumps({"detail": {"bucket": {"name": "b"}, "object": {"key": key}}})
        record = {"messageId": "1", "body": body}
        failed: list[Any] = app.render_file({"Records": [record]}, None)["batchItemFailures"]
        return failed

    def attach(self, order: Any, data: bytes = b"0\nSECTION", **fields: Any) -> Any:
        """A file of an order that waits for its upload."""
        new = {"name": "ring.dxf", "bytes": len(data), **fields}
        return self.shop.made(f"{ORDERS}/{order['id']}/files", new)

    def attached(self, order: Any, data: bytes = b"0\nSECTION", **fields: Any) -> Any:
        """A file of an order that is READY."""
        return self.finish_upload(self.attach(order, data, **fields), data)

    def post_file(
        self, order: Any, key: str = "", headers: dict[str, str] | None = None, **fields: Any
    ) -> Answer:
        """The answer to the announcement of a file of an order."""
        new = {"name": "ring.dxf", "bytes": 9, **fields}
        path = f"{ORDERS}/{order['id']}/files"
        answer: Answer = self.shop.post(path, new, key=key, headers=headers)
        return answer

    def files(self, order: Any) -> Any:
        return self.shop.read(f"{ORDERS}/{order['id']}/files")["data"]

    def kept(self) -> list[str]:
        """The keys of what is stored of orders' files."""
        found = self.stored(settings.bucket())
        return sorted(key for key in found if key.startswith("files/"))

    def uploaded(self, data: bytes, **fields: Any) -> Any:
        """A picture, after its file was rendered or refused."""
        return self.finish_upload(self.create(data, **fields), data)

    def finish_upload(self, waiting: Any, data: bytes) -> Any:
        """A picture or a file of an order, after this upload was rendered or refused."""
        self.put(waiting, data)
        self.render(waiting)
        return self.read(waiting)

    def read(self, one: Any) -> Any:
        """A picture or a file of an order, as it is now."""
        place = f"{ORDERS}/{one['orderId']}/files" if "orderId" in one else PICTURES
        return self.shop.read(f"{place}/{one['id']}")

    def product(self, *pictures: Any, **fields: Any) -> Any:
        images = [{"pictureId": picture["id"]} for picture in pictures]
        return self.shop.made(PRODUCTS, {"name": "Cup", "price": 1, "images": images, **fields})

    def published(self, picture: Any, size: str = "large") -> bytes:
        """What the public gets."""
        address = picture["sizes"][size]
        key = address.partition(".amazonaws.com/")[2]
        reply = self.s3.get_object(Bucket=settings.pictures_bucket(), Key=key)
        assert reply["ContentType"] == "image/webp"
        assert reply["CacheControl"] == "public, max-age=31536000, immutable"
        data: bytes = reply["Body"].read()
        return data

    def seen(self, picture: Any, size: str = "large") -> Image.Image:
        return Image.open(io.BytesIO(self.published(picture, size)))

    def stored(self, bucket: str = "") -> list[str]:
        found = self.s3.list_objects_v2(Bucket=bucket or settings.pictures_bucket())
        return [each["Key"] for each in found.get("Contents", ())]
