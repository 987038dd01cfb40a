"""One CloudFormation stack, created or changed by a change set that is shown before it runs."""

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import boto3
from botocore.config import Config

Outputs = dict[str, str]
# Gets the stack and what it would lose, a sentence each; returns to continue, raises to stop.
Consent = Callable[[str, Sequence[str]], None]

_ABANDONED = {"ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED"}
_DONE = {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
_DELETED = {"DELETE_COMPLETE", None}
_HOLDS_DATA = {
    "AWS::DynamoDB::Table",
    "AWS::S3::Bucket",
    "AWS::SQS::Queue",
    "AWS::StepFunctions::StateMachine",  # what it waits for is data, too
}
_INLINE_LIMIT = 51_200  # bytes of a template in the request itself; CloudFormation's quota
# The bucket's address in its own region: the global one redirects, or fails, in all but one.
OF_THE_REGION = Config(
    signature_version="s3v4",
    s3={"addressing_style": "virtual", "us_east_1_regional_endpoint": "regional"},
)
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 3.0  # seconds


class StackError(RuntimeError):
    """CloudFormation refused the stack; the message says which resource, and why."""


def refuse_loss(stack: str, lost: Sequence[str]) -> None:
    """Raise StackError: the consent of a program to lose data."""
    raise StackError(f"{stack}: would {'; '.join(lost)}, which holds data")


def apply(
    name: str,
    template: str,
    parameters: Mapping[str, str],
    *,
    only_show: bool = False,
    bucket: str | None = None,
    consent: Consent = refuse_loss,
) -> Outputs:
    """Bring the stack to this template and return its outputs; print each change first."""
    cloudformation = boto3.client("cloudformation")
    if only_show and status(name) in {"UPDATE_ROLLBACK_FAILED", *_ABANDONED}:
        print(f"{name}: is {status(name)}; a deployment first ends or deletes that", flush=True)
        return outputs(name)
    before = _free_stack(cloudformation, name)
    is_new = before is None or before["StackStatus"] == "REVIEW_IN_PROGRESS"
    change_set = f"change-{time.time_ns()}"
    body = _travelling(template, name, bucket)
    had = {p["ParameterKey"] for p in (before or {}).get("Parameters", [])}
    cloudformation.create_change_set(
        StackName=name,
        ChangeSetName=change_set,
        ChangeSetType="CREATE" if is_new else "UPDATE",
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"],
        Parameters=_make_parameters(cloudformation.get_template_summary(**body), parameters, had),
        **body,
    )
    change = _await_change_set(cloudformation, name, change_set)
    if change["Status"] == "FAILED":
        cloudformation.delete_change_set(StackName=name, ChangeSetName=change_set)
        reason = change.get("StatusReason", "")
        if "didn't contain changes" not in reason and "No updates" not in reason:
            raise StackError(f"{name}: {reason}")
        print(f"{name}: nothing to change", flush=True)
        return outputs(name)
    print(f"{name}: {_describe_changes(change)}", flush=True)
    try:
        lost = [] if only_show else find_endangered(change)
        if lost:
            consent(name, lost)
    except BaseException:
        cloudformation.delete_change_set(StackName=name, ChangeSetName=change_set)
        raise
    if only_show:
        cloudformation.delete_change_set(StackName=name, ChangeSetName=change_set)
        if is_new:  # a change set for a stack that is not there makes an empty one
            cloudformation.delete_stack(StackName=name)
        return outputs(name)
    stack_id = str(change["StackId"])
    cloudformation.execute_change_set(
        StackName=name, ChangeSetName=change_set, ClientRequestToken=change_set
    )
    if _wait_until_ended(cloudformation, stack_id, change_set) not in _DONE:
        raise StackError(f"{name}: {_first_failure(cloudformation, stack_id, change_set)}")
    return outputs(name)


def outputs(name: str) -> Outputs:
    """Return the outputs of the stack; none when there is no such stack."""
    stack = _find_stack(boto3.client("cloudformation"), name)
    return {o["OutputKey"]: o["OutputValue"] for o in (stack or {}).get("Outputs", [])}


def exists(name: str) -> bool:
    """Return whether the stack was made, even if it is only half made."""
    stack = _find_stack(boto3.client("cloudformation"), name)
    return stack is not None and stack["StackStatus"] != "REVIEW_IN_PROGRESS"


def settle(name: str) -> None:
    """Wait until no operation runs on the stack."""
    _wait_until_settled(boto3.client("cloudformation"), name)


def status(name: str) -> str | None:
    """Return CloudFormation's word for the stack's state; None when there is no such stack."""
    stack = _find_stack(boto3.client("cloudformation"), name)
    return str(stack["StackStatus"]) if stack else None


def delete(name: str) -> None:
    """Delete the stack and wait until it is gone; what its template retains stays."""
    cloudformation = boto3.client("cloudformation")
    stack = _wait_until_settled(cloudformation, name)
    if stack is None:
        return
    stack_id, token = str(stack["StackId"]), f"delete-{time.time_ns()}"
    cloudformation.delete_stack(StackName=name, ClientRequestToken=token)
    if _wait_until_ended(cloudformation, stack_id, token) not in _DELETED:
        raise StackError(f"{name}: {_first_failure(cloudformation, stack_id, token)}")


def find_endangered(change_set: Mapping[str, Any]) -> list[str]:
    """Return the data that a change set would delete: a sentence for each resource."""
    return [
        f"{verb} {resource['LogicalResourceId']}"
        for verb, resource in _resource_changes(change_set)
        if verb not in {"add", "modify"} and resource["ResourceType"] in _HOLDS_DATA
    ]


def _find_stack(cloudformation: Any, name: str) -> dict[str, Any] | None:
    try:
        stack: dict[str, Any] = cloudformation.describe_stacks(StackName=name)["Stacks"][0]
    except cloudformation.exceptions.ClientError as error:
        if "does not exist" not in str(error):
            raise
        return None
    return None if stack["StackStatus"] == "DELETE_COMPLETE" else stack


def _free_stack(cloudformation: Any, name: str) -> dict[str, Any] | None:
    """Return the stack as an earlier run left it, freed from what that run could not finish."""
    stack = _wait_until_settled(cloudformation, name)
    if stack is not None and stack["StackStatus"] == "UPDATE_ROLLBACK_FAILED":
        token = f"rollback-{time.time_ns()}"
        cloudformation.continue_update_rollback(StackName=name, ClientRequestToken=token)
        _wait_until_ended(cloudformation, str(stack["StackId"]), token)
        stack = _wait_until_settled(cloudformation, name)
    if stack is not None and stack["StackStatus"] in _ABANDONED:
        delete(name)
        return None
    return stack


def _wait_until_settled(cloudformation: Any, name: str) -> dict[str, Any] | None:
    """Wait until no other operation runs; a change set under review does not count."""
    for wait in _increasing_waits():
        stack = _find_stack(cloudformation, name)
        if stack is None or stack["StackStatus"] == "REVIEW_IN_PROGRESS":
            return stack
        if not stack["StackStatus"].endswith("_IN_PROGRESS"):
            return stack
        time.sleep(wait)
    return None


def _wait_until_ended(cloudformation: Any, stack_id: str, token: str) -> str | None:
    """Wait for the end of the operation with that token; return None when the stack is gone.

    Its own events tell: an operation begins after its call has returned, and until then the stack
    has the status of the one before.
    """
    for wait in _increasing_waits():
        stack = _find_stack(cloudformation, stack_id)
        if stack is None:
            return None
        for event in _list_events(cloudformation, stack_id, token):
            status = str(event["ResourceStatus"])
            if event["PhysicalResourceId"] == stack_id:
                if not status.endswith("_IN_PROGRESS"):
                    return status
                break
        time.sleep(wait)
    return None


def _list_events(cloudformation: Any, stack_id: str, token: str) -> Iterator[Mapping[str, Any]]:
    """Yield the events of the operation with that token, newest first.

    No other operation runs at the same time.
    """
    pages = cloudformation.get_paginator("describe_stack_events").paginate(StackName=stack_id)
    for page in pages:
        ours = [e for e in page["StackEvents"] if e.get("ClientRequestToken") == token]
        yield from ours
        if not ours:
            return


def _await_change_set(cloudformation: Any, name: str, change_set: str) -> dict[str, Any]:
    which = {"StackName": name, "ChangeSetName": change_set}
    for wait in _increasing_waits():
        change: dict[str, Any] = cloudformation.describe_change_set(**which)
        if change["Status"] in {"CREATE_COMPLETE", "FAILED"}:
            break
        time.sleep(wait)
    more = change
    while "NextToken" in more:
        more = cloudformation.describe_change_set(**which, NextToken=more["NextToken"])
        change["Changes"] += more["Changes"]
    return change


def _increasing_waits() -> Iterator[float]:
    """Yield increasing waits in seconds, endlessly: CloudFormation throttles frequent calls."""
    wait = _FIRST_WAIT
    while True:
        yield wait
        wait = min(wait * 1.5, _LONGEST_WAIT)


def _resource_changes(change_set: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for change in change_set.get("Changes", []):
        resource = change["ResourceChange"]
        verb = str(resource["Action"]).lower()
        replaced = {"True": "replace", "Conditional": "perhaps replace"}
        yield replaced.get(resource.get("Replacement", ""), verb), resource


def _describe_changes(change_set: Mapping[str, Any]) -> str:
    changed: dict[str, list[str]] = {}
    for verb, resource in _resource_changes(change_set):
        changed.setdefault(verb, []).append(resource["LogicalResourceId"])
    return "; ".join(f"{verb} {', '.join(names)}" for verb, names in changed.items())


def _make_parameters(
    summary: Mapping[str, Any], given: Mapping[str, str], had: Collection[str]
) -> list[dict[str, Any]]:
    declared = [p["ParameterKey"] for p in summary.get("Parameters", [])]
    return [
        {"ParameterKey": k, "ParameterValue": given[k]}
        if k in given
        else {"ParameterKey": k, "UsePreviousValue": True}
        for k in declared
        if k in given or k in had
    ]


def _travelling(template: str, name: str, bucket: str | None) -> dict[str, str]:
    if len(template.encode()) <= _INLINE_LIMIT:
        return {"TemplateBody": template}
    if bucket is None:
        raise StackError(f"{name}: its template exceeds {_INLINE_LIMIT} bytes")
    s3 = boto3.client("s3", config=OF_THE_REGION)
    key = f"deployments/{name}.json"
    s3.put_object(Bucket=bucket, Key=key, Body=template.encode())
    signed = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": key})
    return {"TemplateURL": signed.split("?")[0]}


def _first_failure(cloudformation: Any, stack_id: str, token: str) -> str:
    """Return what failed first in the operation with that token; the rest follows from it."""
    events = list(_list_events(cloudformation, stack_id, token))
    failed = [e for e in events if e["ResourceStatus"].endswith("FAILED")]
    if not failed:
        return json.dumps(events[:1], default=str)
    first = failed[-1]
    return f"{first['LogicalResourceId']}: {first.get('ResourceStatusReason', 'no reason given')}"
