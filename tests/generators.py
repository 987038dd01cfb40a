"""Runs third-party tools on the API's description: linters and client generators.

    python -m tests.generators [folder of the tools]      # `make description` installs and runs it

Compares the number of operations with the number of generated functions.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import app
from chalicelib.description import openapi

_PROJECT = Path(__file__).resolve().parent.parent
_STRICT = {"strict": True, "noEmit": True, "types": [], "skipLibCheck": False, "target": "es2022"}


def described() -> dict[str, Any]:
    """The description as an integrator downloads it."""
    app.app.serve(openapi.PATH)
    return {**openapi.document(), "servers": [{"url": "https://shop.example.org/api"}]}


def operation_ids(description: dict[str, Any], parts: tuple[str, ...] = ("paths",)) -> set[str]:
    return {
        operation["operationId"]
        for part in parts
        for item in description[part].values()
        for operation in item.values()
    }


def main(tools: Path) -> None:
    description = described()
    with tempfile.TemporaryDirectory() as folder:
        for line in _checked(description, tools, Path(folder)):
            print(line, flush=True)


def _checked(description: dict[str, Any], tools: Path, folder: Path) -> Iterator[str]:
    ids = operation_ids(description)
    (folder / "api.json").write_text(json.dumps(description))
    node = tools / "node_modules/.bin"
    _run(folder, node / "redocly", "lint", "api.json")
    yield "redocly lint: no error"
    (folder / ".spectral.yaml").write_text('extends: ["spectral:oas"]\n')
    _run(folder, node / "spectral", "lint", "--fail-severity=warn", "api.json")
    yield "spectral, its rules for OpenAPI: no error, no warning"

    _run(folder, node / "openapi-typescript", "api.json", "-o", "api.ts")
    (folder / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": _STRICT, "files": ["api.ts"]})
    )
    _run(folder, node / "tsc", "-p", ".")
    written = (folder / "api.ts").read_text().partition("export interface operations {")[2]
    found = set(re.findall(r"^    (\w+): {$", written, re.M))
    there = operation_ids(description, ("paths", "webhooks"))
    assert found == there, f"openapi-typescript: {found ^ there}"
    yield f"openapi-typescript, compiled strictly: {len(found)} of {len(there)} operations"

    python = tools / "venv/bin/openapi-python-client"
    output = _run(folder, python, "generate", "--path", "api.json", "--output-path", "client")
    lost = re.findall(r"WARNING .*|.*unsupported.*|.*[Uu]nable to parse.*", output)
    assert not lost, f"openapi-python-client: {lost}"
    functions = {
        path.stem
        for path in (folder / "client").rglob("api/*/*.py")
        if "def sync_detailed(" in path.read_text()
    }
    wanted = {re.sub("([A-Z])", r"_\1", id).lower() for id in ids}
    assert functions == wanted, f"openapi-python-client: {functions ^ wanted}"
    models = (folder / "client").rglob("models/__init__.py")
    names = {name for path in models for name in re.findall(r'"(\w+)"', path.read_text())}
    missing = {
        name
        for name, schema in description["components"]["schemas"].items()
        if "properties" in schema and name not in names
    }
    assert not missing, f"openapi-python-client: no model of {missing}"
    yield f"openapi-python-client: {len(functions)} of {len(wanted)} operations"


def _run(folder: Path, *command: str | Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    if done.returncode:
        raise SystemExit(f"{Path(command[0]).name}:\n{done.stdout}")
    return done.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else _PROJECT / ".description").resolve())
