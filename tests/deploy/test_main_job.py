"""The main job on a shop deployed with `deploy.py` and `chalice deploy`, with the permissions of
AWS. (All of `tests/e2e` has those of `Size=local`.)

Two rules are lifted that only the emulator has: it has no HTTPS, which the policy of the bucket
demands, and asks for permissions of batches, which AWS does not have.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.deploy.machine import shop
from tests.e2e.calls import Api, call, until
from tests.e2e.recorded import client
from tests.support.forms import posted
from tests.support.running import Stack
from tests.webhooks.receiver import Receiver

CSV = b"slug,name,price,sku,status,stock\nmug,Mug,9.50,MUG,ACTIVE,5\n"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with shop(tmp_path_factory.mktemp("shop")) as stack:
        lift_rules(stack)
        yield stack


def lift_rules(stack: Stack) -> None:
    """Without the bucket's policy, and with the emulator's permission for batches where AWS's own
    for single messages is granted."""
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


@pytest.fixture
def admin(stack: Stack) -> Api:
    """With the key that was printed."""
    return Api.of(stack)


def test_a_file_is_imported_by_form_and_by_s3(stack: Stack, admin: Api) -> None:
    assert admin.get("me")["role"] == "OWNER"
    job = admin.ended(admin.upload(CSV))
    assert (job["status"], job["total"], job["failed"]) == ("COMPLETED", 1, 0), job
    assert call(f"{stack.base_url}/api/products/mug")[1]["name"] == "Mug"
    form = admin.post("products/import/uploads", {"fileName": "cups.csv"})
    posted(form, CSV.replace(b"mug", b"cup").replace(b"MUG", b"CUP"))
    job = admin.ended(form["jobId"])
    assert (job["status"], job["created"]) == ("COMPLETED", 1), job
    job = admin.ended(admin.post("exports", {"type": "orders", "all": True})["jobId"])
    assert job["status"] == "COMPLETED", job


def test_an_order_is_told_to_a_receiver_and_again_to_one_that_failed(admin: Api) -> None:
    with Receiver() as receiver:
        hooks = [admin.webhook(receiver.url(path), "order.created") for path in ("/ok", "/nth/2")]
        order = admin.order(admin.product("Pot", variants=[{"sku": "POT", "stock": 3}]), 2)

        def came(path: str, least: int) -> list[Any]:
            found = [one for one in receiver.requests if one.path == path]
            return found if len(found) >= least else []

        (arrived,) = until(lambda: came("/ok", 1), 120)
        assert json.loads(arrived.body)["data"]["id"] == order["id"]
        first, second, *_ = until(lambda: came("/nth/2", 2), 120)
        assert (first.delivery, first.body) == (second.delivery, second.body)
        sent = f"webhooks/{hooks[1]['id']}/deliveries?status=DELIVERED"
        assert len(until(lambda: admin.get(sent)["data"], 120, pause=2)) == 1
