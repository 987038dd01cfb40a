"""A tour of everything that the shop can do, so that every function makes every kind of call: the
day of the description's examples, and what is repeated, large, late or wrong."""

import io
import json
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import openpyxl

from chalicelib.webhooks.model import event_of
from infra.local import STAGE
from tests.e2e.calls import asked, until
from tests.e2e.recorded import client, ministack
from tests.support import examples
from tests.support.forms import form, posted
from tests.support.running import Stack, tool
from tests.webhooks.receiver import Receiver

_PATIENCE = 120.0
_ADDRESS = {"address1": "1 High Street", "city": "York", "countryCode": "GB"}
_CSV = "slug,name,price,sku,stock\n"


class Tour(examples.Day):
    """`stack` should have a short retry schedule."""

    def __init__(self, stack: Stack, receiver: Receiver) -> None:
        self._stack, self._receiver = stack, receiver

    def walk(self) -> Iterator[None]:
        """Pauses after each station."""
        stations = [
            self._keys,
            self._webhooks,
            self._products,
            self._orders,
            self._after_a_week,
            self._imports,
            self._jobs,
            self._dead_letters,
            self._schedules,
        ]
        for station in stations:
            station()
            yield

    # ---- Calls ----

    def call(
        self, method: str, path: str, body: Any = None, *, headers: Any = None, **more: str
    ) -> Any:
        """The JSON of the answer; None if it is not JSON or a refusal."""
        url, key = self._stack.base_url + path, self._stack.api_key
        answer = asked(method, url, key, body, **(headers or {}), **more)
        said = f"{method} {path}: {answer.status_code} {answer.text}"
        assert answer.status_code < 500 and answer.status_code != 429, said
        is_json = "json" in answer.headers["Content-Type"]
        return answer.json() if answer.is_success and is_json else None

    def upload(self, name: str, csv: str | bytes, **fields: str) -> Any:
        body, kind = form(fields, csv, name)
        return self.worked(self.admin("POST", "/products/import", body, Content_Type=kind)["jobId"])

    def worked(self, job: str) -> Any:
        running = ("QUEUED", "RUNNING")
        return self.until(
            lambda: (found := self.admin("GET", f"/jobs/{job}"))["status"] not in running and found
        )

    def rendered(self, picture: Any, data: bytes) -> Any:
        posted(picture["upload"], data)
        path = examples.uploaded_path(picture)
        return self.until(lambda: (found := self.admin("GET", path))["status"] == "READY" and found)

    def until(self, done: Callable[[], Any]) -> Any:
        return until(done, _PATIENCE, pause=0.5)

    def invoke(self, function: str, event: Any = None) -> None:
        answer = client(self._stack.aws_endpoint, "lambda").invoke(
            FunctionName=f"backroom-{STAGE}-{function}", Payload=json.dumps(event or {})
        )
        assert "FunctionError" not in answer, answer["Payload"].read()

    # ---- Stations ----

    def _keys(self) -> None:
        examples._keys(self)
        self.call("GET", "/api/admin/me", Authorization="Bearer wrong")

    def _webhooks(self) -> None:
        events = {"events": ["order.created"], "email": "ops@example.com"}
        good = self.admin("POST", "/webhooks", {"url": self._receiver.url("/ok"), **events})["id"]
        bad = {"url": self._receiver.url("/status/500"), **events}
        self._failing = self.admin("POST", "/webhooks", bad)["id"]
        self.admin("PUT", f"/webhooks/{good}", {"description": "Warehouse"})
        self.admin("POST", f"/webhooks/{good}/rotate-secret", {"overlapHours": 1})
        test = self.admin("POST", f"/webhooks/{good}/test", {})
        self.until(lambda: self._delivery(test["id"])["status"] == "DELIVERED")
        self.admin("POST", f"/deliveries/{test['id']}/replay", {})
        self.admin("GET", "/webhooks")
        away = self.admin("POST", "/webhooks", bad)["id"]
        self.admin("POST", f"/webhooks/{away}/test", {})
        self.admin("PUT", f"/webhooks/{away}", {"enabled": False})
        self.admin("PUT", f"/webhooks/{away}", {"enabled": True})
        self.admin("DELETE", f"/webhooks/{away}")

    def _delivery(self, id: str) -> Any:
        return self.admin("GET", f"/deliveries/{id}")

    def _products(self) -> None:
        self._shirt = examples._catalogue(self)
        self._picture = examples._pictures(self, self._shirt)
        new = {"name": "Mug", "price": 9.5, "status": "ACTIVE", "sku": "MUG", "type": "cups"}
        mug = self.admin("POST", "/products", new)["id"]
        self.admin("PUT", f"/products/{mug}", {"price": 9, "tags": ["blue"], "slug": "a-mug"})
        # With If-Match and without stock: the stock is then only checked.
        url = f"{self._stack.base_url}/api/admin/products/{mug}"
        etag = asked("GET", url, self._stack.api_key).headers["ETag"]
        assert self.admin("PUT", f"/products/{mug}", {"vendor": "Kestrel"}, If_Match=etag)
        self.admin("POST", "/products/bulk", [{**new, "name": f"Cup {n}"} for n in range(25)])
        for page in (1, 2):
            self.admin("GET", f"/products?limit=10&page={page}")
        # More words than its index has.
        many = [{"title": str(n), "sku": f"TEE-{n:02d}"} for n in range(60)]
        tee = self.admin("POST", "/products", {**new, "name": "Tee", "variants": many})["id"]
        assert self.admin("GET", "/products?search=TEE-59")["total"] == 1
        self.admin("DELETE", f"/products/{tee}")
        self.call("GET", "/api/openapi.json")
        self.call("GET", "/console")

    def _orders(self) -> None:
        examples._orders(self, self._shirt)
        examples._work(self)
        sold = {"name": "Bowl", "price": 5, "variants": [{"title": "S", "sku": "B", "stock": 9}]}
        (bowl,) = self.admin("POST", "/products", sold)["variants"]
        self._line = {"variantId": bowl["id"], "quantity": 1}
        order = {
            "lineItems": [{**self._line, "quantity": 5}],
            "customer": {"email": "ann@example.com", "firstName": "Ann"},
            "paymentStatus": "PAID",
        }
        half = {"amount": "12.50", "reason": "DAMAGED"}
        edit = {"add": [{**self._line, "note": "A second one"}], "reason": "Asked"}
        self.admin("POST", "/orders", {**order, "dryRun": True})
        for _ in range(2):
            made = self.admin("POST", "/orders", order, Idempotency_Key="tour")
            path = f"/orders/{made['id']}"
            self.admin("POST", f"{path}/refunds", half, Idempotency_Key="half")
            self.admin("POST", f"{path}/edit", edit, Idempotency_Key="edit")
        self.admin("POST", f"{path}/edit", {**edit, "dryRun": True})
        self.admin("POST", f"{path}/edit", {"shipping": "1.00", "reason": "Delivered"})
        (rest,) = self.admin("POST", f"{path}/payments", {"amount": "1.00"})["payments"][1:]
        self.admin("POST", f"{path}/payments/{rest['id']}/correct", {"method": "BANK"})
        part = {"lines": [{"lineItemId": made["lineItems"][0]["id"], "quantity": 1}]}
        for _ in range(2):
            shipped = self.admin("POST", f"{path}/shipments", part, Idempotency_Key="part")
            parcel = f"{path}/shipments/{shipped['shipments'][0]['id']}"
            self.admin("PATCH", parcel, {"note": "Fragile"})
        self.admin("POST", f"{path}/shipments", {"dryRun": True})
        for _ in range(2):
            self.admin("POST", f"{parcel}/cancel", {}, Idempotency_Key="back")
        close = {"keep": "1.00", "reason": "Stopped"}
        for _ in range(2):
            self.admin("POST", f"{path}/close", close, Idempotency_Key="close")
        other = self.admin("POST", "/orders", {"lineItems": [self._line]})
        self.admin("PATCH", f"/orders/{other['id']}", {"status": "CANCELLED"})
        self.admin("DELETE", f"/orders/{other['id']}")
        self._movements()
        self._customers()
        self.until(lambda: self.admin("GET", "/facets?type=orders&field=paymentMethod")["data"])
        self.until(lambda: self.admin("GET", "/events")["data"])

    def _movements(self) -> None:
        """Of a sale, and of its edit, which leaves no line to name its movement by."""
        new = {"name": "Counted", "price": "4.00", "status": "ACTIVE", "variants": [{"stock": 5}]}
        (variant,) = self.admin("POST", "/products", new)["variants"]
        custom = {"title": "Engraving", "price": "1.00", "quantity": 1}
        lines = [{"variantId": variant["id"], "quantity": 1}, custom]
        order = self.admin("POST", "/orders", {"lineItems": lines})
        assert self.admin("GET", "/stock/low?limit=1")["data"]
        edit = {"remove": [order["lineItems"][0]["id"]], "reason": "Asked"}
        self.admin("POST", f"/orders/{order['id']}/edit", edit)
        path = f"/stock/movements?variantId={variant['id']}"
        self.until(lambda: self.admin("GET", path)["total"] == 3)
        self._audited(order["id"], "order.created", "order.edited")
        line = {"variantId": variant["id"], "counted": 1, "add": True}
        for _ in range(2):
            new = {"name": "Shelf", "variantIds": [variant["id"]]}
            count = self.admin("POST", "/stock/counts", new, Idempotency_Key="shelf")["id"]
            lines = f"/stock/counts/{count}/lines"
            self.admin("PUT", lines, {"lines": [line]}, Idempotency_Key="scan")
        self.worked(self.admin("POST", f"/stock/counts/{count}/apply")["jobId"])
        assert self.admin("GET", lines)["data"][0]["counted"] == 1

    def _audited(self, id: str, *actions: str) -> None:
        def found() -> list[str]:
            listed = self.admin("GET", f"/audit?recordId={id}")["data"]
            return [entry["action"] for entry in listed][::-1]

        self.until(lambda: found() == list(actions))

    def _customers(self) -> None:
        person = {"email": "bob@example.com", "addresses": [{**_ADDRESS}]}
        for _ in range(2):
            made = self.admin("POST", "/customers", person, Idempotency_Key="bob")
        self.admin("GET", "/customers?search=bob&fields=id,email")
        self.admin("PATCH", f"/customers/{made['id']}", {"email": "rob@example.com"})
        other = self.admin("POST", "/customers", {"firstName": "Nobody"})
        self.admin("DELETE", f"/customers/{other['id']}")
        self._audited(made["id"], "customer.created", "customer.updated")
        self._audited(other["id"], "customer.created", "customer.deleted")
        sent = {"lineItems": [self._line], "customer": {"id": made["id"]}}
        order = self.admin("POST", "/orders", {**sent, "shippingAddress": _ADDRESS})
        self.admin("PATCH", f"/orders/{order['id']}", {"billingAddress": _ADDRESS})

    def _imports(self) -> None:
        examples._imports(self)
        rows = [f"plate-{n},Plate {n},4.50,PL{n},3" for n in range(40)]
        first = self.upload("a.csv", _CSV + "\n".join([*rows, "bad,Bad,not a price,,"]))
        assert (first["created"], first["failed"]) == (40, 1), first
        # By SKU; one product twice, far apart; one that is not complete before its second part.
        apart = [*rows, *(f"dish-{n},Dish {n},4.50,,{n}" for n in range(600))]
        assert self.upload("b.csv", "sku,price\nPL1,4.00\nPL2,4.10\n")["updated"] == 2
        far = self.upload("c.csv", _CSV + "\n".join([*apart, "plate-1,Plate one,3.90,PL1,1"]))
        assert far["failed"] == 0
        ended = self.admin("POST", "/products/import/uploads", {"fileName": "big.csv"})
        posted(ended, _CSV + "cup,Cup,1,,")
        self.worked(ended["jobId"])
        taken = f"slug,name,price,image url\nseen,Seen,1,{self._picture['sizes']['large']}"
        assert self.upload("pictures.csv", taken)["created"] == 1
        book = _workbook(["slug", "name", "price"], ["from-a-book", "From a book", 3])
        assert self.upload("book.xlsx", book)["created"] == 1
        assert self.upload("d.csv", _CSV + "jug,Jug,1,,\n" * 2_001)["failed"] == 1

    def _jobs(self) -> None:
        """Bulk edits, undo and exports."""
        examples._jobs(self, self._shirt)
        public = "slug,name,price,sku,stock,status,type\nvase,Vase,9.00,VASE,1,ACTIVE,vases"
        upload = self.upload("e.csv", public)
        taken_out = self.admin("POST", f"/jobs/{upload['id']}/undo")["jobId"]
        assert self.worked(taken_out)["deleted"] == 1
        again = self.admin("POST", f"/jobs/{taken_out}/undo")["jobId"]
        assert self.worked(again)["created"] == 1
        for kind in ("products", "orders", "customers", "movements"):
            made = self.admin("POST", "/exports", {"type": kind, "all": True})
            job = self.worked(made["jobId"])
            with urllib.request.urlopen(job["downloadUrl"]) as file:
                assert len(file.read()) == job["bytes"]
        for kind in ("sales", "money", "tax"):
            period = {"type": kind, "from": "2026-01-01", "to": "2026-12-31"}
            job = self.worked(self.admin("POST", "/reports", period)["jobId"])
            assert job["report"]["columns"] and not job["report"]["truncated"], job
        assert "COMPLETED" in tool(self._stack, "reindex", "--settle", "0")
        self._merges_and_erasures()

    def _merges_and_erasures(self) -> None:
        people = [{"email": f"{name}@example.com"} for name in ("may", "june")]
        may, june = (self.admin("POST", "/customers", one)["id"] for one in people)
        order = {"lineItems": [self._line], "customer": {"id": may}}
        ordered = self.admin("POST", "/orders", order, Idempotency_Key="may")
        placed = ordered["id"]
        examples._files(self, ordered)
        self.admin("PATCH", f"/customers/{june}", {"email": None, "phone": "030 1234"})
        merge = self.admin("POST", f"/customers/{may}/merge", {"into": june})["jobId"]
        assert self.worked(merge)["updated"] == 1
        cancel = {"ids": [placed], "change": {"status": "CANCELLED"}}
        cancelled = self.admin("POST", "/orders/bulk-edit", cancel)["jobId"]
        assert self.worked(cancelled)["updated"] == 1
        asked = "030 1234 june"
        self.admin("POST", f"/customers/{june}/erase", Idempotency_Key=asked)
        erased = self.admin("POST", f"/customers/{june}/erase", Idempotency_Key=asked)
        touched = self.worked(erased["jobId"])["touched"]
        assert touched["orders"] == touched["customers"] == touched["files"] == 1, touched
        assert touched["audit"] >= 2, touched

    def _dead_letters(self) -> None:
        """A dead letter ends its job."""
        job = self.admin("POST", "/products/import/uploads", {"fileName": "x.csv"})["jobId"]
        sqs = client(self._stack.aws_endpoint, "sqs")
        queue = sqs.get_queue_url(QueueName=f"backroom-{STAGE}-import-chunks-dead")["QueueUrl"]
        sqs.send_message(QueueUrl=queue, MessageBody=json.dumps({"job": job, "line": 2}))
        assert self.worked(job)["status"] == "FAILED"
        # An event that no code can read is put aside.
        dynamodb = client(self._stack.aws_endpoint, "dynamodb")
        poison = {"pk": {"S": "evt_poison"}, "sk": {"S": "events"}, "events": {"S": "none"}}
        dynamodb.put_item(TableName=f"backroom-{STAGE}-outbox", Item=poison)
        dead = sqs.get_queue_url(QueueName=f"backroom-{STAGE}-fan-out-dead")["QueueUrl"]
        self.until(lambda: "Messages" in sqs.receive_message(QueueUrl=dead, VisibilityTimeout=0))

    def _after_a_week(self) -> None:
        path = f"/webhooks/{self._failing}/deliveries?limit=1"
        delivery = self.admin("GET", path)["data"][0]["id"]
        self.until(lambda: self._delivery(delivery)["status"] == "FAILED")
        self.admin("POST", f"/deliveries/{delivery}/replay", {})
        self.until(lambda: self._delivery(delivery)["status"] != "FAILED")
        self.until(lambda: self._delivery(delivery)["status"] == "FAILED")
        since = {"since": "2026-01-01T00:00:00Z"}
        self.admin("POST", f"/webhooks/{self._failing}/recover", since)
        posts = len(self._receiver.requests)
        self.admin("POST", f"/webhooks/{self._failing}/recover", {**since, "dryRun": False})
        self.until(lambda: len(self._receiver.requests) > posts)
        # New and republished events of a failing webhook are sent through the other queue.
        order = self.admin("POST", "/orders", {"lineItems": [self._line]})["id"].encode()

        def sent() -> list[str]:
            return [one.delivery for one in self._receiver.requests if order in one.body]

        self.until(lambda: len(set(sent())) == 2)  # one to each webhook
        self.invoke("fan_out", {"republish": [event_of(sent()[-1])]})
        self.invoke("fan_out", {"republish": "lost"})

    def _schedules(self) -> None:
        self.invoke("check_counts")
        # What a crash left of a picture and of a file; and a picture that no product shows.
        stray = {"Bucket": f"backroom-{STAGE}-000000000000-us-east-1", "Body": b""}
        client(self._stack.aws_endpoint, "s3").put_object(
            **stray, Key="pictures/pic_00000000000000000000000000"
        )
        client(self._stack.aws_endpoint, "s3").put_object(
            **stray, Key="files/ord_00000000000000000000000000/fil_0/original"
        )
        data = examples.red_picture()
        new = {"name": "shirt.png", "contentType": "image/png", "bytes": len(data)}
        self.rendered(self.admin("POST", "/pictures", new), data)
        self.invoke("check_counts", {"sweep": "pictures"})
        self.invoke("render_file", {"sweep": "uploads"})
        mails = ministack(self._stack.aws_endpoint, "ses/messages")

        def told() -> bool:
            self.invoke("send_summaries")
            with urllib.request.urlopen(mails) as answer:
                return b"ops@example.com" in answer.read()

        self.until(told)


def _workbook(*rows: list[object]) -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()
