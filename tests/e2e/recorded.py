"""The calls of the functions to AWS, from the emulator's CloudTrail."""

import hashlib
import json
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from infra.emulator import CREDENTIALS, REGION
from tests.support.dynamodb_partition import needs

ACCOUNT = "000000000000"
_LOOKUP = "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.LookupEvents"

# What S3 asks a permission for, by the operation that was called (AWS: actions for Amazon S3).
_S3_ACTIONS = {
    "POST.s3": "PutObject",
    "HeadObject": "GetObject",
    "ListObjects": "ListBucket",
    **dict.fromkeys(
        ("CreateMultipartUpload", "UploadPart", "UploadPartCopy", "CompleteMultipartUpload"),
        "PutObject",
    ),
}


@dataclass(frozen=True)
class Asked:
    """One permission that a function needed; `leading_key`: the partition key of an item."""

    function: str
    action: str
    resource: str
    leading_key: str | None = None


def client(aws: str, service: str, key: Mapping[str, str] | None = None) -> Any:
    """`key`: the access key of a user, as IAM made it."""
    return boto3.client(
        service,
        endpoint_url=aws,
        region_name=REGION,
        aws_access_key_id=key["AccessKeyId"] if key else CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=(
            key["SecretAccessKey"] if key else CREDENTIALS["AWS_SECRET_ACCESS_KEY"]
        ),
    )


def begin(aws: str) -> None:
    """Makes the emulator keep the last 10,000 calls."""
    wanted = json.dumps({"cloudtrail._recording_enabled": "true"}).encode()
    urllib.request.urlopen(ministack(aws, "config"), wanted).close()


def ministack(aws: str, path: str) -> str:
    """The address of one of the emulator's own pages, which need its key."""
    return f"{aws}/_ministack/{path}?X-Amz-Credential={CREDENTIALS['AWS_ACCESS_KEY_ID']}"


def asked(aws: str, seen: set[str]) -> set[Asked]:
    """All permissions that functions needed. `seen`: the ids of calls that were looked at, to which
    the others are added."""
    functions = dict(_functions(aws))
    return {
        Asked(functions[event["AccessKeyId"]], *needed)
        for event in _events(aws, seen)
        if event["AccessKeyId"] in functions
        for needed in _needed(event)
    }


def _functions(aws: str) -> Iterator[tuple[str, str]]:
    """The access key that the emulator gives each function, which identifies its calls."""
    for function in client(aws, "lambda").list_functions()["Functions"]:
        text = f"{function['FunctionArn']}:{function['Role']}"
        salt = CREDENTIALS["AWS_SECRET_ACCESS_KEY"]
        digest = hashlib.sha256(f"{salt}{text}".encode()).hexdigest()
        yield f"ASIA{digest[:16].upper()}", function["FunctionName"]


def _events(aws: str, seen: set[str]) -> Iterator[Mapping[str, Any]]:
    """Newest first. Not with boto3: it sends whole seconds, and so loses events after a page."""
    end = time.time() + 1
    while True:
        sent = json.dumps({"MaxResults": 50, "EndTime": end}).encode()
        headers = {"X-Amz-Target": _LOOKUP, "Content-Type": "application/x-amz-json-1.1"}
        request = AWSRequest("POST", aws, data=sent, headers=headers)
        key, secret = CREDENTIALS["AWS_ACCESS_KEY_ID"], CREDENTIALS["AWS_SECRET_ACCESS_KEY"]
        SigV4Auth(Credentials(key, secret), "cloudtrail", REGION).add_auth(request)
        signed = urllib.request.Request(aws, sent, dict(request.headers))
        with urllib.request.urlopen(signed, timeout=30) as answer:
            page = [e for e in json.load(answer)["Events"] if e["EventId"] not in seen]
        if not page:
            return
        yield from page
        seen |= {event["EventId"] for event in page}
        end = page[-1]["EventTime"]


def _needed(event: Mapping[str, Any]) -> Iterator[tuple[str, str, str | None]]:
    service = event["EventSource"].removesuffix(".amazonaws.com")
    name = event["EventName"]
    request = json.loads(event["CloudTrailEvent"])["requestParameters"]
    match service:
        case "dynamodb":
            yield from _of_table(name, request)
        case "s3":
            action = _S3_ACTIONS.get(name, name)
            place = "/".join(each["ResourceName"] for each in event["Resources"])  # bucket, key
            yield f"s3:{action}", f"arn:aws:s3:::{place}", None
        case "sqs":
            queue = request["QueueUrl"].rpartition("/")[2]
            # On AWS there is no permission for batches: that of the single call is asked for.
            yield (
                f"sqs:{name.removesuffix('Batch')}",
                f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}",
                None,
            )
        case "ssm":
            parameter = f"arn:aws:ssm:{REGION}:{ACCOUNT}:parameter{request['Name']}"
            yield f"ssm:{name}", parameter, None
        case "states" | "stepfunctions":
            yield f"states:{name}", request["stateMachineArn"], None
        case "ses" | "email":
            identity = request["Source"]
            action = request["Action"]
            yield f"ses:{action}", f"arn:aws:ses:{REGION}:{ACCOUNT}:identity/{identity}", None
        case _:
            raise AssertionError(f"a call of a kind that is new here: {service}, {name}")


def _of_table(name: str, request: dict[str, Any]) -> Iterator[tuple[str, str, str | None]]:
    for action, table, keys in needs(name, request):
        arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{table}"
        for key in keys or [None]:  # a scan is of all items
            yield f"dynamodb:{action}", arn, key
