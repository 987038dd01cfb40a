"""An erasure removes all personal data from the items of both tables, the objects of the bucket and
the log lines. Amounts, lines, numbers and countries stay."""

import json
from copy import deepcopy
from itertools import product
from typing import Any

import pytest

from chalicelib import aws, listing, settings
from chalicelib.audit import store as audit
from chalicelib.customers import model as customers
from chalicelib.erasures import store
from chalicelib.orders import store as orders_store
from chalicelib.storage import attributes, outbox, table
from chalicelib.storage.attributes import pack
from chalicelib.values import clock, ids
from chalicelib.webhooks import deliveries
from chalicelib.webhooks.attempts import Attempt
from tests.audit.build import changed, entries
from tests.customers.build import CUSTOMERS, address, customer
from tests.orders.build import (
    ORDERS,
    Order,
    before_the_commit,
    counts_agree,
    line,
    new_order,
    placed,
    variant,
)
from tests.stock.build import traced
from tests.support.dynamodb_double import Crash, Fault
from tests.support.import_desk import Desk
from tests.support.job_desk import JobDesk
from tests.support.shop import Record, Shop

PERSON = {
    "email": "Zenobia.Quill@Palmyra.example",
    "firstName": "Zénobia",
    "lastName": "Quillfeather",
    "phone": "+49 (0)171 555-0042",
}
HOME = address(
    address1="7 Obelisk Lane", address2="Attic", firstName="Zénobia", phone="0171 5550043"
)
NOTE = "Rings twice, says Quillfeather"
# In every form in which they may be stored: as text, folded for search, escaped for JSON or a key.
WORDS = [
    *("zenobia", "zénobia", "z\\u00e9nobia", "z%c3%a9nobia"),
    *("quill", "palmyra", "obelisk", "attic"),
    *("555-0042", "5550042", "01715550042", "5550043", "rings twice"),
]


def in_tables(jobs: JobDesk, words: list[str]) -> list[str]:
    found = []
    for name in (settings.table(), settings.outbox_table()):
        for item in jobs.dynamodb.items(name):
            text = json.dumps(attributes.unpack(item), default=str, ensure_ascii=False).lower()
            found += [f"{word}: {text[:300]}" for word in words if word in text]
    return found


def mentions(jobs: JobDesk, words: list[str] = WORDS) -> list[str]:
    """All places that still have personal data of the customer."""
    found = in_tables(jobs, words)
    s3 = aws.client("s3")
    for entry in s3.list_objects_v2(Bucket=settings.bucket()).get("Contents", []):
        body = s3.get_object(Bucket=settings.bucket(), Key=entry["Key"])["Body"].read()
        for encoding in ("utf-8", "utf-16-le", "utf-16-be", "cp1252"):
            text = body.decode(encoding, "replace").lower()
            found += [f"{word}: {entry['Key']}" for word in words if word in text]
    uploads = s3.list_multipart_uploads(Bucket=settings.bucket()).get("Uploads", [])
    return found + [upload["Key"] for upload in uploads]


def attempts(jobs: JobDesk) -> int:
    items = jobs.dynamodb.items(settings.table())
    return sum(item["sk"]["S"].startswith("attempt#") for item in items)


def delivered(jobs: JobDesk, endpoint: str, answers: list[str]) -> None:
    """Delivers every event so far; the receiver gives this answer."""
    for item in jobs.dynamodb.items(settings.outbox_table()):
        for event in outbox.events_of(attributes.unpack(item)):
            made = deliveries.create(event, endpoint, test=False)
            for number, answer in enumerate(answers, 1):
                body = answer.replace("BODY", event.body)
                kept = {"number": number, "at": "", "endedAt": "", "durationMs": 1, "sent": {}}
                attempt = Attempt(**kept, replay=False, url="https://x.example", body=body)
                deliveries.record(made.id, attempt)
            pk, sk = deliveries.key(made.id)
            table.update((pk, sk), assign={"first": attempt.fields()})


def audited(items: list[Any]) -> None:
    """These items of the outbox become entries of the audit log."""
    audit.enter(map(attributes.unpack, items))


def traces(jobs: JobDesk) -> tuple[Any, list[Any]]:
    """A customer with every kind of data that can be stored; and the orders."""
    shop = jobs.shop
    id = variant(shop)
    tags = ["gift", "for Quillfeather", PERSON["email"]]
    homes = {"shippingAddress": HOME, "billingAddress": HOME}
    more = {**homes, "note": NOTE, "tags": tags, "paymentStatus": "PAID"}
    first = placed(shop, line(id, 2), customer=PERSON, **more)
    made = first.customer
    who = {"company": "Quill & Co", "note": NOTE, "tags": ["quill-fan"], "addresses": [HOME]}
    made.patch(who)
    headers = {"Idempotency-Key": "once"}
    second = new_order(line(id), customer={"id": made["id"]}, shippingAddress=HOME)
    orders = [first, Order(shop, ORDERS, shop.made(ORDERS, second, headers=headers))]
    # By another e-mail, which was changed later.
    made.patch({"email": "zq@quill.example"})
    orders.append(placed(shop, line(id), customer={"email": "ZQ@quill.example"}))
    made.patch({"email": PERSON["email"]})
    shop.patch(f"{ORDERS}/{orders[2]['id']}", {"status": "CANCELLED"})
    gone = placed(shop, line(id), customer={"id": made["id"]}, note=NOTE)
    gone.delete()
    new = {**PERSON, "email": "second@quill.example"}
    twin = shop.post(CUSTOMERS, new, headers={"Idempotency-Key": "twin"}).json
    orders.append(placed(shop, line(id), customer={"id": twin["id"]}))
    jobs.done(f"{CUSTOMERS}/{twin['id']}/merge", {"into": made["id"]})
    for kind, form in product(("orders", "customers"), ("csv", "jsonl")):
        asked = {"type": kind, "format": form, "filters": {"search": "quillfeather"}}
        jobs.done("/api/admin/exports", asked)
    change = {"filters": {"search": "Zenobia.Quill@palmyra.example"}, "dryRun": True}
    jobs.done("/api/admin/orders/bulk-edit", {**change, "change": {"addTags": ["x"]}})
    tagged = {"ids": [first["id"]], "change": {"addTags": ["seen"]}}
    assert jobs.done("/api/admin/orders/bulk-edit", tagged)["updated"] == 1
    delivered(jobs, ids.new("wh"), ["ok", "got BODY", "Thanks, Zénobia!"])
    imported(jobs)
    audited(traced(jobs.dynamodb)[::2])  # the others are late
    return made, orders


def imported(jobs: JobDesk) -> None:
    """Imports a list of customers as if it were products."""
    desk = Desk(shop=jobs.shop, dynamodb=jobs.dynamodb)
    row = f"{PERSON['email']};Zénobia Quillfeather;7 Obelisk Lane;{PERSON['phone']}\r\n"
    for encoding in ("utf-16", "cp1252"):
        rows = f"slug;name;price;sku\r\n{row}".encode(encoding)
        assert desk.imported(rows, name="Quillfeather.csv", encoding=encoding)["failed"] == 1
        asked = desk.imported(f"E-Mail;Who;Where;Phone\r\n{row}".encode(encoding))
        assert asked["status"] == "NEEDS_MAPPING"


def kept_orders(shop: Shop, orders: list[Any]) -> list[Any]:
    """The fields of orders that must stay."""
    names = ("number", "status", "lineItems", "subtotal", "tax", "total", "orderDate", "paidAt")
    found = [order.read() for order in orders]
    return [{name: order[name] for name in names} for order in found]


def expect_forgotten(jobs: JobDesk, made: Any, orders: list[Any]) -> None:
    shop = jobs.shop
    assert mentions(jobs) == []
    shown = made.read()
    assert shown["erasedAt"] and shown["email"] is None and shown["addresses"] == []
    assert (shown["ordersCount"], shown["totalSpent"]) == (3, "39.80")
    for order in orders:
        now = order.read()
        empty = dict.fromkeys(("email", "firstName", "lastName", "phone"))
        assert now["customer"] == {"id": made["id"], **empty}
        if order["shippingAddress"]:
            assert now["shippingAddress"]["countryCode"] == "GB"
            assert set(now["shippingAddress"].values()) == {"GB", None}
    for search in ("quillfeather", "zenobia", "second@quill.example", "5550042"):
        assert shop.get(f"{CUSTOMERS}?search={search}").json["total"] == 0
        assert shop.get(f"{ORDERS}?search={search}").json["total"] == 0
        found = shop.get(f"/api/admin/search?q={search}").json
        assert found["orders"] == found["customers"] == []
    assert shop.get(f"{ORDERS}?customerId={made['id']}").json["total"] == len(orders)
    assert counts_agree()


def test_an_erasure_leaves_no_trace_in_tables_objects_and_logs(
    shop: Shop, jobs: JobDesk, capsys: pytest.CaptureFixture[str]
) -> None:
    other = placed(shop, customer={"email": "annual@example.com", "firstName": "Zen"})
    made, orders = traces(jobs)
    before, kept = len(mentions(jobs)), kept_orders(shop, orders)
    late, made_before = deepcopy(traced(jobs.dynamodb)), attempts(jobs)
    assert before > 50
    jobs.dynamodb.scan_bytes = 4_000  # many pages
    job = jobs.done(f"{made.path}/erase")
    assert (job["status"], job["type"], job["progress"]) == ("COMPLETED", "customer_erasure", 100)
    expect_forgotten(jobs, made, orders)
    assert kept_orders(shop, orders) == kept
    assert attempts(jobs) == made_before
    touched = job["touched"]
    assert (touched["orders"], touched["customers"]) == (4, 1)
    assert touched["exports"] == 4 and touched["replies"] == 2 and touched["jobs"] == 5
    assert touched["imports"] == 4 and touched["undos"] == 1
    assert touched["events"] > 10 and touched["attempts"] > 10 and touched["audit"] > 3
    # Entries that the stream brings now, as they were before, have no values either.
    audited(late)
    audited(traced(jobs.dynamodb))
    expect_forgotten(jobs, made, orders)
    found = entries(shop, customerId=made["id"])
    actions = [one["action"] for one in found]
    (erased,) = (one for one in found if one["action"] == "customer.erased")
    assert erased["changes"] == [] and len(found) > 15
    # An order that was erased in the same millisecond may follow: those have no order.
    assert {*actions[actions.index("customer.erased") + 1 :]} <= {"order.erased"}
    assert {"order.created", "order.updated", "order.erased", "customer.updated"} <= {*actions}
    (cancelled,) = [one for one in found if changed(one).get("status", "")[-1:] == ("CANCELLED",)]
    assert changed(cancelled)["status"] == ("PENDING", "CANCELLED")
    output = capsys.readouterr().out.lower()
    assert output and [word for word in WORDS if word in output] == []
    # Data of other customers is unchanged.
    assert other.read() == other
    assert shop.get(f"{ORDERS}?search=annual").json["total"] == 1
    # The feed has the erasure, and earlier events have no personal data.
    last = [e for e in shop.events() if e["data"]["id"] == made["id"]][-1]
    assert last["event"] == "customer.updated" and last["data"]["email"] is None
    earlier = [e for e in shop.events() if e["data"]["id"] == orders[0]["id"]]
    assert [e["event"] for e in earlier][:2] == ["order.created", "order.paid"]
    assert all(e["data"]["total"] == orders[0]["total"] for e in earlier)
    # The request that placed the order is still not placed again.
    sold = line(orders[1]["lineItems"][0]["variantId"])
    same = new_order(sold, customer={"id": made["id"]}, shippingAddress=HOME)
    again = shop.post(ORDERS, same, headers={"Idempotency-Key": "once"})
    assert (again.status, again.json["id"]) == (201, orders[1]["id"])
    assert again.json["customer"]["email"] is None


@pytest.mark.thorough
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("operation", "nth"),
    [
        *(("TransactWriteItems", nth) for nth in (1, 2, 3, 4, 5, 6, 8, 12)),
        *(("UpdateItem", nth) for nth in (1, 2, 3, 5, 9)),
        *(("PutItem", nth) for nth in (1, 4, 9)),
        *(("Scan", nth) for nth in (1, 3, 4)),
        ("DeleteItem", 1),
        *(("BatchWriteItem", nth) for nth in (1, 3)),
    ],
)
def test_an_erasure_that_crashes_anywhere_has_the_same_result(
    jobs: JobDesk, operation: str, nth: int, after: bool
) -> None:
    made, orders = traces(jobs)
    jobs.dynamodb.scan_bytes = 30_000
    jobs.start(f"{made.path}/erase")
    jobs.crash(operation, nth, after=after)
    jobs.work()
    jobs.dynamodb.faults = lambda operation, request: None
    expect_forgotten(jobs, made, orders)


def test_a_second_erasure_changes_nothing(shop: Shop, jobs: JobDesk) -> None:
    made, orders = traces(jobs)
    jobs.done(f"{made.path}/erase")
    whole, count = made.read(), len(shop.events())
    again = jobs.done(f"{made.path}/erase")
    assert again["status"] == "COMPLETED" and len(shop.events()) == count
    assert made.read() == whole
    expect_forgotten(jobs, made, orders)
    refused = made.patch({"firstName": "Zenobia"})
    assert (refused.status, refused.json["code"]) == (409, "erased")


def test_a_customer_without_an_email_is_erased(jobs: JobDesk) -> None:
    made = customer(jobs.shop, email=None, phone="030 77 88 99")
    assert jobs.done(f"{made.path}/erase")["status"] == "COMPLETED"
    after = made.read()
    assert (after["firstName"], after["phone"], bool(after["erasedAt"])) == (None, None, True)


@pytest.mark.thorough
def test_the_data_of_a_failed_erasure_is_deleted_by_the_next(jobs: JobDesk) -> None:
    made, orders = traces(jobs)
    jobs.dynamodb.scan_bytes = 4_000
    job = jobs.start(f"{made.path}/erase")

    def full(operation: str, request: Any) -> Fault | None:
        return Fault.CRASH if operation == "Scan" and "ExclusiveStartKey" in request else None

    jobs.dynamodb.faults = full
    for message in jobs.messages():
        jobs.handle(message)
    jobs.dynamodb.faults = lambda operation, request: None
    cursor = json.dumps({"phase": 3, "after": ["word#order#z", "zenobia#1"], "touched": {}})
    table.update((job, "job"), assign={"status": "FAILED", "cursor": cursor})
    assert table.get((job, "facts"))
    other = jobs.start(f"{made.path}/erase")
    jobs.work()
    assert jobs.job(other)["touched"]["erasures"] == 1
    expect_forgotten(jobs, made, orders)


@pytest.mark.parametrize("written", ["till 7 {} 1", "new{}"])
def test_a_key_with_personal_data_is_no_trace_and_still_takes_effect_once(
    jobs: JobDesk, written: str
) -> None:
    shop, sent = jobs.shop, {"email": PERSON["email"], "phone": "030 1234"}
    key = {"Idempotency-Key": written.format(PERSON["email"])}
    made = Record(shop, CUSTOMERS, shop.made(CUSTOMERS, sent, headers=key))
    jobs.done(f"{made.path}/erase")
    assert mentions(jobs, ["quill"]) == []
    again = shop.post(CUSTOMERS, sent, headers=key)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json["id"] == made["id"] and again.json["email"] is None


def test_an_erased_customer_who_orders_again_is_a_new_customer(shop: Shop, jobs: JobDesk) -> None:
    made = placed(shop, customer=PERSON).customer
    jobs.start(f"{made.path}/erase")  # from the answer on
    back = placed(shop, customer=PERSON)
    assert back["customer"]["id"] != made["id"]
    jobs.work()
    assert back.read() == back
    assert back.customer.read()["email"] == PERSON["email"]
    again = placed(shop, customer={"email": PERSON["email"]})
    assert again["customer"] == back["customer"]
    assert shop.get(f"{ORDERS}?search=quillfeather").json["total"] == 2
    by_id = new_order(line(variant(shop)), customer={"id": made["id"]})
    assert shop.post(ORDERS, by_id).json["errors"][0]["field"] == "customer.id"
    assert counts_agree()


def test_an_order_placed_during_an_erasure_request_is_of_a_new_customer_or_erased(
    shop: Shop, jobs: JobDesk
) -> None:
    made = placed(shop, customer=PERSON).customer
    order = new_order(line(variant(shop)), customer=PERSON)
    # The erasure is requested between the order's reads and its commit.
    before_the_commit(jobs.dynamodb, lambda: made.post("/erase"))
    new = Order(shop, ORDERS, shop.made(ORDERS, order))
    assert new["customer"]["id"] != made["id"]
    assert new["customer"]["email"] == PERSON["email"]
    # And the other way round: the order exists first, and is erased with the rest.
    other = placed(shop, customer={"email": "first@quill.example"})
    also = new_order(line(variant(shop)), customer={"email": "first@quill.example"})
    late: list[Any] = []
    before_the_commit(jobs.dynamodb, lambda: late.append(shop.post(ORDERS, also).json))
    erase = other.customer.post("/erase")
    assert erase.status == 202
    jobs.work()
    jobs.failed.clear()  # the message of a job that was refused
    assert mentions(jobs, ["first@quill.example"]) == []
    now = shop.get(f"{ORDERS}/{late[0]['id']}").json
    assert now["customer"]["email"] is None and now["total"] == late[0]["total"]
    assert made.read()["ordersCount"] == 1
    assert new.customer.read()["ordersCount"] == 1


def test_an_order_changed_during_an_erasure_is_anonymized(shop: Shop, jobs: JobDesk) -> None:
    order = placed(shop, customer=PERSON, shippingAddress=HOME)
    jobs.start(f"{order.customer.path}/erase")
    before_the_commit(jobs.dynamodb, lambda: order.moved("PAID"))
    jobs.work()
    now = order.read()
    assert (now["status"], now["customer"]["email"]) == ("PAID", None)
    assert mentions(jobs) == []
    assert order.customer.read()["totalSpent"] == order["total"]


def test_an_undo_during_an_erasure_brings_no_name_back(shop: Shop, jobs: JobDesk) -> None:
    order = placed(shop, customer=PERSON, tags=["for Quillfeather", "gift"])
    change = {"removeTags": ["for Quillfeather", "gift"]}
    edited = jobs.done("/api/admin/orders/bulk-edit", {"ids": [order["id"]], "change": change})
    undone: list[Any] = []

    def meanwhile(operation: str, request: Any) -> None:
        if operation == "Scan":  # the orders were erased
            jobs.dynamodb.faults = lambda operation, request: None
            undone.append(jobs.undone(edited))

    jobs.dynamodb.faults = meanwhile
    jobs.done(f"{order.customer.path}/erase")
    assert undone[0]["updated"] == 1
    assert order.read()["tags"] == ["gift"]
    assert mentions(jobs) == []


def test_an_undo_that_was_underway_before_an_erasure_brings_no_name_back(jobs: JobDesk) -> None:
    order = placed(jobs.shop, customer=PERSON, tags=["for Quillfeather"])
    change = {"removeTags": ["for Quillfeather"]}
    edited = jobs.done("/api/admin/orders/bulk-edit", {"ids": [order["id"]], "change": change})
    undo = jobs.undoing(edited)
    before_the_commit(jobs.dynamodb, lambda: jobs.done(f"{order.customer.path}/erase"))
    jobs.work()
    assert [one["code"] for one in jobs.job(undo)["errors"]] == ["undone_meanwhile"]
    assert order.read()["tags"] == [] and mentions(jobs) == []


def test_an_erasure_removes_the_exports_with_the_person(shop: Shop, jobs: JobDesk) -> None:
    placed(shop)
    others = jobs.done("/api/admin/exports", {"type": "orders", "all": True})
    order = placed(shop, customer=PERSON, shippingAddress=HOME)
    own = jobs.done("/api/admin/exports", {"type": "orders", "all": True})
    other = customer(shop)["id"]
    assert order.edit(customer={"id": other}).status == 200
    moved = jobs.done("/api/admin/exports", {"type": "orders", "filters": {"customerId": other}})
    jobs.done(f"{order.customer.path}/erase")
    assert jobs.job(others["id"])["downloadUrl"] and jobs.job(others["id"])["error"] is None
    for gone in (own, moved):
        assert jobs.job(gone["id"])["downloadUrl"] is None
        assert jobs.job(gone["id"])["error"]["code"] == "customer_erased"
    assert mentions(jobs) == []


def test_an_erasure_ends_a_running_export(shop: Shop, jobs: JobDesk) -> None:
    made = placed(shop, customer=PERSON).customer
    running = jobs.start("/api/admin/exports", {"type": "orders", "all": True})
    jobs.crash("TransactWriteItems")
    (message,) = jobs.messages()
    jobs.handle(message)
    assert len(mentions(jobs, [])) == 1  # the first piece of the file
    jobs.start(f"{made.path}/erase")
    messages = list(jobs.messages())  # the export is requested first and done last
    for message in reversed(messages):
        jobs.handle(message)
    jobs.work()
    assert mentions(jobs) == []
    ended = jobs.job(running)
    assert (ended["status"], ended["error"]["code"]) == ("FAILED", "customer_erased")
    after = jobs.done("/api/admin/exports", {"type": "orders", "all": True})
    assert after["downloadUrl"] and mentions(jobs) == []


def test_an_erasure_skips_unreadable_events(jobs: JobDesk) -> None:
    made = placed(jobs.shop, customer=PERSON).customer
    damaged = {"pk": "0", "sk": "events", "events": "[]"}
    table.put(damaged, table=settings.outbox_table())
    jobs.done(f"{made.path}/erase")
    assert mentions(jobs) == []
    assert pack(damaged) in jobs.dynamodb.items(settings.outbox_table())


def test_an_erasure_deletes_left_over_words_and_keeps_those_of_others(jobs: JobDesk) -> None:
    shop = jobs.shop
    made = placed(shop, customer=PERSON).customer
    namesake = placed(shop, customer={"email": "z@example.com", "firstName": "Zénobia"})
    kind = orders_store.RECORDS.kind
    index = listing.Index.read(orders_store.get(namesake["id"]).fields["index"])
    old = 1_700_000_000
    left = [
        *((kind, word, "ord_never") for word in ("zenobia", "zenobia.quill@palmyra.example")),
        # From the start within a tag, of a reference as a whole, and of a phone.
        *((kind, word, "ord_never") for word in ("quillfeather-fan", "paid\x7fby\x7fquillfeather")),
        *((customers.KIND, word, "cus_never") for word in ("+4901715550042", "01715550042")),
        (customers.KIND, "fabienne", made["id"]),  # a name that the customer never got
    ]
    for kind, word, id in left:
        pk = kind.word_pk(word, 0, 4)
        table.put({"pk": pk, "sk": f"{word}#{index.sort}+abc#{id}", "at": old})
    jobs.done(f"{made.path}/erase")
    assert mentions(jobs, ["quillfeather", "palmyra", "fabienne", "5550042"]) == []
    assert shop.get(f"{ORDERS}?search=zenobia").json["total"] == 1
    assert mentions(jobs, ["_never"]) == []


def test_an_erasure_keeps_words_of_a_write_that_may_be_underway(jobs: JobDesk) -> None:
    made = placed(jobs.shop, customer=PERSON).customer
    pk = orders_store.RECORDS.kind.word_pk("quillfeather", 0, 4)
    entry = {"pk": pk, "sk": "quillfeather#2026+abc#ord_new", "at": clock.unix()}
    table.put(entry)
    jobs.done(f"{made.path}/erase")
    assert table.get((pk, entry["sk"])) == entry


def test_only_an_owner_can_erase(jobs: JobDesk) -> None:
    made = customer(jobs.shop)
    for role in ("READER", "STAFF", "ADMIN"):
        refused = made.post("/erase", key=jobs.shop.as_(role))
        assert (refused.status, refused.json["code"]) == (403, "forbidden")
    assert jobs.shop.post(f"{CUSTOMERS}/cus_nobody/erase").status == 404


def test_a_repeated_request_for_an_erasure_has_the_same_job(jobs: JobDesk) -> None:
    made = placed(jobs.shop, customer=PERSON).customer
    path, once = f"{made.path}/erase", {"Idempotency-Key": "once"}
    first, again = (jobs.shop.post(path, headers=once) for _ in range(2))
    assert (first.status, again.status, again.json) == (202, 202, first.json)
    jobs.work()
    assert jobs.shop.post(path, headers=once).json == first.json
    assert jobs.shop.get("/api/admin/jobs").json["total"] == 1


def test_a_crashed_erasure_request_changes_nothing(jobs: JobDesk) -> None:
    made = customer(jobs.shop)
    jobs.dynamodb.fails(Fault.CRASH, "TransactWriteItems")
    with pytest.raises(Crash):
        made.post("/erase")
    assert made.read() == made
    assert placed(jobs.shop, customer={"email": made["email"]})["customer"]["id"] == made["id"]


def test_an_erasure_that_cannot_remember_all_texts_says_so_and_can_be_repeated(
    jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = customer(jobs.shop, **PERSON, addresses=[HOME])
    with monkeypatch.context() as patched:
        patched.setattr(store, "_MOST_BYTES", 40)
        refused = jobs.done(f"{made.path}/erase")
    assert (refused["status"], refused["error"]["code"]) == ("FAILED", "too_many_texts")
    assert jobs.done(f"{made.path}/erase")["status"] == "COMPLETED"
    assert mentions(jobs) == []


@pytest.mark.parametrize("erased", [PERSON["email"], "other@example.com"])
def test_an_order_that_was_moved_to_another_customer_forgets_who_is_erased(
    jobs: JobDesk, erased: str
) -> None:
    """An edit moves it: its addresses are the first customer's, until they are changed."""
    shop = jobs.shop
    paid = {"amount": 5, "method": "CASH", "reference": "Quillfeather 7", "note": NOTE}
    ring = {"title": "Ring for Zénobia", "price": 50, "quantity": 1, "note": NOTE}
    mentioning = {
        "lineItems": [{**ring, "discount": {"amount": 1, "reason": "Zénobia's birthday"}}],
        "discount": {"amount": 1, "reason": "Quillfeather knows us"},
        **{"payments": [paid], "externalId": "quillfeather-7", "tags": ["for Quillfeather"]},
    }
    whole = {"shippingAddress": HOME, "billingAddress": HOME, "note": NOTE, **mentioning}
    moved = placed(shop, customer=PERSON, **whole)
    people = {PERSON["email"]: moved["customer"]["id"]}
    other = shop.post(CUSTOMERS, {"email": "other@example.com", "firstName": "Otto"}).json["id"]
    people["other@example.com"] = other
    to = f"{ORDERS}/{moved['id']}"
    edit = {"customer": {"id": other}, "reason": "It was Otto"}
    assert shop.post(f"{to}/edit", edit).status == 200
    tagged = {"ids": [moved["id"]], "change": {"addTags": ["seen"]}}
    jobs.done("/api/admin/orders/bulk-edit", tagged)
    mine = {"firstName": "Otto", "address1": "1 Own Street", "city": "Bern", "countryCode": "CH"}
    shop.patch(to, {"billingAddress": mine})
    audited(traced(jobs.dynamodb))
    jobs.done(f"{CUSTOMERS}/{people[erased]}/erase")
    left = shop.get(to).json
    if erased == PERSON["email"]:
        assert left["customer"]["firstName"] == "Otto"
        assert left["billingAddress"]["address1"] == "1 Own Street"
        assert left["shippingAddress"]["countryCode"] == HOME["countryCode"]
        assert left["shippingAddress"]["address1"] is None
        assert left["note"] == "Rings twice, says [erased]"
        assert left["payments"][0] == {
            **moved["payments"][0],
            **{"reference": "[erased] 7", "note": "Rings twice, says [erased]"},
        }
        assert left["total"] == moved["total"] and left["externalId"] is None
        assert mentions(jobs, [word for word in WORDS if word != "rings twice"]) == []
    else:
        assert left["customer"]["firstName"] is None
        assert left["billingAddress"]["address1"] is None
        assert left["shippingAddress"]["address1"] is None
