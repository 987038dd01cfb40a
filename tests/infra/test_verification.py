"""`infra/verify.py`: what it checks, what it says, and that it leaves nothing and nobody else's."""

import argparse
import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from chalicelib.products import store
from infra import steps, verify
from infra.verification import deployment, receiver, services, units
from infra.verification.listed import STATEMENTS
from infra.verification.stage import Stage
from infra.verification.statements import (
    DoesNotHoldError,
    NotShownError,
    Statement,
    check_statements,
    render_row,
    summary,
)
from tests.support.dynamodb_double import Double

pytestmark = pytest.mark.thorough

PAGE = Path(__file__).resolve().parents[2] / "docs/first-hour.md"
STAGE = Stage("trial-0000", is_trial=True)


def test_every_line_of_the_page_is_checked_or_has_a_reason() -> None:
    section = PAGE.read_text().partition("## What was never run on AWS\n")[2].split("\n### ")[0]
    lines = re.findall(r"^- \*\*(.+?)\*\*", section, re.M)
    assert section.count("\n- ") == len(lines), "a line begins with its statement, in bold"
    assert lines == [statement.says for statement in STATEMENTS]
    assert all(bool(each.check) != bool(each.no_program) for each in STATEMENTS)


def _raises(error: Exception) -> Any:
    def check(stage: Stage) -> str:
        raise error

    return check


def test_a_row_says_what_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    statements = (
        Statement("one", lambda stage: "all of it"),
        Statement("two", _raises(DoesNotHoldError("nothing of it"))),
        Statement("three", _raises(NotShownError("it is in use"))),
        Statement("four", _raises(OSError("broken"))),
        Statement("five", lambda stage: "not here", only_on_aws="it is too small"),
        Statement("six", no_program="it takes a week"),
    )
    table = list(check_statements(statements, STAGE))
    assert [(row.holds, row.seen) for row in table] == [
        (True, "all of it"),
        (False, "nothing of it"),
        (None, "not shown: it is in use"),
        (False, "the check failed: OSError: broken"),
        (None, "the emulator cannot show it: it is too small"),
        (None, "no program can check it: it takes a week"),
    ]
    assert [row.emulator for row in table][3:] == ["shows it", "it is too small", "it takes a week"]
    assert render_row(table[1]).splitlines()[0].split() == ["NO", "0.0", "s", "two"]
    assert summary(table).startswith("1 hold, 2 do not hold, 3 were not shown")


def _options(**given: Any) -> argparse.Namespace:
    usual = {"stage": "trial", "existing": False, "yes": False, "load": None, "json": None}
    return argparse.Namespace(**usual | given)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The stages that exist."""
    stages = {"prod"}
    monkeypatch.setattr(deployment, "exists", stages.__contains__)
    identity = {"Account": "0"}
    client = argparse.Namespace(get_caller_identity=lambda: identity)
    monkeypatch.setattr("infra.verify.boto3.client", lambda service: client)
    return stages


def test_a_trial_has_a_name_of_its_own_and_no_stage_that_exists_is_taken(
    account: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = (verify._on_aws(_options(yes=True)) for _ in range(2))
    assert one.is_trial and one.name != two.name and len(one.name) <= 20
    assert "This costs about $0." in capsys.readouterr().out
    with pytest.raises(SystemExit, match="exists"):
        verify._on_aws(_options(stage="prod", yes=True))
    existing = verify._on_aws(_options(stage="prod", existing=True, yes=True))
    assert (existing.name, existing.is_trial) == ("prod", False)
    with pytest.raises(SystemExit, match="no stage"):
        verify._on_aws(_options(stage="test", existing=True, yes=True))


def test_it_asks_before_it_makes_anything(
    account: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: "no")
    with pytest.raises(SystemExit, match="Nothing was made"):
        verify._on_aws(_options())


@pytest.mark.parametrize("ends", [KeyboardInterrupt, SystemExit, ValueError])
def test_a_trial_is_taken_down_however_it_ends(
    ends: type[BaseException], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = tmp_path / "table.json"
    monkeypatch.setattr("sys.argv", ["verify.py", "--stage", "trial", "--json", str(table)])
    monkeypatch.setattr(verify, "_on_aws", lambda options: STAGE)
    monkeypatch.setattr(verify.signal, "signal", lambda *_: None)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    down = list[str]()

    def stops(stage: Stage, table: Any) -> None:
        raise ends

    def take_down(stage: Stage) -> str:
        down.append(stage.name)
        return "gone"

    last = Statement(STATEMENTS[-1].says, take_down)
    monkeypatch.setattr(verify, "STATEMENTS", (*STATEMENTS[:-1], last))
    monkeypatch.setattr(verify, "_run_checks", stops)
    monkeypatch.setattr(verify.stacks, "delete", down.append)
    with pytest.raises((SystemExit, ValueError)):
        verify.main()
    assert down == ["backroom-trial-0000-receiver", STAGE.name]
    assert json.loads(table.read_text())["rows"][-1]["holds"] is True


def test_only_a_trial_is_deployed_changed_or_deleted() -> None:
    existing = Stage("prod")
    for check in (
        deployment.by_package,
        deployment.by_chalice,
        deployment.later_change,
        deployment.failing_change,
        deployment.protection,
        deployment.take_down,
    ):
        with pytest.raises(NotShownError):
            check(existing)


def test_prices_are_in_the_currency_of_the_shop(
    dynamodb: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURRENCY", "USD")
    monkeypatch.setattr(steps, "shop_settings", lambda stage: {"currency": "JPY"})
    monkeypatch.setattr(Stage, "resource_outputs", {"Table": "backroom-test"})
    monkeypatch.setattr(units, "_measure_units", lambda work: (work() and None) or units.Units())
    monkeypatch.setattr(
        units, "_compare_units", lambda seen: str([units.documented_units(name) for name in seen])
    )
    prices, remove = set[object](), store.delete

    def removed(id: str, version: None) -> None:
        prices.add(store.get(id).fields["price"])
        remove(id, version)

    monkeypatch.setattr(store, "delete", removed)
    units.as_documented(STAGE)
    assert prices == {"19", "1"}


def test_the_units_are_those_of_the_page() -> None:
    assert units.documented_units("create") == (0, 91)
    assert units.documented_units("get") == (2, 0)
    near = {"create": units.Units(0, 92), "get": units.Units(2, 0)}
    assert "create 0 and 92 (0 and 91), $57.50 a million" in units._compare_units(near)
    with pytest.raises(DoesNotHoldError):
        units._compare_units({"create": units.Units(0, 120)})


# ---- Checks that the emulator cannot show, with AWS's answers as documented ----


class Aws:
    """A client of every service: the answer to each call, or what makes it from the request."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers

    def __getattr__(self, operation: str) -> Any:
        answer = self._answers[operation]
        return answer if callable(answer) else lambda **request: answer

    def get_paginator(self, operation: str) -> Any:
        return argparse.Namespace(paginate=lambda **request: [getattr(self, operation)(**request)])


def _on(monkeypatch: pytest.MonkeyPatch, **answers: Any) -> Stage:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(services.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(Stage, "aws", lambda stage, service: Aws(**answers))
    return Stage("trial-0000", is_trial=True)


def test_the_receiver_answers_as_a_function_with_an_address() -> None:
    def called(path: str) -> Any:
        body = base64.b64encode(b"{}").decode()
        headers = {"x-service-delivery": "dlv_1", "x-service-signature": "t=1,v1=0"}
        event = {"rawPath": path, "headers": headers, "body": body, "isBase64Encoded": True}
        return receiver.handler(event, None)

    assert [called("/flaky")["statusCode"] for _ in range(2)] == [500, 204]
    assert called("/redirect")["headers"] == {"location": "/ok"}
    got = json.loads(called("/ok")["body"])
    assert got["signature"] == "t=1,v1=0"
    assert got["sha256"] == hashlib.sha256(b"{}").hexdigest()
    assert len(Path(receiver.__file__).read_bytes()) < 4_096  # CloudFormation: of a parameter


def test_a_role_that_may_too_much_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[Any]()

    def simulate(**request: Any) -> Any:
        asked.append(request)
        case = (request["PolicySourceArn"], request["ActionNames"][0])
        keys = [entry["ContextKeyValues"] for entry in request.get("ContextEntries", [])]
        allowed = (*case, *keys) in granted
        return {"EvaluationResults": [{"EvalDecision": "allowed" if allowed else "implicitDeny"}]}

    arn = "arn:aws:dynamodb:eu-west-1:1:table/backroom-trial-0000"
    table = {"Table": {"TableArn": arn}}
    stage = _on(monkeypatch, describe_table=table, simulate_principal_policy=simulate)
    made = {output: output for output in steps.ROLES.values()}
    stage.resource_outputs = {**made, "Table": "backroom-trial-0000", "Bucket": "b"}
    granted = [
        (steps.ROLES[function], action, *([[key]] if key else []))
        for function, action, _, key in services._MAY
    ]
    assert "are denied" in services.roles(stage)
    assert "arn:aws:sqs:eu-west-1:1:backroom-trial-0000-jobs" in asked[1]["ResourceArns"]
    granted.append((steps.ROLES["deliver"], "dynamodb:GetItem", ["key#0"]))
    with pytest.raises(DoesNotHoldError, match="deliver: dynamodb:GetItem on table key#0"):
        services.roles(stage)


def test_cold_starts_are_read_from_lambdas_own_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    line = (
        "REPORT RequestId: 1\tDuration: 9.1 ms\tBilled Duration: 10 ms\tMemory Size: 1024 MB\t"
        "Max Memory Used: {} MB\tInit Duration: 812.50 ms\t"
    )
    events = [{"message": line.format(150)}]
    stage = _on(monkeypatch, filter_log_events={"events": events})
    assert services.cold_starts(stage).startswith("api: 812 ms, median 812, 150 of 1024 MB; ")
    events.append({"message": line.format(1_000)})
    with pytest.raises(DoesNotHoldError, match="at their limit: api"):
        services.cold_starts(stage)


def test_alarms_must_be_set_back_by_cloudwatch(monkeypatch: pytest.MonkeyPatch) -> None:
    alarm = {"AlarmName": "a", "StateValue": "OK", "StateReason": "", "Metrics": [{"Id": "m"}]}

    def set_by_hand(**request: str) -> None:
        alarm.update(StateValue=request["StateValue"], StateReason=request["StateReason"])

    def described(**request: Any) -> Any:
        found = {"MetricAlarms": [dict(alarm)]}
        if evaluates:
            alarm.update(StateValue="OK", StateReason="Threshold Crossed: no datapoints")
        return found

    names = {
        "StackResourceSummaries": [
            {"ResourceType": "AWS::CloudWatch::Alarm", "PhysicalResourceId": "a"}
        ]
    }
    stage = _on(
        monkeypatch,
        list_stack_resources=names,
        set_alarm_state=set_by_hand,
        describe_alarms=described,
    )
    monkeypatch.setattr(services, "_METRICS_LATE", 0.01)
    monkeypatch.setattr("infra.verification.stage.time.sleep", lambda seconds: None)
    evaluates = True
    assert services.alarms(stage) == "1 alarms went to ALARM, and CloudWatch set them back"
    evaluates = False
    with pytest.raises(DoesNotHoldError, match="not evaluated yet: a"):
        services.alarms(stage)
