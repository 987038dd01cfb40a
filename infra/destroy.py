"""Deletes a stage: what can be created again at once, and the data only on demand."""

import contextlib
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3

from infra import layer, package, record, stacks, steps


def delete_functions(stage: str) -> None:
    """Delete triggers, alarms, functions and the API; keep tables, bucket and queues.

    Messages wait in the queues (14 days) and in the outbox's stream (24 hours) for the next
    deployment.
    """
    for step in ("alarms", "triggers", "app"):
        stacks.delete(steps.stack_name(stage, step))
    if record.is_chalices(stage):
        chalice = Path(sys.executable).parent / "chalice"
        subprocess.run([chalice, "delete", "--stage", stage], cwd=package.PROJECT, check=True)
    layer.delete(stage)
    record.chalice_record(stage).unlink(missing_ok=True)


def delete_everything(stage: str, made: Mapping[str, str]) -> None:
    """Delete the functions, the data and the master key of all signing secrets: for ever.

    `made`: the outputs of the first stack; none if its creation failed, which left no data. The
    stack goes after the data, because it names it: what an interrupted run has left is deleted by
    the next.
    """
    delete_functions(stage)
    if made:
        _delete_data(stage, made)
    stacks.delete(steps.stack_name(stage, "resources"))  # leaves what its template retains
    if made:
        s3 = boto3.client("s3")
        for bucket in _buckets(made):
            with contextlib.suppress(s3.exceptions.NoSuchBucket):
                _empty_bucket(bucket)  # again: an address for an upload is valid for an hour
                s3.delete_bucket(Bucket=bucket)  # until now the stack had its policy
    record.forget(stage)


def _delete_data(stage: str, made: Mapping[str, str]) -> None:
    states, dynamodb = boto3.client("stepfunctions"), boto3.client("dynamodb")
    s3, ssm = boto3.client("s3"), boto3.client("ssm")
    with contextlib.suppress(states.exceptions.StateMachineDoesNotExist):
        _stop_waiting(states, made["RedriveStateMachineArn"])
    for table in (made["Table"], made["OutboxTable"]):
        with contextlib.suppress(dynamodb.exceptions.ResourceNotFoundException):
            dynamodb.update_table(TableName=table, DeletionProtectionEnabled=False)
            dynamodb.get_waiter("table_exists").wait(TableName=table)
            dynamodb.delete_table(TableName=table)
    for bucket in _buckets(made):
        with contextlib.suppress(s3.exceptions.NoSuchBucket):
            _empty_bucket(bucket)
    with contextlib.suppress(ssm.exceptions.ParameterNotFound):
        ssm.delete_parameter(Name=steps.master_key_parameter(stage))


def _stop_waiting(states: Any, machine: str) -> None:
    """Stop waiting executions.

    Until they have ended, which may take a week, the state machine stays, and another of its name
    cannot be created.
    """
    pages = states.get_paginator("list_executions")
    while True:
        running = pages.paginate(stateMachineArn=machine, statusFilter="RUNNING")
        found = [each["executionArn"] for page in running for each in page["executions"]]
        if not found:
            return
        for execution in found:
            states.stop_execution(executionArn=execution, cause="The stage is destroyed.")


def describe_contents(made: Mapping[str, str]) -> list[str]:
    """Return what is lost with the data, roughly: table counts are up to six hours old (AWS)."""
    if not made:
        return ["what is left of a creation that failed; it has no data"]
    dynamodb = boto3.client("dynamodb")
    found = []
    for table in (made["Table"], made["OutboxTable"]):
        with contextlib.suppress(dynamodb.exceptions.ResourceNotFoundException):
            described = dynamodb.describe_table(TableName=table)["Table"]
            found.append(f"the table {table} with about {described['ItemCount']:,} items")
    return [
        *found,
        f"the bucket {made['Bucket']} with all uploads and reports",
        "all pictures of products",
        "all messages in the queues, and all parked deliveries",
        "the master key: every webhook secret",
    ]


def _buckets(made: Mapping[str, str]) -> list[str]:
    """Return the names of the buckets; 1.0.0 had no pictures."""
    return [made[name] for name in ("Bucket", "PicturesBucket") if name in made]


def _empty_bucket(bucket: str) -> None:
    s3 = boto3.client("s3")
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        for found in page.get("Contents", []):
            s3.delete_object(Bucket=bucket, Key=found["Key"])
