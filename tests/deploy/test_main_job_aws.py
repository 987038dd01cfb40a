"""The main job with the permissions of AWS (`Size=aws`), as far as the emulator allows it.

The tests assert what works, and each refusal by the emulator with its cause, so a test fails when
one of them changes. At last they lift two rules that only the emulator has; then everything works.
"""

import json
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.machine import shop
from tests.deploy.main_job import CSV, PARTS, posted, within
from tests.e2e.calls import call
from tests.e2e.recorded import client
from tests.e2e.test_main_job import upload
from tests.support.running import Stack
from tests.webhooks.receiver import Receiver

PAGE = Path(__file__).resolve().parents[2] / "docs/operations.md"
PLAIN_HTTP = "the bucket's policy denies plain HTTP, and the emulator has no HTTPS"
BATCHES = "the emulator asks for `sqs:SendMessageBatch`; AWS has only `sqs:SendMessage`"
# What the emulator refuses → the error, and its cause, as in docs/operations.md.
REFUSED = {
    "an import by form": ("500", PLAIN_HTTP),
    "an upload to the bucket": ("403", PLAIN_HTTP),
    "a bulk edit": ("500", BATCHES),
    "an export": ("500", BATCHES),
    "a delivery": ("stays PENDING", BATCHES),
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with shop(tmp_path_factory.mktemp("shop"), "aws") as stack:
        yield stack


@pytest.fixture(scope="module")
def sold(stack: Stack) -> Iterator[tuple[Any, Any, Receiver]]:
    """A webhook, an order that it should get, and its receiver."""
    with Receiver() as receiver:
        hook = {"url": receiver.url("/ok"), "events": ["order.created"]}
        webhook = made(stack, "/webhooks", hook)
        pan = {"name": "Pan", "price": 12, "status": "ACTIVE", "variants": [{"stock": 3}]}
        product = made(stack, "/products", pan)
        line = {"variantId": product["variants"][0]["id"], "quantity": 1}
        yield webhook, made(stack, "/orders", {"lineItems": [line]}), receiver


def made(stack: Stack, path: str, sent: object) -> Any:
    status, answer = call(f"{stack.base_url}/api/admin{path}", stack.api_key, send=sent)
    assert status == 201, answer
    return answer


def logged(stack: Stack, function: str, text: str) -> list[str]:
    """The log lines of a function that have this text."""
    name = f"/aws/lambda/backroom-try{function}"
    events = client(stack.aws_endpoint, "logs").filter_log_events(logGroupName=name)["events"]
    return [event["message"] for event in events if text in event["message"]]


# --- What works -----------------------------------------------------------------------------------


def test_the_printed_key_is_the_owners(stack: Stack) -> None:
    PARTS[0](stack)


def test_products_orders_and_webhooks_can_be_created_and_found(
    stack: Stack, sold: tuple[Any, Any, Receiver]
) -> None:
    admin = f"{stack.base_url}/api/admin"
    for path in (f"/webhooks/{sold[0]['id']}", f"/orders/{sold[1]['id']}"):
        assert call(admin + path, stack.api_key)[0] == 200
    assert call(f"{admin}/orders?search={sold[1]['number']}", stack.api_key)[1]["total"] == 1
    assert call(f"{stack.base_url}/api/products?search=pan")[1]["total"] == 1
    assert call(f"{admin}/summary", stack.api_key)[1]["today"]["orders"] == 1


# --- What the emulator refuses --------------------------------------------------------------------


def test_an_import_by_form_is_refused_by_the_emulator(stack: Stack) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        upload(stack, stack.api_key, CSV)
    answer = json.load(refused.value)
    assert f"{refused.value.code}" == REFUSED["an import by form"][0]
    assert answer["code"] == "internal_error"
    within(lambda: logged(stack, "", "(AccessDenied) when calling the PutObject operation"))


def test_an_upload_to_the_bucket_is_refused_by_the_emulator(stack: Stack) -> None:
    form = made(stack, "/products/import/uploads", {"fileName": "cups.csv"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        posted(form, CSV)
    assert f"{refused.value.code}" == REFUSED["an upload to the bucket"][0]
    assert b"AccessDenied" in refused.value.read()


@pytest.mark.parametrize(
    ("what", "path", "sent"),
    [
        ("a bulk edit", "/products/bulk-edit", {"all": True, "change": {"vendor": "Acme"}}),
        ("an export", "/exports", {"type": "products", "all": True}),
    ],
)
def test_a_request_that_starts_a_job_is_refused_by_the_emulator(
    stack: Stack, what: str, path: str, sent: object
) -> None:
    status, answer = call(f"{stack.base_url}/api/admin{path}", stack.api_key, send=sent)
    assert (f"{status}", answer["code"]) == (REFUSED[what][0], "internal_error")
    within(lambda: logged(stack, "", "when calling the SendMessageBatch operation"))


def test_a_delivery_is_stored_but_never_sent_by_the_emulator(
    stack: Stack, sold: tuple[Any, Any, Receiver]
) -> None:
    within(lambda: logged(stack, "-fan_out", "when calling the SendMessageBatch operation"))
    path = f"{stack.base_url}/api/admin/webhooks/{sold[0]['id']}/deliveries"
    (delivery,) = call(path, stack.api_key)[1]["data"]
    assert f"stays {delivery['status']}" == REFUSED["a delivery"][0]
    assert sold[2].requests == []


def test_the_docs_list_each_refusal_with_its_reason() -> None:
    head = "| With `Size=aws` on the emulator | Instead | Because |\n|---|---|---|\n"
    table = PAGE.read_text().partition(head)[2].split("\n\n")[0]
    rows = [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in table.splitlines()]
    assert rows == [(what, instead, why) for what, (instead, why) in REFUSED.items()]


# --- Without the two rules ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lifted(stack: Stack, sold: tuple[Any, Any, Receiver]) -> Stack:
    """The same shop, without the bucket's policy, and with the emulator's permission for batches
    where AWS's own for single messages is granted."""
    aws = stack.aws_endpoint
    bucket = client(aws, "s3").list_buckets()["Buckets"][0]["Name"]
    client(aws, "s3").delete_bucket_policy(Bucket=bucket)
    iam = client(aws, "iam")
    for role in (one["RoleName"] for one in iam.list_roles()["Roles"]):
        for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
            policy = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
            for statement in policy["Statement"]:
                actions = statement["Action"]
                if isinstance(actions, list):
                    batches = ("sqs:SendMessage", "sqs:ChangeMessageVisibility")
                    actions += [f"{one}Batch" for one in batches if one in actions]
            iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(policy))
    return stack


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_the_main_job_works_without_the_two_rules(
    lifted: Stack, part: Callable[[Stack], None]
) -> None:
    part(lifted)


def test_jobs_work_without_the_two_rules(lifted: Stack) -> None:
    admin = f"{lifted.base_url}/api/admin"
    status, job = call(f"{admin}/exports", lifted.api_key, send={"type": "orders", "all": True})
    assert status == 202, job
    within(
        lambda: [
            one
            for one in [call(f"{admin}/jobs/{job['jobId']}", lifted.api_key)[1]]
            if one["status"] == "COMPLETED"
        ]
    )
