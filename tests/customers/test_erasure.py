"""An erasure rewrites whatever names a person and stays, and leaves what ends within 30 days.
Amounts, lines, numbers and countries stay. No log line names the person."""

import json
import random
from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import product
from typing import Any, NamedTuple

import pytest

from chalicelib import listing, settings
from chalicelib.audit import consumer as audit
from chalicelib.customers import model as customers
from chalicelib.erasures import texts
from chalicelib.erasures.work import GONE_AFTER
from chalicelib.facets import consumer as facets
from chalicelib.facets import store as values_in_use
from chalicelib.orders import store as orders_store
from chalicelib.storage import attributes, lockstep, outbox, table
from chalicelib.storage.outbox import Committed
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
    *("555-0042", "5550042", "01715550042", "5550043"),
]
LONGEST = max(GONE_AFTER.values())


class Traced(NamedTuple):
    """A customer with every kind of data that can be stored, and the orders."""

    made: Record
    orders: list[Order]


def stays(item: Any) -> bool:
    """Whether an item is still there in 30 days."""
    return int(item.get("expiresAt", {"N": "0"})["N"] or 0) not in range(
        1, clock.unix() + LONGEST + 1
    )


def mentions(jobs: JobDesk, words: list[str] = WORDS) -> list[str]:
    """Whatever names the customer, and stays. (Files end: `infra/resources.yaml`.)"""
    found = []
    for name in (settings.table(), settings.outbox_table()):
        for item in filter(stays, jobs.dynamodb.items(name)):
            text = json.dumps(attributes.unpack(item), default=str, ensure_ascii=False).lower()
            found += [f"{word}: {text[:300]}" for word in words if word in text]
    return found


def delivered(jobs: JobDesk, endpoint: str, answers: list[str]) -> None:
    """Delivers every event so far; the receiver gives these answers."""
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


def streamed(items: Iterable[Any]) -> None:
    """These items of the outbox reach the audit log and the values in use."""
    commits = [Committed(attributes.unpack(item)) for item in items]
    lockstep.run([audit.consume(commits), facets.consume(commits)])


def build(jobs: JobDesk) -> Traced:
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
    delivered(jobs, ids.new_id("wh"), ["ok", "got BODY", "Thanks, Zénobia!"])
    import_people(jobs)
    items = traced(jobs.dynamodb)
    saved = [item for item in items if "mapping.saved" in item["trace"]["S"]]
    streamed([*items[:4], *items[4::2], *saved])  # the others are late
    return Traced(made, orders)


def import_people(jobs: JobDesk) -> None:
    """Imports a list of customers as if it were products, also without its header."""
    desk = Desk(shop=jobs.shop, dynamodb=jobs.dynamodb)
    row = f"{PERSON['email']};Zénobia Quillfeather;7 Obelisk Lane;{PERSON['phone']}\r\n"
    rows = f"slug;name;price;sku\r\n{row}".encode("cp1252")
    assert desk.imported(rows, name="Quillfeather.csv", encoding="cp1252")["failed"] == 1
    asked = desk.imported(f"E-Mail;Who;Where;Phone\r\n{row}".encode("utf-16"))
    assert asked["status"] == "NEEDS_MAPPING"
    mapping = {"jar": "slug", "Mug": "name", "4.00": "price", PERSON["email"]: None}
    data = f"jar,Mug,4.00,{PERSON['email']}\ncup,Cup,3.00,x\n"
    assert desk.imported(data, mapping=json.dumps(mapping))["created"] == 1
    desk.imported(f"slug,name,price,Quillfeather\n,,,{PERSON['email']}\n", onUnknownColumns="fail")
    saved = "/api/admin/products/import/mappings"
    assert jobs.shop.call("PUT", f"{saved}/Quillfeather", {"columns": mapping}).status == 200
    assert (
        jobs.shop.call("PUT", f"{saved}/others", {"columns": {"A": "name", "B": "price"}}).status
        == 200
    )


_built: list[Any] = []


@pytest.fixture
def person(jobs: JobDesk) -> Iterator[Traced]:
    """The shop that `build` makes: built once, and loaded for each test."""
    tables = (settings.table(), settings.outbox_table())
    if not _built:
        made, orders = build(jobs)
        items = {name: deepcopy(list(jobs.dynamodb.items(name))) for name in tables}
        _built.extend((items, jobs.shop.owner, dict(made), [dict(order) for order in orders]))
    items, owner, made, orders = _built
    for name in tables:
        puts = [{"Put": {"TableName": name, "Item": item}} for item in deepcopy(items[name])]
        jobs.dynamodb.load(puts)
    shop = jobs.shop
    shop._keys["OWNER"] = owner
    yield Traced(Record(shop, CUSTOMERS, made), [Order(shop, ORDERS, order) for order in orders])


def kept_orders(orders: list[Any]) -> list[Any]:
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


def test_an_erasure_leaves_no_trace_that_stays(
    person: Traced, jobs: JobDesk, capsys: pytest.CaptureFixture[str]
) -> None:
    shop, (made, orders) = jobs.shop, person
    other = placed(shop, customer={"email": "annual@example.com", "firstName": "Zen"})
    before, kept = len(mentions(jobs)), kept_orders(orders)
    late = deepcopy(traced(jobs.dynamodb))
    assert before > 50
    job = jobs.done(f"{made.path}/erase")
    assert (job["status"], job["type"], job["progress"]) == ("COMPLETED", "customer_erasure", 100)
    expect_forgotten(jobs, made, orders)
    assert kept_orders(orders) == kept
    touched = job["touched"]
    assert (touched["orders"], touched["customers"], touched["mappings"]) == (4, 1, 1)
    assert touched["audit"] > 3 and touched["values"] >= 2 and touched["jobs"] >= 8
    # What the stream brings now, as it was before, names nobody either.
    streamed(late)
    streamed(traced(jobs.dynamodb))
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
    saved = shop.get("/api/admin/products/import/mappings").json["data"]
    assert [one["name"] for one in saved] == ["others"]
    last = [e for e in shop.events() if e["data"]["id"] == made["id"]][-1]
    assert last["event"] == "customer.updated" and last["data"]["email"] is None


def test_an_erasure_says_when_the_rest_is_gone(person: Traced, jobs: JobDesk) -> None:
    job = jobs.done(f"{person.made.path}/erase")
    ends = {name: clock.parse(at) for name, at in job["goneBy"].items()}
    done = clock.parse(job["completedAt"])
    assert {name: round((at - done).total_seconds() / 3_600) for name, at in ends.items()} == {
        "replies": 24,
        **dict.fromkeys(("events", "deliveries", "undos", "exports", "imports"), 720),
    }


def test_an_erasure_reads_neither_the_whole_shop_nor_an_event_nor_a_file(
    person: Traced, jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.start(f"{person.made.path}/erase")
    reads: list[tuple[str, object]] = []

    def note(operation: str, request: Any) -> None:
        if operation in {"Scan", "Query", "GetItem", "BatchGetItem"}:
            reads.append((operation, request))

    jobs.dynamodb.faults = note  # type: ignore[assignment]
    monkeypatch.delenv("BUCKET")
    jobs.work()
    jobs.dynamodb.faults = lambda operation, request: None
    assert reads and [one for one in reads if one[0] == "Scan"] == []
    assert [one for one in reads if settings.outbox_table() in repr(one)] == []


@pytest.mark.thorough
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("operation", "nth"),
    [
        *(("TransactWriteItems", nth) for nth in (1, 2, 3, 4, 5, 6, 8, 12, 16, 20)),
        *(("UpdateItem", nth) for nth in (1, 2, 3, 5, 9)),
        *(("BatchWriteItem", nth) for nth in (1, 2)),
    ],
)
def test_an_erasure_that_crashes_anywhere_has_the_same_result(
    person: Traced, jobs: JobDesk, operation: str, nth: int, after: bool
) -> None:
    jobs.start(f"{person.made.path}/erase")
    jobs.crash(operation, nth, after=after)
    jobs.work()
    jobs.dynamodb.faults = lambda operation, request: None
    expect_forgotten(jobs, *person)


def test_a_second_erasure_changes_nothing(person: Traced, jobs: JobDesk) -> None:
    shop, (made, orders) = jobs.shop, person
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


def test_an_erasure_after_a_failed_one_knows_what_that_found(
    person: Traced, jobs: JobDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first removed the names from the customer and the log, and not from the jobs."""

    def refuse(*args: object) -> None:
        raise texts.TooManyTexts

    with monkeypatch.context() as patched:
        patched.setattr(values_in_use, "forget", refuse)
        assert jobs.done(f"{person.made.path}/erase")["status"] == "FAILED"
    assert mentions(jobs) and person.made.read()["email"] is None
    assert jobs.done(f"{person.made.path}/erase")["status"] == "COMPLETED"
    expect_forgotten(jobs, *person)


def test_an_erasure_that_a_release_before_began_is_done_from_its_beginning(
    person: Traced, jobs: JobDesk
) -> None:
    job = jobs.start(f"{person.made.path}/erase")
    cursor = json.dumps({"phase": 4, "after": ["word#order#z", "x"], "touched": {"orders": 4}})
    table.update((job, "job"), assign={"cursor": cursor})
    known = frozenset({"Quillfeather", "second@quill.example"})
    table.put({"pk": job, "sk": "facts", "texts": known, "expiresAt": clock.unix() + 60})
    assert jobs.finished(job)["status"] == "COMPLETED"
    expect_forgotten(jobs, *person)


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


@pytest.mark.parametrize("is_moved", [False, True])
def test_an_erasure_clears_why_an_order_was_closed(jobs: JobDesk, is_moved: bool) -> None:
    """Of an order that is another customer's now, it clears the name alone."""
    order = placed(jobs.shop, customer=PERSON, paymentMethod="CASH")
    order.pay(5)
    if is_moved:
        assert order.edit(customer={"id": customer(jobs.shop)["id"]}).status == 200
    closed = order.post("/close", {"keep": 2, "reason": f"Withdrew. {NOTE}"})
    assert closed.status == 200 and order.read()["closeReason"] == f"Withdrew. {NOTE}"
    streamed(traced(jobs.dynamodb))
    jobs.done(f"{order.customer.path}/erase")
    assert mentions(jobs) == []
    left = order.read()
    redacted = "Withdrew. Rings twice, says [erased]"
    assert left["closeReason"] == (redacted if is_moved else None)
    assert (left["kept"], left["closedAt"]) == ("2.00", closed.json["closedAt"])
    assert left["closedBy"] == closed.json["closedBy"] and counts_agree()


@pytest.mark.parametrize("is_moved", [False, True])
def test_an_erasure_clears_the_values_of_a_specification(jobs: JobDesk, is_moved: bool) -> None:
    """Of an order that is another customer's now, it clears the name alone. Names stay."""
    details = [{"name": "Engraving", "value": NOTE}, {"name": "Size", "value": "17"}]
    ring = {"title": "Ring", "price": "5", "quantity": 1, "specification": details, "make": True}
    order = placed(jobs.shop, ring, customer=PERSON, dueOn="2027-01-03")
    changed = [details[0], {"name": "Size", "value": "18"}]
    assert order.edit(change=[order.first_line(specification=changed)]).status == 200
    if is_moved:
        assert order.edit(customer={"id": customer(jobs.shop)["id"]}).status == 200
    streamed(traced(jobs.dynamodb))
    jobs.done(f"{order.customer.path}/erase")
    assert mentions(jobs) == []
    values = ["Rings twice, says [erased]", "18"] if is_moved else [None, None]
    (left,) = order.read()["lineItems"]
    assert [one["value"] for one in left["specification"]] == values
    assert [one["name"] for one in left["specification"]] == ["Engraving", "Size"]
    assert (left["make"], order.read()["dueOn"]) == (True, "2027-01-03")
    assert counts_agree()


@pytest.mark.parametrize("is_moved", [False, True])
def test_an_erasure_clears_notes_of_shipments_and_keeps_their_numbers(
    jobs: JobDesk, is_moved: bool
) -> None:
    """Of an order that is another customer's now, it clears the name alone."""
    order = placed(jobs.shop, customer=PERSON, paymentStatus="PAID")
    sent = {"note": NOTE, "parcels": [{"trackingNumber": "RR100"}]}
    (made,) = order.post("/shipments", {**sent, "shippedAt": "2026-01-02"}).json["shipments"]
    other = placed(jobs.shop, line(variant(jobs.shop), 2), paymentStatus="PAID")
    other.edit(customer={"id": order["customer"]["id"]})
    part = {"lines": [other.first_line(quantity=1)], "note": NOTE}
    (gone,) = other.post("/shipments", part).json["shipments"]
    assert other.post(f"/shipments/{gone['id']}/cancel", {"reason": NOTE}).status == 200
    if is_moved:
        for one in (order, other):
            assert one.edit(customer={"id": customer(jobs.shop)["id"]}).status == 200
    streamed(traced(jobs.dynamodb))
    jobs.done(f"{order.customer.path}/erase")
    assert mentions(jobs) == []
    left = "Rings twice, says [erased]" if is_moved else None
    assert order.read()["shipments"] == [{**made, "note": left}]
    (cancelled,) = other.read()["shipments"]
    assert (cancelled["note"], cancelled["cancelReason"]) == (left, left)
    assert counts_agree()


@pytest.mark.parametrize("is_moved", [False, True])
def test_an_undo_after_an_erasure_brings_no_tag_back(jobs: JobDesk, is_moved: bool) -> None:
    """Its log has the tags for 30 days, and is not rewritten."""
    order, edit = edited(jobs)
    if is_moved:
        assert order.edit(customer={"id": customer(jobs.shop)["id"]}).status == 200
    jobs.done(f"{order.customer.path}/erase")
    undone = jobs.undone(edit)
    now = order.read()
    assert (now["tags"], now["salesRepId"], undone["updated"]) == ([], None, 1)
    (left,) = undone["errors"]
    assert left["id"] == order["id"] and "tags: a customer was erased" in left["message"]


def test_an_undo_during_an_erasure_brings_no_tag_back(jobs: JobDesk) -> None:
    order, edit = edited(jobs)
    undo = jobs.undoing(edit)
    before_the_commit(jobs.dynamodb, lambda: jobs.done(f"{order.customer.path}/erase"))
    jobs.finished(undo)
    assert order.read()["tags"] == [] and mentions(jobs) == []


def edited(jobs: JobDesk) -> tuple[Order, Any]:
    """An order of the person, and the job that removed its tags."""
    tags = ["for Quillfeather", "gift"]
    order = placed(jobs.shop, customer=PERSON, tags=tags)
    change = {"removeTags": tags, "salesRepId": "emp_1"}
    return order, jobs.done("/api/admin/orders/bulk-edit", {"ids": [order["id"]], "change": change})


@pytest.mark.parametrize("case", ["A", "B", "C", "D"])
def test_an_order_that_an_edit_moved_forgets_whom_it_was_of(jobs: JobDesk, case: str) -> None:
    """A: without an address; B: with one; C: away and back; D: from another to the person."""
    shop = jobs.shop
    other = customer(shop, email="other@example.com", firstName="Otto")
    home = {"shippingAddress": HOME} if case == "B" else {}
    paid = {"amount": 5, "method": "CASH", "reference": "Quillfeather 7", "note": NOTE}
    ring = {"title": "Ring for Zénobia", "price": 50, "quantity": 1, "note": NOTE}
    saying = {
        "lineItems": [{**ring, "discount": {"amount": 1, "reason": "Zénobia's birthday"}}],
        "discount": {"amount": 1, "reason": "Quillfeather knows us"},
        "payments": [paid],
        **{"externalId": "quillfeather-7", "tags": ["for Quillfeather"], "note": NOTE},
        "metadata": {"for": "Zénobia"},
    }
    person = customer(shop, **PERSON)
    first, then = (other, person) if case == "D" else (person, other)
    order = placed(shop, customer={"id": first["id"]}, **saying, **home)
    assert order.edit(customer={"id": then["id"]}, reason="not Quillfeather").status == 200
    order.patch({"note": f"Again: {NOTE}"})
    if case == "C":
        assert order.edit(customer={"id": person["id"]}, reason="Quillfeather").status == 200
    tagged = {"ids": [order["id"]], "change": {"addTags": ["seen"]}}
    jobs.done("/api/admin/orders/bulk-edit", tagged)
    late = deepcopy(traced(jobs.dynamodb))
    # The stream is behind with what is about the person.
    behind = [item for item in late if person["id"] in item["trace"]["S"]]
    streamed(item for item in late if item not in behind)
    assert len(mentions(jobs)) > 20
    assert jobs.done(f"{person.path}/erase")["touched"]["orders"] >= 1
    streamed(behind)
    assert mentions(jobs) == []
    left = order.read()
    assert left["total"] == order["total"] and left["externalId"] is None
    if case in "AB":
        assert left["customer"]["firstName"] == "Otto"
        assert left["note"] == "Again: Rings twice, says [erased]"
        assert left["payments"][0]["reference"] == "[erased] 7"
    if case == "B":
        assert left["shippingAddress"]["address1"] is None
        assert left["shippingAddress"]["countryCode"] == HOME["countryCode"]
    assert counts_agree()


def words_of(one: int) -> list[str]:
    """What only this customer is called, and what only the address of an order says."""
    return [f"{word}{'xyz'[one]}" for word in ("zenob", "quillf", "palmyr", "obelis", "attik")]


@pytest.mark.parametrize("seed", range(12))
def test_an_order_forgets_each_of_those_whose_it_was_and_nobody_else(
    jobs: JobDesk, seed: int
) -> None:
    """Edits move an order between three customers, who give addresses and may be merged with
    another; then one of them is erased."""
    shop, chance = jobs.shop, random.Random(seed)
    people, homes = list[Record](), list[Any]()
    for one in range(3):
        first, last, domain, street, company = words_of(one)
        who = {"email": f"{first}@{domain}.example", "firstName": first, "lastName": last}
        people.append(customer(shop, **who))
        homes.append(address(address1=f"7 {street} Lane", company=company, firstName=None))
    now = chance.randrange(3)
    order = placed(shop, customer={"id": people[now]["id"]}, shippingAddress=homes[now])
    givers, its = {"shippingAddress": now}, {now}
    noted = [words_of(one)[1] for one in range(3)] + [words_of(now)[4]]
    order.patch({"note": f"Once for {', '.join(noted)}."})
    for _ in range(chance.randint(1, 4)):
        before, now = now, chance.choice([one for one in range(3) if one != now])
        reason = f"not {words_of(before)[0]}"
        assert order.edit(customer={"id": people[now]["id"]}, reason=reason).status == 200
        if chance.random() < 0.4:
            order.patch({"billingAddress": homes[now]})
            givers["billingAddress"] = now
        its.add(now)
    gone = chance.choice(sorted(its))
    erased, others = people[gone], [one for one in range(3) if one != gone]
    known = [people[one].read() for one in others]
    if chance.random() < 0.5:
        twin = customer(shop, email=f"twin@{words_of(gone)[2]}.example")
        jobs.done(f"{erased.path}/merge", {"into": twin["id"]})
        erased = twin
    jobs.done("/api/admin/orders/bulk-edit", {"ids": [order["id"]], "change": {"addTags": ["x"]}})
    for one in {*givers.values()}:
        sought = {"filters": {"search": words_of(one)[4]}, "dryRun": True}
        jobs.done("/api/admin/orders/bulk-edit", {**sought, "change": {"addTags": ["x"]}})
    given = order.read()
    # The stream may be behind with what is about the person.
    ids = {people[gone]["id"], erased["id"]} if now != gone and chance.random() < 0.5 else set()
    late = traced(jobs.dynamodb)
    streamed(item for item in late if not any(id in item["trace"]["S"] for id in ids))
    jobs.done(f"{erased.path}/erase")
    streamed(traced(jobs.dynamodb))
    assert mentions(jobs, words_of(gone)) == []
    left = order.read()
    for name, giver in givers.items():
        is_kept = now != gone and giver in others
        assert (left[name] == given[name]) is is_kept, (name, giver)
    if now != gone:
        assert all(words_of(one)[1] in left["note"] for one in others)
    assert [people[one].read() for one in others] == known
    for one in {*givers.values()} - {gone}:  # in the request of a job
        assert any('{"pk": "job_' in found for found in mentions(jobs, [words_of(one)[4]]))


def test_an_order_that_moved_under_a_release_before_is_found_in_the_audit_log(
    jobs: JobDesk,
) -> None:
    order = placed(jobs.shop, customer=PERSON, note=NOTE)
    assert order.edit(customer={"id": customer(jobs.shop)["id"]}).status == 200
    table.delete((order["customer"]["id"], f"moved#{order['id']}"))
    streamed(traced(jobs.dynamodb))
    jobs.done(f"{order.customer.path}/erase")
    assert mentions(jobs) == [] and order.read()["note"] == "Rings twice, says [erased]"


def test_an_order_that_was_moved_to_the_person_who_is_erased_keeps_nothing_of_both(
    jobs: JobDesk,
) -> None:
    order = placed(jobs.shop, customer={"email": "o@example.com"}, shippingAddress=HOME)
    person = customer(jobs.shop, **PERSON)
    assert order.edit(customer={"id": person["id"]}).status == 200
    own = {"firstName": "Zénobia", "address1": "1 Own Street", "city": "Bern", "countryCode": "CH"}
    assert order.patch({"billingAddress": own}).status == 200
    jobs.done(f"{person.path}/erase")
    left = order.read()
    assert left["billingAddress"]["address1"] is left["shippingAddress"]["address1"] is None


def test_an_erasure_deletes_left_over_words_and_keeps_those_of_others(jobs: JobDesk) -> None:
    shop = jobs.shop
    made = placed(shop, customer=PERSON).customer
    namesake = placed(shop, customer={"email": "z@example.com", "firstName": "Zénobia"})
    kind = orders_store.RECORDS.kind
    index = listing.Index.from_stored(orders_store.get(namesake["id"]).fields["index"])
    old = 1_700_000_000
    left = [
        *((kind, word, "ord_never") for word in ("zenobia", "zenobia.quill@palmyra.example")),
        (kind, "quillfeather-fan", "ord_never"),
        *((customers.KIND, word, "cus_never") for word in ("+4901715550042", "01715550042")),
    ]
    for kind, word, id in left:
        pk = kind.word_pk(word, 0)
        table.put({"pk": pk, "sk": f"{word}#{index.sort}+abc#{id}", "at": old})
    assert jobs.done(f"{made.path}/erase")["touched"]["words"] == len(left)
    assert mentions(jobs, ["quillfeather", "palmyra", "5550042", "_never"]) == []
    assert shop.get(f"{ORDERS}?search=zenobia").json["total"] == 1


def test_an_erasure_keeps_words_of_a_write_that_may_be_underway(jobs: JobDesk) -> None:
    made = placed(jobs.shop, customer=PERSON).customer
    pk = orders_store.RECORDS.kind.word_pk("quillfeather", 0)
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
        patched.setattr(texts, "_MOST_BYTES", 40)
        refused = jobs.done(f"{made.path}/erase")
    assert (refused["status"], refused["error"]["code"]) == ("FAILED", "too_many_texts")
    assert jobs.done(f"{made.path}/erase")["status"] == "COMPLETED"
    assert mentions(jobs) == []
