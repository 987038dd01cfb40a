"""The steps of a deployment, the same on AWS and on the emulator; the environment says which."""

import argparse
import base64
import contextlib
import re
import secrets
import zoneinfo
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import boto3

from infra import layer, package, stacks

_HERE = Path(__file__).parent

API = "api_handler"
# Chalice's name of each function, and the output of resources.yaml that holds its role.
ROLES = {
    API: "ApiRoleArn",
    "plan_import": "PlanImportRoleArn",
    "import_chunk": "ImportChunkRoleArn",
    "import_dead_letters": "ImportDeadLettersRoleArn",
    "run_job": "RunJobRoleArn",
    "fan_out": "FanOutRoleArn",
    "deliver": "DeliverRoleArn",
    "redrive": "RedriveDueRoleArn",
    "send_summaries": "SendSummariesRoleArn",
    "check_counts": "CheckCountsRoleArn",
    "render_file": "RenderFileRoleArn",
}


def stack_name(stage: str, step: str) -> str:
    """Return the name of one of the stage's stacks.

    `step`: resources, app (not if Chalice deploys), triggers, alarms.
    """
    return f"backroom-{stage}-{step}"


def refuse_name(stage: str) -> None:
    """Raise SystemExit if the stage's name would clash with another stage's.

    Its table or API would have the name of the outbox or a function of that stage.
    """
    other, _, ending = stage.rpartition("-")
    if other and ending in {"outbox", *ROLES}:
        raise SystemExit(f"backroom-{stage} is a name in a stage {other}: take another name.")


def apply_resources(
    stage: str,
    parameters: Mapping[str, str],
    *,
    only_show: bool = False,
    consent: stacks.Consent = stacks.refuse_loss,
) -> stacks.Outputs:
    """Apply step 1: tables, bucket, queues, roles and the state machine; return its outputs."""
    own = {"Stage": stage, "RedriveDefinition": (_HERE / "redrive.asl.json").read_text()}
    return _apply_step(stage, "resources", own | {**parameters}, only_show, consent)


def apply_app(
    stage: str,
    made: Mapping[str, str],
    built: package.Package,
    *,
    environment: Mapping[str, str],
    memory: Mapping[str, int] | None = None,
    api_id: str | None = None,
) -> stacks.Outputs:
    """Step 2 without Chalice: layer, functions and API of a package; outputs RestApiId and Address.

    `environment`: of each function, whole. `memory`: megabytes, where not as packaged. `api_id`:
    for the emulator, which lets one choose it.
    """
    key = f"deployments/{built.digest}.zip"
    boto3.client("s3").put_object(Bucket=made["Bucket"], Key=key, Body=built.zip.read_bytes())
    template = package.to_native_template(
        built,
        stage=stage,
        bucket=made["Bucket"],
        key=key,
        roles=role_arns(made),
        environment=environment,
        memory=memory or {},
        layer_arn=layer.publish(stage, built.layer),
        api_id=api_id,
    )
    return stacks.apply(stack_name(stage, "app"), template, {}, bucket=made["Bucket"])


def set_disk_sizes(stage: str) -> None:
    """Step 2 by Chalice, which cannot set the size of a function's disk."""
    client = boto3.client("lambda")
    for function, size in package.DISK.items():
        name = f"backroom-{stage}-{function}"
        client.get_waiter("function_updated_v2").wait(FunctionName=name)
        client.update_function_configuration(FunctionName=name, EphemeralStorage={"Size": size})


def apply_triggers(
    stage: str,
    made: Mapping[str, str],
    parameters: Mapping[str, str],
    *,
    only_show: bool = False,
    consent: stacks.Consent = stacks.refuse_loss,
) -> stacks.Outputs:
    """Apply step 3: what calls the functions, which must exist; return the stack's outputs."""
    # Asked of the table, not of its stack: a restored table has another stream.
    table = boto3.client("dynamodb").describe_table(TableName=made["OutboxTable"])["Table"]
    own = {"Stage": stage, "OutboxStreamArn": table["LatestStreamArn"]}
    return _apply_step(stage, "triggers", own | {**parameters}, only_show, consent)


def apply_alarms(
    stage: str, parameters: Mapping[str, str], *, only_show: bool = False
) -> stacks.Outputs:
    """Apply step 3, too: what watches the stage; return the stack's outputs."""
    return _apply_step(
        stage, "alarms", {"Stage": stage, **parameters}, only_show, stacks.refuse_loss
    )


def _apply_step(
    stage: str,
    step: str,
    parameters: Mapping[str, str],
    only_show: bool,
    consent: stacks.Consent,
) -> stacks.Outputs:
    template = (_HERE / f"{step}.yaml").read_text()
    return stacks.apply(
        stack_name(stage, step), template, parameters, only_show=only_show, consent=consent
    )


def function_environment(stage: str, made: Mapping[str, str]) -> dict[str, str]:
    """Return what every function reads from its environment (chalicelib/settings.py).

    It has no secrets.
    """
    return {
        "STAGE": stage,
        "TABLE": made["Table"],
        "OUTBOX_TABLE": made["OutboxTable"],
        "BUCKET": made["Bucket"],
        "PICTURES_BUCKET": made["PicturesBucket"],
        "IMPORT_QUEUE_URL": made["ImportQueueUrl"],
        "JOBS_QUEUE_URL": made["JobsQueueUrl"],
        "DELIVERIES_QUEUE_URL": made["DeliveriesQueueUrl"],
        "RETRIES_QUEUE_URL": made["RetriesQueueUrl"],
        "FAN_OUT_DEAD_QUEUE_URL": made["FanOutDeadQueueUrl"],
        "REDRIVE_STATE_MACHINE_ARN": made["RedriveStateMachineArn"],
        "MASTER_KEY_PARAMETER": master_key_parameter(stage),
        "MAIL_FROM": made["MailFrom"],
        "NOTIFY_EMAIL": made["NotifyEmail"],
    }


def function_names(stage: str) -> list[str]:
    """Return the functions' names on AWS."""
    return [f"backroom-{stage}", *(f"backroom-{stage}-{name}" for name in ROLES if name != API)]


def shop_settings(stage: str) -> dict[str, str]:
    """Return the deployed shop's `currency` and `timezone`.

    Amounts and sales of a day are stored by them.
    """
    name = f"backroom-{stage}-check_counts"
    deployed = boto3.client("lambda").get_function_configuration(FunctionName=name)
    variables = deployed["Environment"]["Variables"]
    return {
        "currency": variables.get("CURRENCY", "USD").upper(),
        "timezone": variables.get("TIMEZONE", "UTC"),
    }


def role_arns(made: Mapping[str, str]) -> dict[str, str]:
    """Return the role ARN of each function, by Chalice's name of it."""
    return {function: made[output] for function, output in ROLES.items()}


def master_key_parameter(stage: str) -> str:
    """Return the SSM parameter of the key that signing secrets derive from; roles name it too."""
    return f"/backroom/{stage}/master-key"


def ensure_master_key(stage: str) -> None:
    """Make the master key if there is none; never another: every secret follows from it."""
    ssm = boto3.client("ssm")
    with contextlib.suppress(ssm.exceptions.ParameterAlreadyExists):
        ssm.put_parameter(
            Name=master_key_parameter(stage),
            Type="SecureString",
            Value=base64.b64encode(secrets.token_bytes(32)).decode(),
            Overwrite=False,
        )


def parameter_names() -> set[str]:
    """Return the names of the parameters of all templates."""
    texts = [(_HERE / f"{step}.yaml").read_text() for step in ("resources", "triggers", "alarms")]
    return set(re.findall(r"^  (\w+): \{Type: (?:String|Number)\b", "\n".join(texts), re.MULTILINE))


def check_currency(code: str) -> str:
    """Return an ISO 4217 code in capitals, as amounts are kept by it for ever."""
    if not (code.isascii() and code.isalpha() and len(code) == 3):
        raise argparse.ArgumentTypeError(f"{code!r} is no ISO 4217 code, such as EUR")
    return code.upper()


def check_timezone(name: str) -> str:
    """Return the name of a time zone that exists."""
    if name not in zoneinfo.available_timezones():
        raise argparse.ArgumentTypeError(f"{name!r} is no time zone, such as Europe/Berlin")
    return name


def check_picture_address(text: str) -> str:
    """Return the address below which a CDN has the pictures, without a slash at its end."""
    if not re.fullmatch(r"https://[^\s/?#]+(/[^\s?#]*)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no address such as https://cdn.example.com")
    return text.rstrip("/")


def parse_pairs(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the options of a command line that are written as Name=value."""
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise SystemExit(f"{text}: write it as Name=value")
        yield name, value
