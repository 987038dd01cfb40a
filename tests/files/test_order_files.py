"""Files of orders: uploaded once, seen by the shop alone, gone with their order."""

import io
from collections.abc import Callable
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from botocore.exceptions import ClientError
from PIL import Image

from chalicelib import settings
from chalicelib.files import objects, store
from tests.audit.build import traced
from tests.files.build import Darkroom, act_at, dies_at, picture, run_weekly_look
from tests.orders.build import ORDERS, Order, at_once, line, placed, variant
from tests.stock.build import fanned_out
from tests.support.dynamodb_double import Crash
from tests.support.job_desk import JobDesk

PHOTO = picture((640, 480), "JPEG")
OTHER = picture((320, 240), "JPEG")
DRAWING = b"0\nSECTION\n2\nENTITIES\n" * 40
PAGE = b"<!DOCTYPE html><script>alert(1)</script>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.fixture
def order(darkroom: Darkroom) -> Order:
    return placed(darkroom.shop)


def files_path(order: Any, file: Any = None) -> str:
    below = f"{ORDERS}/{order['id']}/files"
    return f"{below}/{file['id']}" if file else below


def parse_address(address: str) -> tuple[str, dict[str, str]]:
    """The key of S3 to which a signed address leads, and its query."""
    parts = urlsplit(address)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    return unquote(parts.path.removeprefix("/")), query


# --- Uploads --------------------------------------------------------------------------------------


def test_a_photo_waits_for_its_file_and_is_ready_with_previews(
    darkroom: Darkroom, order: Order
) -> None:
    (sold,) = order["lineItems"]
    more = {"name": "ring.jpg", "note": "Inside", "lineItemId": sold["id"]}
    waiting = darkroom.attach(order, PHOTO, **more)
    assert (waiting["status"], waiting["kind"], waiting["urls"]) == ("WAITING", None, None)
    darkroom.put(waiting, PHOTO)
    darkroom.render(waiting)
    ready = darkroom.read(waiting)
    assert {name: ready[name] for name in more} == more
    assert (ready["status"], ready["kind"], ready["contentType"]) == (
        "READY",
        "IMAGE",
        "image/jpeg",
    )
    assert (ready["width"], ready["height"]) == (640, 480)
    for size, longest in (("small", 160), ("large", 640)):
        key, query = parse_address(ready["urls"][size])
        assert query["X-Amz-Expires"] == "600" and "response-content-disposition" not in query
        stored = darkroom.s3.get_object(Bucket=settings.bucket(), Key=key)
        assert stored["ContentType"] == "image/webp"
        assert Image.open(io.BytesIO(stored["Body"].read())).width == longest
    assert darkroom.stored() == []  # the public has nothing of it
    (listed,) = darkroom.files(order)
    same = ready.keys() - {"urls", "expiresAt"}
    assert {name: listed[name] for name in same} == {name: ready[name] for name in same}


@pytest.mark.parametrize(
    ("data", "name"), [(DRAWING, "Ring für Zoë.dxf"), (PAGE, "photo.jpg"), (SVG, "photo.png")]
)
def test_any_other_file_is_a_download_whatever_it_says_it_is(
    darkroom: Darkroom, order: Order, data: bytes, name: str
) -> None:
    ready = darkroom.attached(order, data, name=name, contentType="image/jpeg")
    assert (ready["kind"], ready["width"]) == ("FILE", None)
    assert ready["urls"]["small"] is ready["urls"]["large"] is None
    key, query = parse_address(ready["urls"]["original"])
    disposition = query["response-content-disposition"]
    kind, _, sent_name = disposition.partition("; filename*=UTF-8''")
    assert (kind, unquote(sent_name), sent_name.isascii()) == ("attachment", name, True)
    assert query["response-content-type"] == "application/octet-stream"
    stored = darkroom.s3.get_object(Bucket=settings.bucket(), Key=key)
    assert stored["Body"].read() == data
    # Also by another address than the signed one.
    assert (stored["ContentType"], stored["ContentDisposition"]) == (
        "application/octet-stream",
        "attachment",
    )
    assert darkroom.kept() == [key]


def test_the_original_of_a_photo_is_a_download_too(darkroom: Darkroom, order: Order) -> None:
    _, query = parse_address(darkroom.attached(order, PHOTO)["urls"]["original"])
    assert query["response-content-disposition"].startswith("attachment; ")
    assert query["response-content-type"] == "application/octet-stream"


@pytest.mark.parametrize(
    "data",
    [PHOTO[:-900], b"", picture((15, 15)), PHOTO + bytes(20 << 20)],
    ids=["truncated", "empty", "little", "above 20 MiB"],
)
def test_a_picture_that_cannot_be_shown_is_kept_as_a_file(
    darkroom: Darkroom, order: Order, data: bytes
) -> None:
    waiting = darkroom.attach(order, data or b"x")
    darkroom.put(waiting, data)
    darkroom.render(waiting)
    assert darkroom.read(waiting)["kind"] == "FILE"


@pytest.mark.thorough
def test_a_drawing_of_40_megabytes_is_a_download_under_its_name(
    darkroom: Darkroom, order: Order
) -> None:
    ready = darkroom.attached(order, bytes(40 << 20), name="Größe 52.dxf")
    assert (ready["kind"], ready["bytes"]) == ("FILE", 40 << 20)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("Image/SVG+XML", "image/svg+xml"),
        ("text/plain; charset=utf-8", "text/plain"),
        ("Ada Lovelace <ada@byron.example>", "application/octet-stream"),
        ("a/" + "b" * 126, "application/octet-stream"),
        ("x" * 1_000, "application/octet-stream"),
        ("", "application/octet-stream"),
        (None, "application/octet-stream"),
    ],
)
def test_a_content_type_is_a_media_type_or_that_of_any_file(
    darkroom: Darkroom, order: Order, sent: str | None, kept: str
) -> None:
    assert darkroom.attach(order, contentType=sent)["contentType"] == kept


REFUSED = [
    ({"bytes": (50 << 20) + 1}, "bytes", "too_large"),
    ({"bytes": 0}, "bytes", "out_of_range"),
    ({"name": ""}, "name", "too_short"),
    ({"name": "x" * 201}, "name", "too_long"),
    ({"note": "x" * 501}, "note", "too_long"),
    ({"lineItemId": "li_of_another"}, "lineItemId", "unknown_line"),
]


@pytest.mark.parametrize(("fields", "field", "code"), REFUSED)
def test_a_wrong_file_is_refused_by_its_field(
    darkroom: Darkroom, order: Order, fields: dict[str, Any], field: str, code: str
) -> None:
    (error,) = darkroom.post_file(order, **fields).json["errors"]
    assert (error["field"], error["code"]) == (field, code)
    assert darkroom.files(order) == []


def test_a_repeated_announcement_is_one_file(darkroom: Darkroom, order: Order) -> None:
    key = {"Idempotency-Key": "ring"}
    first, again = (darkroom.post_file(order, headers=key) for _ in range(2))
    assert first.status == again.status == 201
    assert first.json["id"] == again.json["id"] and len(darkroom.files(order)) == 1


def test_a_refused_announcement_leaves_its_key_to_the_corrected_one(
    darkroom: Darkroom, order: Order
) -> None:
    key = {"Idempotency-Key": "ring"}
    refused = darkroom.post_file(order, headers=key, lineItemId="li_none")
    assert (refused.status, refused.json["errors"][0]["code"]) == (422, "unknown_line")
    made = [darkroom.post_file(order, headers=key) for _ in range(2)]
    assert [answer.status for answer in made] == [201, 201]
    assert made[0].json["id"] == made[1].json["id"] and len(darkroom.files(order)) == 1
    other = darkroom.post_file(order, headers=key, note="x")
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")


def test_an_order_has_exactly_50_files_also_if_two_are_announced_at_once(
    darkroom: Darkroom, order: Order
) -> None:
    for _ in range(49):
        darkroom.attach(order)
    answers = at_once(2, lambda _: darkroom.post_file(order))
    assert sorted(answer.status for answer in answers) == [201, 422]
    last = darkroom.post_file(order)
    assert (last.status, last.json["code"]) == (422, "too_many_files")
    assert len(darkroom.files(order)) == 50


def test_names_and_notes_of_an_order_have_a_limit_together(
    darkroom: Darkroom, order: Order
) -> None:
    answers = [darkroom.post_file(order, note="\U0001f48d" * 500) for _ in range(50)]
    refused = [answer.json["code"] for answer in answers if answer.status == 422]
    assert {*refused} == {"too_large"}
    for answer in answers:  # each file can still become READY
        if answer.status == 201:
            darkroom.finish_upload(answer.json, b"x")
    assert {file["status"] for file in darkroom.files(order)} == {"READY"}


def test_a_note_is_shortened_although_the_files_are_too_large(
    darkroom: Darkroom, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a worker's claim, which needs some bytes too."""
    file = darkroom.attached(order, note="A ring of gold")
    monkeypatch.setattr(store, "LARGEST_METADATA", 10)
    path = files_path(order, file)
    assert darkroom.shop.patch(path, {"note": "A ring"}).status == 200
    assert darkroom.shop.patch(path, {"note": "A ring too"}).json["code"] == "too_large"


# --- What a shop does with them -------------------------------------------------------------------


@pytest.mark.parametrize("role", ["READER", "STAFF"])
def test_who_may_do_what(darkroom: Darkroom, order: Order, role: str) -> None:
    ready, key, shop = darkroom.attached(order), darkroom.shop.as_(role), darkroom.shop
    writes = 403 if role == "READER" else 200
    path = files_path(order, ready)
    assert shop.get(files_path(order), key=key).status == shop.get(path, key=key).status == 200
    assert darkroom.post_file(order, key=key).status == writes + (writes == 200)
    assert shop.patch(path, {"note": "New"}, key=key).status == writes
    assert shop.delete(path, key=key).status == writes


def test_a_file_is_found_below_its_own_order_alone(darkroom: Darkroom, order: Order) -> None:
    ready, other = darkroom.attached(order), placed(darkroom.shop)
    shop = darkroom.shop
    path = files_path(other, ready)
    for answer in (shop.get(path), shop.patch(path, {"note": "New"}), shop.delete(path)):
        assert answer.status == 404
    for unknown in ("ord_00000000000000000000000000", "nonsense", "ord_" + "x" * 3_000):
        assert shop.get(f"{ORDERS}/{unknown}/files").status == 404
        assert darkroom.post_file({"id": unknown}).status == 404
    assert darkroom.read(ready)["status"] == "READY"


def test_a_file_is_renamed_and_moved_to_another_line(darkroom: Darkroom, order: Order) -> None:
    ready = darkroom.attached(order, note="Old")
    (sold,) = order["lineItems"]
    path, shop = files_path(order, ready), darkroom.shop
    changed = shop.patch(path, {"name": "Ring 52", "lineItemId": sold["id"], "note": None}).json
    assert (changed["name"], changed["lineItemId"]) == ("Ring 52", sold["id"])
    assert changed["note"] is None
    _, query = parse_address(changed["urls"]["original"])
    assert query["response-content-disposition"].endswith("Ring%2052")
    assert shop.patch(path, changed).status == 200  # as it was read
    assert shop.patch(path, {"lineItemId": "li_x"}).json["errors"][0]["code"] == "unknown_line"
    assert shop.patch(path, {}).status == shop.patch(path, {"bytes": 1}).status == 422


def test_a_line_that_is_edited_away_leaves_its_files_with_the_order(darkroom: Darkroom) -> None:
    shop = darkroom.shop
    order = placed(shop, line(variant(shop)), line(variant(shop)))
    gone, _ = order["lineItems"]
    ready = darkroom.attached(order, lineItemId=gone["id"])
    assert order.edit(remove=[gone["id"]]).status == 200
    assert darkroom.read(ready)["lineItemId"] == gone["id"]
    changed = shop.patch(files_path(order, ready), {"note": "Still there"})
    assert changed.json["lineItemId"] == gone["id"]


def test_files_change_neither_the_order_nor_its_etag_and_are_in_its_audit(
    darkroom: Darkroom, order: Order
) -> None:
    shop = darkroom.shop
    before = shop.get(f"{ORDERS}/{order['id']}")
    ready = darkroom.attached(order)
    shop.patch(files_path(order, ready), {"note": "New"})
    shop.delete(files_path(order, ready))
    after = shop.get(f"{ORDERS}/{order['id']}")
    assert (after.json, after.headers["ETag"]) == (before.json, before.headers["ETag"])
    assert order.kinds() == ["order.created"]
    audit = [one for one in traced(darkroom.dynamodb) if one["action"].startswith("file.")]
    assert [entry["action"] for entry in audit] == ["file.created", "file.updated", "file.deleted"]
    assert {entry["record"]["id"] for entry in audit} == {order["id"]}
    assert {*audit[0]["customers"]} == {order["customer"]["id"]}
    (note,) = audit[1]["changes"]
    assert note == {"field": f"files[{ready['id']}].note", "before": None, "after": "New"}


def test_a_file_that_is_ready_is_announced_once_without_texts(
    darkroom: Darkroom, order: Order
) -> None:
    waiting = darkroom.attach(order, PHOTO, name="Ada.jpg", note="Ada's ring")
    darkroom.put(waiting, PHOTO)
    for _ in range(3):
        darkroom.render(waiting)
    (event,) = (one for one in darkroom.shop.events() if one["event"] == "file.ready")
    assert event["data"] == {
        "id": waiting["id"],
        "orderId": order["id"],
        "orderNumber": order["number"],
        "customerId": order["customer"]["id"],
        "lineItemId": None,
        "contentType": "image/jpeg",
        "bytes": len(PHOTO),
        "kind": "IMAGE",
        "width": 640,
        "height": 480,
    }


# --- The end --------------------------------------------------------------------------------------


def test_a_deleted_file_is_gone_at_once(darkroom: Darkroom, order: Order) -> None:
    gone, stays = darkroom.attached(order, PHOTO), darkroom.attached(order)
    path = files_path(order, gone)
    assert darkroom.shop.delete(path).json == {"id": gone["id"], "deleted": True}
    assert darkroom.shop.get(path).status == darkroom.shop.delete(path).status == 404
    assert darkroom.kept() == [f"files/{order['id']}/{stays['id']}/original"]
    uploads = [key for key in darkroom.stored(settings.bucket()) if key.startswith("uploads/")]
    assert uploads == [f"uploads/{order['id']}/{stays['id']}"]


def test_a_deleted_order_takes_its_files_with_it(darkroom: Darkroom, order: Order) -> None:
    other = placed(darkroom.shop)
    stays = darkroom.attached(other)
    ready, waiting = darkroom.attached(order, PHOTO), darkroom.attach(order)
    darkroom.put(waiting, DRAWING)
    assert order.delete().status == 200
    darkroom.render(waiting)  # its event comes late
    assert darkroom.kept() == [f"files/{other['id']}/{stays['id']}/original"]
    assert darkroom.shop.get(files_path(order)).status == 404
    assert darkroom.shop.get(files_path(order, ready)).status == 404
    assert [item["pk"] for item in darkroom.shop.stored() if item["pk"].startswith("files#")] == [
        f"files#{other['id']}"
    ]


def test_a_file_is_never_created_of_an_order_that_is_deleted_meanwhile(
    darkroom: Darkroom, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:

    def delete_order() -> None:
        assert order.delete().status == 200

    act_at(monkeypatch, store, "rewrite_files", delete_order, after=False)
    assert darkroom.post_file(order).status == 404
    assert not [item for item in darkroom.shop.stored() if item["pk"].startswith("files#")]


def test_what_a_crash_left_of_an_orders_files_is_deleted_by_the_weekly_look(
    darkroom: Darkroom, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    stays, other = darkroom.attached(order, PHOTO), placed(darkroom.shop)
    gone = darkroom.attached(other, PHOTO)
    with monkeypatch.context() as patched:
        patched.setattr(store, "delete_objects", lambda place: None)  # dies before
        other.delete()
    assert len(darkroom.kept()) == 6 and gone["kind"] == "IMAGE"
    odd = ["files/notes.txt", "files/notes/of/others"]
    for key in odd:
        darkroom.s3.put_object(Bucket=settings.bucket(), Key=key, Body=b"")
    run_weekly_look()
    below = f"files/{order['id']}/{stays['id']}"
    kept = [f"{below}/{one}" for one in ("large", "original", "small")]
    assert darkroom.kept() == sorted([*kept, *odd])


@pytest.mark.parametrize(
    ("module", "name"),
    [(objects, "store_file"), (store, "claim_upload")],
    ids=["store_file", "claim_upload"],
)
def test_what_is_kept_of_a_file_that_is_deleted_meanwhile_is_removed(
    darkroom: Darkroom,
    order: Order,
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType,
    name: str,
) -> None:
    waiting = darkroom.attach(order, PHOTO)
    darkroom.put(waiting, PHOTO)

    def delete_file() -> None:
        assert darkroom.shop.delete(files_path(order, waiting)).status == 200

    act_at(monkeypatch, module, name, delete_file)
    darkroom.render(waiting)
    assert darkroom.kept() == []


@pytest.mark.parametrize("what", ["file", "order"])
def test_nothing_stays_of_a_file_that_is_rendered_within_its_deletion(
    darkroom: Darkroom, order: Order, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """The worker has read the upload before, and stores all between two steps of the deletion."""
    waiting = darkroom.attach(order, PHOTO)
    darkroom.put(waiting, PHOTO)
    upload = objects.read_upload(f"{order['id']}/{waiting['id']}")

    def render_late() -> None:
        monkeypatch.setattr(objects, "read_upload", lambda place: upload)
        darkroom.render(waiting)

    act_at(monkeypatch, store, "delete_objects", render_late)
    path = files_path(order, waiting) if what == "file" else f"{ORDERS}/{order['id']}"
    assert darkroom.shop.delete(path).status == 200
    assert darkroom.kept() == []
    assert "file.ready" not in {event["event"] for event in darkroom.shop.events()}


def test_a_deleted_order_takes_also_what_is_stored_of_an_expired_file(
    darkroom: Darkroom, order: Order, after: Callable[..., None]
) -> None:
    waiting = darkroom.attach(order)
    darkroom.put(waiting, DRAWING)
    with dies_at(2, after=True), pytest.raises(Crash):
        darkroom.render(waiting)
    assert len(darkroom.kept()) == 1
    after(days=1, seconds=1)
    assert order.delete().status == 200
    assert darkroom.kept() == []


@pytest.mark.parametrize("what", ["file", "order"])
def test_a_deletion_holds_though_s3_fails_and_the_weekly_look_ends_it(
    darkroom: Darkroom,
    order: Order,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    what: str,
) -> None:
    ready = darkroom.attached(order, PHOTO)

    def fail(place: str) -> None:
        raise ClientError({"Error": {"Code": "SlowDown"}}, "DeleteObject")

    path = files_path(order, ready) if what == "file" else f"{ORDERS}/{order['id']}"
    with monkeypatch.context() as patched:
        patched.setattr(store, "delete_objects", fail)
        assert darkroom.shop.delete(path).json["deleted"] is True
        assert darkroom.shop.get(path).status == darkroom.shop.delete(path).status == 404
    assert "objects not deleted" in caplog.messages
    run_weekly_look()
    assert darkroom.kept() == []


# --- Erasure --------------------------------------------------------------------------------------


def erase_customer(jobs: JobDesk, customer: Any) -> Any:
    """Erase a customer, after all that happened is in the audit log."""
    fanned_out(jobs.dynamodb)
    touched = jobs.done(f"/api/admin/customers/{customer['id']}/erase")["touched"]
    fanned_out(jobs.dynamodb)
    return touched


def test_an_erasure_deletes_the_files_of_a_persons_orders(studio: Darkroom, jobs: JobDesk) -> None:
    shop = studio.shop
    hers = placed(shop)
    his, again = placed(shop), placed(shop, customer={"id": hers["customer"]["id"]})
    for order in (hers, again, his):
        studio.attached(order, PHOTO, name=f"portrait-{order['number']}.jpg", note="Grandmother")
    waiting = studio.attach(hers, PHOTO)
    studio.put(waiting, PHOTO)
    shop.patch(files_path(hers, waiting), {"note": "The kitchen"})
    assert erase_customer(jobs, hers["customer"])["files"] == 3
    studio.render(waiting)  # late
    assert {key.split("/")[1] for key in studio.kept()} == {his["id"]}
    assert {key.split("/")[1] for key in studio.stored(settings.bucket())} == {his["id"]}
    assert studio.files(hers) == studio.files(again) == []
    assert len(studio.files(his)) == 1
    text = str(shop.stored())
    assert f"portrait-{his['number']}" in text
    for gone in (f"portrait-{hers['number']}", f"portrait-{again['number']}", "The kitchen"):
        assert gone not in text
    done = shop.read(f"/api/admin/audit?recordId={hers['id']}&action=file.updated")["data"]
    assert [change["after"] for entry in done for change in entry["changes"]] == [None]


@pytest.mark.parametrize("step", ["is rendered", "fails"])
def test_an_erasure_leaves_nothing_though_a_file_is_rendered_or_s3_fails_within_it(
    studio: Darkroom, jobs: JobDesk, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    order = placed(studio.shop)
    studio.attached(order, PHOTO)
    waiting = studio.attach(order, PHOTO)
    studio.put(waiting, PHOTO)
    upload = objects.read_upload(f"{order['id']}/{waiting['id']}")

    def interrupt_deletion() -> None:
        if step == "fails":
            raise Crash
        monkeypatch.setattr(objects, "read_upload", lambda place: upload)
        studio.render(waiting)

    act_at(monkeypatch, objects, "delete_files", interrupt_deletion, after=step == "is rendered")
    erase_customer(jobs, order["customer"])
    assert studio.kept() == studio.files(order) == []


def test_an_erasure_removes_mentions_from_files_of_an_order_that_is_anothers_now(
    studio: Darkroom, jobs: JobDesk
) -> None:
    shop = studio.shop
    other = shop.made("/api/admin/customers", {"firstName": "Grace"})
    person = {"email": "ada@byron.example", "firstName": "Adalind"}
    order = placed(shop, customer=person)
    studio.attached(order, name="Adalind.dxf", note="for ada@byron.example, size 52")
    assert order.edit(customer={"id": other["id"]}).status == 200
    erase_customer(jobs, order["customer"])
    (file,) = studio.files(order)
    assert (file["name"], file["note"]) == ("[erased].dxf", "for [erased], size 52")


# --- Crashes and repeats --------------------------------------------------------------------------


def test_a_form_that_is_used_twice_never_shows_the_second_file(
    darkroom: Darkroom, order: Order
) -> None:
    waiting = darkroom.attach(order, PHOTO)
    darkroom.put(waiting, PHOTO)
    darkroom.render(waiting)
    before = darkroom.read(waiting)
    darkroom.put(waiting, DRAWING)
    darkroom.render(waiting)
    after = darkroom.read(waiting)
    assert (after["kind"], after["width"]) == (before["kind"], before["width"])
    original = f"files/{order['id']}/{waiting['id']}/original"
    kept = darkroom.s3.get_object(Bucket=settings.bucket(), Key=original)
    assert kept["Body"].read() == PHOTO


@pytest.mark.parametrize("of_order", [True, False])
def test_a_form_is_used_again_after_its_worker_died(
    darkroom: Darkroom, order: Order, after: Callable[..., None], of_order: bool
) -> None:
    waiting = darkroom.attach(order, PHOTO) if of_order else darkroom.create(PHOTO)
    darkroom.put(waiting, PHOTO)
    place = objects.place_of_key(waiting["upload"]["fields"]["key"])
    assert store.claim_upload(place, objects.read_upload(place)[1])  # and dies
    darkroom.put(waiting, OTHER)
    darkroom.render(waiting)
    assert darkroom.read(waiting)["status"] == "WAITING"  # the first worker may be alive
    after(minutes=11)
    darkroom.render(waiting)  # as the sweep lets it
    ready = darkroom.read(waiting)
    assert (ready["status"], ready["width"]) == ("READY", 320)


@pytest.mark.parametrize("after_it", [False, True])
@pytest.mark.parametrize("nth", range(1, 5))
def test_a_function_that_dies_at_any_object_leaves_a_file_that_becomes_ready(
    darkroom: Darkroom, order: Order, nth: int, after_it: bool
) -> None:
    waiting = darkroom.attach(order, PHOTO)
    darkroom.put(waiting, PHOTO)
    with dies_at(nth, after=after_it), pytest.raises(Crash):
        darkroom.render(waiting)
    assert darkroom.read(waiting)["status"] == "WAITING"
    darkroom.render(waiting)
    darkroom.render(waiting)
    assert darkroom.read(waiting)["status"] == "READY" and len(darkroom.kept()) == 3
    assert [one["event"] for one in darkroom.shop.events()].count("file.ready") == 1


@pytest.mark.parametrize("after_it", [False, True])
@pytest.mark.parametrize("nth", [1, 2])
def test_a_function_that_dies_at_any_write_leaves_a_file_that_becomes_ready(
    darkroom: Darkroom, order: Order, nth: int, after_it: bool
) -> None:
    """It claims the upload, and at last makes the file READY, with its event."""
    waiting = darkroom.attach(order, PHOTO)
    darkroom.put(waiting, PHOTO)
    darkroom.dynamodb.crashes("TransactWriteItems", nth, after=after_it)
    with pytest.raises(Crash):
        darkroom.render(waiting)
    darkroom.dynamodb.faults = lambda operation, request: None
    darkroom.render(waiting)
    assert darkroom.read(waiting)["status"] == "READY" and len(darkroom.kept()) == 3
    assert [one["event"] for one in darkroom.shop.events()].count("file.ready") == 1
