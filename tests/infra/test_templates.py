"""The rules that resources.yaml, triggers.yaml and alarms.yaml keep."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from app import app
from bench import shops
from chalicelib.imports.steps import plan
from infra import steps
from tests.support.templates import INFRA, load_template

CONFIG = json.loads((INFRA.parent / ".chalice/config.json").read_text())
FOURTEEN_DAYS = 14 * 24 * 3600
RENDERING = ("CheckCountsRole", "RenderFileRole")

Properties = Mapping[str, Any]


def of_type(template: str, kind: str) -> dict[str, Properties]:
    resources = load_template(template)["Resources"]
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
    """The resources of a statement on AWS."""
    chosen = resource.get("Fn::If", [None, resource])[1] if isinstance(resource, dict) else resource
    return listed(chosen)


def test_no_role_has_wildcard_actions_or_resources() -> None:
    for role, statement in statements():
        for action in listed(statement["Action"]):
            assert "*" not in action, f"{role} may {action}"
        for resource in on_aws(statement["Resource"]):
            assert resource != "*", role
            (named,) = resource.values()
            assert not str(named).startswith("*"), f"{role} may act on {named}"


def test_no_role_may_delete_a_table_or_files_but_pictures_and_one_may_scan() -> None:
    """The fan-out looks through the outbox for lost events."""
    able = {
        (role, str(action), folder)
        for role, statement in statements()
        for action in listed(statement["Action"])
        if str(action) in {"dynamodb:DeleteTable", "dynamodb:Scan", "s3:DeleteObject"}
        for resource in listed(statement["Resource"])
        for folder in [str(resource).lower().rpartition(".arn}/")[2]]
    }
    deletes = {(role, folder) for role, action, folder in able if action == "s3:DeleteObject"}
    assert {(role, action) for role, action, _ in able if action != "s3:DeleteObject"} == {
        ("FanOutRole", "dynamodb:Scan")
    }
    own = {"files/*'}", "uploads/*'}"}
    everything = {"pictures/*'}", "*'}", *own}  # "*" of the bucket of pictures
    assert deletes == {
        *((role, folder) for role in ("ApiRole", *RENDERING) for folder in everything),
        *(("RunJobRole", folder) for folder in own),
    }


def test_every_function_has_its_own_role_and_a_log_with_retention() -> None:
    functions = {steps.API} | {function.name for function in app.pure_lambda_functions}
    assert functions == set(steps.ROLES)
    assert len(set(steps.ROLES.values())) == len(functions)
    outputs = load_template("resources.yaml")["Outputs"]
    assert set(steps.ROLES.values()) <= set(outputs)
    logs = of_type("resources.yaml", "AWS::Logs::LogGroup").values()
    assert {log["LogGroupName"]["Fn::Sub"] for log in logs} == {
        f"/aws/lambda/{name}" for name in steps.function_names("${Stage}")
    }
    assert all("RetentionInDays" in log for log in logs)


@pytest.mark.parametrize("name", ["Table", "Outbox"])
def test_a_table_is_retained_and_has_point_in_time_recovery(name: str) -> None:
    resource = load_template("resources.yaml")["Resources"][name]
    table = resource["Properties"]
    assert resource["DeletionPolicy"] == "RetainExceptOnCreate"
    assert resource["UpdateReplacePolicy"] == "Retain"
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expiresAt", "Enabled": True}


def test_the_bucket_blocks_public_access_and_sends_upload_events() -> None:
    bucket = of_type("resources.yaml", "AWS::S3::Bucket")["Bucket"]
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert bucket["NotificationConfiguration"]["EventBridgeConfiguration"] == {
        "EventBridgeEnabled": True
    }
    assert bucket["BucketEncryption"]


def test_of_the_pictures_everybody_may_read_an_object_and_nothing_else() -> None:
    policy = of_type("resources.yaml", "AWS::S3::BucketPolicy")["PicturesPolicy"]
    readers, https = policy["PolicyDocument"]["Statement"]
    _, cdn, everybody = readers["Fn::If"]
    resource = {"Fn::Sub": "${Pictures.Arn}/*"}
    assert everybody == {
        "Effect": "Allow",
        "Principal": "*",
        "Action": "s3:GetObject",
        "Resource": resource,
    }
    assert (cdn["Action"], cdn["Resource"]) == ("s3:GetObject", resource)
    assert cdn["Principal"] == {"Service": "cloudfront.amazonaws.com"}
    assert cdn["Condition"] == {"StringEquals": {"aws:SourceArn": {"Ref": "PictureReaders"}}}
    assert https["Fn::If"][1]["Effect"] == "Deny"
    bucket = of_type("resources.yaml", "AWS::S3::Bucket")["Pictures"]
    block = bucket["PublicAccessBlockConfiguration"]
    assert block["BlockPublicAcls"] is block["IgnorePublicAcls"] is True
    assert "CorsConfiguration" not in bucket and "NotificationConfiguration" not in bucket


def test_what_decodes_files_reads_nothing_of_the_shop() -> None:
    """A picture that takes over its decoder finds no orders, no customers and no keys."""
    granted = [one for role, one in statements() if role == "RenderFileRole"]
    tables = [one for one in granted if "dynamodb:" in str(one["Action"])]
    outbox = [one for one in tables if "Outbox" in str(one["Resource"])]
    assert [one["Action"] for one in outbox] == [["dynamodb:PutItem"]]  # and reads none of it
    assert [one["Condition"] for one in tables if one not in outbox] == [
        {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [key]}} for key in ("pic_*", "files#*")
    ]
    files = {str(one["Resource"]) for one in granted if "s3:GetObject" in listed(one["Action"])}
    assert files == {str({"Fn::Sub": "${Bucket.Arn}/uploads/*"})}


def test_two_pictures_are_rendered_at_once() -> None:
    assert mappings()["Files"]["ScalingConfig"] == {"MaximumConcurrency": 2}


def test_queues_keep_messages_two_weeks_and_encrypt_them() -> None:
    for name, queue in queues().items():
        assert queue["MessageRetentionPeriod"] == FOURTEEN_DAYS, name
        assert queue["SqsManagedSseEnabled"] is True, name


def test_every_dead_letter_queue_has_an_alarm() -> None:
    """AWS leaves what was received three times out of the age of the oldest message; one that a
    function tries again is hidden meanwhile."""
    handled = {source_queue(m) for m in mappings().values()}
    for name, queue in queues().items():
        if name.endswith("Dead"):
            queue_name = function_of(queue["QueueName"])
            tried = {"NotVisible"} if queue_name in handled else set()
            watched = {
                metric["MetricName"].removeprefix("ApproximateNumberOfMessages")
                for alarm in alarms().values()
                for metric in watched_by(alarm)
                if f"backroom-${{Stage}}-{queue_name}'" in str(metric)
            }
            assert watched == {"Visible"} | tried, name
    assert {name for name in queues() if not name.endswith("Dead")} == set(working_queues())


def alarms() -> dict[str, Properties]:
    return of_type("alarms.yaml", "AWS::CloudWatch::Alarm")


def watched_by(alarm: Properties) -> list[Properties]:
    stats = [each["MetricStat"] for each in alarm.get("Metrics", []) if "MetricStat" in each]
    return [each["Metric"] for each in stats] or [alarm]


def test_an_alarm_notifies_and_missing_data_is_no_alarm() -> None:
    for name, alarm in alarms().items():
        assert alarm["AlarmActions"] == alarm["OKActions"] == [{"Ref": "Topic"}], name
        assert alarm["TreatMissingData"] == "notBreaching", name


def test_a_missing_metric_does_not_hide_others_in_a_sum() -> None:
    """A sum with `+` has no value if one of its metrics has none."""
    for name, alarm in alarms().items():
        for metric in alarm.get("Metrics", []):
            expression = str(metric.get("Expression", ""))
            assert "+" not in expression, name
            for series in re.findall(r"- (\w+)", expression):
                assert series not in {m["Id"] for m in alarm["Metrics"]}, f"{name}: FILL {series}"


def test_each_alarm_has_an_entry_in_the_runbook() -> None:
    text = (INFRA.parent / "docs/operations.md").read_text()
    for name, alarm in alarms().items():
        heading = function_of(alarm["AlarmName"])
        entry = text.partition(f"\n### {heading}\n")[2].partition("\n#")[0]
        assert "```sh" in entry, f"{name} has no entry with commands in docs/operations.md"
        assert alarm["AlarmDescription"].endswith(f"docs/operations.md#{heading}"), name


def test_every_function_has_alarms_for_errors_and_logged_errors() -> None:
    names = set(steps.function_names("${Stage}"))
    failing = alarms()["FunctionsFailing"]["Metrics"]
    stats = [each["MetricStat"]["Metric"] for each in failing if "MetricStat" in each]
    assert {metric["MetricName"] for metric in stats} == {"Errors"}
    assert {d["Value"]["Fn::Sub"] for metric in stats for d in metric["Dimensions"]} == names
    filters = of_type("alarms.yaml", "AWS::Logs::MetricFilter").values()
    read = {f["LogGroupName"]["Fn::Sub"] for f in filters if "ERROR" in f["FilterPattern"]}
    assert read == {f"/aws/lambda/{name}" for name in names}


def test_the_runbook_queries_the_log_of_every_function() -> None:
    text = (INFRA.parent / "docs/operations.md").read_text()
    for alarm in ("functions-failing", "errors-logged"):
        entry = text.partition(f"\n### {alarm}\n")[2].partition("\n#")[0]
        (loop,) = re.findall(r"^for f in (.+); do$", entry, re.MULTILINE)
        named = {"backroom-${Stage}" + ending.strip('"') for ending in loop.split()}
        assert named == set(steps.function_names("${Stage}")), alarm


def test_the_ten_free_alarms_have_one_metric_each() -> None:
    resources = load_template("alarms.yaml")["Resources"].values()
    always = [r for r in resources if r["Type"].endswith("::Alarm") and "Condition" not in r]
    assert len(always) == 10
    assert all("MetricName" in alarm["Properties"] for alarm in always)


def test_the_runbook_counts_the_alarms_and_lists_those_that_cost() -> None:
    resources = load_template("alarms.yaml")["Resources"].values()
    found = [r for r in resources if r["Type"].endswith("::Alarm")]
    costing = {function_of(r["Properties"]["AlarmName"]) for r in found if "Condition" in r}
    text = (INFRA.parent / "docs/operations.md").read_text()
    assert (len(found), len(costing)) == (20, 10)
    assert "All twenty cost" in text and "keeps the ten that" in text
    listed = text.partition("With `Alarms=free` there are no ")[2].partition("All notify")[0]
    assert set(re.findall(r"`([a-z-]+)`", listed)) == costing


def test_the_computed_costs_count_every_polled_queue_and_every_metric_of_an_alarm() -> None:
    sources = [str(each["EventSourceArn"].get("Fn::Sub", "")) for each in mappings().values()]
    assert len([source for source in sources if ":sqs:" in source]) == shops.QUEUES
    assert sum(len(watched_by(alarm)) for alarm in alarms().values()) == shops.ALARM_METRICS
    idle = shops.SHOPS[0].dollars
    readme = (INFRA.parent / "README.md").read_text()
    assert f"${idle['polling']:.2f} a month" in readme
    assert f"${idle['alarms']:.2f} for alarms" in readme


def test_the_code_writes_every_metric_that_an_alarm_uses() -> None:
    source = "".join(path.read_text() for path in (INFRA.parent / "chalicelib").rglob("*.py"))
    filters = of_type("alarms.yaml", "AWS::Logs::MetricFilter").values()
    written = {str(t["MetricName"]) for f in filters for t in f["MetricTransformations"]}
    for alarm in alarms().values():
        for metric in watched_by(alarm):
            if metric["Namespace"] == "Backroom":
                name = metric["MetricName"]
                assert str(name) in written or f'"{name}":' in source, name
    assert '"import failed"' in source  # what the filter of ImportsFailed looks for


def source_queue(mapping: Properties) -> str:
    source = mapping["EventSourceArn"].get("Fn::Sub", "")
    return str(source).rpartition(":")[2].removeprefix("backroom-${Stage}-")


def test_a_visibility_timeout_exceeds_the_function_timeout() -> None:
    by_name = {function_of(queue["QueueName"]): queue for queue in queues().values()}
    read = {source_queue(m): function_of(m["FunctionName"]) for m in mappings().values()}
    del read[""]  # the outbox stream
    assert set(read) >= {function_of(q["QueueName"]) for q in working_queues().values()}
    for queue, function in read.items():
        assert by_name[queue]["VisibilityTimeout"] >= 6 * timeout(function), queue


def test_the_planner_has_a_whole_core_and_stops_before_its_timeout() -> None:
    """1,769 MB give one core (AWS). With less, 1 GB takes longer than a function may."""
    assert CONFIG["lambda_functions"]["plan_import"]["lambda_memory_size"] >= 1_769
    assert plan._PLANNING_SECONDS + 30 <= timeout("plan_import") <= 900


def test_waiting_by_visibility_does_not_exhaust_the_receive_count() -> None:
    two_hours_in_waits_of_fifteen_minutes = 8
    assert (
        queues()["Retries"]["RedrivePolicy"]["maxReceiveCount"]
        > 50 * two_hours_in_waits_of_fifteen_minutes
    )


def test_a_failed_message_does_not_return_its_batch() -> None:
    for name, mapping in mappings().items():
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"], name


def test_the_outbox_stream_starts_at_the_horizon_and_bisects_failed_batches() -> None:
    outbox = mappings()["Outbox"]
    assert outbox["StartingPosition"] == "TRIM_HORIZON"
    assert outbox["BisectBatchOnFunctionError"] is True
    (pattern,) = outbox["FilterCriteria"]["Filters"]
    assert json.loads(pattern["Pattern"]) == {"eventName": ["INSERT"]}
    assert "fan-out-dead" in str(outbox["DestinationConfig"]["OnFailure"]["Destination"])


def test_every_trigger_names_an_existing_function() -> None:
    functions = {function.name for function in app.pure_lambda_functions}
    rules = of_type("triggers.yaml", "AWS::Events::Rule").values()
    named = {function_of(m["FunctionName"]) for m in mappings().values()}
    named |= {target["Id"] for rule in rules for target in rule["Targets"]} - {"files"}
    machine = json.loads((INFRA / "redrive.asl.json").read_text())
    assert machine["States"]["RedriveWhatIsDue"]["Resource"] == "${RedriveFunctionArn}"
    assert named | {"redrive"} == functions


def test_a_rule_may_invoke_its_function_and_has_a_dead_letter_queue() -> None:
    permitted = {
        function_of(p["FunctionName"])
        for p in of_type("triggers.yaml", "AWS::Lambda::Permission").values()
    }
    failing = of_type("triggers.yaml", "AWS::Lambda::EventInvokeConfig").values()
    aside = {
        function_of(one["FunctionName"]): one["DestinationConfig"]["OnFailure"]["Destination"]
        for one in failing
    }
    for rule in of_type("triggers.yaml", "AWS::Events::Rule").values():
        for target in rule["Targets"]:
            if target["Id"] == "files":  # a queue
                assert "backroom-${Stage}-files-dead" in str(target["DeadLetterConfig"])
                continue
            assert target["Id"] in permitted
            assert target["DeadLetterConfig"]["Arn"] == aside[target["Id"]]
            # Lambda sends with the role of the function.
            role = steps.ROLES[target["Id"]].removesuffix("Arn")
            queue = aside[target["Id"]]["Fn::Sub"].rpartition("backroom-${Stage}-")[2]
            (name,) = [n for n, one in queues().items() if function_of(one["QueueName"]) == queue]
            assert any(
                of == role and "sqs:SendMessage" in one["Action"] and f"'{name}'" in str(one)
                for of, one in statements()
            ), f"{role} may not send to {queue}"
            assert target["RetryPolicy"]["MaximumRetryAttempts"] > 0


def test_the_redrive_waits_until_its_slot_and_repeats_until_it_is_empty() -> None:
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


def test_chalice_is_packaged_once() -> None:
    packaged = (INFRA.parent / "requirements.txt").read_text().lower()
    names = {line.split("==")[0] for line in packaged.splitlines() if "==" in line}
    assert names and "chalice" not in names and "boto3" not in names
