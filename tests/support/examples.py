"""Makes the examples of the API's description: a day in a shop, answered by its code.

    python -m tests.support.examples      # `make examples`: writes description/examples.json

Clock and ids are the test's, so that the same code always gives the same examples.
`tests/description/test_examples.py` holds the file against what the code makes.
"""

import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import app
from chalicelib import aws, settings
from chalicelib.api_keys import store as api_keys
from chalicelib.api_keys.model import Role
from chalicelib.events.model import render_cursor
from chalicelib.events.store import Place
from chalicelib.problems import Busy
from chalicelib.request.routes import LARGEST_BODY, find_operation
from chalicelib.summary import store as summary
from chalicelib.webhooks.model import EventKind
from chalicelib.webhooks.sample_event import sample
from tests.support.environment import account
from tests.support.forms import form
from tests.support.shop import Answer, Shop, api_gateway_event
from tests.support.webhook_world import World, failed, world

FILE = Path(__file__).resolve().parents[2] / "chalicelib/description/examples.json"
_ADMIN = "/api/admin"
_CSV = """slug,name,price,sku,stock
linen-shirt,Linen shirt,49.00,LIN-SHIRT,12
tea-towel,Tea towel,not known,TEA-TOWEL,30
"""
_UNKNOWN_CSV = "Artikel,Preis netto,Bestand\nTeekanne,39.00,4\n"
# Replaced: secrets, and URLs that AWS signs with the time of day.
_SECRET = re.compile(r"(whsec_|bk_)[A-Za-z0-9_-]{20,}")
_REQUEST = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_SIGNED = re.compile(r"(https://[^?\s]+)\?[^\s]*X-Amz-Signature[^\s]*")


def made() -> dict[str, Any]:
    """`{"operations": {"GET /api/…": {path, query?, request?, answers: {status: …}}}, "events":
    {kind: body}, "problems": {status: {code: {operation, answer}}}}`: one example of each."""
    with day() as the_day:
        walk(the_day)
        events = {kind.value: {"event": kind.value, "data": sample(kind)} for kind in EventKind}
        _problems(the_day)
    return {
        "operations": dict(sorted(the_day.found.items())),
        "events": plain(events),
        "problems": plain(dict(sorted(the_day.problems.items()))),
    }


def text() -> str:
    return json.dumps(made(), ensure_ascii=False, indent=1) + "\n"


class Day:
    """Calls the shop, and keeps the first answer of each operation and status."""

    def __init__(self, world: World) -> None:
        self.world, self.shop = world, Shop()
        self.found: dict[str, Any] = {}
        self.problems: dict[str, dict[str, Any]] = {}
        self.jobs: list[dict[str, Any]] = []

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        self.world.sleep(seconds=7)
        answer = self.shop.call(method, path, body, **options)
        assert answer.status < 300, f"{method} {path}: {answer.status} {answer.text}"
        self._keep(method, path, body, answer)
        return answer.json if "json" in answer.headers["Content-Type"] else answer.text

    def admin(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        return self.call(method, _ADMIN + path, body, **options)

    def refused(self, status: int, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """Makes a call that is refused, and keeps the first of each status and code."""
        self.world.sleep(seconds=7)
        answer = self.shop.call(method, _ADMIN + path, body, **options)
        assert answer.status == status, f"{method} {path}: {answer.status} {answer.text}"
        event = api_gateway_event(app.app, method, _ADMIN + path, headers={}, address="")
        example = {"operation": f"{method} {event['resource']}", "answer": answer.json}
        self.problems.setdefault(str(status), {}).setdefault(answer.json["code"], example)

    def upload(self, name: str, csv: str, **fields: str) -> Any:
        """The job of a file uploaded by form, after its end."""
        return self.imported(self.sent(name, csv, **fields))

    def sent(self, name: str, csv: str, **fields: str) -> str:
        """The job of a file uploaded by form, before it is planned."""
        body, kind = form(fields, csv, name)
        self.world.sleep(seconds=7)
        path = f"{_ADMIN}/products/import"
        answer = self.shop.post(path, body, headers={"Content-Type": kind})
        assert answer.status == 202, answer.text
        self._keep("POST", path, {**fields, "file": csv}, answer)
        return str(answer.json["jobId"])

    def imported(self, job: str) -> Any:
        self.plan(job)
        return self.worked(job)

    def plan(self, job: str) -> None:
        detail = {"bucket": {"name": settings.bucket()}, "object": {"key": f"imports/{job}.csv"}}
        app.plan_import({"detail": detail}, None)

    def rendered(self, picture: Any, data: bytes) -> Any:
        """A picture, or a file of an order, after its upload."""
        key = picture["upload"]["fields"]["key"]
        aws.client("s3").put_object(Bucket=settings.bucket(), Key=key, Body=data)
        body = json.dumps({"detail": {"object": {"key": key}}})
        self.handle({"function": "render_file", "body": body})
        return self.admin("GET", uploaded_path(picture))

    def worked(self, job: str) -> Any:
        """The job, after its queues are empty."""
        while self.jobs:
            self.handle(self.jobs.pop(0))
        return self.shop.get(f"{_ADMIN}/jobs/{job}").json

    def handle(self, message: dict[str, Any]) -> None:
        record = {
            "messageId": "1",
            "receiptHandle": "1",
            "body": message["body"],
            "attributes": {"ApproximateReceiveCount": "1"},
        }
        function: Callable[..., Any] = getattr(app, message["function"])
        assert function({"Records": [record]}, None)["batchItemFailures"] == []

    def _keep(self, method: str, path: str, body: Any, answer: Answer) -> None:
        event = api_gateway_event(app.app, method, path, headers={}, address="")
        content = answer.json if "json" in answer.headers["Content-Type"] else answer.text
        example = {
            "path": event["pathParameters"] or {},
            "query": event["queryStringParameters"] or {},
            "request": body,
        }
        kept = {name: value for name, value in example.items() if value not in ({}, None)}
        one = self.found.setdefault(operation(method, path), plain({**kept, "answers": {}}))
        one["answers"].setdefault(str(answer.status), plain(content))


def operation(method: str, path: str) -> str:
    """As it is declared: `GET /api/admin/orders/{id}`."""
    event = api_gateway_event(app.app, method, path, headers={}, address="")
    found = find_operation(method, event["resource"])
    assert found is not None
    return f"{method} {found.path}"


def plain(example: Any) -> Any:
    text = _SECRET.sub(r"\1…", json.dumps(example, ensure_ascii=False))
    made = json.loads(_REQUEST.sub("…", text))
    return _unsigned(made)


def _unsigned(node: Any) -> Any:
    if isinstance(node, dict):
        return {
            name: "…" if name in {"policy", "x-amz-signature"} else _unsigned(inner)
            for name, inner in node.items()
            if name not in {"x-amz-credential", "x-amz-date", "x-amz-algorithm"}
        }
    if isinstance(node, list):
        return [_unsigned(inner) for inner in node]
    return _SIGNED.sub(r"\1?…", node) if isinstance(node, str) else node


D = TypeVar("D", bound=Day)


@contextmanager
def day(kind: type[D] | type[Day] = Day) -> Iterator[D]:
    """A shop whose webhooks, imports and jobs run when `Day` says so."""
    s3 = aws.client
    with account(), world() as the_world:
        day = kind(the_world)
        names = {"IMPORT": "import-chunks", "JOBS": "jobs"}
        urls = {f"{key}_QUEUE_URL": f"https://sqs.test/{name}" for key, name in names.items()}
        queues = _Queues(the_world.client("sqs"), day)

        def client(service: str) -> Any:
            if service == "s3":
                return s3("s3")
            return queues if service == "sqs" else the_world.client(service)

        with mock.patch.dict("os.environ", urls), mock.patch.object(aws, "client", client):
            for bucket in (settings.bucket(), settings.pictures_bucket()):
                client("s3").create_bucket(Bucket=bucket)
            yield day


class _Queues:
    """The webhooks' queues are the world's; those of imports and jobs are the day's."""

    def __init__(self, others: Any, day: Day) -> None:
        self._others, self._day = others, day

    def send_message_batch(self, QueueUrl: str, Entries: list[dict[str, Any]]) -> Any:
        function = {"import-chunks": "import_chunk", "jobs": "run_job"}.get(
            QueueUrl.rpartition("/")[2]
        )
        if function is None:
            return self._others.send_message_batch(QueueUrl=QueueUrl, Entries=Entries)
        self._day.jobs += [
            {"function": function, "body": entry["MessageBody"]} for entry in Entries
        ]
        return {}

    def __getattr__(self, operation: str) -> Any:
        return getattr(self._others, operation)


# --- The day --------------------------------------------------------------------------------------


def walk(day: Day) -> None:
    _keys(day)
    shirt = _catalogue(day)
    _pictures(day, shirt)
    webhook = _webhooks(day)
    _orders(day, shirt)
    _work(day)
    _imports(day)
    _jobs(day, shirt)
    _deliveries(day, webhook)
    _rest(day, shirt)


def _keys(day: Day) -> None:
    day.admin("GET", "/me")
    key = day.admin("POST", "/keys", {"name": "Till 1", "role": "STAFF"})
    day.admin("GET", "/keys?limit=2")
    day.admin("DELETE", f"/keys/{key['id']}")


def uploaded_path(picture: Any) -> str:
    """Where a picture, or a file of an order, is read."""
    order = picture.get("orderId")
    below = f"/orders/{order}/files" if order else "/pictures"
    return f"{below}/{picture['id']}"


def red_picture() -> bytes:
    """A PNG of 32 × 32 pixels, always the same."""
    header = struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0)
    rows = (b"\0" + b"\xc0\x20\x20" * 32) * 32
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )


def _pictures(day: Day, shirt: Any) -> Any:
    """A picture that the shirt shows."""
    data = red_picture()
    new = {"name": "shirt.png", "contentType": "image/png", "bytes": len(data)}
    picture = day.rendered(day.admin("POST", "/pictures", new), data)
    images = [{"pictureId": picture["id"], "alt": "A linen shirt"}]
    day.admin("PUT", f"/products/{shirt['id']}", {"images": images})
    other = day.rendered(day.admin("POST", "/pictures", new), data)
    day.admin("DELETE", f"/pictures/{other['id']}")
    return picture


def _files(day: Day, order: Any) -> None:
    """A photo of what an order is about; a second one is deleted."""
    data, path = red_picture(), f"/orders/{order['id']}/files"
    line = order["lineItems"][0]["id"]
    new = {"name": "ring.png", "contentType": "image/png", "bytes": len(data), "lineItemId": line}
    photo = day.rendered(day.admin("POST", path, new), data)
    day.admin("PATCH", f"{path}/{photo['id']}", {"note": "Engraving inside"})
    day.admin("GET", path)
    other = day.rendered(day.admin("POST", path, new), data)
    day.admin("DELETE", f"{path}/{other['id']}")


def _catalogue(day: Day) -> Any:
    new = {
        "name": "Linen shirt",
        "status": "ACTIVE",
        "price": 49,
        "vendor": "Kestrel",
        "type": "Shirts",
        "tags": ["linen", "summer"],
        "variants": [
            {"title": "S", "sku": "LIN-SHIRT-S", "stock": 12},
            {"title": "M", "sku": "LIN-SHIRT-M", "price": "52.00", "stock": 7},
        ],
    }
    shirt = day.admin("POST", "/products", new)
    day.admin("PUT", f"/products/{shirt['id']}", {"compareAtPrice": "59.00"})
    day.admin("GET", f"/products/{shirt['id']}")
    many = [{"name": "Tea towel", "price": 9.5, "sku": "TEA-TOWEL"}, {"name": "No price"}]
    towel = day.admin("POST", "/products/bulk", many)["data"][0]["product"]
    day.admin("POST", "/products/bulk-status", {"ids": [towel["id"]], "status": "ACTIVE"})
    moves = [{"variantId": shirt["variants"][0]["id"], "by": 6, "reason": "RECEIVED"}]
    day.admin("POST", f"/products/{shirt['id']}/stock", {"moves": moves})
    day.admin("GET", "/products?search=shirt&status=ACTIVE&limit=2")
    day.call("GET", "/api/products?search=shirt&limit=2")
    day.call("GET", "/api/products/facets")
    day.call("GET", f"/api/products/{shirt['slug']}")
    day.admin("DELETE", f"/products/{towel['id']}")
    return shirt


def _webhooks(day: Day) -> Any:
    expensive = {"data": {"total": [{"numeric": [">=", 500]}]}}
    new = {
        "url": "https://erp.example.com/backroom",
        "events": ["order.created", "order.paid"],
        "filter": expensive,
    }
    webhook = day.admin("POST", "/webhooks", new)
    old = day.admin("POST", "/webhooks", {**new, "url": "https://old.example.com/backroom"})
    path = f"/webhooks/{webhook['id']}"
    day.admin("PUT", path, {"description": "ERP", "email": "ops@example.com"})
    day.admin("GET", path)
    day.admin("GET", "/webhooks?limit=1")
    day.admin("POST", f"{path}/test", {"event": "order.paid"})
    day.admin("POST", f"{path}/test", {"event": "order.paid", "dryRun": True})
    day.admin("POST", f"{path}/rotate-secret", {"overlapHours": 24})
    day.admin("DELETE", f"/webhooks/{old['id']}")
    return webhook


def _orders(day: Day, shirt: Any) -> None:
    line = {"variantId": shirt["variants"][0]["id"], "quantity": 2}
    new = {
        "source": "IN_PERSON",
        "customer": {"email": "ada@example.com", "firstName": "Ada", "lastName": "Byron"},
        "lineItems": [line],
        "paymentStatus": "PAID",
        "paymentMethod": "CARD_TERMINAL",
    }
    day.admin("POST", "/orders", {**new, "dryRun": True})
    order = day.admin("POST", "/orders", new, headers={"Idempotency-Key": "till-1-000042"})
    path = f"/orders/{order['id']}"
    day.admin("PATCH", path, {"status": "PROCESSING", "salesRepId": "emp_ann-01"})
    day.admin("GET", path)
    day.admin("GET", "/orders?status=PROCESSING&limit=2")
    day.admin("PATCH", path, {"dueOn": "2026-12-24"})
    day.admin("GET", "/orders/due?limit=2&due=week")
    carrier = {"name": "Post", "trackingUrl": "https://post.example/track?id={number}"}
    day.admin("PUT", "/settings/shipping", {"carriers": [carrier]})
    day.admin("GET", "/settings/shipping")
    parts = f"{path}/shipments"
    part = {"carrier": "Post", "parcels": [{"trackingNumber": "RR100"}], "note": "Fragile"}
    part |= {"lines": [{"lineItemId": order["lineItems"][0]["id"], "quantity": 1}]}
    day.admin("POST", parts, {**part, "dryRun": True})
    (made,) = day.admin("POST", parts, part)["shipments"]
    day.admin("PATCH", f"{parts}/{made['id']}", {"parcels": [{"trackingNumber": "RR101"}]})
    day.admin("GET", "/shipments?state=SHIPPED&limit=2")
    day.admin("POST", f"{parts}/{made['id']}/cancel", {"reason": "Not picked up"})
    box = {"title": "Gift box, engraved", "price": "12.00", "quantity": 1, "note": "Ada"}
    day.admin("POST", f"{path}/edit", {"add": [box], "reason": "The customer asked for a box"})
    other = day.admin("POST", "/orders", {"lineItems": [line], "deposit": {"percent": 30}})
    path = f"/orders/{other['id']}"
    part = {"amount": "15.00", "method": "CASH", "tendered": "20.00"}
    day.admin("POST", f"{path}/payments", {**part, "dryRun": True})
    paid = day.admin("POST", f"{path}/payments", part)
    day.admin("POST", f"{path}/payments", {"method": "CARD_TERMINAL", "reference": "T-42"})
    payment = paid["payments"][0]
    returned = {"lines": [{"lineItemId": other["lineItems"][0]["id"], "quantity": 1}]}
    returned |= {"method": "CARD_TERMINAL", "reason": "DAMAGED"}
    day.admin("POST", f"{path}/refunds", {**returned, "dryRun": True})
    wrong = {"method": "BANK", "reason": "A wrong button"}
    corrected = day.admin("POST", f"{path}/payments/{payment['id']}/correct", wrong)
    payment = corrected["payments"][-1]
    day.admin("POST", f"{path}/payments/{payment['id']}/void", {"reason": "Counted twice"})
    day.admin("POST", f"{path}/refunds", returned)
    day.admin("GET", "/transactions?kind=PAYMENT&limit=2")
    day.admin("GET", "/stock/movements?cause=SALE&limit=2")
    day.admin("GET", "/stock/low?limit=2")
    _count(day, shirt["variants"][0]["id"])
    day.admin("POST", f"{path}/close", {"reason": "The customer withdrew", "dryRun": True})
    ending = {"keep": "5.00", "reason": "The customer withdrew", "method": "CARD_TERMINAL"}
    day.admin("POST", f"{path}/close", ending)
    day.admin("DELETE", path)
    _customers(day, order["customer"]["id"])
    day.admin("GET", "/search?q=ada")
    day.admin("GET", "/facets?type=products&field=vendor")
    day.admin("GET", "/summary")


def _work(day: Day) -> None:
    ring = {"title": "Ring", "price": "390.00", "quantity": 1, "make": True, "dueOn": "2026-12-18"}
    ring |= {"specification": [{"name": "Ring size", "value": "54"}]}
    order = day.admin("POST", "/orders", {"lineItems": [ring], "paymentStatus": "PAID"})
    _files(day, order)
    path = f"/orders/{order['id']}"
    stages = day.admin("GET", "/settings/production")["stages"]
    day.admin("GET", f"{path}/work")
    work = f"{path}/work/{order['lineItems'][0]['id']}"
    day.admin("PATCH", work, {"stage": stages[1]["id"], "assignee": "emp_ann-01"})
    day.admin("GET", "/work?stage=stg_work&limit=2")
    day.admin("PATCH", work, {"stage": stages[2]["id"]})
    day.admin(
        "PUT", "/settings/production", {"stages": [*stages[:2], {"name": "Polish"}, stages[2]]}
    )
    for paid in ("PAID", "PENDING"):
        day.admin("POST", "/orders", {"lineItems": [ring], "paymentStatus": paid})


def _count(day: Day, variant: str) -> None:
    counts = "/stock/counts"
    count = day.admin("POST", counts, {"name": "Shelf A", "filters": {"vendor": "Kestrel"}})
    path = f"{counts}/{count['id']}"
    day.admin("PUT", f"{path}/lines", {"lines": [{"variantId": variant, "counted": 12}]})
    day.admin("GET", f"{path}/lines?state=DIFFERENT")
    day.admin("POST", f"{path}/apply")
    day.admin("GET", path)
    other = day.admin("POST", counts, {"name": "Window", "variantIds": [variant]})
    day.admin("POST", f"{counts}/{other['id']}/cancel")
    day.admin("GET", f"{counts}?limit=1")


def _customers(day: Day, ada: str) -> None:
    day.admin("GET", "/customers?search=ada")
    day.admin("GET", f"/customers/{ada}")
    address = {"address1": "Quay 4", "postalCode": "20457", "city": "Hamburg", "countryCode": "DE"}
    new = {"company": "Kestrel Interiors", "email": "orders@kestrel.example", "tags": ["trade"]}
    kestrel = day.admin("POST", "/customers", {**new, "addresses": [address]})
    day.admin("PATCH", f"/customers/{kestrel['id']}", {"phone": "+49 40 1234567"})
    day.admin("DELETE", f"/customers/{kestrel['id']}")
    twins = [day.admin("POST", "/customers", {"firstName": "Ada"})["id"] for _ in range(2)]
    day.worked(day.admin("POST", f"/customers/{twins[0]}/merge", {"into": twins[1]})["jobId"])
    day.worked(day.admin("POST", f"/customers/{twins[1]}/erase")["jobId"])


def _imports(day: Day) -> None:
    day.admin("GET", "/products/import/template")
    job = day.upload("spring.csv", _CSV)
    day.admin("GET", f"/jobs/{job['id']}")
    day.admin("POST", f"/jobs/{job['id']}/retry")
    day.worked(job["id"])
    dry = day.upload("spring.csv", _CSV, dryRun="true")
    day.admin("POST", f"/jobs/{dry['id']}/run")
    day.worked(dry["id"])
    new = {"fileName": "everything.csv", "mode": "update"}
    waits = day.admin("POST", "/products/import/uploads", new)
    day.admin("POST", f"/jobs/{waits['jobId']}/cancel")
    columns = {"Artikel": "name", "Preis netto": "price", "Bestand": "stock"}
    asked = day.upload("lieferant.csv", _UNKNOWN_CSV)
    day.admin("POST", f"/jobs/{asked['id']}/mapping/preview", {"columns": columns})
    day.admin("POST", f"/jobs/{asked['id']}/mapping", {"columns": columns})
    day.worked(asked["id"])
    day.admin("PUT", "/products/import/mappings/supplier", {"columns": columns})
    day.admin("GET", "/products/import/mappings")
    day.admin("DELETE", "/products/import/mappings/supplier")


def _jobs(day: Day, shirt: Any) -> None:
    edit = {"ids": [shirt["id"]], "change": {"price": {"percent": -10, "roundTo": "0.50"}}}
    job = day.admin("POST", "/products/bulk-edit", edit)["jobId"]
    day.worked(job)
    day.worked(day.admin("POST", f"/jobs/{job}/undo")["jobId"])
    tagged = {"filters": {"status": ["PROCESSING"]}, "change": {"addTags": ["rush"]}}
    day.worked(day.admin("POST", "/orders/bulk-edit", tagged)["jobId"])
    paid = {"filters": {"status": ["PENDING"]}, "change": {"status": "PAID"}}
    day.worked(day.admin("POST", "/orders/bulk-edit", paid)["jobId"])
    export = {"type": "products", "format": "csv", "filters": {"status": ["ACTIVE"]}}
    day.worked(day.admin("POST", "/exports", export)["jobId"])
    report = {"type": "sales", "by": "product", "from": "2026-11-01", "to": "2026-11-30"}
    day.worked(day.admin("POST", "/reports", report)["jobId"])
    day.admin("GET", "/jobs?limit=2")


def _deliveries(day: Day, webhook: Any) -> None:
    path = f"/webhooks/{webhook['id']}"
    day.world.run(timedelta(minutes=1))
    thanked, day.world.answer = day.world.answer, lambda posted: failed(503)
    day.admin("POST", f"{path}/test", {"event": "order.created"})
    day.world.run(timedelta(days=15))
    day.world.answer = thanked
    listed = day.admin("GET", f"{path}/deliveries?limit=2")
    day.admin("GET", "/deliveries?status=DELIVERED&limit=1")
    failed_one = next(one["id"] for one in listed["data"] if one["status"] == "FAILED")
    delivered = day.shop.get(f"{_ADMIN}/deliveries?status=DELIVERED&limit=1").json["data"][0]["id"]
    day.admin("GET", f"/deliveries/{delivered}")
    since = {"since": "2026-11-01T00:00:00Z"}
    day.admin("POST", f"{path}/recover", since)
    day.admin("POST", f"{path}/recover", {**since, "dryRun": False})
    day.admin("POST", f"/deliveries/{failed_one}/replay")
    day.world.run(timedelta(minutes=1))


def _rest(day: Day, shirt: Any) -> None:
    day.world.sleep(minutes=1)
    day.admin("GET", "/events?types=order.paid&limit=1")
    day.admin("GET", "/audit?type=order&limit=2")


# --- What is refused ------------------------------------------------------------------------------


def _problems(day: Day) -> None:
    (shirt,) = day.shop.get(f"{_ADMIN}/products?search=shirt").json["data"]
    (order,) = day.shop.get(f"{_ADMIN}/orders?search=shirt").json["data"]
    line = {"variantId": shirt["variants"][1]["id"], "quantity": 1}
    _of_every_operation(day)
    _of_some(day, shirt, order["customer"]["id"])
    path = f"/orders/{order['id']}"
    day.refused(422, "POST", "/orders", {"lineItems": [{**line, "quantity": 0}]})
    day.refused(422, "POST", "/orders", {"lineItems": [{**line, "quantity": 900}]})
    day.refused(422, "PATCH", path, {"status": "PENDING"})
    key: Any = {"headers": {"Idempotency-Key": "till-1-000043"}}
    day.shop.post(f"{_ADMIN}/orders", {"lineItems": [line]}, **key)
    day.refused(422, "POST", "/orders", {"lineItems": [line], "note": "Gift"}, **key)
    day.refused(404, "GET", "/orders/ord_01M7VR0000000000000000")
    day.refused(410, "GET", f"/events?after={render_cursor(Place('2026-01-01T00:00:00.000Z'))}")


def _of_every_operation(day: Day) -> None:
    day.refused(401, "GET", "/me", key=None)
    day.refused(403, "GET", "/keys", key=day.shop.as_("READER"))
    day.refused(400, "POST", "/customers", b"{", headers={"Content-Type": "application/json"})
    day.refused(413, "POST", "/customers", {"note": "x" * LARGEST_BODY})
    day.refused(415, "POST", "/customers", b"name=Ann", headers={"Content-Type": "text/plain"})
    caller, busy = api_keys.mint("Till 2", Role.STAFF)
    api_keys.limit(caller.id, read=1, write=1)
    day.shop.get(f"{_ADMIN}/me", key=busy)
    day.world.now -= timedelta(seconds=7)  # which `refused` adds
    day.refused(429, "GET", "/me", key=busy)
    for status, cause in ((500, RuntimeError("of an example")), (503, Busy())):
        with mock.patch.object(summary, "show_summary", side_effect=cause):
            day.refused(status, "GET", "/summary")


def _of_some(day: Day, shirt: Any, ada: str) -> None:
    merged = day.found[f"POST {_ADMIN}/customers/{{id}}/merge"]["path"]["id"]
    day.refused(404, "GET", f"/customers/{merged}")
    day.refused(409, "POST", "/products", {"name": "Shirt", "price": 1, "slug": shirt["slug"]})
    day.refused(409, "POST", "/customers", {"email": "ada@example.com"})
    day.refused(409, "DELETE", f"/customers/{ada}")
    day.refused(412, "PUT", f"/products/{shirt['id']}", {"price": 50}, headers={"If-Match": '"0"'})


if __name__ == "__main__":
    FILE.write_text(text())
