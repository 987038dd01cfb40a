"""`infra/verify.py` on what `make run` started: a look at that stage, and a trial beside it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from infra import package
from infra.emulator import REGION
from infra.verification.listed import STATEMENTS
from tests.e2e.readme import PROJECT, copied
from tests.e2e.recorded import ACCOUNT, client
from tests.support.running import Stack, ctrl_c_ends, free_port, running, tool

pytestmark = pytest.mark.thorough

# By the page: what the emulator can show of a stage that this program did not deploy.
NOT_DEPLOYED_BY_IT = {
    "A package is deployed to an empty account.",
    "A later deployment interrupts nobody.",
    "A change that fails is rolled back.",
    "A table cannot be deleted by mistake.",
    "A schedule calls its function.",
    "A stage that is destroyed with its data leaves nothing.",
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One whose week of retries takes a minute."""
    quick = ("--setting", "WEBHOOK_SCHEDULE_SCALE=0.0002")
    with running(tmp_path_factory.mktemp("stack"), free_port(), "--fresh", *quick) as stack:
        yield stack


def test_what_the_emulator_can_show_holds(stack: Stack, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    printed = tool(stack, "verify", "--load", "20", "--json", str(path))
    rows: list[dict[str, Any]] = json.loads(path.read_text())["rows"]
    assert [row["statement"] for row in rows] == [statement.says for statement in STATEMENTS]
    assert all(row["statement"] in printed and row["seen"] in printed for row in rows)
    shown = {row["statement"] for row in rows if row["emulator"] == "shows it"}
    holds = {row["statement"]: row["holds"] for row in rows}
    assert {says for says in shown if holds[says] is not True} == NOT_DEPLOYED_BY_IT
    assert all(holds[says] is None for says in holds.keys() - shown)
    assert len(shown) >= 16


def test_an_interrupted_trial_leaves_nothing_and_the_other_stage_as_it_was(
    stack: Stack, tmp_path: Path
) -> None:
    before = _everything(stack)
    own = copied(tmp_path / "checkout")  # a deployment writes into it
    (own / ".local/packages").symlink_to(package.CACHE)
    trial = subprocess.Popen(
        [sys.executable, "infra/verify.py", "--stage", "trial", "--yes"],
        cwd=own,
        env=os.environ | _verifier(stack) | {"AWS_ENDPOINT_URL": stack.aws_endpoint},
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=ctrl_c_ends,  # noqa: PLW1509
    )
    assert trial.stdout is not None
    for line in trial.stdout:
        if "Every route answers its role" in line:
            assert _everything(stack) > before
            trial.send_signal(signal.SIGINT)
    assert trial.wait(60) == 1
    (path,) = (own / ".local").glob("verify-trial-*.json")
    rows = json.loads(path.read_text())["rows"]
    assert (rows[0]["holds"], rows[-1]["statement"], rows[-1]["holds"]) == (
        True,
        STATEMENTS[-1].says,
        True,
    )
    assert _everything(stack) == before


def _verifier(stack: Stack) -> dict[str, str]:
    """The credentials of a user with the policy of docs/first-hour.md."""
    iam = client(stack.aws_endpoint, "iam")
    policy = (PROJECT / "infra/verification/policy.json").read_text().replace("ACCOUNT", ACCOUNT)
    iam.create_user(UserName="verifier")
    iam.put_user_policy(UserName="verifier", PolicyName="verify", PolicyDocument=policy)
    made = iam.create_access_key(UserName="verifier")["AccessKey"]
    found = {"AWS_ACCESS_KEY_ID": made["AccessKeyId"], "AWS_DEFAULT_REGION": REGION}
    user = found | {"AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"]}
    with pytest.raises(ClientError, match="not authorized"):
        client(stack.aws_endpoint, "sns", made).create_topic(Name="other")
    return user


def _everything(stack: Stack) -> set[str]:
    """The names of all stacks, tables, functions and buckets of the account."""
    aws = partial(client, stack.aws_endpoint)
    return {
        *(one["StackName"] for one in aws("cloudformation").describe_stacks()["Stacks"]),
        *aws("dynamodb").list_tables()["TableNames"],
        *(one["FunctionName"] for one in aws("lambda").list_functions()["Functions"]),
        *(one["Name"] for one in aws("s3").list_buckets()["Buckets"]),
    }
