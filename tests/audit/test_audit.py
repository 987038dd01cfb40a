"""The audit log: who did what to which record, and when."""

import json
from contextlib import suppress
from typing import Any

import pytest

from chalicelib import listing, settings
from chalicelib.audit import store
from chalicelib.audit.model import KIND, ShownAudit
from chalicelib.outbox import fan_out
from chalicelib.storage import attributes, commit, outbox, table
from tests.audit.build import AUDIT, changed, entries, of_request, traced
from tests.customers.build import CUSTOMERS, address, customer
from tests.orders.build import ORDERS, line, new_order, placed, product, variant
from tests.products.build import new_product
from tests.stock.build import fanned_out
from tests.stock.build import traced as items_of
from tests.storage.test_round_trips import counted
from tests.support.dynamodb_double import Crash, Double, Fault
from tests.support.job_desk import JobDesk
from tests.support.shop import Shop
from tests.support.webhook_world import World

PRODUCTS, WEBHOOKS = "/api/admin/products", "/api/admin/webhooks"
WEBHOOK = {"url": "https://hooks.example.com/T0/s3cret-path?token=t0ken", "events": ["order.paid"]}


def actions(found: list[Any]) -> list[str]:
    return [one["action"] for one in found]


def test_an_entry_says_who_did_what_to_which_record_and_when(shop: Shop, dynamodb: Double) -> None:
    made = product(shop, 5, name="Mug")
    id, staff = made["variants"][0]["id"], shop.as_("STAFF")
    path = f"{PRODUCTS}/{made['id']}"
    answer = shop.put(path, {"variants": [{"id": id, "price": "21.00", "cost": 4}]}, key=staff)
    (entry,) = of_request(shop, dynamodb, answer)
    assert entry.keys() == ShownAudit.__annotations__.keys()
    assert (entry["action"], entry["via"], entry["jobId"]) == ("product.updated", "API", None)
    assert entry["record"] == {"type": "product", "id": made["id"], "number": None, "name": "Mug"}
    assert entry["actor"]["keyName"] == "a STAFF of the tests"
    assert changed(entry) == {
        f"variants[{id}].price": (made["variants"][0]["price"], "21.00"),
        f"variants[{id}].cost": (None, "4.00"),
    }
    assert actions(entries(shop, recordId=made["id"])) == ["product.created", "product.updated"]


def test_an_order_and_its_payments_are_entries_of_the_order(shop: Shop, dynamodb: Double) -> None:
    order = placed(shop, line(variant(shop), 2), customer={"email": "ann@example.com"})
    path = f"{ORDERS}/{order['id']}"
    paid = shop.post(f"{path}/payments", {"method": "CASH"}).json["payments"][0]
    shop.patch(path, {"status": "PROCESSING"})
    shop.post(f"{path}/edit", {"reason": "Asked", "shipping": "0", "source": "PHONE"})
    shop.post(f"{path}/refunds", {"amount": "1.00", "method": "CASH", "paymentId": paid["id"]})
    shop.delete(path)
    fanned_out(dynamodb)
    found = entries(shop, recordId=order["id"])
    assert actions(found) == [
        *("order.created", "payment.created", "order.updated"),
        *("order.edited", "refund.created", "order.deleted"),
    ]
    assert {one["record"]["number"] for one in found} == {order["number"]}
    assert changed(found[2]) == {"status": ("PAID", "PROCESSING")}
    assert changed(found[1])[f"payments[{paid['id']}].amount"] == (None, order["total"])
    # The customer, whom the order created, has them too.
    assert entries(shop, customerId=order["customer"]["id"]) == found


def test_who_what_and_when_of_a_record_is_read_in_two_round_trips(
    shop: Shop, dynamodb: Double
) -> None:
    """However many entries there are: no total is counted beyond 1,000."""
    made = product(shop, 5)
    for n in range(60):
        shop.put(f"{PRODUCTS}/{made['id']}", {"name": f"Mug {n}"})
    fanned_out(dynamodb)
    for path in (f"{AUDIT}?recordId={made['id']}", AUDIT):
        assert counted(lambda path=path: shop.get(path))[1] == 2
        queries = dynamodb.asked("Query")
        assert shop.get(path).json["total"] > 60
        read = [one.get("Limit", 100_000) for one in queries if one.get("Select") == "COUNT"]
        assert sum(read) <= 1_100


def test_what_is_refused_or_changes_nothing_is_no_entry(shop: Shop, dynamodb: Double) -> None:
    made = product(shop, 5)
    path, name = f"{PRODUCTS}/{made['id']}", {"name": "Cup"}
    assert shop.put(path, name).status == 200
    refused = [
        shop.put(path, {"price": -1}),
        shop.put(f"{PRODUCTS}/prod_01M885HCAHP5MRZJTSA4K1S9MT", name),
        shop.post(PRODUCTS, new_product(slug=made["slug"])),
        shop.put(path, {"name": "x"}, headers={"If-Match": '"old"'}),
        shop.post(ORDERS, new_order(line(made["variants"][0]["id"], 900))),
        shop.put(path, {"name": "x"}, key="bk_unknown"),
    ]
    assert [one.status for one in refused] == [422, 404, 409, 412, 422, 401]
    key = {"Idempotency-Key": "once"}
    first, again = (shop.post(CUSTOMERS, {"email": "a@example.com"}, headers=key) for _ in "ab")
    assert again.json == first.json
    path = f"{CUSTOMERS}/{first.json['id']}"
    assert shop.patch(path, {"email": "a@example.com"}).status == 200
    assert shop.post(f"{path}/merge", {"into": "x"}).status == 422
    fanned_out(dynamodb)
    found = [one for one in entries(shop) if one["record"]["type"] != "key"]
    assert actions(found) == ["product.created", "product.updated", "customer.created"]


def test_each_record_of_a_request_and_of_a_job_is_an_entry(shop: Shop, jobs: JobDesk) -> None:
    rows = [new_product(name=f"Hat {n}") for n in range(3)]
    answer = shop.post(f"{PRODUCTS}/bulk", rows)
    created = [row["id"] for row in answer.json["data"]]
    found = of_request(shop, jobs.dynamodb, answer)
    assert [one["record"]["id"] for one in found] == created
    job = jobs.done(f"{PRODUCTS}/bulk-edit", {"ids": created, "change": {"status": "ARCHIVED"}})
    dry = {"ids": created, "change": {"status": "DRAFT"}, "dryRun": True}
    jobs.done(f"{PRODUCTS}/bulk-edit", dry)
    fanned_out(jobs.dynamodb)
    of_job = [one for one in entries(shop) if one["jobId"]]
    assert sorted(one["record"]["id"] for one in of_job) == sorted(created)
    assert {(one["via"], one["jobId"], one["action"]) for one in of_job} == {
        ("JOB", job["id"], "product.updated")
    }
    assert {one["actor"]["keyName"] for one in of_job} == {"a OWNER of the tests"}
    assert {one["record"]["id"] for one in entries(shop, action="job.started")} == {job["id"]}


def test_it_is_for_administrators_and_of_one_record_for_staff(world: World) -> None:
    shop, dynamodb = world.shop, world.double
    order = placed(shop, line(variant(shop)), customer={"email": "ann@example.com"})
    hook = shop.post(WEBHOOKS, WEBHOOK).json
    fanned_out(dynamodb)
    of_one = f"?recordId={order['id']}"
    whole, of_hook = "?type=order", f"?recordId={hook['id']}"
    of_customer = f"?customerId={order['customer']['id']}"
    for role, allowed in (
        ("ADMIN", {of_one, of_customer, whole, of_hook}),
        ("STAFF", {of_one, of_customer}),
        ("READER", set()),
    ):
        for query in (of_one, of_customer, whole, of_hook, ""):
            answer = shop.get(AUDIT + query, key=shop.as_(role))
            assert (answer.status == 200) == (query in allowed or role == "ADMIN"), (role, query)
            assert answer.status == 403 or answer.json["data"]


def test_entries_are_found_by_record_key_action_type_and_time(shop: Shop, dynamodb: Double) -> None:
    staff = shop.as_("STAFF")
    made = shop.post(PRODUCTS, new_product(), key=staff).json
    shop.delete(f"{PRODUCTS}/{made['id']}")
    fanned_out(dynamodb)
    (deleted,) = entries(shop, action="product.deleted")
    assert changed(deleted)["name"] == (made["name"], None)
    assert len(entries(shop, type="product")) == len(entries(shop, type="product,order")) == 2
    (by_staff,) = [
        one for one in entries(shop) if one["actor"]["keyName"] == "a STAFF of the tests"
    ]
    key = by_staff["actor"]["keyId"]
    assert entries(shop, keyId=key) == [by_staff]
    assert entries(shop, keyId=key, recordId=made["id"], action="product.created") == [by_staff]
    assert entries(shop, keyId=key, action="product.deleted") == []
    assert entries(shop, **{"from": deleted["at"]})[0] == deleted
    assert entries(shop, to="2001-01-01") == []
    assert shop.get(f"{AUDIT}?employeeId=x").refused == ["employeeId"]


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.CRASH_AFTER, Fault.LOST_AFTER])
def test_an_entry_is_there_if_and_only_if_the_change_is(
    shop: Shop, dynamodb: Double, fault: Fault
) -> None:
    shop.get(PRODUCTS)
    dynamodb.fails(fault, "TransactWriteItems")
    with suppress(Crash):
        shop.post(PRODUCTS, new_product())
    there = shop.get(PRODUCTS).json["total"]
    assert there == (0 if fault is Fault.CRASH else 1)
    fanned_out(dynamodb)
    fanned_out(dynamodb)
    assert len(entries(shop, action="product.created")) == there


def test_two_fan_outs_at_once_enter_and_count_each_write_once(shop: Shop, dynamodb: Double) -> None:
    customer(shop)
    dynamodb.meanwhile("TransactWriteItems", lambda: fanned_out(dynamodb), "audit")
    fanned_out(dynamodb)
    assert listing.recount(KIND).wrong == []


def test_what_the_stream_lost_is_entered_when_it_is_published_again(world: World) -> None:
    shop = world.shop
    hook = shop.made(WEBHOOKS, WEBHOOK)
    assert shop.post(f"{WEBHOOKS}/{hook['id']}/test").status == 202
    world.sleep(hours=26)
    fan_out.handle({"republish": "lost"})
    assert actions(entries(shop, type="webhook")) == ["webhook.created", "webhook.tested"]


def test_no_secret_is_in_the_audit_log(world: World) -> None:
    shop, dynamodb = world.shop, world.double
    made = shop.post("/api/admin/keys", {"name": "Till", "role": "STAFF"}).json
    hook = shop.post(WEBHOOKS, WEBHOOK).json
    path = f"{WEBHOOKS}/{hook['id']}"
    moved = {"url": "https://hooks.example.com/T0/0ther-s3cret", "enabled": False}
    assert shop.put(path, moved).status == 200
    rotated = shop.post(f"{path}/rotate-secret", {}).json
    shop.delete(f"/api/admin/keys/{made['id']}")
    shop.delete(path)
    fanned_out(dynamodb)
    (update,) = entries(shop, action="webhook.updated")
    before, after = changed(update)["url"]
    assert before != after and before.startswith("https://hooks.example.com")
    assert changed(update)["enabled"] == (True, False)
    (revoked,) = entries(shop, action="key.revoked")
    assert changed(revoked)["role"] == ("STAFF", None)
    text = json.dumps([entries(shop), list(traced(dynamodb))])
    stored = [attributes.unpack(item) for item in dynamodb.items(settings.table())]
    text += str([item for item in stored if item["sk"] == "audit"])
    secrets = [made["key"], hook["secret"], rotated["secret"], "s3cret", "t0ken"]
    secrets += [item["pk"].partition("#")[2] for item in stored if item["pk"].startswith("key#")]
    assert [secret for secret in secrets if secret in text] == []


def test_a_deleted_customer_leaves_no_values(
    shop: Shop, dynamodb: Double, jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Because it can be erased no more."""
    monkeypatch.setattr("chalicelib.audit.store._PAGE", 2)
    made, twin = (customer(shop, firstName="Zenobia") for _ in range(2))
    twin.patch({"note": "by Obelisk Lane"})
    jobs.done(f"{twin.path}/merge", {"into": made["id"]})
    path = f"{CUSTOMERS}/{made['id']}"
    home = address(address1="7 Obelisk Lane")
    shop.patch(path, {"email": "z@palmyra.example", "addresses": [home]})
    order = placed(shop, line(variant(shop)), customer={"id": made["id"]})
    shop.patch(f"{ORDERS}/{order['id']}", {"note": "for Zenobia", "tags": ["gift"]})
    shop.delete(f"{ORDERS}/{order['id']}")
    early = items_of(dynamodb)
    fanned_out(dynamodb)
    words = ("zenobia", "palmyra", "obelisk", "gift")
    assert all(word in json.dumps(entries(shop)).lower() for word in words)
    late = shop.patch(path, {"lastName": "Quillfeather"})
    assert (late.status, shop.delete(path).status) == (200, 200)
    unread = [item for item in items_of(dynamodb) if item not in early]
    for items in (unread[1:], unread[:1]):  # the deletion comes first
        fanned_out(dynamodb, items)
    found = entries(shop, customerId=made["id"])
    assert actions(found) == [
        *("customer.created", *["customer.updated"] * 2, "order.created", "order.updated"),
        *("order.deleted", "customer.updated", "customer.deleted"),
    ]
    of_twin = entries(shop, customerId=twin["id"])
    assert actions(of_twin) == ["customer.created", "customer.updated", "customer.merged"]
    text = json.dumps([*found, *of_twin]).lower()
    assert [word for word in (*words, "quillfeather") if word in text] == []
    assert {one["field"] for one in found[2]["changes"]} >= {"email"}
    assert changed(found[3])["status"] == (None, "PENDING")


def test_an_entry_that_is_written_while_its_customer_is_erased_has_no_values(
    shop: Shop, dynamodb: Double
) -> None:
    made = customer(shop, firstName="Zenobia")
    shop.patch(f"{CUSTOMERS}/{made['id']}", {"lastName": "Quillfeather"})
    dynamodb.meanwhile("TransactWriteItems", lambda: store.unname([made["id"]]), "unnamed")
    fanned_out(dynamodb)
    found = entries(shop, recordId=made["id"])
    assert actions(found) == ["customer.created", "customer.updated"]
    assert changed(found[1]) == {"lastName": (None, None)}
    assert found[1]["record"]["name"] is None


def test_a_change_is_never_refused_because_of_its_entry(shop: Shop, dynamodb: Double) -> None:
    """If both do not fit into the item of the outbox, the entry has no changes."""
    before = {f"f{n}": "é" * 300 for n in range(50)}
    after = dict.fromkeys(before, "ü" * 300)
    for text, told in (("x" * 10_000, 50), ("x" * 390_000, 0)):
        change = commit.Commit()
        change.announce("product.updated", {"id": "prod_1", "description": text})
        change.put({"pk": f"prod_{told}", "sk": "product"}, when=table.absent)
        entry = outbox.audit_entry("product", f"prod_{told}", before, after, show=dict)
        change.audit(entry)
        change.send()
        fanned_out(dynamodb, items_of(dynamodb)[-1:])
        (found,) = entries(shop, recordId=f"prod_{told}")
        assert len(found["changes"]) == told


def test_an_entry_is_never_changed_by_another_write(shop: Shop, dynamodb: Double) -> None:
    made = product(shop, 5)
    fanned_out(dynamodb)
    stored = [item for item in dynamodb.items(settings.table()) if item["sk"]["S"] == "audit"]
    shop.delete(f"{PRODUCTS}/{made['id']}")
    fanned_out(dynamodb)
    now = list(dynamodb.items(settings.table()))
    assert stored and all(item in now for item in stored)
