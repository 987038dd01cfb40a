"""Accepted input can be read back on every path by parsers stricter than Python's.

Hypothesis sends JSON of any depth, size and number, and text of any script, to the deployed stack.
`make fuzz` sends more.
"""

import csv
import io
import json
import os
import time
import urllib.request
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.e2e.spec_client import Client, Got
from tests.support.running import Stack
from tests.support.strict_json import strict as parsed

EXAMPLES = int(os.environ.get("EXAMPLES", "25"))
PRODUCTS = "/api/admin/products"

bounded = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=EXAMPLES < 100,
    suppress_health_check=list(HealthCheck),
)
# Any text: combining marks, right to left, beyond the BMP, NUL, and halves of pairs.
texts = st.one_of(
    st.text(max_size=40),
    st.text(alphabet=st.characters(codec=None), max_size=20),
    st.sampled_from(
        ["\x00", "e\u0301", "\u202eabc", "\u05d0\u05d1", "😀" * 20, "\ud800", "\udfff"]
    ),
)
numbers = st.one_of(
    st.integers(),
    st.floats(),
    st.integers(min_value=10**300, max_value=10**312),
    st.sampled_from([1e308, -1e308, 5e-324, 2**53, -0.0]),
)
leaves = st.none() | st.booleans() | numbers | texts


@st.composite
def deep(draw: st.DrawFn) -> Any:
    """Values nested around the limit, and far beyond."""
    value = draw(leaves)
    for _ in range(draw(st.sampled_from([1, 20, 28, 29, 30, 31, 32, 33, 200, 960]))):
        value = {"a": value} if draw(st.booleans()) else [value]
    return {"m": value}


metadata = st.one_of(
    deep(),
    st.dictionaries(
        texts,
        st.recursive(
            leaves,
            lambda some: st.lists(some, max_size=4) | st.dictionaries(texts, some, max_size=4),
        ),
        max_size=5,
    ),
)


@pytest.fixture(scope="module")
def shop(stack: Stack) -> Client:
    return Client(stack)


def strict(answer: Got | str) -> Any:
    return parsed(answer if isinstance(answer, str) else answer.text)


@bounded
@given(metadata=metadata, name=texts, tag=texts)
@example(metadata={"a": [1, "é", None]}, name="Mug", tag="blue")
def test_an_accepted_product_can_be_read_on_every_path(
    shop: Client, metadata: Any, name: str, tag: str
) -> None:
    sent = {"name": name, "price": 1, "status": "ACTIVE", "metadata": metadata, "tags": [tag]}
    made = shop.call("POST", PRODUCTS, sent)
    if made.status != 201:
        assert made.status in {400, 422}, made.text
        assert strict(made)["code"] in {"malformed_json", "validation_failed"}
        return
    product = strict(made)
    path = f"{PRODUCTS}/{product['id']}"
    try:
        assert strict(shop.get(path)) == product
        listed = strict(shop.get(PRODUCTS))["data"]
        assert product in listed
        public = strict(shop.get(f"/api/products/{product['id']}", key_=""))
        assert public["name"] == product["name"]
        strict(shop.get("/api/products", key_=""))
        again = shop.call("PUT", path, json.loads(made.text))
        assert (again.status, strict(again)) == (200, product)
        copy = {**json.loads(made.text), "slug": None}
        (row,) = strict(shop.call("POST", f"{PRODUCTS}/bulk", [copy]))["data"]
        assert row["status"] == "created", row
        status = {"ids": [row["id"]], "status": "DRAFT"}
        assert (
            strict(shop.call("POST", f"{PRODUCTS}/bulk-status", status))["summary"]["updated"] == 1
        )
        assert shop.call("DELETE", f"{PRODUCTS}/{row['id']}").status == 200
    finally:
        assert shop.call("DELETE", path).status == 200


def exported(shop: Client, **asked: Any) -> str:
    """The file of an export of products."""
    whole = {} if "filters" in asked else {"all": True}
    made = shop.call("POST", "/api/admin/exports", {"type": "products", **whole, **asked})
    assert made.status == 202, made.text
    path = f"/api/admin/jobs/{made.json['jobId']}"
    until = time.monotonic() + 120
    while (job := strict(shop.get(path)))["status"] in {"QUEUED", "RUNNING"}:
        assert time.monotonic() < until, job
        time.sleep(0.2)
    with urllib.request.urlopen(job["downloadUrl"], timeout=60) as file:
        text: str = file.read().decode()
    return text


def fed(shop: Client, after: str) -> Iterator[tuple[str, Any]]:
    """The cursor after each page of the feed, and its events; endless."""
    asked = f"after={after}" if after else ""
    while True:
        page = strict(shop.get(f"/api/admin/events?limit=500&{asked}"))
        yield page["next"], page["data"]
        asked = f"after={page['next']}"


@settings(bounded, max_examples=max(2, EXAMPLES // 12))
@given(many=st.lists(st.tuples(metadata, texts, texts), min_size=15, max_size=25))
def test_an_accepted_product_can_be_exported_and_is_in_the_feed(shop: Client, many: Any) -> None:
    behind = next(next_ for next_, page in fed(shop, "") if not page)
    vendor = f"Stranger {uuid.uuid4().hex}"
    sent = [
        {"name": name, "description": text, "price": 1, "metadata": data, "vendor": vendor}
        for data, name, text in [*many, ({}, "Mug", "This one is accepted.")]
    ]
    # Each alone: a body that no parser takes is refused as a whole.
    made = [shop.call("POST", PRODUCTS, each) for each in sent]
    products = {strict(each)["id"]: strict(each) for each in made if each.status == 201}
    assert products
    try:
        filters = {"vendor": vendor}
        lines = exported(shop, format="jsonl", filters=filters).split("\n")
        rows = [strict(line) for line in lines if line]
        assert {row["id"]: row for row in rows} == products
        for columns, name in (("backroom", "name"), ("shopify", "Title")):
            text = exported(shop, columns=columns, filters=filters).removeprefix("\ufeff")
            table = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
            assert sorted(each[name].removeprefix("'") for each in table) == sorted(
                each["name"] for each in products.values()
            )
        missing, until = set(products), time.monotonic() + 120
        for _, events in fed(shop, behind):
            for event in events:
                if event["event"] == "product.created" and event["data"]["id"] in missing:
                    assert event["data"] == products[event["data"]["id"]]
                    missing.remove(event["data"]["id"])
            if not missing:
                break
            assert time.monotonic() < until, missing
            time.sleep(0 if events else 1)
    finally:
        for id in products:
            assert shop.call("DELETE", f"{PRODUCTS}/{id}").status == 200
