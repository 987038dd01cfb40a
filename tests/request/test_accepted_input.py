"""What is accepted can be read back on every path by parsers stricter than Python's, and is sent
back as it was read.

Hypothesis sends JSON of any depth, size and number, and text of any script.
"""

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chalicelib import aws
from chalicelib.settings import bucket
from tests.support.examples import Day
from tests.support.examples import day as a_day
from tests.support.shop import Answer, Shop
from tests.support.strict_json import strict

pytestmark = pytest.mark.thorough

PRODUCTS = "/api/admin/products"
METADATA = {"a": [1, -2.5, 10**20, 0.1, "é", None, {"b": True}]}

# Any text: combining marks, right to left, beyond the BMP, NUL, and halves of pairs.
texts = st.one_of(
    st.text(max_size=40),
    st.text(alphabet=st.characters(codec=None), max_size=20),
    st.sampled_from(["\x00", "e\u0301", "\u202eabc", "\u05d0\u05d1", "😀" * 20, "\ud800"]),
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


several = st.recursive(
    leaves, lambda some: st.lists(some, max_size=4) | st.dictionaries(texts, some, max_size=4)
)
metadata = deep() | st.dictionaries(texts, several, max_size=5)


def read(answer: Answer) -> Any:
    assert answer.status < 300, answer.text
    return strict(answer.text)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(metadata=metadata, name=texts, tag=texts)
@example(metadata=METADATA, name="Mug", tag="blue")
def test_an_accepted_product_can_be_read_on_every_path(
    shop: Shop, metadata: Any, name: str, tag: str
) -> None:
    sent = {"name": name, "price": 1, "status": "ACTIVE", "metadata": metadata, "tags": [tag]}
    made = shop.post(PRODUCTS, sent)
    if made.status != 201:
        assert made.status in {400, 422}, made.text
        assert strict(made.text)["code"] in {"malformed_json", "validation_failed"}
        return
    product = strict(made.text)
    assert product["metadata"] == strict(json.dumps(metadata))
    path = f"{PRODUCTS}/{product['id']}"
    assert read(shop.get(path)) == product
    assert product in read(shop.get(PRODUCTS))["data"]
    assert read(shop.get(f"/api/products/{product['id']}"))["name"] == product["name"]
    read(shop.get("/api/products"))
    assert read(shop.put(path, json.loads(made.text))) == product
    copy = {**json.loads(made.text), "slug": None}
    (row,) = read(shop.post(f"{PRODUCTS}/bulk", [copy]))["data"]
    assert row["status"] == "created", row
    for id in (product["id"], row["id"]):
        assert shop.delete(f"{PRODUCTS}/{id}").status == 200


def exported(day: Day, **asked: Any) -> str:
    """The file of an export of all products."""
    made = day.admin("POST", "/exports", {"type": "products", "all": True, **asked})
    day.worked(made["jobId"])
    s3, of = aws.client("s3"), {"Bucket": bucket()}
    (found,) = s3.list_objects_v2(**of, Prefix=f"exports/{made['jobId']}")["Contents"]
    return str(s3.get_object(**of, Key=found["Key"])["Body"].read().decode())


@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(many=st.lists(st.tuples(metadata, texts, texts), min_size=15, max_size=25))
def test_an_accepted_product_can_be_exported_and_is_in_the_feed(many: Any) -> None:
    with a_day() as day:
        products = {}
        # Each alone: a body that no parser takes is refused as a whole.
        for data, name, text in [*many, (METADATA, "Mug", "This one is accepted.")]:
            sent = {"name": name, "description": text, "price": 1, "metadata": data}
            if (answer := day.shop.post(PRODUCTS, sent)).status == 201:
                products[answer.json["id"]] = strict(answer.text)
        lines = exported(day, format="jsonl").split("\n")
        assert {row["id"]: row for row in map(strict, filter(None, lines))} == products
        for columns, name in (("backroom", "name"), ("shopify", "Title")):
            text = exported(day, columns=columns).removeprefix("\ufeff")
            table = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
            assert sorted(each[name].removeprefix("'") for each in table) == sorted(
                product["name"] for product in products.values()
            )
        day.world.sleep(minutes=1)
        events = read(day.shop.get("/api/admin/events?types=product.created&limit=500"))["data"]
        assert {event["data"]["id"]: event["data"] for event in events} == products
