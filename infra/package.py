"""The deployment package: the zip that `chalice package` makes, and its template.

`chalice package` writes a SAM template. The emulator has no SAM, and SAM leaves the functions'
names to chance: `native` writes the same functions and API under the names the triggers expect.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra import compiled, layer

PROJECT = Path(__file__).resolve().parent.parent
_PACKAGED = (
    "app.py",
    "chalicelib",
    "requirements.txt",
    "requirements-pictures.txt",
    ".chalice/config.json",
    "infra/command_line.py",
    "infra/compiled.py",
    "infra/layer.py",
)
_STAGE = "packaged"  # a stage of the copy's own config: nothing of a real stage enters the zip
_KEPT = 5
# Megabytes of a function's disk: the planner keeps the rows of a file of 1 GB, and their keys.
DISK = {"plan_import": 10_240}
CACHE = PROJECT / ".local/packages"


@dataclass(frozen=True)
class Package:
    """What Chalice made of one state of the source: the zip, its SHA-256, the SAM template.

    `layer`: the zip of the layer of one function.
    """

    zip: Path
    digest: str
    template: Mapping[str, Any]
    layer: Path


def build(cache: Path) -> Package:
    """Package the application, or take the package of exactly this source from `cache`."""
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = cache / _source_digest()
        if not (made / "layer.zip").exists():
            _chalice_package(cache / "build", made)
            os.link(layer.build(cache), made / "layer.zip")
            _forget_oldest(cache)
        os.utime(made)
        return read(made)


def write(package: Package, target: Path) -> None:
    """Write a package to a folder, from which `read` takes it."""
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(package.zip, target / "deployment.zip")
    shutil.copy(package.layer, target / "layer.zip")
    (target / "sam.json").write_text(json.dumps(package.template))


def read(source: Path) -> Package:
    """Return the package that is in this folder."""
    zip_path = source / "deployment.zip"
    digest = hashlib.sha256(zip_path.read_bytes()).hexdigest()
    template = json.loads((source / "sam.json").read_text())
    return Package(zip_path, digest, template, source / "layer.zip")


def _list_sources() -> Iterator[Path]:
    for name in _PACKAGED:
        path = PROJECT / name
        yield from sorted(path.rglob("*")) if path.is_dir() else [path]


def _source_digest() -> str:
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    for path in _list_sources():
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(
                str(path.relative_to(PROJECT)).encode() + b"\0" + path.read_bytes() + b"\0"
            )
    return digest.hexdigest()[:16]


def _chalice_package(build: Path, made: Path) -> None:
    # A copy, because Chalice packages every file it finds; it also keeps Chalice's wheels.
    for name in ("app.py", "chalicelib"):
        target = build / name
        if target.is_dir():
            shutil.rmtree(target)
    (build / ".chalice").mkdir(parents=True, exist_ok=True)
    shutil.copy(PROJECT / "app.py", build)
    shutil.copy(PROJECT / "requirements.txt", build)
    (build / "infra").mkdir(exist_ok=True)  # for Chalice's command line only
    shutil.copy(PROJECT / "infra/command_line.py", build / "infra")
    shutil.copytree(
        PROJECT / "chalicelib", build / "chalicelib", ignore=shutil.ignore_patterns("__pycache__")
    )
    compiled.add(build)
    config = json.loads((PROJECT / ".chalice/config.json").read_text())
    role = "arn:aws:iam::000000000000:role/set-by-native"
    config["stages"] = {_STAGE: {"api_gateway_stage": _STAGE, "iam_role_arn": role}}
    (build / ".chalice/config.json").write_text(json.dumps(config))
    command = [str(Path(sys.executable).parent / "chalice"), "package", "--stage", _STAGE, "out"]
    done = subprocess.run(
        command,
        cwd=build,
        env=os.environ | {"AWS_DEFAULT_REGION": "us-east-1", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"chalice package failed:\n{done.stdout}{done.stderr}")
    shutil.rmtree(made, ignore_errors=True)
    shutil.move(build / "out", made)


def _forget_oldest(cache: Path) -> None:
    packages = sorted((p.parent for p in cache.glob("*/sam.json")), key=lambda p: p.stat().st_mtime)
    for old in packages[:-_KEPT]:
        shutil.rmtree(old)


def to_native_template(
    package: Package,
    *,
    stage: str,
    bucket: str,
    key: str,
    roles: Mapping[str, str],
    environment: Mapping[str, str],
    memory: Mapping[str, int],
    layer_arn: str,
    api_id: str | None = None,
) -> str:
    """Return the package's template in CloudFormation's own resource types, as JSON.

    By Chalice's name of a function: `roles` its role's ARN, `memory` megabytes, where not as
    packaged. `layer_arn`: of the layer of one of them. `api_id`: the REST API's id, where one can
    choose it.
    """
    copied = ("Runtime", "Handler", "Timeout", "Architectures")
    resources: dict[str, Any] = {}
    for name, resource in package.template["Resources"].items():
        properties = resource["Properties"]
        if resource["Type"] == "AWS::Serverless::Function":
            is_api = properties["Handler"] == "app.app"
            function = "api_handler" if is_api else properties["Handler"].removeprefix("app.")
            size = memory.get(function, properties["MemorySize"])
            resources[name] = {
                "Type": "AWS::Lambda::Function",
                "Properties": {
                    "FunctionName": f"backroom-{stage}" + ("" if is_api else f"-{function}"),
                    "Role": roles[function],
                    "Code": {"S3Bucket": bucket, "S3Key": key},
                    "Environment": {"Variables": dict(environment)},
                    **{k: properties[k] for k in copied},
                    "MemorySize": size,
                    **({"EphemeralStorage": {"Size": DISK[function]}} if function in DISK else {}),
                    **({"Layers": [layer_arn]} if function == layer.FUNCTION else {}),
                },
            }
        elif resource["Type"] == "AWS::Serverless::Api":
            resources |= _native_api(name, properties, stage, api_id)
        else:
            resources[name] = resource
    url = "https://${RestAPI}.execute-api.${AWS::Region}.${AWS::URLSuffix}/" + stage
    outputs = {
        "RestApiId": {"Value": {"Ref": "RestAPI"}},
        "Address": {"Value": {"Fn::Sub": url}},
    }
    return json.dumps({"Resources": resources, "Outputs": outputs}, separators=(",", ":"))


def _native_api(
    name: str, properties: Mapping[str, Any], stage: str, api_id: str | None
) -> dict[str, Any]:
    body, least = properties["DefinitionBody"], properties["MinimumCompressionSize"]
    # A deployment is a snapshot: another body needs another, or the stage keeps the old routes.
    deployed = json.dumps([body, least]).encode()
    deployment = "Deployment" + hashlib.sha256(deployed).hexdigest()[:16]
    return {
        name: {
            "Type": "AWS::ApiGateway::RestApi",
            "Properties": {
                "Name": "backroom",  # as Chalice calls it; alarms name it
                "Body": body,
                # The emulator reads these from here only; AWS merges them with the body's.
                "BinaryMediaTypes": body.get("x-amazon-apigateway-binary-media-types", []),
                "EndpointConfiguration": {"Types": ["REGIONAL"]},
                "MinimumCompressionSize": least,
                **({"Tags": [{"Key": "ms-custom-id", "Value": api_id}]} if api_id else {}),
            },
        },
        deployment: {
            "Type": "AWS::ApiGateway::Deployment",
            "Properties": {"RestApiId": {"Ref": name}},
        },
        "Stage": {
            "Type": "AWS::ApiGateway::Stage",
            "Properties": {
                "RestApiId": {"Ref": name},
                "DeploymentId": {"Ref": deployment},
                "StageName": stage,
            },
        },
    }
