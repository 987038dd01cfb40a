"""Times and limits that the templates, the functions' timeouts and the code share."""

import json
import re

import pytest

import app
from chalicelib import threads
from chalicelib.exports import store as exports
from chalicelib.files import objects
from chalicelib.files.model import KEPT_SECONDS as FILES_KEPT_SECONDS
from chalicelib.imports import files as imports
from chalicelib.imports.model import ProductOutcome
from chalicelib.jobs import run
from chalicelib.jobs.model import KEPT_SECONDS, Job, JobType
from chalicelib.jobs.store import WORKER_SECONDS
from chalicelib.products import routes as products
from chalicelib.webhooks import deliveries, redrive
from chalicelib.webhooks.model import RECEIVER_SECONDS
from infra import steps
from tests.infra.test_templates import INFRA, function_of, mappings, of_type, timeout


def test_a_claim_outlives_its_function() -> None:
    assert deliveries.LEASE.total_seconds() > timeout("deliver")
    assert timeout("redrive") < redrive._LEASE
    assert max(timeout("import_chunk"), timeout("run_job")) < WORKER_SECONDS


def test_work_ends_before_the_function_times_out() -> None:
    assert timeout(steps.API) > products._BULK_SECONDS
    assert timeout("run_job") > run._SECONDS
    assert timeout("deliver") > 2 * RECEIVER_SECONDS


def test_a_batch_of_deliveries_is_posted_concurrently() -> None:
    sizes = {
        m["BatchSize"] for m in mappings().values() if function_of(m["FunctionName"]) == "deliver"
    }
    assert max(sizes) <= threads._AT_ONCE


def test_file_prefixes_and_lifetimes_match_the_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUCKET", "any")
    bucket = of_type("resources.yaml", "AWS::S3::Bucket")["Bucket"]
    rules = bucket["LifecycleConfiguration"]["Rules"]
    kept = {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules if "Prefix" in rule}
    assert kept.pop(objects._UPLOADS) * 86_400 == FILES_KEPT_SECONDS
    export = exports.place(Job({"id": "job_1", "asked": json.dumps({"format": "csv"})}))["Key"]
    written = {export, imports._upload_key("job_1"), imports._report_key("job_1")}
    assert {f"{key.partition('/')[0]}/" for key in written} == kept.keys()
    assert {days * 86_400 for days in kept.values()} == {KEPT_SECONDS}
    rules = of_type("triggers.yaml", "AWS::Events::Rule")
    patterns = {
        name: rule["EventPattern"] for name, rule in rules.items() if "EventPattern" in rule
    }
    started_by = {
        name: [key["prefix"] for key in pattern["detail"]["object"]["key"]]
        for name, pattern in patterns.items()
    }
    imported = imports._upload_key("job_1").rpartition("job_1")[0]
    assert started_by == {"Uploaded": [imported], "UploadedFile": [objects._UPLOADS]}


def test_each_type_of_job_has_a_worker() -> None:
    assert app.WORK.keys() | {JobType.PRODUCT_IMPORT} == set(JobType)


def test_the_code_writes_every_metric_of_the_dashboard() -> None:
    (board,) = of_type("alarms.yaml", "AWS::CloudWatch::Dashboard").values()
    source = "".join(path.read_text() for path in (INFRA.parent / "chalicelib").rglob("*.py"))
    text = str(board["DashboardBody"]["Fn::Sub"])
    seen = set()
    for widget in json.loads(re.sub(r"\$\{[^}]*\}", "x", text))["widgets"]:
        metrics = widget["properties"]["metrics"]
        if metrics[0][0] == "Backroom":
            names = {metric[1] for metric in metrics}
            seen |= names
            outcomes = {f"Products{name.title()}" for name in ProductOutcome}
            assert names == outcomes or all(f'"{name}"' in source for name in names), names
    assert {"Attempts", "ProductsCreated"} <= seen
