"""What is deployed, as Chalice keeps it.

The stage's settings are in .chalice/config.json, and Chalice's own record in .chalice/deployed/.
The bucket has a copy of both, so that any machine can continue.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3

from infra import layer, package, steps

CONFIG = package.PROJECT / ".chalice/config.json"


def stage_settings(stage: str) -> dict[str, Any]:
    """Return the stage's part of .chalice/config.json; empty when it has none."""
    found: dict[str, Any] = json.loads(CONFIG.read_text()).get("stages", {}).get(stage, {})
    return found


def write(
    stage: str,
    made: Mapping[str, str],
    *,
    parameters: Mapping[str, str],
    environment: Mapping[str, str],
    memory: Mapping[str, int],
) -> None:
    """Note the stage's parameters, roles, environment and memory; all else in the file stays.

    `parameters`: of the templates; Chalice does not read them. `memory`: megabytes by Chalice's
    name of a function. What is not given keeps its value.
    """
    config = json.loads(CONFIG.read_text())
    noted = config.setdefault("stages", {}).setdefault(stage, {})
    noted["api_gateway_stage"] = stage
    noted.setdefault("parameters", {}).update(parameters)
    variables = noted.setdefault("environment_variables", {})
    variables.update(steps.function_environment(stage, made) | dict(environment))
    functions = noted.setdefault("lambda_functions", {})
    for function, role in steps.role_arns(made).items():
        functions.setdefault(function, {})["iam_role_arn"] = role
    for function, megabytes in memory.items():
        functions[function]["lambda_memory_size"] = megabytes
    _write_json(CONFIG, config)


def write_layer(stage: str, arn: str) -> None:
    """Note the layer of the function that has one."""
    config = json.loads(CONFIG.read_text())
    config["stages"][stage]["lambda_functions"][layer.FUNCTION]["layers"] = [arn]
    _write_json(CONFIG, config)


def refuse_elsewhere(stage: str, region: str | None, account: str | None = None) -> None:
    """Raise SystemExit if the stage is in another region or account.

    This record of it would be lost, and then Chalice would not find its API and make another, with
    a new address.
    """
    variables = stage_settings(stage).get("environment_variables", {})
    there = variables.get("REDRIVE_STATE_MACHINE_ARN", "").split(":")[3:5]
    if there and there != [region, account or there[1]]:
        raise SystemExit(
            f"{stage} is in {there[0]}, account {there[1]}, by .chalice/config.json. Set the region"
            f" and the credentials of that; for another {stage}, use another checkout."
        )


def forget(stage: str) -> None:
    """Take the stage out of .chalice/config.json."""
    config = json.loads(CONFIG.read_text())
    config.get("stages", {}).pop(stage, None)
    _write_json(CONFIG, config)


def push(stage: str, bucket: str) -> None:
    """Upload the settings and Chalice's record to the bucket."""
    s3 = boto3.client("s3")
    s3.put_object(
        Bucket=bucket, Key=_object_key("config"), Body=json.dumps(stage_settings(stage)).encode()
    )
    if chalice_record(stage).exists():
        s3.put_object(
            Bucket=bucket, Key=_object_key("deployed"), Body=chalice_record(stage).read_bytes()
        )
    else:
        s3.delete_object(Bucket=bucket, Key=_object_key("deployed"))


def pull(stage: str, bucket: str) -> bool:
    """Replace the settings and Chalice's record by the bucket's; return whether it had any."""
    s3 = boto3.client("s3")
    noted = _get_copy(s3, bucket, "config")
    if noted is None:
        return False
    config = json.loads(CONFIG.read_text())
    config.setdefault("stages", {})[stage] = json.loads(noted)
    _write_json(CONFIG, config)
    if (found := _get_copy(s3, bucket, "deployed")) is None:
        chalice_record(stage).unlink(missing_ok=True)
    else:
        chalice_record(stage).parent.mkdir(parents=True, exist_ok=True)
        chalice_record(stage).write_bytes(found)
    return True


def chalice_record(stage: str) -> Path:
    """Return the path of Chalice's own record.

    Without it, Chalice would make everything a second time.
    """
    return package.PROJECT / f".chalice/deployed/{stage}.json"


def is_chalices(stage: str) -> bool:
    """Whether Chalice has functions of the stage, by its record here."""
    path = chalice_record(stage)
    return path.exists() and bool(json.loads(path.read_text())["resources"])


def chalice_api(stage: str) -> Mapping[str, str]:
    """Return what Chalice deployed as the API: `rest_api_id`, `rest_api_url`."""
    for resource in json.loads(chalice_record(stage).read_text())["resources"]:
        if resource["resource_type"] == "rest_api":
            return dict(resource)
    raise LookupError(f"no REST API in {chalice_record(stage)}")


def _get_copy(s3: Any, bucket: str, record: str) -> bytes | None:
    try:
        found: bytes = s3.get_object(Bucket=bucket, Key=_object_key(record))["Body"].read()
    except (s3.exceptions.NoSuchKey, s3.exceptions.NoSuchBucket):
        return None
    return found


def _object_key(record: str) -> str:
    return f"deployments/{record}.json"


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")
