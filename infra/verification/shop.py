"""Checks by requests to the API, and by files."""

import base64
import re
import secrets
import statistics
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3

from chalicelib.api_keys.model import Role
from infra import stacks
from infra.verification.stage import Stage, encode_form, send_request, wait_until
from infra.verification.statements import DoesNotHoldError

# A PNG of 16 × 16 pixels.
_PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQAAAAA3iMLMAAAAD0lEQVR42mP8z8DEQAICADIBAR/gNlhXAAAAAElFTkSu"
    "QmCC"
)
_CSV = "slug,name,price,sku,status,stock\n"
_ORDERS, _AT_ONCE = 100, 10  # of the load
_WARM = 10  # requests of each kind
_SLOW_MS = 3_000  # the alarm api-slow
# Staff may read the entries of one record only.
_ASKED = {"/api/admin/audit": "?recordId=ord_verify_0"}


def answers(stage: Stage) -> str:
    """Check that the stacks are complete, and the API answers."""
    said = stage.call("GET", "/api", role=None)
    release = said.json.get("release") or said.json.get("version") if said.status == 200 else None
    if said.status != 200:
        raise DoesNotHoldError(f"GET /api: {said.status} {said.text.decode()[:200]}")
    return f"GET /api is 200 ({release or 'no release'}), at {stage.base_url}"


def routes_by_role(stage: Stage) -> str:
    """Send each operation once with its role, and once with the role below, which is refused.

    What is written is empty, or for a record that is not there: nothing changes.
    """
    described = stage.call("GET", "/api/openapi.json", role=None).json
    wrong, count = list[str](), 0
    for method, path, operation in _list_operations(described):
        target = re.sub(r"\{[^}]+\}", "verify_0", path) + _ASKED.get(path, "")
        body: object = {} if "requestBody" in operation else None
        role = operation.get("x-role")
        said = stage.call(method, target, body, role=role)
        documented = set(operation["responses"]) - {"401", "403", "429", "500", "502", "503", "504"}
        if str(said.status) not in documented:
            wrong.append(f"{method} {path} as {role}: {said.status}")
        if below := _role_below(role):
            refused = stage.call(method, target, body, role=below)
            if refused.status != 403:
                wrong.append(f"{method} {path} as {below}: {refused.status}, not 403")
        # Writes are left out, because an address may fail to sign in 60 times a minute only.
        if role and method == "GET" and stage.call(method, target, role=None).status != 401:
            wrong.append(f"{method} {path} without a key is not 401")
        count += 1
    if wrong:
        raise DoesNotHoldError("; ".join(wrong))
    return f"{count} operations answer as documented; less than their role is 403, no key is 401"


def _list_operations(described: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, item in described["paths"].items():
        for method, operation in item.items():
            if method in {"get", "post", "put", "patch", "delete"}:
                yield method.upper(), path, operation


def _role_below(role: str | None) -> str | None:
    ranks = [each.value for each in Role]
    return ranks[ranks.index(role) - 1] if role in ranks[1:] else None


def main_job(stage: Stage) -> str:
    """Do what a shop does in a day, each step answered with success."""
    mark = _make_mark()
    product = stage.call_json("POST", "/products", _make_product(mark, stock=9), role="STAFF")
    etag = stage.call("GET", f"/api/admin/products/{product['id']}").headers["ETag"]
    stage.call_json("PUT", f"/products/{product['id']}", {"price": 8}, headers={"If-Match": etag})
    line = {"variantId": product["variants"][0]["id"], "quantity": 2}
    order = {"lineItems": [line], "customer": {"email": f"{mark}@example.com"}}
    once = {"Idempotency-Key": mark}
    placed = [stage.call_json("POST", "/orders", order, headers=once)["id"] for _ in range(2)]
    if placed[0] != placed[1]:
        raise DoesNotHoldError("the same Idempotency-Key placed two orders")
    stage.call_json("POST", f"/orders/{placed[0]}/payments", {"amount": 1, "method": "CASH"})
    stage.call_json("PATCH", f"/orders/{placed[0]}", {"status": "PAID"})
    found = [
        stage.call_json("GET", f"/products?search={mark}")["total"],
        stage.call_json("GET", f"/orders?search={mark}")["total"],
        stage.call("GET", f"/api/products?search={mark}", role=None).json["total"],
    ]
    if found != [1, 1, 1]:
        raise DoesNotHoldError(f"searches of what was just written found {found}, not one each")
    edit = {"ids": [product["id"]], "change": {"vendor": "Verify"}}
    edited = stage.wait_for_job(stage.call_json("POST", "/products/bulk-edit", edit)["jobId"])
    undone = stage.wait_for_job(stage.call_json("POST", f"/jobs/{edited['id']}/undo")["jobId"])
    export = stage.call_json("POST", "/exports", {"type": "products", "filters": {"search": mark}})
    exported = stage.wait_for_job(export["jobId"])
    states = [job["status"] for job in (edited, undone, exported)]
    if set(states) != {"COMPLETED"}:
        raise DoesNotHoldError(f"bulk edit, undo and export ended as {', '.join(states)}")
    return "product, order (once), payment, searches, bulk edit, undo and export"


def import_by_form(stage: Stage) -> str:
    body, kind = encode_form({}, _make_rows(3))
    started = stage.call_json("POST", "/products/import", body, kind=kind, role="STAFF")
    return _check_import(stage.wait_for_job(started["jobId"]), 3)


def import_by_s3(stage: Stage) -> str:
    upload = stage.call_json("POST", "/products/import/uploads", {"fileName": "verify.csv"})
    body, kind = encode_form(upload["fields"], _make_rows(3))
    posted = send_request("POST", upload["url"], body, {"Content-Type": kind})
    host = upload["url"].partition("://")[2].partition("/")[0]
    if posted.status not in {200, 201, 204}:
        raise DoesNotHoldError(f"{host} answered {posted.status}: {posted.text.decode()[:300]}")
    return f"{_check_import(stage.wait_for_job(upload['jobId']), 3)}, uploaded to {host}"


def picture_by_s3(stage: Stage) -> str:
    """Check that a picture is rendered, and that everybody sees it, and nobody the list of all."""
    file = base64.b64decode(_PICTURE)
    new = {"name": "verify.png", "contentType": "image/png", "bytes": len(file)}
    made = stage.call_json("POST", "/pictures", new, role="STAFF")
    body, kind = encode_form(made["upload"]["fields"], file)
    send_request("POST", made["upload"]["url"], body, {"Content-Type": kind})
    path = f"/pictures/{made['id']}"

    def find_ended() -> Any:
        picture = stage.call_json("GET", path)
        return picture if picture["status"] != "WAITING" else None

    picture = wait_until(find_ended, 120, "the picture is still WAITING")
    if picture["status"] != "READY":
        raise DoesNotHoldError(f"the picture is {picture['status']}: {picture['error']}")
    seen = send_request("GET", picture["sizes"]["small"])
    listed = send_request("GET", picture["sizes"]["small"].partition("pic_")[0])
    stage.call_json("DELETE", path)
    if (seen.status, listed.status) != (200, 403):
        raise DoesNotHoldError(f"a picture is {seen.status}, their list {listed.status}")
    return f"{seen.headers['Content-Type']} of {len(seen.text)} bytes, and their list is 403"


def under_load(stage: Stage) -> str:
    """Place orders of one product at the same time, beside an import.

    Each is placed or refused as documented, and the stock is exact.
    """
    body, kind = encode_form({}, _make_rows(stage.load))
    job = stage.call_json("POST", "/products/import", body, kind=kind)["jobId"]
    product = stage.call_json("POST", "/products", _make_product(_make_mark(), stock=_ORDERS))
    order = {"lineItems": [{"variantId": product["variants"][0]["id"], "quantity": 1}]}
    began = time.monotonic()
    with ThreadPoolExecutor(_AT_ONCE) as callers:
        said = list(
            callers.map(lambda _: stage.call("POST", "/api/admin/orders", order), range(_ORDERS))
        )
    seconds = time.monotonic() - began
    statuses = {
        status: sum(a.status == status for a in said) for status in {a.status for a in said}
    }
    left = stage.call_json("GET", f"/products/{product['id']}")["variants"][0]["stock"]
    imported = _check_import(stage.wait_for_job(job, 900), stage.load)
    slowest = max(answer.seconds for answer in said)
    seen = f"orders {statuses} in {seconds:.1f} s, the slowest {slowest:.2f} s; {imported}"
    if set(statuses) - {201, 503} or left != _ORDERS - statuses.get(201, 0):
        raise DoesNotHoldError(f"{seen}; stock left: {left}")
    return f"{seen}; {_given_up(stage)} calls were given up"


def _given_up(stage: Stage) -> int:
    pages = stage.aws("logs").get_paginator("filter_log_events")
    asks = {
        "logGroupName": f"/aws/lambda/backroom-{stage.name}",
        "filterPattern": '"call given up"',
        "startTime": int((time.time() - 900) * 1000),
    }
    return sum(len(page["events"]) for page in pages.paginate(**asks))


def warm_latency(stage: Stage) -> str:
    """From here, with the network. What AWS says of itself is in another check."""
    product = stage.call_json("POST", "/products", _make_product(_make_mark(), stock=0))["id"]
    targets = {
        "get a product": f"/api/admin/products/{product}",
        "list 20": "/api/admin/products?limit=20",
        "search": "/api/admin/products?search=verify",
        "storefront list": "/api/products",
        "summary": "/api/admin/summary",
    }
    seen, slow = [], []
    for name, path in targets.items():
        took = sorted(1_000 * stage.call("GET", path).seconds for _ in range(_WARM))
        seen.append(f"{name} {statistics.median(took):.0f} ms (slowest {took[-1]:.0f})")
        slow += [name] if statistics.median(took) > _SLOW_MS else []
    if slow:
        raise DoesNotHoldError(", ".join(seen))
    return ", ".join(seen)


def request_id(stage: Stage) -> str:
    """Check that API Gateway's id of a request is ours."""
    said = stage.call("GET", "/api/admin/me")
    shown, ours = said.headers.get("x-amzn-RequestId"), said.headers.get("X-Request-Id")
    if not shown or shown != ours:
        raise DoesNotHoldError(f"x-amzn-RequestId is {shown}, X-Request-Id is {ours}")
    return f"both headers have {ours}"


def find_request_log(stage: Stage) -> str:
    """Find the line of a request by the id of its answer; it has Lambda's id as well."""
    shown = stage.call("GET", "/api/admin/me").headers["X-Request-Id"]
    logs = stage.aws("logs")
    where = {
        "logGroupName": f"/aws/lambda/backroom-{stage.name}",
        "filterPattern": f'"{shown}"',
        "startTime": int((time.time() - 300) * 1000),
    }
    found = wait_until(
        lambda: logs.filter_log_events(**where)["events"], 90, f"no line with {shown}"
    )
    lines = [event["message"] for event in found]
    if not any("lambdaRequestId" in line for line in lines):
        raise DoesNotHoldError(f"the line has no lambdaRequestId: {lines[0]}")
    return f"{shown} finds {len(lines)} line"


def https_only(stage: Stage) -> str:
    """Check that a request that S3 accepts by HTTPS is refused by HTTP."""
    bucket, key = stage.resource_outputs["Bucket"], "verify.txt"
    s3 = boto3.client("s3", config=stacks.OF_THE_REGION)
    signed = s3.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": key})
    try:
        secure = send_request("PUT", signed, b"verify").status
        plain = send_request("PUT", signed.replace("https://", "http://", 1), b"verify").status
    finally:
        s3.delete_object(Bucket=bucket, Key=key)
    if (secure, plain) != (200, 403):
        raise DoesNotHoldError(f"HTTPS answers {secure}, HTTP {plain}; not 200 and 403")
    return "the same signed request is 200 by HTTPS, 403 by HTTP"


def _make_product(mark: str, *, stock: int) -> dict[str, Any]:
    variant = {"title": "One", "sku": mark, "stock": stock}
    return {"name": f"Verify {mark}", "price": 9, "status": "ACTIVE", "variants": [variant]}


def _make_rows(number: int) -> bytes:
    mark = _make_mark()
    lines = (f"{mark}-{n},Verify {mark} {n},9.50,{mark}-{n},DRAFT,1\n" for n in range(number))
    return (_CSV + "".join(lines)).encode()


def _check_import(job: Mapping[str, Any], number: int) -> str:
    if (job["status"], job["created"], job["failed"]) != ("COMPLETED", number, 0):
        raise DoesNotHoldError(f"the import ended as {job['status']}: {job.get('error')}")
    return f"{number:,} products imported"


def _make_mark() -> str:
    return f"v{secrets.token_hex(4)}"
