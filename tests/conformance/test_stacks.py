"""The templates on another emulator of CloudFormation (`make conformance-stacks`).

Needs Java 17 and Maven. Functions stay pending there, because only containers run them.
"""

import io
import json
import os
import re
import time
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest

from infra import package, steps
from infra.emulator import CREDENTIALS
from tests.conformance.localstack import PYTHON, LocalStack
from tests.support.templates import load_template

pytestmark = pytest.mark.skipif(
    not (PYTHON.parents[2] / "ready").exists(), reason="make conformance-stacks installs LocalStack"
)

STAGE = "trial"
INFRA = Path(package.__file__).parent
MACHINE = f"backroom-{STAGE}-redrive"
# The free edition makes none of these, and says only in its log that it left them out.
NOT_THERE = {"AWS::CloudWatch::Dashboard", "AWS::Logs::MetricFilter"}
LAMBDA = "arn:aws:lambda:us-east-1:000000000000:function:"

# The task fails once and then answers. Each visit of the state begins with the first answer again.
MOCKS: dict[str, Any] = {
    "StateMachines": {
        MACHINE: {"TestCases": {case: {"RedriveWhatIsDue": case} for case in ("last", "more")}}
    },
    "MockedResponses": {
        case: {
            "0": {"Throw": {"Error": "Lambda.ServiceException", "Cause": "a fault"}},
            "1": {"Return": {"Payload": {"more": case == "more", "wait": 2}, "StatusCode": 200}},
        }
        for case in ("last", "more")
    },
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    with pytest.MonkeyPatch.context() as patch:
        started = LocalStack(tmp_path_factory.mktemp("stacks"), MOCKS)
        for name, value in CREDENTIALS.items():
            patch.setenv(name, value)
        patch.setenv("AWS_ENDPOINT_URL", started.endpoint)
        # Other tests of this process may have made it, with another address.
        patch.setattr(boto3, "DEFAULT_SESSION", None)
        yield started
        started.stop()


@pytest.fixture(scope="module")
def outputs(engine: LocalStack) -> dict[str, str]:
    """Of the resources, after all three stacks were made."""
    definition = (INFRA / "redrive.asl.json").read_text()
    made = make("resources", Size="aws", DeletionProtection="false", RedriveDefinition=definition)
    _functions(made)
    table = boto3.client("dynamodb").describe_table(TableName=made["OutboxTable"])["Table"]
    make("triggers", OutboxStreamArn=table["LatestStreamArn"], Lanes="least")
    make("alarms", Alarms="all")
    return made


def make(step: str, **parameters: str) -> dict[str, str]:
    return _stack(step, "create", (INFRA / f"{step}.yaml").read_text(), Stage=STAGE, **parameters)


def _stack(step: str, verb: str, template: str, **parameters: str) -> dict[str, str]:
    cloudformation = boto3.client("cloudformation")
    name = steps.stack_name(STAGE, step)
    where = {"TemplateBody": template}
    if len(template) > 51_200:
        bucket = f"backroom-{STAGE}-000000000000-us-east-1"
        boto3.client("s3").put_object(Bucket=bucket, Key="template", Body=template.encode())
        where = {"TemplateURL": f"{os.environ['AWS_ENDPOINT_URL']}/{bucket}/template"}
    getattr(cloudformation, f"{verb}_stack")(
        StackName=name,
        **where,
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"],
        Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in parameters.items()],
    )
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        stack = cloudformation.describe_stacks(StackName=name)["Stacks"][0]
        if not stack["StackStatus"].endswith("IN_PROGRESS"):
            break
        time.sleep(1)
    events = cloudformation.describe_stack_events(StackName=name)["StackEvents"]
    failed = [
        f"{e['LogicalResourceId']}: {e.get('ResourceStatusReason')}"
        for e in events
        if "FAILED" in e["ResourceStatus"]
    ]
    assert stack["StackStatus"] == f"{verb.upper()}_COMPLETE", failed or stack
    return {o["OutputKey"]: o["OutputValue"] for o in stack.get("Outputs", [])}


def _functions(made: Mapping[str, str]) -> None:
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as zipped:
        zipped.writestr("app.py", "")
    for function, role in steps.role_arns(made).items():
        suffix = "" if function == "api_handler" else f"-{function}"
        boto3.client("lambda").create_function(
            FunctionName=f"backroom-{STAGE}{suffix}",
            Runtime="python3.11",
            Role=role,
            Handler=f"app.{function}",
            Code={"ZipFile": code.getvalue()},
        )


def _resources(step: str) -> Counter[str]:
    """How many of each type the template lists, without those whose condition is not met."""
    template = load_template(f"{step}.yaml")
    return Counter(
        each["Type"]
        for each in template["Resources"].values()
        if each.get("Condition") not in {"HasDomain", "HasEmail"}
    )


@pytest.mark.parametrize("step", ["resources", "triggers", "alarms"])
def test_each_listed_resource_is_made(outputs: Mapping[str, str], step: str) -> None:
    pages = boto3.client("cloudformation").get_paginator("list_stack_resources")
    found = [
        each
        for page in pages.paginate(StackName=steps.stack_name(STAGE, step))
        for each in page["StackResourceSummaries"]
        if each["ResourceType"] not in NOT_THERE
    ]
    assert {each["ResourceStatus"] for each in found} == {"CREATE_COMPLETE"}
    made = Counter(each["ResourceType"] for each in found)
    # It also lists what a condition leaves out.
    assert not Counter(k for k in _resources(step).elements() if k not in NOT_THERE) - made


def test_nothing_else_is_left_out(engine: LocalStack, outputs: Mapping[str, str]) -> None:
    left_out = re.findall(r'No resource provider found for "([^"]+)"', engine.log.read_text())
    assert set(left_out) == NOT_THERE


def test_alarms_lead_to_the_topic(engine: LocalStack, outputs: Mapping[str, str]) -> None:
    # By hand: LocalStack does not know the protocol that boto3 speaks with CloudWatch.
    credential = "Credential=test/20260101/us-east-1/monitoring/aws4_request"
    request = urllib.request.Request(
        engine.endpoint,
        b"Action=DescribeAlarms&Version=2010-08-01&MaxRecords=100",
        {"Authorization": f"AWS4-HMAC-SHA256 {credential}, SignedHeaders=host, Signature=0"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        found = response.read().decode()
    alarms = _resources("alarms")["AWS::CloudWatch::Alarm"]
    assert found.count("<AlarmName>") == alarms
    topic = f"arn:aws:sns:us-east-1:000000000000:backroom-{STAGE}-alarms"
    assert re.findall("<AlarmActions><member>(.*?)</member>", found) == [topic] * alarms


def test_rules_and_schedules_have_their_targets(outputs: Mapping[str, str]) -> None:
    events = boto3.client("events")
    rules = {
        rule["Name"].removeprefix(f"backroom-{STAGE}-"): rule
        for rule in events.list_rules()["Rules"]
    }
    assert {name: rule.get("ScheduleExpression") for name, rule in rules.items()} == {
        "uploaded": None,
        "uploaded-file": None,
        "hourly": "rate(1 hour)",
        "nightly": "cron(30 3 * * ? *)",
        "weekly": "cron(30 4 ? * SUN *)",
    }
    targets = {
        name: {
            t["Arn"].removeprefix(f"{LAMBDA}backroom-{STAGE}-"): t["DeadLetterConfig"][
                "Arn"
            ].rpartition(":")[2]
            for t in events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
        }
        for name, rule in rules.items()
    }
    dead = f"backroom-{STAGE}-schedules-dead"
    assert targets == {
        "uploaded": {"plan_import": f"backroom-{STAGE}-plan-import-dead"},
        "uploaded-file": {
            f"arn:aws:sqs:us-east-1:000000000000:backroom-{STAGE}-files": (
                f"backroom-{STAGE}-files-dead"
            )
        },
        "hourly": {"send_summaries": dead, "fan_out": dead, "render_file": dead},
        "nightly": {"check_counts": dead},
        "weekly": {"check_counts": dead},
    }


@pytest.mark.parametrize(("key", "matches"), [("imports/a.csv", True), ("exports/a.csv", False)])
def test_the_pattern_takes_imports_only(
    outputs: Mapping[str, str], key: str, matches: bool
) -> None:
    events = boto3.client("events")
    event = {
        "id": "1",
        "account": "000000000000",
        "region": "us-east-1",
        "time": "2026-01-01T00:00:00Z",
        "resources": [],
        "source": "aws.s3",
        "detail-type": "Object Created",
        "detail": {"bucket": {"name": outputs["Bucket"]}, "object": {"key": key}},
    }
    pattern = events.describe_rule(Name=f"backroom-{STAGE}-uploaded")["EventPattern"]
    found = events.test_event_pattern(EventPattern=pattern, Event=json.dumps(event))
    assert found["Result"] is matches


@pytest.mark.parametrize(
    ("case", "then"), [("last", ["Done"]), ("more", ["LetTheReceiverBreathe", "RedriveWhatIsDue"])]
)
def test_the_machine_waits_retries_and_follows_the_answer(
    outputs: Mapping[str, str], case: str, then: list[str]
) -> None:
    states = boto3.client("stepfunctions")
    due = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=4)
    execution = states.start_execution(
        stateMachineArn=f"{outputs['RedriveStateMachineArn']}#{case}",
        name=f"wh_1-{case}",
        input=json.dumps({"due": due.strftime("%Y-%m-%dT%H:%M:%SZ"), "endpointId": "wh_1"}),
    )["executionArn"]
    expected = ["WaitUntilDue", "RedriveWhatIsDue", "IsThereMore", *then]
    deadline = time.monotonic() + 60
    entered: list[tuple[str, datetime]] = []
    while len(entered) < len(expected) and time.monotonic() < deadline:
        time.sleep(0.5)
        history = states.get_execution_history(executionArn=execution)["events"]
        entered = [
            (e["stateEnteredEventDetails"]["name"], e["timestamp"])
            for e in history
            if "stateEnteredEventDetails" in e
        ]
    assert [name for name, _at in entered] == expected
    assert entered[1][1] >= due - timedelta(seconds=1)  # it counts whole seconds only
    # On AWS it is LambdaFunctionFailed; the mock says TaskFailed.
    failed = min(e["timestamp"] for e in history if e["type"] == "TaskFailed")
    again = min(e["timestamp"] for e in history if e["type"] == "LambdaFunctionSucceeded")
    assert (again - failed).total_seconds() >= 5  # IntervalSeconds
    if case == "more":
        assert (entered[4][1] - entered[3][1]).total_seconds() >= 2  # as the task answered
        states.stop_execution(executionArn=execution)
    else:
        while states.describe_execution(executionArn=execution)["status"] == "RUNNING":
            assert time.monotonic() < deadline
            time.sleep(0.5)
        assert states.describe_execution(executionArn=execution)["status"] == "SUCCEEDED"


def test_queues_have_their_visibility_and_dead_letter_queue(outputs: Mapping[str, str]) -> None:
    found = {}
    for name in ("Deliveries", "Retries", "ImportQueue", "Jobs"):
        url = outputs[f"{name.removesuffix('Queue')}QueueUrl"]
        attributes = boto3.client("sqs").get_queue_attributes(
            QueueUrl=url, AttributeNames=["VisibilityTimeout", "RedrivePolicy"]
        )["Attributes"]
        policy = json.loads(attributes["RedrivePolicy"])
        dead = policy["deadLetterTargetArn"].rpartition(f"{STAGE}-")[2]
        found[name] = (attributes["VisibilityTimeout"], dead, int(policy["maxReceiveCount"]))
    assert found == {
        "Deliveries": ("360", "deliveries-dead", 20),
        "Retries": ("360", "deliveries-dead", 1000),
        "ImportQueue": ("1800", "import-chunks-dead", 25),
        "Jobs": ("720", "jobs-dead", 25),
    }


def test_the_api_is_imported_with_every_route(outputs: Mapping[str, str]) -> None:
    """As `chalice package` wrote it, without its functions: their stack would wait for them."""
    built = package.build(package.CACHE)
    whole = json.loads(
        package.to_native_template(
            built,
            stage=STAGE,
            bucket=outputs["Bucket"],
            key="none.zip",
            roles=steps.role_arns(outputs),
            environment={},
            memory={},
            layer_arn="arn:aws:lambda:us-east-1:000000000000:layer:none:1",
        )
    )
    whole["Resources"] = {
        name: resource
        for name, resource in whole["Resources"].items()
        if resource["Type"].startswith("AWS::ApiGateway::")
    }
    text = json.dumps(whole).replace("${APIHandler.Arn}", f"{LAMBDA}backroom-{STAGE}")
    api = _stack("app", "create", text)["RestApiId"]
    body = whole["Resources"]["RestAPI"]["Properties"]["Body"]
    gateway = boto3.client("apigateway")
    routes: set[tuple[str, str]] = set()
    for page in gateway.get_paginator("get_resources").paginate(restApiId=api, embed=["methods"]):
        for resource in page["items"]:
            routes |= {(resource["path"], m) for m in resource.get("resourceMethods", {})}
    wanted = {(path, method.upper()) for path, each in body["paths"].items() for method in each}
    assert routes == wanted
    stages = gateway.get_stages(restApiId=api)["item"]
    assert [stage["stageName"] for stage in stages] == [STAGE]


def test_an_update_changes_the_machine_and_keeps_the_outputs(outputs: Mapping[str, str]) -> None:
    """Of the state machine: it updates no table, bucket or log group. Runs last."""
    template = (INFRA / "resources.yaml").read_text()
    definition = (INFRA / "redrive.asl.json").read_text()
    after = _stack(
        "resources",
        "update",
        template,
        Stage=STAGE,
        Size="aws",
        DeletionProtection="false",
        RedriveDefinition=definition.replace('"IntervalSeconds": 5', '"IntervalSeconds": 7'),
    )
    assert after == outputs
    machine = boto3.client("stepfunctions").describe_state_machine(
        stateMachineArn=outputs["RedriveStateMachineArn"]
    )
    assert '"IntervalSeconds": 7' in machine["definition"]
