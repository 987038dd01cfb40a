"""Taking a stage away again: what can be made anew at once, and only on demand what cannot."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import boto3

from infra import package, record, stacks, steps


def functions(stage: str) -> None:
    """Takes away triggers, alarms, functions and the API; tables, bucket and queues stay whole.

    What is on its way waits in the queues (14 days) and in the outbox's stream (24 hours); another
    deployment goes on with it.
    """
    for step in ("alarms", "triggers", "app"):
        stacks.delete(steps.stack(stage, step))
    if record.is_chalices(stage):
        chalice = Path(sys.executable).parent / "chalice"
        subprocess.run([chalice, "delete", "--stage", stage], cwd=package.PROJECT, check=True)
    record.deployed(stage).unlink(missing_ok=True)


def everything(stage: str, made: Mapping[str, str]) -> None:
    """Deletes the data, too, and the key from which all signing secrets follow: for ever."""
    functions(stage)
    _stop_waiting(made["RedriveStateMachineArn"])
    stacks.delete(steps.stack(stage, "resources"))  # leaves what its template retains
    dynamodb = boto3.client("dynamodb")
    for table in (made["Table"], made["OutboxTable"]):
        dynamodb.update_table(TableName=table, DeletionProtectionEnabled=False)
        dynamodb.get_waiter("table_exists").wait(TableName=table)
        dynamodb.delete_table(TableName=table)
    _empty(made["Bucket"])
    boto3.client("s3").delete_bucket(Bucket=made["Bucket"])
    boto3.client("ssm").delete_parameter(Name=steps.master_key_parameter(stage))
    record.forget(stage)


def _stop_waiting(machine: str) -> None:
    """Stops what waits for its hour: until it has ended, which may take a week, the state machine
    stays, and another of its name cannot be made."""
    states = boto3.client("stepfunctions")
    pages = states.get_paginator("list_executions")
    while True:
        running = pages.paginate(stateMachineArn=machine, statusFilter="RUNNING")
        found = [each["executionArn"] for page in running for each in page["executions"]]
        if not found:
            return
        for execution in found:
            states.stop_execution(executionArn=execution, cause="The stage is destroyed.")


def contents(made: Mapping[str, str]) -> list[str]:
    """What is lost with the data, roughly: table counts are up to six hours old (AWS)."""
    dynamodb = boto3.client("dynamodb")
    found = []
    for table in (made["Table"], made["OutboxTable"]):
        described = dynamodb.describe_table(TableName=table)["Table"]
        found.append(f"the table {table} with about {described['ItemCount']:,} items")
    return [
        *found,
        f"the bucket {made['Bucket']} with all uploads and reports",
        "all messages in the queues, and all deliveries that wait for their hour",
        "the master key: every webhook secret",
    ]


def _empty(bucket: str) -> None:
    s3 = boto3.client("s3")
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        for found in page.get("Contents", []):
            s3.delete_object(Bucket=bucket, Key=found["Key"])
