"""What resources.yaml and triggers.yaml promise, beyond being valid CloudFormation."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cfnlint.decode import cfn_yaml

from app import app
from chalicelib.imports.steps import plan
from infra import steps

INFRA = Path(__file__).resolve().parents[2] / "infra"
CONFIG = json.loads((INFRA.parent / ".chalice/config.json").read_text())
FOURTEEN_DAYS = 14 * 24 * 3600

Properties = Mapping[str, Any]


def of_type(template: str, kind: str) -> dict[str, Properties]:
    resources = cfn_yaml.load(str(INFRA / template))["Resources"]
    return {name: r["Properties"] for name, r in resources.items() if r["Type"] == kind}


def queues() -> dict[str, Properties]:
    return of_type("resources.yaml", "AWS::SQS::Queue")


def working_queues() -> dict[str, Properties]:
    return {name: queue for name, queue in queues().items() if "RedrivePolicy" in queue}


def mappings() -> dict[str, Properties]:
    return of_type("triggers.yaml", "AWS::Lambda::EventSourceMapping")


def function_of(name: Any) -> str:
    return str(name["Fn::Sub"]).removeprefix("backroom-${Stage}-")


def timeout(function: str) -> int:
    settings = CONFIG["lambda_functions"].get(function, {})
    return int(settings.get("lambda_timeout", CONFIG["lambda_timeout"]))


def statements() -> Iterator[tuple[str, Properties]]:
    for role, properties in of_type("resources.yaml", "AWS::IAM::Role").items():
        for policy in properties["Policies"]:
            for statement in policy["PolicyDocument"]["Statement"]:
                yield role, statement.get("Fn::If", [None, statement])[1]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def on_aws(resource: Any) -> list[Any]:
    """The resources of a statement, as they are on AWS."""
    chosen = resource.get("Fn::If", [None, resource])[1] if isinstance(resource, dict) else resource
    return listed(chosen)


def test_no_role_may_do_anything_to_everything() -> None:
    for role, statement in statements():
        for action in listed(statement["Action"]):
            assert "*" not in action, f"{role} may {action}"
        for resource in on_aws(statement["Resource"]):
            assert resource != "*", role
            (named,) = resource.values()
            assert not str(named).startswith("*"), f"{role} may act on {named}"


def test_no_role_may_delete_a_table_and_only_jobs_read_one_whole_or_delete_files() -> None:
    """An erasure does: docs/decisions/2026-11-22-erasure.md."""
    able = {
        (role, str(action))
        for role, statement in statements()
        for action in listed(statement["Action"])
        if str(action) in {"dynamodb:DeleteTable", "dynamodb:Scan", "s3:DeleteObject"}
    }
    assert able == {("RunJobRole", "dynamodb:Scan"), ("RunJobRole", "s3:DeleteObject")}


def test_every_function_has_a_role_of_its_own_and_a_log_that_ends() -> None:
    functions = {steps.API} | {function.name for function in app.pure_lambda_functions}
    assert functions == set(steps.ROLES)
    assert len(set(steps.ROLES.values())) == len(functions)
    outputs = cfn_yaml.load(str(INFRA / "resources.yaml"))["Outputs"]
    assert set(steps.ROLES.values()) <= set(outputs)
    logs = of_type("resources.yaml", "AWS::Logs::LogGroup").values()
    assert {log["LogGroupName"]["Fn::Sub"] for log in logs} == {
        f"/aws/lambda/{name}" for name in steps.functions("${Stage}")
    }
    assert all("RetentionInDays" in log for log in logs)


@pytest.mark.parametrize("name", ["Table", "Outbox"])
def test_a_table_outlives_its_stack_and_yesterday_can_be_restored(name: str) -> None:
    resource = cfn_yaml.load(str(INFRA / "resources.yaml"))["Resources"][name]
    table = resource["Properties"]
    assert resource["DeletionPolicy"] == "RetainExceptOnCreate"
    assert resource["UpdateReplacePolicy"] == "Retain"
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expiresAt", "Enabled": True}


def test_the_bucket_is_shut_to_the_public_and_tells_about_uploads() -> None:
    (bucket,) = of_type("resources.yaml", "AWS::S3::Bucket").values()
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert bucket["NotificationConfiguration"]["EventBridgeConfiguration"] == {
        "EventBridgeEnabled": True
    }
    assert bucket["BucketEncryption"]


def test_no_message_is_forgotten_before_two_weeks_or_kept_in_the_clear() -> None:
    for name, queue in queues().items():
        assert queue["MessageRetentionPeriod"] == FOURTEEN_DAYS, name
        assert queue["SqsManagedSseEnabled"] is True, name


def test_what_fails_for_good_ends_in_a_queue_that_somebody_watches() -> None:
    handled = {source_queue(m) for m in mappings().values()}
    for name, queue in queues().items():
        if name.endswith("Dead"):
            queue_name = function_of(queue["QueueName"])
            metric = "Age" if queue_name in handled else "MessagesVisible"
            assert any(
                f"backroom-${{Stage}}-{queue_name}'" in str(watched) and metric in str(watched)
                for watched in alarms().values()
            ), name
    assert {name for name in queues() if not name.endswith("Dead")} == set(working_queues())


def alarms() -> dict[str, Properties]:
    return of_type("alarms.yaml", "AWS::CloudWatch::Alarm")


def test_an_alarm_tells_somebody_and_silence_is_no_alarm() -> None:
    for name, alarm in alarms().items():
        assert alarm["AlarmActions"] == alarm["OKActions"] == [{"Ref": "Topic"}], name
        assert alarm["TreatMissingData"] == "notBreaching", name


def test_a_metric_that_nobody_wrote_yet_hides_no_other() -> None:
    """A sum with `+` has no value while one of its metrics has none."""
    for name, alarm in alarms().items():
        for metric in alarm.get("Metrics", []):
            expression = str(metric.get("Expression", ""))
            assert "+" not in expression, name
            for series in re.findall(r"- (\w+)", expression):
                assert series not in {m["Id"] for m in alarm["Metrics"]}, f"{name}: FILL {series}"


def test_each_alarm_has_an_entry_that_says_what_to_do() -> None:
    text = (INFRA.parent / "docs/operations.md").read_text()
    for name, alarm in alarms().items():
        entry = text.partition(f"\n### {function_of(alarm['AlarmName'])}\n")[2].partition("\n#")[0]
        assert "```sh" in entry, f"{name} has no entry with commands in docs/operations.md"


def test_every_function_is_watched_for_errors_and_for_what_it_logs() -> None:
    names = set(steps.functions("${Stage}"))
    failing = alarms()["FunctionsFailing"]["Metrics"]
    stats = [each["MetricStat"]["Metric"] for each in failing if "MetricStat" in each]
    assert {metric["MetricName"] for metric in stats} == {"Errors"}
    assert {d["Value"]["Fn::Sub"] for metric in stats for d in metric["Dimensions"]} == names
    filters = of_type("alarms.yaml", "AWS::Logs::MetricFilter").values()
    read = {f["LogGroupName"]["Fn::Sub"] for f in filters if "ERROR" in f["FilterPattern"]}
    assert read == {f"/aws/lambda/{name}" for name in names}


def test_the_runbook_looks_into_the_log_of_every_function() -> None:
    text = (INFRA.parent / "docs/operations.md").read_text()
    (loop,) = re.findall(r"^for f in (.+); do$", text, re.MULTILINE)
    named = {"backroom-${Stage}" + ending.strip('"') for ending in loop.split()}
    assert named == set(steps.functions("${Stage}"))


def test_the_alarms_that_are_free_are_ten_and_of_one_metric_each() -> None:
    resources = cfn_yaml.load(str(INFRA / "alarms.yaml"))["Resources"].values()
    always = [r for r in resources if r["Type"].endswith("::Alarm") and "Condition" not in r]
    assert len(always) == 10
    assert all("MetricName" in alarm["Properties"] for alarm in always)


def test_a_metric_of_ours_that_an_alarm_watches_is_one_that_somebody_writes() -> None:
    source = "".join(path.read_text() for path in (INFRA.parent / "chalicelib").rglob("*.py"))
    filters = of_type("alarms.yaml", "AWS::Logs::MetricFilter").values()
    written = {str(t["MetricName"]) for f in filters for t in f["MetricTransformations"]}
    for alarm in alarms().values():
        stats = [m["MetricStat"]["Metric"] for m in alarm.get("Metrics", []) if "MetricStat" in m]
        for metric in stats or [alarm]:
            if metric["Namespace"] == "Backroom":
                name = metric["MetricName"]
                assert str(name) in written or f'"{name}":' in source, name
    assert '"import failed"' in source  # what the filter of ImportsFailed looks for


def source_queue(mapping: Properties) -> str:
    source = mapping["EventSourceArn"].get("Fn::Sub", "")
    return str(source).rpartition(":")[2].removeprefix("backroom-${Stage}-")


def test_a_message_comes_again_only_after_its_function_must_have_ended() -> None:
    by_name = {function_of(queue["QueueName"]): queue for queue in queues().values()}
    read = {source_queue(m): function_of(m["FunctionName"]) for m in mappings().values()}
    del read[""]  # the outbox stream
    assert set(read) >= {function_of(q["QueueName"]) for q in working_queues().values()}
    for queue, function in read.items():
        assert by_name[queue]["VisibilityTimeout"] >= 6 * timeout(function), queue


def test_the_planner_has_a_whole_core_and_ends_before_its_function_does() -> None:
    """1,769 MB are one core (AWS): else 5 GB take longer than a function may."""
    assert CONFIG["lambda_functions"]["plan_import"]["lambda_memory_size"] >= 1_769
    assert plan._PLANNING_SECONDS + 30 <= timeout("plan_import") <= 900


def test_a_retry_that_waits_by_visibility_is_not_condemned_for_it() -> None:
    two_hours_in_waits_of_fifteen_minutes = 8
    assert (
        queues()["Retries"]["RedrivePolicy"]["maxReceiveCount"]
        > 50 * two_hours_in_waits_of_fifteen_minutes
    )


def test_one_bad_message_never_sends_its_batch_back() -> None:
    for name, mapping in mappings().items():
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"], name


def test_the_outbox_is_read_from_its_start_for_new_events_and_in_halves_on_failure() -> None:
    outbox = mappings()["Outbox"]
    assert outbox["StartingPosition"] == "TRIM_HORIZON"
    assert outbox["BisectBatchOnFunctionError"] is True
    (pattern,) = outbox["FilterCriteria"]["Filters"]
    assert json.loads(pattern["Pattern"]) == {"eventName": ["INSERT"]}
    assert "fan-out-dead" in str(outbox["DestinationConfig"]["OnFailure"]["Destination"])


def test_every_trigger_names_a_function_that_exists() -> None:
    functions = {function.name for function in app.pure_lambda_functions}
    rules = of_type("triggers.yaml", "AWS::Events::Rule").values()
    named = {function_of(m["FunctionName"]) for m in mappings().values()}
    named |= {target["Id"] for rule in rules for target in rule["Targets"]}
    machine = json.loads((INFRA / "redrive.asl.json").read_text())
    assert machine["States"]["RedriveWhatIsDue"]["Resource"] == "${RedriveFunctionArn}"
    assert named | {"redrive"} == functions


def test_a_rule_may_call_its_function_and_keeps_what_it_could_not_deliver() -> None:
    permitted = {
        function_of(p["FunctionName"])
        for p in of_type("triggers.yaml", "AWS::Lambda::Permission").values()
    }
    for rule in of_type("triggers.yaml", "AWS::Events::Rule").values():
        for target in rule["Targets"]:
            assert target["Id"] in permitted
            assert target["DeadLetterConfig"]["Arn"]
            assert target["RetryPolicy"]["MaximumRetryAttempts"] > 0


def test_the_redrive_waits_until_its_slot_and_repeats_while_there_is_more() -> None:
    machine = json.loads((INFRA / "redrive.asl.json").read_text())
    states = machine["States"]
    wait = states[machine["StartAt"]]
    assert (wait["Type"], wait["TimestampPath"]) == ("Wait", "$.due")
    redrive = states[wait["Next"]]
    choice = states[redrive["Next"]]
    (again,) = choice["Choices"]
    assert (again["Variable"], again["BooleanEquals"]) == ("$.redriven.more", True)
    pause = states[again["Next"]]
    assert (pause["Type"], pause["SecondsPath"]) == ("Wait", "$.redriven.wait")
    assert pause["Next"] == wait["Next"]
    assert redrive["ResultPath"] == "$.redriven"
    assert states[choice["Default"]]["Type"] == "Succeed"


def test_chalice_is_not_packaged_twice() -> None:
    packaged = (INFRA.parent / "requirements.txt").read_text().lower()
    names = {line.split("==")[0] for line in packaged.splitlines() if "==" in line}
    assert names and "chalice" not in names and "boto3" not in names
