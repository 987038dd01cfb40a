"""Runs third-party tools on the API's description: linters and client generators.

    python -m tests.support.generators             # `make description` installs the tools first
    python -m tests.support.generators compiled    # `make clients`: Go and Java

Compares the operations with the generated functions.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import app
from chalicelib.description import openapi

_PROJECT = Path(__file__).resolve().parents[2]
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


def main(check: Callable[[dict[str, Any], Path, Path], Iterator[str]]) -> None:
    description = described()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "api.json").write_text(json.dumps(description))
        for line in check(description, _PROJECT / ".description", Path(folder)):
            print(line, flush=True)


def interpreted(description: dict[str, Any], tools: Path, folder: Path) -> Iterator[str]:
    """Linters, and the clients that Node and Python check."""
    ids = operation_ids(description)
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
    _run(folder / "client", tools / "venv/bin/mypy", "--strict", ".")
    yield f"openapi-python-client, mypy --strict: {len(functions)} of {len(wanted)} operations"


def compiled(description: dict[str, Any], tools: Path, folder: Path) -> Iterator[str]:
    """openapi-generator's clients for Go and Java: they compile, and have every operation."""
    there = operation_ids(description, ("paths", "webhooks"))
    generator = next(tools.glob("openapi-generator-cli-*.jar"))
    for language, functions, compiler in (
        ("go", r"^func \(r Api(\w+)Request\) Execute\(", ["go", "build", "-mod=mod", "./..."]),
        (
            "java",
            r"^    public ApiResponse<.*> (\w+)WithHttpInfo\(",
            ["mvn", "-q", "-B", "compile"],
        ),
    ):
        _run(
            folder,
            *("java", "-jar", generator, "generate", "-g", language, "-i", "api.json"),
            *("-o", language, "--global-property", "apiTests=false,modelTests=false"),
            # In Go, values of all enums share a package.
            *(["--additional-properties", "enumClassPrefix=true"] if language == "go" else []),
        )
        _run(folder / language, *compiler)
        found = {
            name[0].lower() + name[1:]
            for path in (folder / language).rglob(f"*.{language}")
            for name in re.findall(functions, path.read_text(), re.M)
        }
        assert found == there, f"openapi-generator, {language}: {found ^ there}"
        yield f"openapi-generator, {language}, compiled: {len(found)} of {len(there)} operations"


def _run(folder: Path, *command: str | Path) -> str:
    path = f"{Path(command[0]).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, "PATH": path},
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
    main(compiled if sys.argv[1:] == ["compiled"] else interpreted)
