"""The layer of `render_file`: Pillow, which the packages of the other functions do not have."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import boto3

FUNCTION = "render_file"
_REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements-pictures.txt"
_ALWAYS = (1980, 1, 1, 0, 0, 0)  # the time of each file, so that equal layers are equal files


def build(cache: Path) -> Path:
    """Return the zip of the layer, made of the pinned wheel if `cache` does not have it."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    made_of = _REQUIREMENTS.read_bytes() + Path(__file__).read_bytes() + version.encode()
    pinned = hashlib.sha256(made_of).hexdigest()[:16]
    made = cache / f"layer-{pinned}.zip"
    if not made.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=cache) as folder:
            _write_layer(_download_wheel(Path(folder), version), unfinished := Path(folder, "zip"))
            os.replace(unfinished, made)
    return made


def publish(stage: str, zipped: Path) -> str:
    """Return the ARN of the version of the stage's layer with this content; publish it if new."""
    functions, content = boto3.client("lambda"), zipped.read_bytes()
    name, digest = _layer_name(stage), hashlib.sha256(content).hexdigest()
    for version in functions.list_layer_versions(LayerName=name)["LayerVersions"]:
        if version.get("Description") == digest:
            return str(version["LayerVersionArn"])
    made = functions.publish_layer_version(
        LayerName=name, Description=digest, Content={"ZipFile": content}
    )
    return str(made["LayerVersionArn"])


def delete(stage: str) -> None:
    """Delete all versions of the stage's layer."""
    functions, name = boto3.client("lambda"), _layer_name(stage)
    for version in functions.list_layer_versions(LayerName=name)["LayerVersions"]:
        functions.delete_layer_version(LayerName=name, VersionNumber=version["Version"])


def _layer_name(stage: str) -> str:
    return f"backroom-{stage}-pictures"


def _download_wheel(folder: Path, version: str) -> Path:
    """Return the wheel for Lambda, whatever this machine is."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    lambdas = ["--platform", "manylinux2014_x86_64", "--python-version", version]
    what = ["--only-binary", ":all:", "--dest", str(folder), "--requirement", str(_REQUIREMENTS)]
    command = [*pip, *lambdas, *what]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"pip could not download Pillow:\n{done.stdout}{done.stderr}")
    (wheel,) = folder.glob("*.whl")
    return wheel


def _write_layer(wheel: Path, target: Path) -> None:
    with (
        zipfile.ZipFile(wheel) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as layer,
    ):
        for each in sorted(source.infolist(), key=lambda one: one.filename):
            if "avif" in each.filename.lower():
                continue  # a third of it, for a format that no picture has
            info = zipfile.ZipInfo(f"python/{each.filename}", _ALWAYS)
            info.external_attr, info.compress_type = 0o755 << 16, zipfile.ZIP_DEFLATED
            layer.writestr(info, source.read(each))
