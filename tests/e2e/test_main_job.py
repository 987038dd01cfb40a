"""The main job of a new user: a key, a supplier's CSV, the catalogue, the rate limit."""

import json
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.e2e.calls import Api, call
from tests.support.running import Stack

PRODUCTS = 2_000


def a_suppliers_csv(mark: str) -> bytes:
    """Two thousand products of 20 types; every hundredth is a draft."""
    rows = ["slug,name,status,price,sku,type,tags,stock"]
    for number in range(PRODUCTS):
        status = "DRAFT" if number % 100 == 0 else "ACTIVE"
        kind, sku = f"{mark} {number % 20}", f"{mark}-{number:05d}"
        name = f"Supplied shirt {number}"
        rows.append(f"{sku},{name},{status},{number % 90 + 9}.50,{sku},{kind},{mark},{number % 7}")
    return "\r\n".join(rows).encode()


def refused(url: str, key: str) -> tuple[int, Mapping[str, str], Any]:
    """The first refusal of at most 500 requests, eight at a time."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"})
    found: list[tuple[int, Mapping[str, str], Any]] = []

    def ask(_: int) -> None:
        if found:
            return
        try:
            urllib.request.urlopen(request, timeout=120).close()
        except urllib.error.HTTPError as error:
            found.append((error.code, error.headers, json.load(error)))

    with ThreadPoolExecutor(8) as callers:
        list(callers.map(ask, range(500)))
    return found[0]


def test_a_csv_becomes_a_catalogue_and_the_rate_limit_holds(stack: Stack) -> None:
    admin, mark = f"{stack.base_url}/api/admin", f"m{uuid.uuid4().hex[:8]}"
    staff = Api.of(stack).mint("STAFF")
    job = staff.ended(staff.upload(a_suppliers_csv(mark)))
    assert (job["status"], job["error"], job["errors"]) == ("COMPLETED", None, [])
    assert (job["created"], job["total"], job["progress"]) == (PRODUCTS, PRODUCTS, 100)

    def listed(query: str) -> Any:
        return staff.get(f"products?{query}")

    assert listed(f"type={mark}%203")["total"] == PRODUCTS // 20
    assert listed(f"type={mark}%200&status=DRAFT")["total"] == PRODUCTS // 100
    assert [p["sku"] for p in listed(f"search={mark}-00042")["data"]] == [f"{mark}-00042"]
    walked = [
        product["id"]
        for page in range(1, 6)
        for product in listed(f"type={mark}%207&limit=20&page={page}")["data"]
    ]
    assert len(set(walked)) == len(walked) == PRODUCTS // 20
    shown = call(f"{stack.base_url}/api/products?search={mark}&type={mark}%200")[1]
    assert shown["total"] == PRODUCTS // 20 - PRODUCTS // 100
    assert call(f"{stack.base_url}/api/products/{mark}-00001")[1]["variants"][0]["available"]
    assert call(f"{stack.base_url}/api/products/{mark}-00000")[0] == 404, "a draft"

    status, headers, body = refused(f"{admin}/me", staff.key)
    assert (status, body["code"]) == (429, "rate_limited")
    assert 1 <= int(headers["Retry-After"]) <= 60
    assert headers["X-RateLimit-Limit"] == "120" and headers["X-RateLimit-Remaining"] == "0"
    assert call(f"{admin}/me", stack.api_key)[0] == 200, "somebody else's key has its own limit"
