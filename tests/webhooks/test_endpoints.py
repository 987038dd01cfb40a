"""Creating, changing, listing and deleting webhooks, and the required role."""

import json
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ConfigDict, TypeAdapter

from chalicelib.customers.schemas import ShownCustomer
from chalicelib.files.schemas import AnnouncedFile
from chalicelib.orders.schemas import (
    AnnouncedClosing,
    AnnouncedEdit,
    AnnouncedPayment,
    AnnouncedProduction,
    AnnouncedRefund,
    AnnouncedShipment,
    AnnouncedWork,
    ShownOrder,
)
from chalicelib.products.schemas import LowStockVariant, ShownProduct
from chalicelib.webhooks import master_key, signature
from chalicelib.webhooks.model import EventKind
from tests.audit.build import of_request
from tests.support import webhook_world
from tests.support.dynamodb_double import Fault
from tests.support.webhook_world import MASTER_KEY, World
from tests.webhooks.build import PATH, URL, add


def test_the_secret_is_shown_only_at_creation(world: World) -> None:
    more = {"email": "ops@example.com", "description": "ERP"}
    made = add(world, "order.paid", "order.paid", **more)
    secret = made.pop("secret")
    assert secret == signature.secret(MASTER_KEY, made["id"], 1)
    assert secret not in json.dumps(world.stored(), default=str)
    assert made["id"].startswith("wh_") and made["enabled"] is True
    assert made["events"] == ["order.paid"]
    assert (made["email"], made["description"]) == ("ops@example.com", "ERP")
    assert made.fetch().json == made
    assert world.shop.get(PATH).json["data"] == [made]


def test_a_repeated_creation_returns_the_secret_again_and_stores_none(world: World) -> None:
    sent, key = {"url": URL, "events": ["ORDER.PAID"], "enabled": None}, {"Idempotency-Key": "erp"}
    first = world.shop.post(PATH, sent, headers=key)
    world.shop.put(f"{PATH}/{first.json['id']}", {"description": "since then"})
    assert world.shop.post(PATH, sent, headers=key).text == first.text
    assert first.json["secret"] not in str(world.stored())


def test_webhooks_are_listed_newest_first_in_pages(world: World) -> None:
    made = []
    for _ in range(3):
        made.append(add(world)["id"])
        world.sleep(seconds=1)
    first = world.shop.get(f"{PATH}?limit=2").json
    second = world.shop.get(f"{PATH}?limit=2&page=2").json
    assert [one["id"] for one in [*first["data"], *second["data"]]] == made[::-1]
    assert first["pagination"] == {"page": 1, "limit": 2, "total": 3, "totalPages": 2}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "ftp://example.com"),
        ("url", "https://user:pass@example.com/"),
        ("url", "https://10.0.0.1/hook"),
        ("url", "https://169.254.169.254/latest/meta-data"),
        ("url", ""),
        ("events", []),
        ("events.0", ["order.exploded"]),
        ("email", "nobody"),
        ("email", "a@example.com\nBcc: b@example.com"),
        ("email", "büro@example.com"),
        ("email", "a\x01@example.com"),
        ("enabled", "yes"),
        ("colour", "red"),
    ],
)
def test_bad_input_is_refused_by_field(world: World, field: str, value: Any) -> None:
    wrong = {field.partition(".")[0]: value}
    asked = {"url": URL, "events": ["order.paid"], **wrong}
    assert field in world.shop.post(PATH, asked).refused
    assert world.shop.get(PATH).json["total"] == 0
    assert add(world).put(wrong).refused == [field]


def test_url_and_events_are_required(world: World) -> None:
    assert world.shop.post(PATH, {}).refused == ["url", "events"]


def test_a_change_keeps_the_omitted_fields(world: World) -> None:
    webhook = add(world, "order.paid", email="ops@example.com", description="ERP")
    changed = webhook.put({"events": ["order.shipped"], "description": None}).json
    assert changed["events"] == ["order.shipped"] and changed["description"] is None
    assert (changed["url"], changed["email"]) == (URL, "ops@example.com")
    # An answer may be sent back as a body, which changes nothing, and leaves no audit entry.
    world.sleep(minutes=1)
    same = webhook.put(changed)
    assert (same.status, same.json) == (200, changed)
    assert of_request(world.shop, world.double, same) == []
    world.now -= timedelta(minutes=5)  # the clock of another function
    paused = webhook.put({"enabled": False}).json
    assert paused["updatedAt"] > changed["updatedAt"]
    assert webhook.put({"url": "http://example.com"}).refused == ["url"]
    assert webhook.put({"enabled": None}).refused == ["enabled"]


def test_a_change_during_a_deletion_with_if_match_keeps_the_webhook(world: World) -> None:
    webhook = add(world)
    seen = {"If-Match": webhook.fetch().headers["ETag"]}
    world.meanwhile("TransactWriteItems", lambda: webhook.put({"description": "theirs"}))
    assert webhook.delete(headers=seen).status == 412
    assert webhook.fetch().json["description"] == "theirs"
    world.meanwhile("TransactWriteItems", lambda: webhook.put({"description": "again"}))
    assert webhook.delete().status == 200
    assert webhook.fetch().status == 404


def test_a_change_whose_answer_from_the_table_is_lost_is_made_once(world: World) -> None:
    webhook = add(world)
    seen = {"If-Match": webhook.fetch().headers["ETag"]}
    world.double.fails(Fault.LOST_AFTER, "TransactWriteItems")
    changed = webhook.put({"description": "mine"}, headers=seen)
    assert (changed.status, changed.json["description"]) == (200, "mine")
    assert webhook.fetch().headers["ETag"] == changed.headers["ETag"]


def test_concurrent_rotations_make_two_secrets(world: World) -> None:
    webhook = add(world)
    other: list[str] = []

    def rotated() -> None:
        other.append(webhook.post("/rotate-secret", {}).json["secret"])

    world.meanwhile("TransactWriteItems", rotated)
    mine = webhook.post("/rotate-secret", {}).json["secret"]
    assert other and len({webhook["secret"], *other, mine}) == 3


def test_a_rotation_without_a_body_ends_no_secret(world: World) -> None:
    webhook = add(world)
    before = webhook.fetch().headers["ETag"]
    refused = webhook.post("/rotate-secret")
    assert (refused.status, refused.json["code"]) == (400, "malformed_json")
    assert webhook.fetch().headers["ETag"] == before


@pytest.mark.parametrize("hours", [-1, 73, 1.5, "24", None])
def test_an_overlap_is_up_to_72_hours(world: World, hours: Any) -> None:
    refused = add(world).post("/rotate-secret", {"overlapHours": hours})
    assert refused.refused == ["overlapHours"]


def test_webhooks_require_the_admin_role(world: World) -> None:
    id = add(world)["id"]
    staff, admin = world.shop.as_("STAFF"), world.shop.as_("ADMIN")
    for method, path in [
        ("GET", PATH), ("POST", PATH), ("GET", f"{PATH}/{id}"), ("DELETE", f"{PATH}/{id}"),
        ("POST", f"{PATH}/{id}/rotate-secret"), ("GET", f"{PATH}/{id}/deliveries"),
        ("POST", "/api/admin/deliveries/dlv_1/replay"), ("GET", "/api/admin/deliveries"),
    ]:  # fmt: skip
        assert world.shop.call(method, path, key=staff).status == 403
    assert world.shop.get(PATH, key=admin).status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/webhooks/wh_1/rotate-secret"),
        ("POST", "/webhooks/wh_1/test"),
        ("POST", "/webhooks/wh_1/recover"),
        ("GET", "/webhooks/wh_1/deliveries"),
        ("GET", "/deliveries/dlv_1"),
        ("POST", "/deliveries/dlv_1/replay"),
        ("GET", "/deliveries/prod_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ],
)
def test_a_missing_webhook_or_delivery_is_not_found(world: World, method: str, path: str) -> None:
    body = {"since": "2026-01-01T00:00:00Z"} if path.endswith("recover") else {}
    answer = world.shop.call(method, f"/api/admin{path}", body if method != "GET" else None)
    assert answer.status == 404, answer.text


def test_the_master_key_is_read_once_for_many_secrets(world: World) -> None:
    secrets = {add(world)["secret"] for _ in range(20)}
    assert len(secrets) == 20 and world.calls.count("get_parameter") == 1


def test_a_rotated_master_key_needs_no_deployment(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(master_key, "_KEPT_SECONDS", -1)
    before = master_key.current_secret("wh_1", 1)
    monkeypatch.setattr(webhook_world, "MASTER_KEY", b"2" * 32)
    assert master_key.current_secret("wh_1", 1) != before


def test_an_endpoint_is_not_changed_if_its_secret_cannot_be_read(world: World) -> None:
    webhook = add(world)
    master_key._make_ssm_provider.cache_clear()
    world.refusals["get_parameter"] = 2
    assert world.shop.post(PATH, {"url": URL, "events": ["order.paid"]}).status == 500
    assert webhook.post("/rotate-secret", {}).status == 500
    (kept,) = world.shop.get(PATH).json["data"]
    assert kept["id"] == webhook["id"]
    assert [one["secretVersion"] for one in world.stored() if one["pk"] == "webhooks"] == [1]


@pytest.mark.parametrize("kind", list(EventKind))
def test_a_test_event_has_the_shape_of_a_real_one(kind: EventKind, world: World) -> None:
    webhook = add(world, events=[kind.value])
    assert webhook.post("/test", {"event": kind.value}).status == 202
    world.run()
    (posted,) = world.posted
    data = json.dumps([json.loads(posted.body)["data"]])
    shapes = {"order": ShownOrder, "customer": ShownCustomer, "product": ShownProduct}
    shapes |= {"payment": AnnouncedPayment, "refund": AnnouncedRefund}
    shapes |= {"order": AnnouncedEdit} if kind is EventKind.ORDER_EDITED else {}
    shapes |= {"shipment": AnnouncedShipment}
    shapes |= {"order": AnnouncedClosing} if kind is EventKind.ORDER_CLOSED else {}
    shapes |= {"order": AnnouncedProduction} if kind is EventKind.ORDER_PRODUCED else {}
    shapes |= {"work": AnnouncedWork, "file": AnnouncedFile}
    shape = shapes.get(kind.value.partition(".")[0], LowStockVariant)
    exact = TypeAdapter(list[shape], config=ConfigDict(extra="forbid"))
    exact.validate_json(data, strict=True)


def test_a_repeated_rotation_makes_one_secret(world: World) -> None:
    made = add(world)
    shop, path, once = world.shop, f"{PATH}/{made['id']}", {"Idempotency-Key": "rotate-1"}
    first = shop.post(f"{path}/rotate-secret", {"overlapHours": 1}, headers=once)
    assert shop.put(path, {"description": "since then"}).status == 200
    again = shop.post(f"{path}/rotate-secret", {"overlapHours": 1}, headers=once)
    assert (again.status, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert again.json["secret"] == first.json["secret"] != made["secret"]
    assert (again.json["description"], first.json["description"]) == ("since then", None)
    other = shop.post(f"{path}/rotate-secret", {"overlapHours": 2}, headers=once)
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")
    assert first.json["secret"] not in json.dumps(world.stored(), default=str)
    third = shop.post(f"{path}/rotate-secret", {"overlapHours": 1})
    assert third.json["secret"] != first.json["secret"]
    assert shop.post(f"{path}/rotate-secret", b"").status == 400, "no secret ends without a body"
