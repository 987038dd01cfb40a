"""Pictures of products: uploaded once, shown by products, exported, imported, undone, deleted."""

import base64
import json
import random
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from types import ModuleType
from typing import Any

import pytest

import app
from chalicelib import settings
from chalicelib.files import objects, store
from chalicelib.files.model import FileStatus, NewPicture
from chalicelib.values import clock
from tests.files.build import (
    PICTURES,
    PRODUCTS,
    Darkroom,
    act_at,
    dies_at,
    picture,
    run_weekly_look,
)
from tests.jobs.test_exports import EXPORTS, file_of
from tests.support.cases import mark_thorough
from tests.support.dynamodb_double import Crash
from tests.support.import_desk import Desk
from tests.support.job_desk import JobDesk

RED = picture()
OTHER = picture((80, 80))
ADDRESS = "https://backroom-test-pictures.s3.us-east-1.amazonaws.com"


def sweep() -> None:
    """What the hourly rule does."""
    app.render_file({"sweep": "uploads"}, None)


# --- Uploads --------------------------------------------------------------------------------------


def test_a_picture_waits_for_its_file_and_is_ready_once_it_is_rendered(darkroom: Darkroom) -> None:
    waiting = darkroom.create(RED)
    assert waiting["status"] == "WAITING" and waiting["id"].startswith("pic_")
    assert waiting["sizes"] is None and waiting["createdBy"]
    darkroom.put(waiting, RED)
    darkroom.render(waiting)
    ready = darkroom.read(waiting)
    below = f"{ADDRESS}/{ready['id']}"
    sizes = {size: f"{below}/{size}.webp" for size in ("small", "medium", "large")}
    assert (ready["status"], ready["contentType"], ready["sizes"]) == ("READY", "image/png", sizes)
    assert sorted(darkroom.stored()) == sorted(f"{ready['id']}/{size}.webp" for size in sizes)


def test_the_form_takes_exactly_the_bytes_that_were_announced(darkroom: Darkroom) -> None:
    policy = json.loads(base64.b64decode(darkroom.create(RED)["upload"]["fields"]["policy"]))
    assert ["content-length-range", len(RED), len(RED)] in policy["conditions"]


REFUSED = [
    ({"bytes": 20 * 1024 * 1024 + 1}, "bytes", "too_large"),
    ({"bytes": 0}, "bytes", "out_of_range"),
    ({"bytes": "12"}, "bytes", "invalid_type"),
    ({"contentType": "image/svg+xml"}, "contentType", "type_not_allowed"),
    ({"contentType": "image/heic"}, "contentType", "type_not_allowed"),
    ({"name": ""}, "name", "too_short"),
    ({"name": "x" * 201}, "name", "too_long"),
]


@pytest.mark.parametrize(("fields", "field", "code"), REFUSED)
def test_a_wrong_announcement_is_refused(
    darkroom: Darkroom, fields: dict[str, Any], field: str, code: str
) -> None:
    new = {"name": "cup.jpg", "contentType": "image/jpeg", "bytes": 9, **fields}
    (error,) = darkroom.shop.post(PICTURES, new).json["errors"]
    assert (error["field"], error["code"]) == (field, code)
    if "heic" in str(fields):
        assert "phone's camera settings" in error["message"]


def test_a_repeated_announcement_is_one_picture(darkroom: Darkroom) -> None:
    new = {"name": "cup.jpg", "contentType": "image/jpeg", "bytes": len(RED)}
    key = {"Idempotency-Key": "cup"}
    first, again = (darkroom.shop.made(PICTURES, new, headers=key) for _ in range(2))
    assert first["id"] == again["id"]


def test_a_repeated_announcement_of_a_deleted_picture_does_not_bring_its_file_back(
    darkroom: Darkroom,
) -> None:
    new = {"name": "cup.jpg", "contentType": "image/jpeg", "bytes": len(RED)}
    key = {"Idempotency-Key": "cup"}
    gone = darkroom.shop.made(PICTURES, new, headers=key)
    darkroom.put(gone, RED)
    darkroom.render(gone)
    assert darkroom.shop.delete(f"{PICTURES}/{gone['id']}").status == 200
    assert darkroom.stored(settings.bucket()) == []
    waiting = darkroom.shop.made(PICTURES, new, headers=key)
    darkroom.render(waiting)  # as the sweep does
    assert darkroom.read(waiting)["status"] == "WAITING" and darkroom.stored() == []


def test_a_repeat_whose_first_answer_was_lost_leaves_a_ready_picture_as_it_is(
    darkroom: Darkroom,
) -> None:
    shown = darkroom.uploaded(RED)
    new = NewPicture(name="cup.jpg", contentType="image/jpeg", bytes=len(RED))
    again = store.create_picture(new, "key_1", id=shown["id"])
    assert again.status is FileStatus.READY and darkroom.read(shown) == shown


def test_only_a_waiting_picture_is_claimed_for_an_upload(darkroom: Darkroom) -> None:
    shown, gone = darkroom.uploaded(RED), darkroom.create(OTHER)
    claimed_for = store.get_picture(shown["id"]).fields["etag"]
    assert not store.claim_upload(shown["id"], claimed_for)
    assert darkroom.shop.delete(f"{PICTURES}/{gone['id']}").status == 200
    assert not store.claim_upload(gone["id"], '"other"')
    assert darkroom.read(shown) == shown
    assert darkroom.shop.get(f"{PICTURES}/{gone['id']}").status == 404


def test_a_form_that_is_used_twice_never_shows_the_second_file(darkroom: Darkroom) -> None:
    shown = darkroom.uploaded(RED)
    waiting = {"upload": {"fields": {"key": f"uploads/{shown['id']}"}}}
    before = darkroom.published(shown)
    darkroom.put(waiting, OTHER)
    darkroom.render(waiting)
    assert darkroom.read(shown) == shown and darkroom.published(shown) == before


def test_an_upload_without_a_picture_is_ignored(darkroom: Darkroom) -> None:
    for key in ("uploads/pic_00000000000000000000000000", "uploads/x", "uploads/"):
        assert darkroom.run(key) == []
    waiting = darkroom.create(RED)
    darkroom.render(waiting)  # its file is gone
    assert darkroom.read(waiting)["status"] == "WAITING" and darkroom.stored() == []


def test_a_picture_that_is_not_ready_within_a_day_is_gone(
    darkroom: Darkroom, after: Callable[..., None]
) -> None:
    waiting, failed = darkroom.create(RED), darkroom.uploaded(b"no picture")
    after(hours=25)
    for one in (waiting, failed):
        assert darkroom.shop.get(f"{PICTURES}/{one['id']}").status == 404
    darkroom.put(waiting, RED)
    darkroom.render(waiting)
    assert darkroom.stored() == []


def test_a_lost_event_is_found_by_the_sweep(
    darkroom: Darkroom, after: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, rendered = darkroom.create(RED), darkroom.uploaded(OTHER)
    darkroom.put(lost, RED)
    repeated: list[str] = []
    monkeypatch.setattr("chalicelib.files.objects.repeat_upload", repeated.append)
    sweep()
    assert repeated == []
    after(minutes=11)
    sweep()
    assert repeated == [lost["id"]] and rendered["status"] == "READY"


def test_the_sweep_copies_an_upload_onto_itself(
    darkroom: Darkroom, after: Callable[..., None]
) -> None:
    lost = darkroom.create(RED)
    darkroom.put(lost, RED)
    after(minutes=11)
    sweep()
    darkroom.render(lost)
    assert darkroom.read(lost)["status"] == "READY"


@pytest.mark.parametrize("role", ["READER", "STAFF", "ADMIN"])
def test_who_may_do_what(darkroom: Darkroom, role: str) -> None:
    shown, key = darkroom.uploaded(RED), darkroom.shop.as_(role)
    new = {"name": "cup.jpg", "contentType": "image/jpeg", "bytes": 9}
    path = f"{PICTURES}/{shown['id']}"
    assert darkroom.shop.post(PICTURES, new, key=key).status == (403 if role == "READER" else 201)
    assert darkroom.shop.get(path, key=key).status == 200
    assert darkroom.shop.delete(path, key=key).status == (200 if role == "ADMIN" else 403)


# --- Products -------------------------------------------------------------------------------------


def test_a_product_shows_its_pictures_in_three_sizes(darkroom: Darkroom) -> None:
    shown = darkroom.uploaded(RED)
    cup = darkroom.product(shown, status="ACTIVE")
    (image,) = cup["images"]
    assert image == {
        "url": shown["sizes"]["large"],
        "alt": None,
        "pictureId": shown["id"],
        "sizes": shown["sizes"],
    }
    (public,) = darkroom.shop.read(f"/api/products/{cup['id']}", key=None)["images"]
    assert public == {"url": image["url"], "alt": None, "sizes": image["sizes"]}
    (event,) = (one for one in darkroom.shop.events() if one["event"] == "product.created")
    assert event["data"]["images"] == cup["images"]


def test_another_address_is_shown_as_it_was_sent(darkroom: Darkroom) -> None:
    mine = f"{ADDRESS}/pic_00000000000000000000000000/large.webp"
    for url in ("https://img.example/a.jpg", f"{mine}?x", mine.replace("s3.us", "s3.eu")):
        cup = darkroom.product(images=[{"url": url, "alt": "A cup"}])
        assert cup["images"] == [{"url": url, "alt": "A cup", "pictureId": None, "sizes": None}]


def test_a_product_can_be_sent_back_as_it_was_read(darkroom: Darkroom) -> None:
    cup = darkroom.product(darkroom.uploaded(RED))
    path = f"{PRODUCTS}/{cup['id']}"
    assert darkroom.shop.put(path, {"images": cup["images"]}).json == cup
    by_address = [{"url": cup["images"][0]["sizes"]["small"]}]
    assert darkroom.shop.put(path, {"images": by_address}).json == cup
    copy = darkroom.shop.made(PRODUCTS, {**cup, "slug": "a-copy"})
    darkroom.shop.delete(path)
    assert darkroom.shop.read(f"{PRODUCTS}/{copy['id']}")["images"] == cup["images"]


def test_an_address_beside_a_picture_is_that_pictures(
    darkroom: Darkroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, other = darkroom.uploaded(RED), darkroom.uploaded(OTHER)
    cup = darkroom.product(shown)
    path, (image,) = f"{PRODUCTS}/{cup['id']}", cup["images"]
    for url in ("https://elsewhere.example/new.jpg", other["sizes"]["large"]):
        answer = darkroom.shop.put(path, {"images": [image, {**image, "url": url}]})
        (error,) = answer.json["errors"]
        assert (answer.status, error["field"], error["code"]) == (422, "images.1.url", "invalid")
    for url in (None, *shown["sizes"].values()):
        assert darkroom.shop.put(path, {"images": [{**image, "url": url}]}).json == cup
    for base in ("https://cdn.example.com", "https://new.example.com"):  # each was read below one
        monkeypatch.setenv("PICTURE_ADDRESS", base)
        answer = darkroom.shop.put(path, {"images": [image]})
        (image,) = answer.json["images"]
        assert image["url"] == f"{base}/{shown['id']}/large.webp"


@pytest.mark.parametrize("way", ["pictureId", "url"])
def test_a_product_takes_only_pictures_that_are_ready(darkroom: Darkroom, way: str) -> None:
    def refusal(id: str) -> Any:
        image = {"pictureId": id} if way == "pictureId" else {"url": f"{ADDRESS}/{id}/large.webp"}
        new = {"name": "Cup", "price": 1, "images": [{"url": "https://x.example/1.jpg"}, image]}
        (row,) = darkroom.shop.post(f"{PRODUCTS}/bulk", [new]).json["data"]
        answer = darkroom.shop.post(PRODUCTS, new)
        assert row["error"]["code"] == answer.json["code"]
        return answer

    unknown = refusal("pic_00000000000000000000000000")
    assert unknown.refused[0].startswith("images.1")
    assert unknown.json["errors"][0]["code"] == "unknown_picture"
    waiting = refusal(darkroom.create(RED)["id"])
    assert (waiting.status, waiting.json["code"]) == (409, "picture_not_ready")
    failed = refusal(darkroom.uploaded(b"no picture")["id"])
    assert failed.json["errors"][0]["code"] == "unknown_picture"


def test_an_image_needs_an_address_or_a_picture(darkroom: Darkroom) -> None:
    for image, field, code in (
        ({}, "url", "required"),
        ({"pictureId": "cup"}, "pictureId", "unknown_picture"),
        ({"url": "ftp://x.example/1.jpg"}, "url", "invalid"),
    ):
        new = {"name": "Cup", "price": 1, "images": [image]}
        errors = darkroom.shop.post(PRODUCTS, new).json["errors"]
        assert (f"images.0.{field}", code) in {(one["field"], one["code"]) for one in errors}


def test_a_deleted_picture_is_off_the_web_and_its_products_stay_as_they_are(
    darkroom: Darkroom,
) -> None:
    shown = darkroom.uploaded(RED)
    cup = darkroom.product(shown)
    assert darkroom.shop.delete(f"{PICTURES}/{shown['id']}").json["deleted"] is True
    assert darkroom.stored() == []
    assert darkroom.shop.get(f"{PICTURES}/{shown['id']}").status == 404
    path = f"{PRODUCTS}/{cup['id']}"
    assert darkroom.shop.read(path) == cup
    changed = darkroom.shop.put(path, {"images": cup["images"], "name": "Mug"})
    assert changed.status == 200 and changed.json["images"] == cup["images"]


def test_another_address_of_the_pictures_is_the_address_of_all(
    darkroom: Darkroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    cup = darkroom.product(darkroom.uploaded(RED))
    monkeypatch.setenv("PICTURE_ADDRESS", "https://cdn.example.com")
    path, (image,) = f"{PRODUCTS}/{cup['id']}", cup["images"]
    (moved,) = darkroom.shop.read(path)["images"]
    assert moved["url"] == f"https://cdn.example.com/{image['pictureId']}/large.webp"
    # The bucket's own address still names it.
    same = darkroom.shop.put(path, {"images": [{"url": image["url"]}]}).json
    assert same["images"] == [moved] and same["updatedAt"] == cup["updatedAt"]


def test_a_product_of_release_1_0_0_shows_its_images(darkroom: Darkroom) -> None:
    cup = darkroom.product(images=[{"url": "https://img.example/a.jpg"}])
    (item,) = (one for one in darkroom.shop.stored() if one["pk"] == cup["id"] and "images" in one)
    assert item["images"] == [{"url": "https://img.example/a.jpg", "alt": None}]  # as 1.0.0 has it


# --- Exports, imports, undo -----------------------------------------------------------------------


@pytest.mark.parametrize("columns", ["BACKROOM", "SHOPIFY"])
def test_an_export_of_products_with_pictures_imports_unchanged(
    studio: Darkroom, jobs: JobDesk, columns: str
) -> None:
    shown = [studio.uploaded(data) for data in (RED, OTHER)]
    for n in range(3):
        studio.product(*shown, name=f"Cup {n}", status="ACTIVE", sku=f"CUP-{n}")
    job = jobs.done(EXPORTS, {"type": "products", "all": True, "columns": columns})
    again = Desk(studio.shop, studio.dynamodb).imported(file_of(job))
    assert (again["unchanged"], again["failed"], again["total"]) == (3, 0, 3), again


def test_an_import_takes_own_pictures_and_reports_unknown_ones(studio: Darkroom) -> None:
    shown = studio.uploaded(RED)
    gone = f"{ADDRESS}/pic_00000000000000000000000000/large.webp"
    rows = [f"cup,Cup,1,{shown['sizes']['large']}", f"jug,Jug,1,{gone}"]
    text = "\n".join(["slug,name,price,image url", *rows])
    job = Desk(studio.shop, studio.dynamodb).imported(text)
    assert (job["created"], job["failed"]) == (1, 1)
    (product,) = studio.shop.read(PRODUCTS)["data"]
    assert product["images"][0]["pictureId"] == shown["id"]


def test_an_undo_brings_a_picture_back_after_29_days(
    studio: Darkroom, jobs: JobDesk, after: Callable[..., None]
) -> None:
    """An import created its only product, which the undo of it deleted."""
    shown = studio.uploaded(RED)
    text = f"slug,name,price,image url\ncup,Cup,1,{shown['sizes']['large']}\n"
    job = Desk(studio.shop, studio.dynamodb).imported(text)
    (cup,) = studio.shop.read(PRODUCTS)["data"]
    undone = jobs.undone(job)
    assert undone["deleted"] == 1 and jobs.now(cup) is None
    for _ in range(4):
        run_weekly_look()
        after(days=7)
    after(days=1)
    run_weekly_look()
    assert studio.read(shown)["unusedSince"]
    assert jobs.undone(undone)["created"] == 1
    run_weekly_look()
    assert jobs.now(cup)["images"] == cup["images"]
    assert studio.read(shown)["unusedSince"] is None and len(studio.stored()) == 3


# --- Unused pictures ------------------------------------------------------------------------------


def test_a_picture_that_no_product_shows_is_deleted_after_90_days(
    darkroom: Darkroom, after: Callable[..., None]
) -> None:
    unused, shown = darkroom.uploaded(RED), darkroom.uploaded(OTHER)
    darkroom.product(shown)
    run_weekly_look()
    assert darkroom.read(unused)["unusedSince"] and not darkroom.read(shown)["unusedSince"]
    after(days=89)
    run_weekly_look()
    assert darkroom.read(unused)
    after(days=2)
    run_weekly_look()
    assert darkroom.shop.get(f"{PICTURES}/{unused['id']}").status == 404
    assert {key.partition("/")[0] for key in darkroom.stored()} == {shown["id"]}
    originals = [key for key in darkroom.stored(settings.bucket()) if key.startswith("pictures/")]
    assert originals == [f"pictures/{shown['id']}"]


def test_a_second_look_at_once_keeps_since_when_a_picture_is_unused(darkroom: Darkroom) -> None:
    unused, gone = darkroom.uploaded(RED), darkroom.uploaded(OTHER)
    before = [store.get_picture(one["id"]) for one in (unused, gone)]
    assert darkroom.shop.delete(f"{PICTURES}/{gone['id']}").status == 200
    for days in (0, 5):
        for one in before:
            store.mark_unused(one, clock.now() + timedelta(days=days))
    assert darkroom.read(unused)["unusedSince"] <= clock.now_iso()
    assert darkroom.shop.get(f"{PICTURES}/{gone['id']}").status == 404


def test_a_picture_that_a_product_takes_is_not_deleted_at_the_same_moment(
    darkroom: Darkroom, after: Callable[..., None]
) -> None:
    """The look has read the products and the picture before the product is written."""
    shown = darkroom.uploaded(RED)
    run_weekly_look()
    after(days=91)
    take = partial(darkroom.product, shown)
    darkroom.dynamodb.meanwhile("TransactWriteItems", take, text=shown["id"])
    run_weekly_look()
    assert darkroom.read(shown)["unusedSince"] is None and len(darkroom.stored()) == 3


@pytest.mark.parametrize("seed", [0, *mark_thorough(range(1, 5))])
def test_no_picture_that_a_product_shows_is_ever_deleted(
    darkroom: Darkroom, after: Callable[..., None], seed: int
) -> None:
    """200 random writes each (1,000 with the thorough ones), with looks and months between."""
    chance, shop = random.Random(seed), darkroom.shop
    shown = [darkroom.uploaded(RED)["id"] for _ in range(6)]
    cups = [darkroom.product()["id"] for _ in range(4)]
    for _ in range(200):
        after(days=chance.choice([0, 0, 1, 8, 40]))
        alive = [id for id in shown if shop.get(f"{PICTURES}/{id}").status == 200]
        if chance.random() < 0.3:
            run_weekly_look()
        elif alive:
            chosen = chance.sample(alive, chance.randint(0, min(2, len(alive))))
            path = f"{PRODUCTS}/{chance.choice(cups)}"
            answer = shop.put(path, {"images": [{"pictureId": id} for id in chosen]})
            assert answer.status == 200, answer.text
        else:
            shown.append(darkroom.uploaded(RED)["id"])
        public = {key.partition("/")[0] for key in darkroom.stored()}
        for cup in shop.read(PRODUCTS)["data"]:
            assert {image["pictureId"] for image in cup["images"]} <= public


# --- Crashes and repeats --------------------------------------------------------------------------


@pytest.mark.parametrize("after_it", [False, True])
@pytest.mark.parametrize("nth", range(1, 6))
def test_a_function_that_dies_at_any_file_leaves_a_picture_that_becomes_ready(
    darkroom: Darkroom, nth: int, after_it: bool
) -> None:
    waiting = darkroom.create(RED)
    darkroom.put(waiting, RED)
    with dies_at(nth, after=after_it), pytest.raises(Crash):
        darkroom.render(waiting)
    assert darkroom.read(waiting)["status"] == "WAITING"
    darkroom.render(waiting)
    ready = darkroom.read(waiting)
    assert ready["status"] == "READY" and len(darkroom.stored()) == 3
    darkroom.render(waiting)  # once more, late
    assert darkroom.read(waiting) == ready


@pytest.mark.parametrize("after_it", [False, True])
@pytest.mark.parametrize("nth", [1, 2])
def test_a_function_that_dies_at_any_write_leaves_a_picture_that_becomes_ready(
    darkroom: Darkroom, nth: int, after_it: bool
) -> None:
    """It claims the upload, and at last makes the picture READY."""
    waiting = darkroom.create(RED)
    darkroom.put(waiting, RED)
    darkroom.dynamodb.crashes("UpdateItem", nth, after=after_it)
    with pytest.raises(Crash):
        darkroom.render(waiting)
    darkroom.dynamodb.faults = lambda operation, request: None
    darkroom.render(waiting)
    assert darkroom.read(waiting)["status"] == "READY" and len(darkroom.stored()) == 3


@pytest.mark.parametrize(
    ("module", "name"),
    [(objects, "publish_picture"), (store, "claim_upload")],
    ids=["publish_picture", "claim_upload"],
)
def test_what_was_rendered_of_a_picture_that_is_deleted_meanwhile_is_removed(
    darkroom: Darkroom, monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str
) -> None:
    waiting = darkroom.create(RED)
    darkroom.put(waiting, RED)

    def delete_picture() -> None:
        assert darkroom.shop.delete(f"{PICTURES}/{waiting['id']}").status == 200

    act_at(monkeypatch, module, name, delete_picture)
    darkroom.render(waiting)
    assert darkroom.stored() == []


def test_nothing_stays_of_a_picture_that_is_rendered_within_its_deletion(
    darkroom: Darkroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker has read the upload before, and publishes between two steps of the deletion."""
    waiting = darkroom.create(RED)
    darkroom.put(waiting, RED)
    upload = objects.read_upload(waiting["id"])

    def render_late() -> None:
        monkeypatch.setattr(objects, "read_upload", lambda place: upload)
        darkroom.render(waiting)

    act_at(monkeypatch, objects, "delete_picture_files", render_late)
    assert darkroom.shop.delete(f"{PICTURES}/{waiting['id']}").status == 200
    assert darkroom.stored() == darkroom.stored(settings.bucket()) == []


def test_a_second_file_does_not_replace_the_first_that_is_being_rendered(
    darkroom: Darkroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = darkroom.create(RED)
    darkroom.put(waiting, RED)

    def render_other() -> None:
        darkroom.put(waiting, OTHER)
        darkroom.render(waiting)

    act_at(monkeypatch, objects, "publish_picture", render_other, after=False)
    darkroom.render(waiting)
    shown = darkroom.read(waiting)
    assert (shown["status"], shown["width"]) == ("READY", 64)  # the first file's
    assert {darkroom.seen(shown, size).size for size in shown["sizes"]} == {(64, 48)}
    kept = darkroom.s3.get_object(Bucket=settings.bucket(), Key=f"pictures/{shown['id']}")
    assert kept["Body"].read() == RED
