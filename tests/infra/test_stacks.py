"""infra/stacks.py with a CloudFormation whose operations begin after their call has returned."""

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from infra import stacks

pytestmark = pytest.mark.thorough

ID = "arn:aws:cloudformation:eu-central-1:123456789012:stack/shop/1"
Event = dict[str, str]


class CloudFormation:
    """One stack. `script`: its events after a call, one at each listing; the first listings after
    the call still show the old state."""

    def __init__(
        self, status: str, script: list[tuple[str, str, str]], idle_looks: int = 3
    ) -> None:
        self.status, self.script, self.idle = status, script, idle_looks
        self.events: list[Event] = [
            _event("Old", "CREATE_FAILED", "an earlier change", "earlier"),
            _event("shop", "UPDATE_COMPLETE", "", "earlier", ID),
        ]
        self.token = ""

    def describe_stacks(self, StackName: str) -> Any:
        self._step()
        if self.status == "DELETE_COMPLETE" and StackName != ID:
            error = {"Code": "ValidationError", "Message": "Stack shop does not exist"}
            raise ClientError({"Error": error}, "DescribeStacks")
        outputs = [{"OutputKey": "Status", "OutputValue": self.status}]
        return {"Stacks": [{"StackId": ID, "StackStatus": self.status, "Outputs": outputs}]}

    def get_paginator(self, operation: str) -> Any:
        assert operation == "describe_stack_events"
        return self

    def paginate(self, StackName: str) -> Iterator[Any]:
        newest = self.events[::-1]
        yield {"StackEvents": newest[:2]}
        yield {"StackEvents": newest[2:]}

    def execute_change_set(self, ClientRequestToken: str, **_: str) -> None:
        self.token = ClientRequestToken

    def delete_stack(self, ClientRequestToken: str, **_: str) -> None:
        self.token = ClientRequestToken

    def create_change_set(self, **_: Any) -> None:
        pass

    def get_template_summary(self, **_: Any) -> Any:
        return {"Parameters": []}

    def describe_change_set(self, **_: Any) -> Any:
        return {"Status": "CREATE_COMPLETE", "StackId": ID, "Changes": []}

    def _step(self) -> None:
        if self.token and self.idle:
            self.idle -= 1
        elif self.token and self.script:
            name, status, reason = self.script.pop(0)
            self.events.append(
                _event(name, status, reason, self.token, ID if name == "shop" else "")
            )
            if name == "shop":
                self.status = status

    class exceptions:
        ClientError = ClientError


def _event(name: str, status: str, reason: str, token: str, physical: str = "") -> Event:
    return {
        "LogicalResourceId": name,
        "PhysicalResourceId": physical,
        "ResourceStatus": status,
        "ResourceStatusReason": reason,
        "ClientRequestToken": token,
    }


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[..., CloudFormation]:
    def begin(*arguments: Any) -> CloudFormation:
        service = CloudFormation(*arguments)
        monkeypatch.setattr(boto3, "client", lambda name, **_: service)
        monkeypatch.setattr("time.sleep", lambda seconds: None)
        return service

    return begin


UPDATED = [
    ("shop", "UPDATE_IN_PROGRESS", ""),
    ("Table", "UPDATE_COMPLETE", ""),
    ("shop", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", ""),
    ("shop", "UPDATE_COMPLETE", ""),
]
ROLLED_BACK = [
    ("shop", "UPDATE_IN_PROGRESS", ""),
    ("Table", "UPDATE_FAILED", "no room"),
    ("Queue", "UPDATE_FAILED", "Resource update cancelled"),
    ("shop", "UPDATE_ROLLBACK_IN_PROGRESS", ""),
    ("shop", "UPDATE_ROLLBACK_COMPLETE", ""),
]


def test_the_status_of_an_earlier_change_is_not_a_success(
    at: Callable[..., CloudFormation],
) -> None:
    service = at("UPDATE_COMPLETE", list(UPDATED))
    assert stacks.apply("shop", "{}", {}) == {"Status": "UPDATE_COMPLETE"}
    assert service.script == []


def test_a_change_that_begins_late_and_fails_reports_its_own_reason(
    at: Callable[..., CloudFormation],
) -> None:
    at("UPDATE_COMPLETE", list(ROLLED_BACK))
    with pytest.raises(stacks.StackError, match="Table: no room"):
        stacks.apply("shop", "{}", {})


@pytest.mark.parametrize("left", ["ROLLBACK_COMPLETE", "DELETE_FAILED", "UPDATE_ROLLBACK_FAILED"])
def test_what_a_failed_run_left_is_shown_and_not_touched(
    left: str, at: Callable[..., CloudFormation], capsys: pytest.CaptureFixture[str]
) -> None:
    service = at(left, [])
    assert stacks.apply("shop", "{}", {}, only_show=True) == {"Status": left}
    assert f"shop: is {left}" in capsys.readouterr().out
    assert service.token == ""


def test_a_deletion_that_begins_late_is_awaited(at: Callable[..., CloudFormation]) -> None:
    gone = [("shop", "DELETE_IN_PROGRESS", ""), ("shop", "DELETE_COMPLETE", "")]
    service = at("CREATE_COMPLETE", gone)
    stacks.delete("shop")
    assert service.status == "DELETE_COMPLETE"


def test_a_failed_deletion_reports_its_reason(at: Callable[..., CloudFormation]) -> None:
    stuck = [
        ("shop", "DELETE_IN_PROGRESS", ""),
        ("Bucket", "DELETE_FAILED", "not empty"),
        ("shop", "DELETE_FAILED", "The following resource(s) failed to delete: [Bucket]."),
    ]
    at("UPDATE_COMPLETE", stuck)
    with pytest.raises(stacks.StackError, match="Bucket: not empty"):
        stacks.delete("shop")


@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1", "ap-southeast-5"])
def test_a_large_template_is_read_from_the_region_of_its_bucket(
    region: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    put: list[Any] = []
    session = boto3.Session(region_name=region)
    client = session.client

    def s3(service: str, **options: Any) -> Any:
        made = client(service, **options)  # type: ignore[call-overload]
        made.put_object = lambda **request: put.append(request)
        return made

    monkeypatch.setattr(boto3, "client", s3)
    sent = stacks._travelling("x" * 60_000, "shop-app", "backroom-prod-1")
    assert sent == {
        "TemplateURL": f"https://backroom-prod-1.s3.{region}.amazonaws.com/deployments/shop-app.json"
    }
    assert [request["Bucket"] for request in put] == ["backroom-prod-1"]
