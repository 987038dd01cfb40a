"""The main job on a shop deployed with `deploy.py` and `chalice deploy`, in parts."""

import json
import time
from collections.abc import Callable
from typing import Any

from tests.e2e.calls import call
from tests.e2e.test_main_job import ended, upload
from tests.support.forms import posted
from tests.support.running import Stack
from tests.webhooks.receiver import Receiver

PATIENCE = 120.0
CSV = b"slug,name,price,sku,status,stock\nmug,Mug,9.50,MUG,ACTIVE,5\n"


def the_key_that_was_printed_is_the_owners(stack: Stack) -> None:
    status, me = call(f"{stack.base_url}/api/admin/me", stack.api_key)
    assert (status, me["role"]) == (200, "OWNER")


def a_file_is_imported_by_form(stack: Stack) -> None:
    job = ended(stack, stack.api_key, upload(stack, stack.api_key, CSV))
    assert (job["status"], job["total"], job["failed"]) == ("COMPLETED", 1, 0), job
    assert call(f"{stack.base_url}/api/products/mug")[1]["name"] == "Mug"


def a_file_is_imported_by_s3(stack: Stack) -> None:
    uploads = f"{stack.base_url}/api/admin/products/import/uploads"
    _, form = call(uploads, stack.api_key, send={"fileName": "cups.csv"})
    posted(form, CSV.replace(b"mug", b"cup").replace(b"MUG", b"CUP"))
    job = ended(stack, stack.api_key, form["jobId"])
    assert (job["status"], job["created"]) == ("COMPLETED", 1), job


def an_order_is_told_to_a_receiver_and_again_to_one_that_failed(stack: Stack) -> None:
    with Receiver() as receiver:
        _told(stack, receiver)


PARTS = (
    the_key_that_was_printed_is_the_owners,
    a_file_is_imported_by_form,
    a_file_is_imported_by_s3,
    an_order_is_told_to_a_receiver_and_again_to_one_that_failed,
)


def _told(stack: Stack, receiver: Receiver) -> None:
    admin = f"{stack.base_url}/api/admin"
    secrets = {}
    for path in ("/ok", "/nth/2"):
        hook = {"url": receiver.url(path), "events": ["order.created"], "email": "a@b.example"}
        status, made = call(f"{admin}/webhooks", stack.api_key, send=hook)
        assert status == 201, made
        secrets[path] = made["id"]
    product = {"name": "Pot", "price": 12, "variants": [{"sku": "POT", "stock": 3}]}
    _, pot = call(f"{admin}/products", stack.api_key, send=product)
    line = {"variantId": pot["variants"][0]["id"], "quantity": 2}
    status, order = call(f"{admin}/orders", stack.api_key, send={"lineItems": [line]})
    assert status == 201, order
    arrived = within(lambda: [r for r in receiver.requests if r.path == "/ok"])
    assert json.loads(arrived[0].body)["data"]["id"] == order["id"]
    tried = within(lambda: found[1:] and found if (found := again(receiver)) else [])
    assert tried[0].delivery == tried[1].delivery
    assert tried[0].body == tried[1].body
    delivered = within(
        lambda: [
            each
            for each in call(f"{admin}/webhooks/{secrets['/nth/2']}/deliveries", stack.api_key)[1][
                "data"
            ]
            if each["status"] == "DELIVERED"
        ]
    )
    assert len(delivered) == 1


def again(receiver: Receiver) -> list[Any]:
    return [request for request in receiver.requests if request.path == "/nth/2"]


def within(poll: Callable[[], list[Any]]) -> list[Any]:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := poll():
            return found
        time.sleep(0.5)
    raise AssertionError("it never arrived")
