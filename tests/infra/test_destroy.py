"""Destroying and recreating a stage: waiting executions, names of queues."""

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import boto3
import pytest
from botocore.stub import Stubber

from infra import deploy, destroy, lanes, record, stacks, steps

pytestmark = pytest.mark.thorough

MADE = {"Table": "t", "OutboxTable": "o", "Bucket": "b", "RedriveStateMachineArn": "arn:machine"}


class States:
    """Step Functions with waiting executions. The first few listings each show a new one."""

    exceptions = SimpleNamespace(StateMachineDoesNotExist=KeyError)

    def __init__(self) -> None:
        self.running = [f"arn:{n}" for n in range(2_500)]
        self.late = ["arn:late-1", "arn:late-2"]
        self.stopped: list[str] = []

    def get_paginator(self, operation: str) -> Any:
        assert operation == "list_executions"
        return SimpleNamespace(paginate=self.paginate)

    def paginate(self, stateMachineArn: str, statusFilter: str) -> Any:
        assert (stateMachineArn, statusFilter) == ("arn:machine", "RUNNING")
        found = list(self.running)
        for start in range(0, max(1, len(found)), 1_000):
            rows = found[start : start + 1_000]
            yield {"executions": [{"executionArn": arn} for arn in rows]}

    def stop_execution(self, executionArn: str, cause: str) -> None:
        assert cause
        self.running.remove(executionArn)
        self.stopped.append(executionArn)
        if self.late and not self.running:
            self.running.append(self.late.pop())


def test_executions_are_stopped_first_and_the_stack_goes_after_the_data_that_it_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The state machine exists until the last execution has ended, up to a week. Without the
    stack, a run that was interrupted could not be repeated."""
    states, order = States(), list[str]()
    client = mock.MagicMock()
    client.delete_table.side_effect = lambda **named: order.extend(named.values())
    client.delete_bucket.side_effect = lambda **named: order.extend(named.values())

    def of(service: str) -> Any:
        return states if service == "stepfunctions" else client

    def delete(stack: str) -> None:
        order.append(f"{stack}, {len(states.running)} waiting")

    monkeypatch.setattr("infra.destroy.boto3.client", of)
    monkeypatch.setattr(destroy, "delete_functions", lambda stage: order.append("functions"))
    monkeypatch.setattr(stacks, "delete", delete)
    monkeypatch.setattr(destroy, "_empty_bucket", lambda bucket: order.append("emptied"))
    monkeypatch.setattr(destroy.record, "forget", lambda stage: None)
    destroy.delete_everything("try", MADE)
    waiting = "backroom-try-resources, 0 waiting"
    # The second time of what was uploaded while the stack was deleted.
    assert order == ["functions", "t", "o", "emptied", waiting, "emptied", "b"]
    assert len(states.stopped) == len(set(states.stopped)) == 2_502


def test_what_an_interrupted_destruction_left_is_destroyed_by_the_next(
    configured: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = {
        "dynamodb": (
            "ResourceNotFoundException",
            ["describe_table", "describe_table", "update_table", "update_table"],
        ),
        "stepfunctions": ("StateMachineDoesNotExist", ["list_executions"]),
        "s3": ("NoSuchBucket", ["get_object", "list_objects_v2", "list_objects_v2"]),
        "ssm": ("ParameterNotFound", ["delete_parameter"]),
    }
    clients = {}
    for service, (code, calls) in gone.items():
        clients[service] = boto3.client(service)
        stub = Stubber(clients[service])
        for call in calls:
            stub.add_client_error(call, code)
        stub.activate()
    deleted = list[str]()
    monkeypatch.setattr("infra.destroy.boto3.client", clients.__getitem__)
    monkeypatch.setattr(destroy, "delete_functions", lambda stage: None)
    monkeypatch.setattr(stacks, "delete", deleted.append)
    monkeypatch.setattr(destroy.record, "forget", lambda stage: None)
    assert not destroy.record.pull("try", "b")
    assert not any("table" in each for each in destroy.describe_contents(MADE))
    destroy.delete_everything("try", MADE)
    assert deleted == ["backroom-try-resources"]


def test_a_record_that_the_bucket_has_not_is_old(
    configured: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Another machine deleted the functions: with this record, Chalice would look for them."""
    monkeypatch.setattr(record, "CONFIG", tmp_path / "config.json")
    monkeypatch.setattr(record.package, "PROJECT", tmp_path)
    monkeypatch.setattr(record, "_get_copy", lambda s3, bucket, name: {"config": b"{}"}.get(name))
    record.CONFIG.write_text("{}")
    record.chalice_record("try").parent.mkdir(parents=True)
    record.chalice_record("try").write_text("{}")
    assert record.pull("try", "b")
    assert not record.chalice_record("try").exists()


def test_a_stage_whose_creation_failed_is_destroyed(monkeypatch: pytest.MonkeyPatch) -> None:
    deleted = list[str]()
    monkeypatch.setattr(destroy, "delete_functions", lambda stage: None)
    monkeypatch.setattr(stacks, "exists", lambda stack: True)
    monkeypatch.setattr(stacks, "delete", deleted.append)
    monkeypatch.setattr(destroy.record, "forget", lambda stage: None)
    monkeypatch.setattr("builtins.input", lambda question: "try")
    deploy._destroy_stage(argparse.Namespace(stage="try", with_data=False), {})
    assert deleted == ["backroom-try-resources"]


def test_recreating_a_stage_within_a_minute_waits_for_its_queues(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = "You must wait 60 seconds after deleting a queue before you can create another"
    outcomes = [stacks.StackError(reason), {"Table": "t"}]
    asked, waited = list[dict[str, str]](), list[float]()

    def resources(stage: str, parameters: dict[str, str]) -> Any:
        asked.append(parameters)
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(steps, "apply_resources", resources)
    monkeypatch.setattr("infra.deploy.time.sleep", waited.append)
    deploy._make_stage("try", {"Size": "aws"})
    assert [each["DeletionProtection"] for each in asked] == ["false", "false"]
    assert len(waited) == 1 and waited[0] > 60
    assert "keeps the name of a queue for a minute" in capsys.readouterr().out


def test_any_other_failure_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(stage: str, parameters: dict[str, str]) -> Any:
        raise stacks.StackError("no permission")

    monkeypatch.setattr(steps, "apply_resources", fails)
    with pytest.raises(stacks.StackError, match="no permission"):
        deploy._make_stage("try", {})


@pytest.mark.parametrize(
    ("account", "given", "said"),
    [
        (10, {}, "up to 9 for imports"),
        (1_000, {}, "up to 99 for imports"),
        (1_000, {"Lanes": "few"}, "up to 20 for imports"),
    ],
)
def test_show_prints_the_lanes_of_the_account(
    account: int,
    given: dict[str, str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(lanes, "account_limit", lambda: account)
    monkeypatch.setattr(steps, "apply_resources", lambda stage, parameters, only_show: {})
    monkeypatch.setattr(deploy, "_given_parameters", lambda options: dict(given))
    deploy._show_changes(argparse.Namespace(stage="try"))
    assert said in capsys.readouterr().out
