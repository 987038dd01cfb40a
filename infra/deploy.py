"""Deploys a stage to AWS: `python infra/deploy.py --stage prod`. Safe to run again at any point.

It shows each change before it makes it (`--show`: and makes none). Afterwards a change of code
alone is `chalice deploy --stage prod`. The bucket keeps the record of what is deployed, so that
another machine can go on: `--pull` takes it from there.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from infra import keys, package, stacks, steps

CONFIG = package.PROJECT / ".chalice/config.json"


def record_settings(stage: str, made: Mapping[str, str]) -> None:
    """Writes the stage's roles and environment into .chalice/config.json; all else there stays."""
    config = json.loads(CONFIG.read_text())
    settings = config.setdefault("stages", {}).setdefault(stage, {})
    settings["api_gateway_stage"] = stage
    settings.setdefault("environment_variables", {}).update(steps.environment(stage, made))
    functions = settings.setdefault("lambda_functions", {})
    for function, role in steps.roles(made).items():
        functions.setdefault(function, {})["iam_role_arn"] = role
    _write(CONFIG, config)


def chalice_deploy(stage: str) -> None:
    """Step 2, by the command that later deploys code alone. Raises CalledProcessError."""
    chalice = Path(sys.executable).parent / "chalice"
    subprocess.run([chalice, "deploy", "--stage", stage], cwd=package.PROJECT, check=True)


def push(stage: str, bucket: str) -> None:
    """Leaves in the bucket what another machine needs: Chalice's record and the settings."""
    s3 = boto3.client("s3")
    settings = json.loads(CONFIG.read_text())["stages"][stage]
    s3.put_object(Bucket=bucket, Key=_key("config"), Body=json.dumps(settings).encode())
    if _deployed(stage).exists():
        s3.put_object(Bucket=bucket, Key=_key("deployed"), Body=_deployed(stage).read_bytes())


def pull(stage: str, bucket: str) -> bool:
    """Takes both from the bucket over what is here; says whether there was a deployment."""
    s3 = boto3.client("s3")
    try:
        deployed = s3.get_object(Bucket=bucket, Key=_key("deployed"))["Body"].read()
        settings = json.loads(s3.get_object(Bucket=bucket, Key=_key("config"))["Body"].read())
    except s3.exceptions.NoSuchKey:
        return False
    config = json.loads(CONFIG.read_text())
    config.setdefault("stages", {})[stage] = settings
    _write(CONFIG, config)
    _deployed(stage).parent.mkdir(parents=True, exist_ok=True)
    _deployed(stage).write_bytes(deployed)
    return True


def address(stage: str) -> str:
    """The API's address, from Chalice's record of what it deployed."""
    for resource in json.loads(_deployed(stage).read_text())["resources"]:
        if resource["resource_type"] == "rest_api":
            return str(resource["rest_api_url"]).rstrip("/")
    raise LookupError(f"no REST API in {_deployed(stage)}")


def _deployed(stage: str) -> Path:
    return package.PROJECT / f".chalice/deployed/{stage}.json"


def _key(record: str) -> str:
    return f"deployments/{record}.json"


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


def main() -> None:
    """The three steps, then the first Owner key."""
    options = _options()
    stage: str = options.stage
    parameters = dict(steps.pairs(options.parameter))
    known = stacks.outputs(steps.stack(stage, "resources"))
    if known and (options.pull or not _deployed(stage).exists()) and pull(stage, known["Bucket"]):
        print(f"took the record of {stage} from {known['Bucket']}")
    made = steps.resources(stage, parameters, only_show=options.show)
    if options.show:
        if made:
            steps.triggers(stage, made, parameters, only_show=True)
        print(f"{stage}: chalice deploy brings the functions and routes to the source's state")
        return
    record_settings(stage, made)
    steps.ensure_master_key(stage)
    try:
        chalice_deploy(stage)
    finally:
        push(stage, made["Bucket"])
    steps.triggers(stage, made, parameters)
    print(f"\nBackroom is deployed: {address(stage)}")
    if key := keys.first_owner_key(made["Table"]):
        print(f"Owner key, shown this once: {key}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stage", required=True)
    parser.add_argument(
        "--show", action="store_true", help="show what would change, change nothing"
    )
    parser.add_argument("--pull", action="store_true", help="take the record from the bucket first")
    parser.add_argument(
        "--parameter",
        action="append",
        default=[],
        metavar="Name=value",
        help="a parameter of resources.yaml or triggers.yaml; kept until given again",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
