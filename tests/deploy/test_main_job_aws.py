"""The main job with the permissions of AWS (`Size=aws`), without two rules that only the emulator
has: it has no HTTPS, which the bucket's policy demands, and asks for permissions of batches, which
AWS does not have."""

import json
from collections.abc import Callable, Iterator

import pytest

from tests.deploy.machine import shop
from tests.deploy.main_job import PARTS, within
from tests.e2e.calls import call
from tests.e2e.recorded import client
from tests.support.running import Stack


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with shop(tmp_path_factory.mktemp("shop"), "aws") as stack:
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


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_the_main_job_works_with_the_permissions_of_aws(
    stack: Stack, part: Callable[[Stack], None]
) -> None:
    part(stack)


def test_jobs_work_with_the_permissions_of_aws(stack: Stack) -> None:
    admin = f"{stack.base_url}/api/admin"
    status, job = call(f"{admin}/exports", stack.api_key, send={"type": "orders", "all": True})
    assert status == 202, job
    within(
        lambda: [
            one
            for one in [call(f"{admin}/jobs/{job['jobId']}", stack.api_key)[1]]
            if one["status"] == "COMPLETED"
        ]
    )
