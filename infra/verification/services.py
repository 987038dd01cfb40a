"""Checks of what the stage's own AWS says: permissions, alarms, logs, tables, queues."""

import json
import re
import statistics
import time
from collections.abc import Iterator
from typing import Any, Final

from infra import steps
from infra.verification.stage import Stage, wait_until
from infra.verification.statements import DoesNotHoldError, NotShownError

_HOUR: Final = 3_600
_METRICS_LATE: Final = 900.0  # seconds until CloudWatch lists a metric
_BY_HAND: Final = "verify.py"
_COLD: Final = 3_000  # ms; the alarm api-slow
# What a function may do, and what it must be refused: (function, action, resource, leading key).
_MAY: Final = (
    ("api_handler", "dynamodb:GetItem", "table", "key#0"),
    ("api_handler", "sqs:SendMessage", "jobs", ""),
    ("deliver", "dynamodb:GetItem", "table", "webhooks"),
    ("deliver", "ssm:GetParameter", "master key", ""),
    ("fan_out", "dynamodb:Query", "table", "webhooks"),
    ("import_chunk", "dynamodb:PutItem", "table", "prod_1"),
    ("import_chunk", "dynamodb:UpdateItem", "table", "menu#product#type"),
    ("check_counts", "dynamodb:GetItem", "table", "release"),
    ("run_job", "dynamodb:GetItem", "table", "ord_1"),
)
_MUST_NOT: Final = (
    ("api_handler", "dynamodb:DeleteTable", "table", ""),
    ("api_handler", "dynamodb:Scan", "table", ""),
    ("deliver", "dynamodb:GetItem", "table", "key#0"),
    ("deliver", "dynamodb:GetItem", "table", "ord_1"),
    ("deliver", "dynamodb:GetItem", "table", "cus_1"),
    ("fan_out", "dynamodb:GetItem", "table", "keys"),
    ("fan_out", "ssm:GetParameter", "master key", ""),
    ("import_chunk", "dynamodb:PutItem", "table", "ord_1"),
    ("plan_import", "s3:DeleteObject", "files", ""),
    ("run_job", "dynamodb:GetItem", "table", "key#0"),
    ("run_job", "sqs:SendMessage", "deliveries", ""),
    ("send_summaries", "ssm:GetParameter", "master key", ""),
    ("check_counts", "dynamodb:GetItem", "table", "key#0"),
)


def roles(stage: Stage) -> str:
    """AWS's own answer to what each role may do, leading keys included."""
    wrong = []
    for cases, expected in ((_MAY, "allowed"), (_MUST_NOT, "denied")):
        for function, action, what, key in cases:
            decision = _simulate_decision(stage, function, action, what, key)
            if decision != expected:
                wrong.append(f"{function}: {action} on {what} {key} is {decision}")
    if wrong:
        raise DoesNotHoldError("; ".join(wrong))
    return f"{len(_MAY)} calls are allowed, {len(_MUST_NOT)} are denied"


def _simulate_decision(stage: Stage, function: str, action: str, what: str, key: str) -> str:
    made = stage.resource_outputs
    role = made[steps.ROLES[function]]
    table = stage.aws("dynamodb").describe_table(TableName=made["Table"])["Table"]["TableArn"]
    place = table.partition(":table/")[0].partition(":dynamodb:")
    partition, region = place[0], place[2]  # arn:aws · region:account
    resources = {
        "table": table,
        "jobs": f"{partition}:sqs:{region}:backroom-{stage.name}-jobs",
        "deliveries": f"{partition}:sqs:{region}:backroom-{stage.name}-deliveries",
        "files": f"{partition}:s3:::{made['Bucket']}/imports/1",
        "master key": f"{partition}:ssm:{region}:parameter{steps.master_key_parameter(stage.name)}",
    }
    asked: dict[str, Any] = {}
    if key:
        name = "dynamodb:LeadingKeys"
        entry = {"ContextKeyName": name, "ContextKeyType": "stringList", "ContextKeyValues": [key]}
        asked["ContextEntries"] = [entry]
    (result,) = stage.aws("iam").simulate_principal_policy(
        PolicySourceArn=role, ActionNames=[action], ResourceArns=[resources[what]], **asked
    )["EvaluationResults"]
    return "allowed" if result["EvalDecision"] == "allowed" else "denied"


def alarms(stage: Stage) -> str:
    """Each is set to ALARM, and CloudWatch, which finds nothing wrong, sets it back to OK."""
    if not (stage.is_trial or stage.is_emulated):
        raise NotShownError("it would alarm whoever watches a stage that is in use")
    cloudwatch, names = stage.aws("cloudwatch"), _alarm_names(stage)
    for name in names:
        cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason=_BY_HAND)
    found = cloudwatch.describe_alarms(AlarmNames=names)["MetricAlarms"]
    if other := [one["AlarmName"] for one in found if one["StateValue"] != "ALARM"]:
        raise DoesNotHoldError(f"not in ALARM: {', '.join(other)}")
    if stage.is_emulated:  # it measures nothing
        for name in names:
            cloudwatch.set_alarm_state(AlarmName=name, StateValue="OK", StateReason=_BY_HAND)
        return f"{len(names)} alarms went to ALARM and, by hand, back to OK"
    _wait_until_evaluated(stage, names)
    return f"{len(names)} alarms went to ALARM, and CloudWatch set them back"


def _alarm_names(stage: Stage) -> list[str]:
    return stage.resource_names("alarms", "AWS::CloudWatch::Alarm")


def metric_math(stage: Stage) -> str:
    """CloudWatch has evaluated the five expressions."""
    found = stage.aws("cloudwatch").describe_alarms(AlarmNames=_alarm_names(stage))["MetricAlarms"]
    with_math = [alarm["AlarmName"] for alarm in found if alarm.get("Metrics")]
    states = _wait_until_evaluated(stage, with_math)
    if len(states) != 5:
        raise DoesNotHoldError(f"{len(states)} alarms have metric math, not five")
    return ", ".join(f"{name}: {state}" for name, state in states.items())


def _wait_until_evaluated(stage: Stage, names: list[str]) -> dict[str, str]:
    """Return the state of each alarm, once none is as this program or its creation left it."""
    states, waiting = dict[str, str](), list[str]()

    def all_are() -> bool:
        found = stage.aws("cloudwatch").describe_alarms(AlarmNames=names)["MetricAlarms"]
        states.update((one["AlarmName"], one["StateValue"]) for one in found)
        waiting[:] = [
            one["AlarmName"]
            for one in found
            if one["StateValue"] == "INSUFFICIENT_DATA" or one.get("StateReason") == _BY_HAND
        ]
        return not waiting

    try:
        wait_until(all_are, _METRICS_LATE, "", 15)
    except TimeoutError:
        raise DoesNotHoldError(f"not evaluated yet: {', '.join(waiting)}") from None
    return states


def dashboard(stage: Stage) -> str:
    """CloudWatch has the metrics of the requests, deliveries and imports that were just made."""
    body = stage.aws("cloudwatch").get_dashboard(DashboardName=f"backroom-{stage.name}")
    widgets = json.loads(body["DashboardBody"])["widgets"]
    wanted = {
        ("AWS/ApiGateway", "Count"),
        ("AWS/ApiGateway", "Latency"),
        ("Backroom", "Attempts"),
        ("Backroom", "ProductsCreated"),
        ("AWS/SQS", "ApproximateAgeOfOldestMessage"),
        ("AWS/Lambda", "IteratorAge"),
    }
    shown = set(_list_metrics(widgets))
    if missing := wanted - shown:
        raise DoesNotHoldError(f"the dashboard does not show {sorted(missing)}")
    pages = stage.aws("cloudwatch").get_paginator("list_metrics")

    def all_there() -> bool:
        for namespace, metric in list(wanted):
            found = pages.paginate(Namespace=namespace, MetricName=metric)
            dimensions = (one["Dimensions"] for page in found for one in page["Metrics"])
            ours = (each["Value"] for some in dimensions for each in some)
            if any(value.startswith((f"backroom-{stage.name}", stage.name)) for value in ours):
                wanted.discard((namespace, metric))
        return not wanted

    try:
        wait_until(all_there, _METRICS_LATE, "", 20)
    except TimeoutError:
        raise DoesNotHoldError(f"CloudWatch has no {sorted(wanted)}") from None
    return f"{len(widgets)} widgets; their metrics of this run are there"


def _list_metrics(widgets: list[Any]) -> Iterator[tuple[str, str]]:
    """`.` repeats the namespace of the row above, in CloudWatch's notation."""
    for widget in widgets:
        above: list[Any] = []
        for row in widget["properties"]["metrics"]:
            if row[0] == "...":
                continue
            names = [above[n] if name == "." else name for n, name in enumerate(row[:2])]
            above = names
            yield names[0], names[1]


def log_filters(stage: Stage) -> str:
    """Check that the patterns of the metric filters, and of the page's commands, fit our lines."""
    logs = stage.aws("logs")
    filters = stage.resource_names("alarms", "AWS::Logs::MetricFilter")
    lines = {
        '{ $.level = "ERROR" }': '{"level": "ERROR", "message": "request failed"}',
        '{ $.message = "import failed" }': '{"level": "ERROR", "message": "import failed"}',
    }
    for pattern, line in lines.items():
        for text, fits in ((line, 1), ('{"level": "INFO", "message": "request"}', 0)):
            tested = logs.test_metric_filter(filterPattern=pattern, logEventMessages=[text])
            if len(tested["matches"]) != fits:
                raise DoesNotHoldError(f"{pattern} is wrong about {text}")
    return f"{len(lines)} patterns; {len(filters)} filters are deployed"


def slow_routes(stage: Stage) -> str:
    """Check that the query of docs/operations.md#api-slow finds the routes of this run."""
    result = _query_log(
        stage,
        'filter message = "request" | stats count(*) as n, pct(LatencyMs, 50) as p50,'
        " pct(LatencyMs, 99) as p99 by method, route | sort by n desc | limit 5",
    )
    if not result:
        raise DoesNotHoldError("the query found no request")
    return "; ".join(
        f"{row['method']} {row['route']}: {float(row['p50']):.0f} ms, p99 {float(row['p99']):.0f}"
        for row in result
    )


def _query_log(stage: Stage, text: str) -> list[dict[str, str]]:
    """Rows of a query of the API's log of the last hour; a line can be queried after a minute."""
    logs, now = stage.aws("logs"), int(time.time())
    for _ in range(6):
        id = logs.start_query(
            logGroupName=f"/aws/lambda/backroom-{stage.name}",
            startTime=now - _HOUR,
            endTime=now + _HOUR,
            queryString=text,
        )["queryId"]

        def done(id: str = id) -> Any:
            found = logs.get_query_results(queryId=id)
            return found if found["status"] not in {"Scheduled", "Running"} else None

        rows = wait_until(done, 60, "the query did not end")["results"]
        if rows:
            return [{each["field"]: each["value"] for each in row} for row in rows]
        time.sleep(20)
    return []


def cold_starts(stage: Stage) -> str:
    """Return what Lambda reports of each function: its slowest start, and its memory."""
    seen, wrong = [], []
    logs = stage.aws("logs").get_paginator("filter_log_events")
    for function in steps.function_names(stage.name):
        pages = logs.paginate(
            logGroupName=f"/aws/lambda/{function}",
            filterPattern='"REPORT RequestId"',
            startTime=int((time.time() - 2 * _HOUR) * 1_000),
        )
        lines = [event["message"] for page in pages for event in page["events"]]
        if not lines:
            continue
        starts = [
            float(ms) for line in lines for ms in re.findall(r"Init Duration: ([\d.]+)", line)
        ]
        used = [int(mb) for line in lines for mb in re.findall(r"Max Memory Used: (\d+)", line)]
        (size,) = {int(mb) for mb in re.findall(r"Memory Size: (\d+)", lines[-1])}
        name = function.removeprefix(f"backroom-{stage.name}").removeprefix("-") or "api"
        slowest = f"{max(starts):.0f} ms, median {statistics.median(starts):.0f}" if starts else "-"
        seen.append(f"{name}: {slowest}, {max(used)} of {size} MB")
        if max(used) > 0.9 * size or (name == "api" and starts and max(starts) > _COLD):
            wrong.append(name)
    if wrong or not seen:
        raise DoesNotHoldError(
            f"{'; '.join(seen)}; at their limit: {', '.join(wrong) or 'no line'}"
        )
    return "; ".join(seen)


def time_to_live(stage: Stage) -> str:
    """Check that it is on.

    AWS deletes within days, so that an hour does not show a deletion.
    """
    for table in (stage.resource_outputs["Table"], stage.resource_outputs["OutboxTable"]):
        found = stage.aws("dynamodb").describe_time_to_live(TableName=table)
        state = found["TimeToLiveDescription"]
        on = state["TimeToLiveStatus"] in {"ENABLED", "ENABLING"}  # up to an hour, says AWS
        if not on or state["AttributeName"] != "expiresAt":
            raise DoesNotHoldError(f"{table}: {state}")
    return "on for both tables, by expiresAt; the deletion itself takes AWS up to some days"


def encrypted_queues(stage: Stage) -> str:
    """Check that the queues are encrypted; deliveries and imports show that they work."""
    sqs, urls = stage.aws("sqs"), stage.resource_names("resources", "AWS::SQS::Queue")
    asked = "SqsManagedSseEnabled"
    for url in urls:
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[asked])
        if found["Attributes"][asked] != "true":
            raise DoesNotHoldError(f"{url} is not encrypted")
    return f"{len(urls)} queues"


def schedules(stage: Stage) -> str:
    """Set the hourly rule to every minute for a moment, and check that it calls its function."""
    if not stage.is_trial:
        raise NotShownError("it would change the rule of a stage that is in use")
    events, name = stage.aws("events"), f"backroom-{stage.name}-hourly"
    began = int(time.time() * 1_000)
    logs = stage.aws("logs")
    where = {
        "logGroupName": f"/aws/lambda/backroom-{stage.name}-send_summaries",
        "filterPattern": '"REPORT RequestId"',
        "startTime": began,
    }
    events.put_rule(Name=name, ScheduleExpression="rate(1 minute)")
    try:
        wait_until(
            lambda: logs.filter_log_events(**where)["events"], 300, "the rule called nothing", 5
        )
    finally:
        events.put_rule(Name=name, ScheduleExpression="rate(1 hour)")
    return f"it called send_summaries after {time.time() - began / 1_000:.0f} s"
