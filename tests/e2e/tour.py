"""A tour of everything that the shop can do, so that every function makes every kind of call."""

import io
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import openpyxl

from chalicelib.webhooks.model import event_of
from infra.local import STAGE
from tests.e2e.calls import until
from tests.e2e.recorded import client
from tests.support.forms import form, posted
from tests.support.running import Stack, tool
from tests.webhooks.receiver import Receiver

_PATIENCE = 120.0
_ADDRESS = {"address1": "1 High Street", "city": "York", "countryCode": "GB"}
_CSV = "slug,name,price,sku,stock\n"


class Tour:
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

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The JSON of the answer; None if it is not JSON or a refusal."""
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        known = {
            "Authorization": f"Bearer {self._stack.api_key}",
            "Content-Type": "application/json",
        }
        request = urllib.request.Request(
            self._stack.base_url + path,
            sent,
            known | {name.replace("_", "-"): value for name, value in headers.items()},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
                return json.loads(text) if "json" in answer.headers["Content-Type"] else None
        except urllib.error.HTTPError as error:
            assert error.code < 500, f"{method} {path}: {error.code} {error.read().decode()}"
            assert error.code != 429, f"{method} {path}: raise the limits of the key"
            return None

    def _etag(self, path: str) -> str:
        known = {"Authorization": f"Bearer {self._stack.api_key}"}
        request = urllib.request.Request(self._stack.base_url + path, headers=known)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return str(answer.headers["ETag"])

    def admin(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        return self.call(method, f"/api/admin{path}", body, **headers)

    def until(self, done: Callable[[], Any]) -> Any:
        return until(done, _PATIENCE, pause=0.5)

    def invoke(self, function: str, event: Any = None) -> None:
        answer = client(self._stack.aws_endpoint, "lambda").invoke(
            FunctionName=f"backroom-{STAGE}-{function}", Payload=json.dumps(event or {})
        )
        assert "FunctionError" not in answer, answer["Payload"].read()

    # ---- Stations ----

    def _keys(self) -> None:
        self.admin("GET", "/me")
        made = self.admin("POST", "/keys", {"name": "Till", "role": "OWNER"})
        self.admin("GET", "/keys")
        self.admin("DELETE", f"/keys/{made['id']}")
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
        new = {"name": "Mug", "price": 9.5, "status": "ACTIVE", "sku": "MUG", "type": "cups"}
        mug = self.admin("POST", "/products", new)["id"]
        self.admin("PUT", f"/products/{mug}", {"price": 9, "tags": ["blue"], "slug": "a-mug"})
        self.admin("GET", f"/products/{mug}")
        # With If-Match and without stock: the stock is then only checked.
        etag = self._etag(f"/api/admin/products/{mug}")
        assert self.admin("PUT", f"/products/{mug}", {"vendor": "Kestrel"}, If_Match=etag)
        self.admin("POST", "/products/bulk", [{**new, "name": f"Cup {n}"} for n in range(25)])
        for page in (1, 2):
            self.admin("GET", f"/products?limit=10&page={page}")
        self.admin("GET", "/products?search=cup&status=ACTIVE&type=cups")
        self.call("GET", "/api/products")
        self.call("GET", "/api/products/a-mug")
        self.admin("DELETE", f"/products/{mug}")
        many = [
            {"title": str(n), "sku": f"TEE-{n:02d}"} for n in range(60)
        ]  # more words than its index has
        tee = self.admin("POST", "/products", {**new, "name": "Tee", "variants": many})["id"]
        assert self.admin("GET", "/products?search=TEE-59")["total"] == 1
        self.admin("DELETE", f"/products/{tee}")
        self.call("GET", "/api/openapi.json")
        self.call("GET", "/console")

    def _orders(self) -> None:
        sold = self.admin(
            "POST",
            "/products",
            {"name": "Bowl", "price": 5, "variants": [{"title": "S", "sku": "B", "stock": 9}]},
        )
        self._line = {"variantId": sold["variants"][0]["id"], "quantity": 1}
        self._sold, self._move = sold["id"], {"variantId": sold["variants"][0]["id"]}
        order = {
            "lineItems": [{**self._line, "quantity": 5}],
            "customer": {"email": "ann@example.com", "firstName": "Ann"},
            "paymentStatus": "PAID",
        }
        for _ in range(2):
            made = self.admin("POST", "/orders", order, Idempotency_Key="tour")
        self._payments(made["id"])
        edit = {"add": [{**self._line, "note": "A second one"}], "reason": "Asked"}
        self.admin("POST", f"/orders/{made['id']}/edit", {**edit, "dryRun": True})
        for _ in range(2):
            self.admin("POST", f"/orders/{made['id']}/edit", edit, Idempotency_Key="edit")
        self.admin("PATCH", f"/orders/{made['id']}", {"status": "PROCESSING"})
        other = self.admin("POST", "/orders", {"lineItems": [self._line]})
        self.admin("PATCH", f"/orders/{other['id']}", {"status": "CANCELLED"})
        self.admin("DELETE", f"/orders/{other['id']}")
        self.admin("GET", "/orders?search=ann")
        self.admin("GET", f"/orders/{made['id']}")
        self.admin("GET", "/customers")
        self.admin("GET", f"/customers/{made['customer']['id']}")
        self._customers()
        self.admin("GET", "/summary")
        self.admin("GET", "/search?q=ann")
        self.until(lambda: self.admin("GET", "/facets?type=orders&field=paymentMethod")["data"])
        self.until(lambda: self.admin("GET", "/events")["data"])

    def _payments(self, paid: str) -> None:
        half = {"amount": "12.50", "reason": "DAMAGED"}
        self.admin("POST", f"/orders/{paid}/refunds", {**half, "dryRun": True})
        for _ in range(2):
            self.admin("POST", f"/orders/{paid}/refunds", half, Idempotency_Key="half")
        order = self.admin("POST", "/orders", {"lineItems": [self._line]})["id"]
        for method in ("CASH", "CARD_TERMINAL"):
            made = self.admin("POST", f"/orders/{order}/payments", {"amount": 1, "method": method})
        path = f"/orders/{order}/payments/{made['payments'][1]['id']}/void"
        assert self.admin("POST", path, {"reason": "Declined"})["balanceDue"] == "4.00"
        assert self.admin("GET", "/transactions?kind=VOID&limit=5")["total"] == 1
        self._movements()

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
        self._counts(variant["id"])

    def _audited(self, id: str, *actions: str) -> None:
        def found() -> list[str]:
            listed = self.admin("GET", f"/audit?recordId={id}")["data"]
            return [entry["action"] for entry in listed][::-1]

        self.until(lambda: found() == list(actions))

    def _counts(self, variant: str) -> None:
        counts = "/stock/counts"
        for _ in range(2):
            sent = {"name": "Shelf", "variantIds": [variant]}
            count = self.admin("POST", counts, sent, Idempotency_Key="shelf")["id"]
        line = {"variantId": variant, "counted": 1, "add": True}
        for _ in range(2):
            self.admin("PUT", f"{counts}/{count}/lines", {"lines": [line]}, Idempotency_Key="scan")
        assert self.admin("GET", f"{counts}/{count}/lines?state=COUNTED")["total"] == 1
        job = self.admin("POST", f"{counts}/{count}/apply")["jobId"]
        self.until(lambda: self.admin("GET", f"/jobs/{job}")["status"] == "COMPLETED")
        assert self.admin("GET", f"{counts}/{count}")["counted"] == 1
        other = self.admin("POST", counts, {"name": "All", "all": True})["id"]
        self.admin("POST", f"{counts}/{other}/cancel")
        assert self.admin("GET", counts)["total"] == 2

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
        rows = [f"plate-{n},Plate {n},4.50,PL{n},3" for n in range(40)]
        first = self._finished(self._upload(_CSV + "\n".join([*rows, "bad,Bad,not a price,,"])))
        assert (first["created"], first["failed"]) == (40, 1), first
        with urllib.request.urlopen(first["errorReportUrl"]) as report:
            assert b"not a price" in report.read()
        retried = self.admin("POST", f"/jobs/{first['id']}/retry")["jobId"]
        assert self._finished(retried)["failed"] == 1
        # By SKU; one product twice, far apart; one that is not complete before its second part.
        apart = [*rows, *(f"dish-{n},Dish {n},4.50,,{n}" for n in range(600))]
        again = "sku,price\nPL1,4.00\nPL2,4.10\n"
        assert self._finished(self._upload(again))["updated"] == 2
        far = self._upload(_CSV + "\n".join([*apart, "plate-1,Plate one,3.90,PL1,1"]))
        assert self._finished(far)["failed"] == 0
        self._finished(self._upload(_CSV + rows[0], "?dryRun=true"))
        ended = self.admin("POST", "/products/import/uploads", {"fileName": "big.csv"})
        posted(ended, _CSV + "cup,Cup,1,,")
        self._finished(ended["jobId"])
        waits = self.admin("POST", "/products/import/uploads", {"fileName": "never.csv"})["jobId"]
        self.admin("POST", f"/jobs/{waits}/cancel")
        asked = self._finished(self._upload("who,knows\nnobody,2\n"))
        assert asked["status"] == "NEEDS_MAPPING", asked
        columns = {"columns": {"who": "name", "knows": "price"}}
        foreseen = self.admin("POST", f"/jobs/{asked['id']}/mapping/preview", columns)
        assert foreseen["first"][0]["name"] == "nobody", foreseen
        mapping = {**columns, "saveAs": "tour"}
        self.admin("POST", f"/jobs/{asked['id']}/mapping", mapping)
        mapped = self._ended(asked["id"], "COMPLETED")
        assert mapped["created"] == 1, mapped
        book = _workbook(["slug", "name", "price"], ["from-a-book", "From a book", 3])
        assert self._finished(self._upload(book))["created"] == 1
        too_many_rows = self._finished(self._upload(_CSV + "jug,Jug,1,,\n" * 2_001))
        assert too_many_rows["failed"] == 1
        self.admin("GET", "/jobs")
        self.admin("GET", "/products/import/template")

    def _jobs(self) -> None:
        """Bulk edits, undo and exports."""
        price = {"filters": {"search": "cup"}, "change": {"price": {"percent": 10}}}
        edited = self.admin("POST", "/products/bulk-edit", price, Idempotency_Key="raise")["jobId"]
        changed = self._finished(edited)
        assert changed["updated"] >= 25 and not changed["failed"], changed
        undone = self.admin("POST", f"/jobs/{edited}/undo")["jobId"]
        assert self._finished(undone)["updated"] == changed["updated"]
        upload = self._finished(self._upload(_CSV + "vase,Vase,9.00,VASE,1"))
        taken_out = self.admin("POST", f"/jobs/{upload['id']}/undo")["jobId"]
        assert self._finished(taken_out)["deleted"] == 1
        again = self.admin("POST", f"/jobs/{taken_out}/undo")["jobId"]
        assert self._finished(again)["created"] == 1
        tagged = {"all": True, "change": {"addTags": ["seen"]}}
        orders = self.admin("POST", "/orders/bulk-edit", tagged)["jobId"]
        assert self._finished(orders)["updated"]
        moves = {"moves": [{**self._move, "by": 3, "reason": "RECEIVED"}]}
        self.admin("POST", f"/products/{self._sold}/stock", moves, Idempotency_Key="delivery")
        for kind in ("products", "orders", "customers", "movements"):
            job = self._finished(
                self.admin("POST", "/exports", {"type": kind, "all": True})["jobId"]
            )
            with urllib.request.urlopen(job["downloadUrl"]) as file:
                assert len(file.read()) == job["bytes"]
        for kind in ("sales", "money", "tax"):
            asked = {"type": kind, "from": "2026-01-01", "to": "2026-12-31"}
            job = self._finished(self.admin("POST", "/reports", asked)["jobId"])
            assert job["report"]["columns"] and not job["report"]["truncated"], job
        assert "COMPLETED" in tool(self._stack, "reindex", "--settle", "0")
        self._merges_and_erasures()

    def _merges_and_erasures(self) -> None:
        people = [{"email": f"{name}@example.com"} for name in ("may", "june")]
        may, june = (self.admin("POST", "/customers", one)["id"] for one in people)
        order = {"lineItems": [self._line], "customer": {"id": may}}
        placed = self.admin("POST", "/orders", order, Idempotency_Key="may")["id"]
        self.admin("PATCH", f"/customers/{june}", {"email": None, "phone": "030 1234"})
        merge = self.admin("POST", f"/customers/{may}/merge", {"into": june})["jobId"]
        assert self._finished(merge)["updated"] == 1
        cancel = {"ids": [placed], "change": {"status": "CANCELLED"}}
        cancelled = self.admin("POST", "/orders/bulk-edit", cancel)["jobId"]
        assert self._finished(cancelled)["updated"] == 1
        for kind in ("orders", "customers"):
            self._finished(self.admin("POST", "/exports", {"type": kind, "all": True})["jobId"])
        asked = "030 1234 june"
        self.admin("POST", f"/customers/{june}/erase", Idempotency_Key=asked)
        erased = self.admin("POST", f"/customers/{june}/erase", Idempotency_Key=asked)
        touched = self._finished(erased["jobId"])["touched"]
        assert touched["orders"] == touched["customers"] == 1 and touched["exports"] >= 2, touched

    def _upload(self, text: str | bytes, query: str = "") -> str:
        body, kind = form({}, text)
        path = f"/products/import{query}"
        return str(self.admin("POST", path, body, Content_Type=kind)["jobId"])

    def _finished(self, job: str) -> Any:
        return self._ended(job, "COMPLETED", "FAILED", "CANCELLED", "NEEDS_MAPPING")

    def _ended(self, job: str, *ends: str) -> Any:
        return self.until(
            lambda: (found := self.admin("GET", f"/jobs/{job}"))["status"] in ends and found
        )

    def _dead_letters(self) -> None:
        """A dead letter ends its job."""
        job = self.admin("POST", "/products/import/uploads", {"fileName": "x.csv"})["jobId"]
        sqs = client(self._stack.aws_endpoint, "sqs")
        queue = sqs.get_queue_url(QueueName=f"backroom-{STAGE}-import-chunks-dead")["QueueUrl"]
        sqs.send_message(QueueUrl=queue, MessageBody=json.dumps({"job": job, "line": 2}))
        assert self._finished(job)["status"] == "FAILED"
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
        mails = f"{self._stack.aws_endpoint}/_ministack/ses/messages"

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
