"""The roles by AWS's rules, in a third-party simulator of IAM (`make conformance`).

Needs Node, and the calls that `tests/e2e/test_roles.py` recorded, each with its resource and
leading key.
"""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.recorded import Asked
from tests.e2e.test_roles import granted_by
from tests.support.programs import ran

PROJECT = Path(__file__).resolve().parents[2]
NODE = PROJECT / ".conformance/node"
WALK = PROJECT / ".conformance/walk.json"

pytestmark = pytest.mark.skipif(
    not (NODE / "ready").exists(), reason="make conformance installs the simulator"
)
walked = pytest.mark.skipif(not WALK.exists(), reason="make conformance takes the walk")


@cache
def walk() -> Any:
    found = json.loads(WALK.read_text())
    for policy in found["policies"].values():
        for statement in policy["Statement"]:
            actions = statement["Action"]
            actions = actions if isinstance(actions, list) else [actions]
            # The emulator's own permissions; AWS has none of these names.
            statement["Action"] = [
                a for a in actions if not (a.startswith("sqs:") and "Batch" in a)
            ]
        policy["Statement"] = [one for one in policy["Statement"] if one["Action"]]
    return found


def calls() -> list[Asked]:
    asked = (Asked(*call) for call in walk()["calls"])
    return [one for one in asked if not (one.action.startswith("sqs:") and "Batch" in one.action)]


def simulated(asked: Iterable[tuple[Any, str, str, str | None]]) -> list[str]:
    """Each a policy, an action, a resource and a leading key."""
    names = ("policy", "action", "resource", "leadingKey")
    requests = json.dumps([dict(zip(names, one, strict=True)) for one in asked])
    script = PROJECT / "tests/conformance/policies.mjs"
    answers: list[str] = json.loads(ran("node", script, NODE, input=requests).stdout)
    return answers


@walked
def test_every_recorded_call_is_allowed() -> None:
    made = calls()
    assert len({one.function for one in made}) == len(walk()["policies"])
    policies = walk()["policies"]
    answers = simulated((policies[c.function], c.action, c.resource, c.leading_key) for c in made)
    refused = [pair for pair in zip(made, answers, strict=True) if pair[1] != "Allowed"]
    assert refused == []


@walked
def test_calls_are_denied_to_roles_without_the_grant() -> None:
    """Each recorded call, by each other role. `test_roles.py` checks the same by our own rules."""
    policies, grants = walk()["policies"], list(granted_by(walk()["policies"]))
    asked = [
        Asked(function, call.action, call.resource, call.leading_key)
        for call in calls()
        for function in policies
        if function != call.function
    ]
    answers = simulated((policies[c.function], c.action, c.resource, c.leading_key) for c in asked)
    expected = [
        "Allowed" if any(grant.covers(one) for grant in grants) else "ImplicitlyDenied"
        for one in asked
    ]
    assert answers.count("ImplicitlyDenied") > len(asked) / 2
    differing = [each for each in zip(asked, answers, expected, strict=True) if each[1] != each[2]]
    assert differing == []


def test_the_state_machine_definition_is_valid(tmp_path: Path) -> None:
    text = (PROJECT / "infra/redrive.asl.json").read_text()
    function = "arn:aws:lambda:us-east-1:000000000000:function:backroom-local-redrive"
    machine = tmp_path / "redrive.asl.json"
    for said, code in ((text, 0), (text.replace('"Next": "IsThereMore"', '"Next": "Nowhere"'), 1)):
        machine.write_text(said.replace("${RedriveFunctionArn}", function))
        ran(NODE / "node_modules/.bin/asl-validator", "--json-path", machine, code=code)
