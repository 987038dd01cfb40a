"""Creating, changing, listing and deleting webhooks, and the required role."""

import json
from typing import Any

import pytest
from pydantic import ConfigDict, TypeAdapter

from chalicelib.customers.shown import ShownCustomer
from chalicelib.orders.shown import AnnouncedEdit, AnnouncedPayment, AnnouncedRefund, ShownOrder
from chalicelib.products.shown import LowStockVariant, ShownProduct
from chalicelib.webhooks import master_key, store
from chalicelib.webhooks.model import EventKind
from tests.support.dynamodb_double import Fault
from tests.support.shop import Shop
from tests.support.webhook_world import World
from tests.webhooks.test_delivery import URL, add

PATH = "/api/admin/webhooks"


def errors(answer: Any) -> dict[str, str]:
    assert answer.status == 422, answer.text
    return {error["field"]: error["message"] for error in answer.json["errors"]}


def test_the_secret_is_shown_only_at_creation(merchant: Shop) -> None:
    asked = {
        "url": URL,
        "events": ["order.paid", "order.paid"],
        "email": "ops@example.com",
        "description": "ERP",
    }
    made = merchant.post(PATH, asked).json
    assert made.pop("secret").startswith("whsec_")
    assert made["id"].startswith("wh_") and made["enabled"] is True
    assert made["events"] == ["order.paid"]
    assert (made["email"], made["description"]) == ("ops@example.com", "ERP")
    assert merchant.get(f"{PATH}/{made['id']}").json == made
    assert merchant.get(PATH).json["data"] == [made]


def test_webhooks_are_listed_newest_first_in_pages(world: World, merchant: Shop) -> None:
    made = []
    for _ in range(3):
        made.append(add(merchant)["id"])
        world.sleep(seconds=1)
    first = merchant.get(f"{PATH}?limit=2").json
    second = merchant.get(f"{PATH}?limit=2&page=2").json
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
        ("enabled", "yes"),
        ("colour", "red"),
    ],
)
def test_bad_input_is_refused_by_field(merchant: Shop, field: str, value: Any) -> None:
    asked = {"url": URL, "events": ["order.paid"], field.partition(".")[0]: value}
    assert field in errors(merchant.post(PATH, asked))
    assert merchant.get(PATH).json["total"] == 0


def test_url_and_events_are_required(merchant: Shop) -> None:
    assert errors(merchant.post(PATH, {})).keys() == {"url", "events"}


def test_a_change_keeps_the_omitted_fields(merchant: Shop) -> None:
    webhook = add(merchant, "order.paid", email="ops@example.com", description="ERP")
    path = f"{PATH}/{webhook['id']}"
    changed = merchant.put(path, {"events": ["order.shipped"], "description": None}).json
    assert changed["events"] == ["order.shipped"] and changed["description"] is None
    assert (changed["url"], changed["email"]) == (URL, "ops@example.com")
    # An answer may be sent back as a body.
    assert merchant.put(path, changed).status == 200
    assert errors(merchant.put(path, {"url": "http://example.com"})).keys() == {"url"}
    assert errors(merchant.put(path, {"enabled": None})).keys() == {"enabled"}


def test_a_stale_if_match_is_refused(merchant: Shop) -> None:
    webhook = add(merchant)
    path = f"{PATH}/{webhook['id']}"
    seen = merchant.get(path)
    assert merchant.get(path, headers={"If-None-Match": seen.headers["ETag"]}).status == 304
    merchant.put(path, {"description": "mine"})
    stale = {"If-Match": seen.headers["ETag"]}
    assert merchant.put(path, {"description": "yours"}, headers=stale).status == 412
    assert merchant.delete(path, headers=stale).status == 412
    fresh = {"If-Match": merchant.get(path).headers["ETag"]}
    assert merchant.delete(path, headers=fresh).status == 200


def test_a_change_during_a_deletion_with_if_match_keeps_the_webhook(
    world: World, merchant: Shop
) -> None:
    path = f"{PATH}/{add(merchant)['id']}"
    seen = {"If-Match": merchant.get(path).headers["ETag"]}
    world.meanwhile("TransactWriteItems", lambda: merchant.put(path, {"description": "theirs"}))
    assert merchant.delete(path, headers=seen).status == 412
    assert merchant.get(path).json["description"] == "theirs"
    world.meanwhile("TransactWriteItems", lambda: merchant.put(path, {"description": "again"}))
    assert merchant.delete(path).status == 200
    assert merchant.get(path).status == 404


def test_concurrent_changes_are_all_kept(world: World, merchant: Shop) -> None:
    webhook = add(merchant)
    path = f"{PATH}/{webhook['id']}"
    seen = {"If-Match": merchant.get(path).headers["ETag"]}
    world.before_the_write(lambda: merchant.put(path, {"description": "theirs"}))
    merchant.put(path, {"email": "ops@example.com"})
    now = merchant.get(path).json
    assert (now["description"], now["email"]) == ("theirs", "ops@example.com")
    assert merchant.put(path, {"description": "mine"}, headers=seen).status == 412


def test_a_change_whose_answer_from_the_table_is_lost_is_made_once(
    world: World, merchant: Shop
) -> None:
    path = f"{PATH}/{add(merchant)['id']}"
    seen = {"If-Match": merchant.get(path).headers["ETag"]}
    # The first is the admission of the request.
    world.double.fails(Fault.LOST_AFTER, "UpdateItem", nth=2)
    changed = merchant.put(path, {"description": "mine"}, headers=seen)
    assert (changed.status, changed.json["description"]) == (200, "mine")
    assert merchant.get(path).headers["ETag"] == changed.headers["ETag"]


def test_a_rotation_whose_answer_from_the_table_is_lost_makes_one_secret(
    world: World, merchant: Shop
) -> None:
    webhook = add(merchant)
    world.double.fails(Fault.LOST_AFTER, "UpdateItem", nth=2)
    rotated = merchant.post(f"{PATH}/{webhook['id']}/rotate-secret", {"overlapHours": 1})
    endpoint = store.get(webhook["id"])
    secrets = [rotated.json["secret"], webhook["secret"]]
    assert master_key.valid_secrets(endpoint) == secrets


def test_a_deletion_whose_answer_from_the_table_is_lost_succeeds(
    world: World, merchant: Shop
) -> None:
    path = f"{PATH}/{add(merchant)['id']}"
    world.double.fails(Fault.LOST_AFTER, "DeleteItem")
    assert merchant.delete(path).status == 200
    assert merchant.delete(path).status == 404


def test_concurrent_rotations_make_two_secrets(world: World, merchant: Shop) -> None:
    webhook = add(merchant)
    path = f"{PATH}/{webhook['id']}/rotate-secret"
    other: list[str] = []
    world.before_the_write(lambda: other.append(merchant.post(path, {}).json["secret"]))
    mine = merchant.post(path, {}).json["secret"]
    assert other and len({webhook["secret"], *other, mine}) == 3


@pytest.mark.parametrize("hours", [-1, 73, 1.5, "24", None])
def test_an_overlap_is_up_to_72_hours(merchant: Shop, hours: Any) -> None:
    path = f"{PATH}/{add(merchant)['id']}/rotate-secret"
    assert errors(merchant.post(path, {"overlapHours": hours})).keys() == {"overlapHours"}


def test_webhooks_require_the_admin_role(merchant: Shop) -> None:
    id = add(merchant)["id"]
    staff, admin = merchant.as_("STAFF"), merchant.as_("ADMIN")
    for method, path in [
        ("GET", PATH), ("POST", PATH), ("GET", f"{PATH}/{id}"), ("DELETE", f"{PATH}/{id}"),
        ("POST", f"{PATH}/{id}/rotate-secret"), ("GET", f"{PATH}/{id}/deliveries"),
        ("POST", "/api/admin/deliveries/dlv_1/replay"), ("GET", "/api/admin/deliveries"),
    ]:  # fmt: skip
        assert merchant.call(method, path, key=staff).status == 403
    assert merchant.get(PATH, key=admin).status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/webhooks/wh_1"),
        ("PUT", "/webhooks/wh_1"),
        ("DELETE", "/webhooks/wh_1"),
        ("POST", "/webhooks/wh_1/rotate-secret"),
        ("POST", "/webhooks/wh_1/test"),
        ("POST", "/webhooks/wh_1/recover"),
        ("GET", "/webhooks/wh_1/deliveries"),
        ("GET", "/deliveries/dlv_1"),
        ("POST", "/deliveries/dlv_1/replay"),
        ("GET", "/deliveries/prod_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ],
)
def test_a_missing_webhook_or_delivery_is_not_found(merchant: Shop, method: str, path: str) -> None:
    body = {"since": "2026-01-01T00:00:00Z"} if path.endswith("recover") else {}
    answer = merchant.call(method, f"/api/admin{path}", body if method != "GET" else None)
    assert answer.status == 404, answer.text


def test_an_endpoint_is_not_changed_if_its_secret_cannot_be_read(
    world: World, merchant: Shop
) -> None:
    webhook = add(merchant)
    master_key._parameters.cache_clear()
    world.refusals["get_parameter"] = 2
    assert merchant.post(PATH, {"url": URL, "events": ["order.paid"]}).status == 500
    assert merchant.post(f"{PATH}/{webhook['id']}/rotate-secret", {}).status == 500
    (kept,) = merchant.get(PATH).json["data"]
    assert kept["id"] == webhook["id"]
    assert [one["secretVersion"] for one in world.stored() if one["pk"] == "webhooks"] == [1]


@pytest.mark.parametrize("kind", list(EventKind))
def test_a_test_event_has_the_shape_of_a_real_one(
    kind: EventKind, world: World, merchant: Shop
) -> None:
    webhook = add(merchant, events=[kind.value])
    assert merchant.post(f"{PATH}/{webhook['id']}/test", {"event": kind.value}).status == 202
    world.run()
    (posted,) = world.posted
    data = json.dumps([json.loads(posted.body)["data"]])
    shapes = {"order": ShownOrder, "customer": ShownCustomer, "product": ShownProduct}
    shapes |= {"payment": AnnouncedPayment, "refund": AnnouncedRefund}
    shapes |= {"order": AnnouncedEdit} if kind is EventKind.ORDER_EDITED else {}
    shape = shapes.get(kind.value.partition(".")[0], LowStockVariant)
    exact = TypeAdapter(list[shape], config=ConfigDict(extra="forbid"))
    exact.validate_json(data, strict=True)
