"""Least privilege: each role grants exactly the permissions that its function used on a tour of
everything the shop can do. The emulator enforces permissions, but not leading keys."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from infra.local import STAGE
from tests.e2e.recorded import Asked, asked, begin, client
from tests.e2e.tour import Tour
from tests.support.running import Stack, free_port, running, tool
from tests.webhooks.receiver import Receiver

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1_200)]  # the tour takes four minutes

ANY = f"backroom-{STAGE}*"
DELIVER, RUN_JOB = f"backroom-{STAGE}-deliver", f"backroom-{STAGE}-run_job"
CHUNK, DEAD = f"backroom-{STAGE}-import_chunk", f"backroom-{STAGE}-import_dead_letters"
API = f"backroom-{STAGE}"
COUNTS, RENDER = f"backroom-{STAGE}-check_counts", f"backroom-{STAGE}-render_file"
AGAIN = "sqs:ChangeMessageVisibility"
# Granted and not asked for by our code: (function, action, end of the resource) → why.
UNASKED = {
    (ANY, "logs:*", "*"): "Lambda itself writes the log",
    (ANY, "sqs:ReceiveMessage", "*"): "Lambda itself reads the queue",
    (ANY, "sqs:DeleteMessage", "*"): "Lambda itself reads the queue",
    (ANY, "sqs:GetQueueAttributes", "*"): "Lambda itself reads the queue",
    (ANY, "dynamodb:*", "/stream/*"): "Lambda itself reads the stream",
    (ANY, "sqs:SendMessage", "plan-import-dead"): "Lambda itself puts aside what failed",
    (ANY, "sqs:SendMessage", "schedules-dead"): "Lambda itself puts aside what failed",
    (ANY, "sqs:*Batch", "*"): "the emulator's own, not granted on AWS",
    (DELIVER, AGAIN, "*"): "a message that is in work elsewhere: perhaps not on the tour",
    (DEAD, "lambda:InvokeFunction", "plan_import"): "a planner that was refused: not on the tour",
    (CHUNK, AGAIN, "import-chunks"): "a failed step is repeated soon; none fails on the tour",
    (CHUNK, "s3:GetObject", "/imports/*"): "a copy's source is not recorded",
    (API, "s3:PutObject", "/uploads/*"): "a browser posts the form that the API has signed",
    (API, "s3:GetObject", "/files/*"): "a browser follows the address that the API has signed",
    (COUNTS, "dynamodb:DeleteItem", "*"): "a picture is deleted after 90 days without use",
    (COUNTS, "dynamodb:PutItem", "outbox"): "a picture is deleted after 90 days without use",
    (RENDER, "s3:PutObject", "/uploads/*"): "an upload whose event was lost: not on the tour",
    (RENDER, "s3:DeleteObject", "*"): "a picture or a file that is deleted while it is rendered",
    (RUN_JOB, AGAIN, "jobs"): "a failed step is repeated soon; none fails on the tour",
    (RUN_JOB, "sqs:SendMessage", "jobs"): "a long job continues with another message",
    (RUN_JOB, "dynamodb:GetItem", "*"): "a step that is repeated after a crash reads what it did",
    (RUN_JOB, "dynamodb:DeleteItem", "*"): "what an erasure finds is not there",
    (RUN_JOB, "dynamodb:ConditionCheckItem", "*"): "an erasure that finds words of a failed write",
    (RUN_JOB, "dynamodb:BatchWriteItem", "*"): "for more words than a transaction takes",
}


@dataclass(frozen=True)
class Grant:
    """One action on one resource. `leading_keys`: of which items, if not of all."""

    function: str
    action: str
    resource: str
    leading_keys: tuple[str, ...] = ()

    def covers(self, need: Asked) -> bool:
        allowed = not self.leading_keys or any(
            fnmatchcase(need.leading_key or "", pattern) for pattern in self.leading_keys
        )
        return (
            (self.function, self.action) == (need.function, need.action)
            and fnmatchcase(need.resource, self.resource)
            and allowed
        )


@pytest.fixture(scope="module")
def needs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, set[Asked]]]:
    """The permissions used on the tour, in which the week of retries takes seconds."""
    setting = ["--setting", "WEBHOOK_SCHEDULE_SCALE=0.00005"]
    home = tmp_path_factory.mktemp("roles")
    with running(home, free_port(), "--fresh", *setting) as stack, Receiver() as receiver:
        tour, found, seen = Tour(stack, receiver), set[Asked](), set[str]()
        key_id = tour.call("GET", "/api/admin/me")["id"]
        tool(stack, "keys", "limits", key_id, "--read", "9000", "--write", "9000")
        begin(stack.aws_endpoint)
        for _ in tour.walk():
            found |= asked(stack.aws_endpoint, seen)
        if path := os.environ.get("WALK"):  # for `make conformance`, which asks AWS's rules
            calls = [list(astuple(one)) for one in sorted(found, key=str)]
            text = json.dumps({"policies": policies(stack), "calls": calls}, indent=1)
            Path(path).write_text(text)
        yield stack, found


def policies(stack: Stack) -> dict[str, Any]:
    """The policy of each function's role."""
    iam = client(stack.aws_endpoint, "iam")
    return {
        function["FunctionName"]: iam.get_role_policy(
            RoleName=function["Role"].rpartition("/")[2], PolicyName="work"
        )["PolicyDocument"]
        for function in client(stack.aws_endpoint, "lambda").list_functions()["Functions"]
    }


def grants(stack: Stack) -> Iterator[Grant]:
    return granted_by(policies(stack))


def granted_by(documents: Mapping[str, Any]) -> Iterator[Grant]:
    for function, policy in documents.items():
        for statement in policy["Statement"]:
            condition = statement.get("Condition", {}).get("ForAllValues:StringLike", {})
            keys = tuple(condition.get("dynamodb:LeadingKeys", ()))
            for action in _listed(statement["Action"]):
                for resource in _listed(statement["Resource"]):
                    yield Grant(function, action, resource, keys)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_every_needed_permission_is_granted(needs: tuple[Stack, set[Asked]]) -> None:
    stack, found = needs
    granted = list(grants(stack))
    missing = {n for n in found if not any(grant.covers(n) for grant in granted)}
    assert {n.function for n in found} == {grant.function for grant in granted}
    assert missing == set()


def test_every_granted_permission_is_used(needs: tuple[Stack, set[Asked]]) -> None:
    stack, found = needs
    granted = list(grants(stack))
    unused = [grant for grant in granted if not any(map(grant.covers, found))]
    told = {grant: rule for grant in unused for rule in UNASKED if _tells(rule, grant)}
    untold = [f"{g.function}: {g.action} on {g.resource}" for g in unused if g not in told]
    assert untold == []
    # A message may arrive before its job is written; on a slow machine, a job takes two messages.
    by_chance = {rule for rule in UNASKED if rule[0] == RUN_JOB}
    unneeded = set(UNASKED) - set(told.values()) - by_chance
    assert unneeded == set(), "exceptions that no grant needs"


def _tells(rule: tuple[str, str, str], grant: Grant) -> bool:
    function, action, end = rule
    return (
        fnmatchcase(grant.function, function)
        and fnmatchcase(grant.action, action)
        and fnmatchcase(grant.resource, f"*{end}")
    )


def test_leading_keys_limit_functions_to_the_items_they_use(
    needs: tuple[Stack, set[Asked]],
) -> None:
    stack, found = needs
    keyed = [grant for grant in grants(stack) if grant.leading_keys]
    unused = {
        (grant.function, pattern)
        for grant in keyed
        for pattern in grant.leading_keys
        if not any(
            need.function == grant.function and fnmatchcase(need.leading_key or "", pattern)
            for need in found
        )
    }
    # An hour of the feed is noted once, perhaps before the tour.
    assert unused - {(f"backroom-{STAGE}-fan_out", "feed")} == set()
    table = f":table/backroom-{STAGE}"
    free = {
        grant.function
        for grant in grants(stack)
        if grant.resource.endswith(table) and not grant.leading_keys
    }
    assert free == {f"backroom-{STAGE}"}


def test_only_the_api_reads_keys_and_only_signing_functions_read_the_master_key(
    needs: tuple[Stack, set[Asked]],
) -> None:
    stack, _ = needs
    every = list(grants(stack))
    table = f"arn:aws:dynamodb:us-east-1:000000000000:table/backroom-{STAGE}"
    signs = {grant.function for grant in every if grant.action.startswith("ssm:")}
    assert signs == {f"backroom-{STAGE}", DELIVER}
    api, jobs, counts = (f"backroom-{STAGE}{name}" for name in ("", "-run_job", "-check_counts"))
    # Exports, bulk edits, merges and erasures read customers and orders; the nightly check adds up
    # a customer's orders, and compares orders with their shipments. Of an API key only its hash is
    # kept.
    expected = {
        "key#0123": {api},
        "keys": {api},
        "cus_1": {api, jobs, counts},
        "email#ann@example.com": {api, jobs},
        "ord_1": {api, jobs, counts},
        "idem#1#2": {api},
    }
    for pk, allowed in expected.items():
        readers = {
            grant.function
            for grant in every
            if grant.action.startswith("dynamodb:")
            and grant.covers(Asked(grant.function, grant.action, table, pk))
        }
        assert readers == allowed, pk
