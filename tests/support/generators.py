"""Runs third-party tools on the API's description: linters and client generators.

    python -m tests.support.generators             # `make description` installs the tools first
    python -m tests.support.generators compiled    # `make clients`: those that need Java or Go

Compares the operations with the generated functions, and compiles the first requests of docs/api.md
with each client (`client_requests/`).
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import app
from chalicelib.description import openapi

_PROJECT = Path(__file__).resolve().parents[2]
_REQUESTS = Path(__file__).with_name("client_requests")
_STRICT = {"strict": True, "noEmit": True, "types": [], "skipLibCheck": False, "target": "es2022"}
_STRICT |= {"module": "es2022", "moduleResolution": "bundler", "lib": ["es2022", "dom"]}
_GO_MOD = """module example.org/shop

go 1.24

require github.com/oapi-codegen/runtime v1.9.0
"""
_OAPI_CODEGEN = """package: api
output: shop/api/api.go
generate: {models: true, client: true}
output-options: {skip-prune: true}
"""


class _Language(NamedTuple):
    """A language of openapi-generator: where its functions are, and what compiles a request.

    `options` of the generator; the `request` is copied to the path `place`. `receives`: whether
    there are functions of the events that a webhook receives.
    """

    functions: str
    files: str
    request: str
    place: str
    command: tuple[str, ...]
    options: tuple[str, ...] = ()
    receives: bool = True


_LANGUAGES: Final = {
    "typescript-fetch": _Language(
        r"^    async (\w+)Raw\(",
        "*.ts",
        "typescript_fetch.ts",
        "typescript_fetch.ts",
        ("tsc", "-p", "."),
    ),
    "typescript-axios": _Language(
        r"^    public (?!isJsonMime)(\w+)\(",
        "*.ts",
        "typescript_axios.ts",
        "typescript_axios.ts",
        ("tsc", "-p", "."),
        receives=False,
    ),
    # Its functions of received events are no Python, but are imported by nothing.
    "python": _Language(
        r"^    def (\w+)_with_http_info\(",
        "*.py",
        "generator.py",
        "request.py",
        ("mypy", "--strict", "--follow-imports=silent", "request.py"),
    ),
    "go": _Language(
        r"^func \(r Api(\w+)Request\) Execute\(",
        "*.go",
        "generator.go",
        "go/request/main.go",
        ("go", "build", "-C", "go", "-mod=mod", "./..."),
        # Values of all enums share a package.
        ("--additional-properties", "enumClassPrefix=true"),
    ),
    "java": _Language(
        r"^    public ApiResponse<.*> (\w+)WithHttpInfo\(",
        "*.java",
        "PlaceOrder.java",
        "java/src/main/java/org/openapitools/client/PlaceOrder.java",
        ("mvn", "-q", "-B", "-f", "java", "compile"),
    ),
}


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
    _compile_typescript(folder, tools, "openapi_typescript.ts")
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
    """Clients of openapi-generator and of oapi-codegen: they compile, with all operations."""
    ids = operation_ids(description)
    there = operation_ids(description, ("paths", "webhooks"))
    generator = next(tools.glob("openapi-generator-cli-*.jar"))
    for name, language in _LANGUAGES.items():
        _run(
            folder,
            *("java", "-jar", generator, "generate", "-g", name, "-i", "api.json"),
            *("-o", name, "--global-property", "apiTests=false,modelTests=false"),
            *language.options,
        )
        found = _find_functions(folder / name, language.files, language.functions)
        wanted = there if language.receives else ids
        assert found == wanted, f"openapi-generator, {name}: {found ^ wanted}"
        if language.command[0] == "tsc":
            _compile_typescript(folder, tools, language.request)
        else:
            _copy_request(language.request, folder / language.place)
            command, *arguments = language.command
            local = tools / "venv/bin" / command
            path = {"MYPYPATH": name} if command == "mypy" else {}
            _run(folder, local if local.exists() else command, *arguments, **path)
        yield f"openapi-generator, {name}, compiled: {len(found)} of {len(wanted)} operations"

    (folder / "shop/api").mkdir(parents=True)
    (folder / "shop/go.mod").write_text(_GO_MOD)
    (folder / "oapi-codegen.yaml").write_text(_OAPI_CODEGEN)
    _run(folder, tools / "bin/oapi-codegen", "-config", "oapi-codegen.yaml", "api.json")
    _copy_request("oapi_codegen.go", folder / "shop/main.go")
    _run(folder, "go", "build", "-C", "shop", "-mod=mod", "./...")
    pattern = r"^func \(c \*ClientWithResponses\) (\w+?)(?:WithBody)?WithResponse\("
    found = _find_functions(folder / "shop/api", "api.go", pattern)
    assert found == ids, f"oapi-codegen: {found ^ ids}"
    yield f"oapi-codegen, compiled: {len(found)} of {len(ids)} operations"


def _find_functions(folder: Path, files: str, pattern: str) -> set[str]:
    """The operations whose functions are in these files, as the description names them."""
    names = {
        re.sub(r"_(\w)", lambda letter: letter[1].upper(), name)
        for path in folder.rglob(files)
        for name in re.findall(pattern, path.read_text(), re.M)
    }
    return {name[0].lower() + name[1:] for name in names}


def _compile_typescript(folder: Path, tools: Path, request: str) -> None:
    """Compiles a request, and the client that it imports, with all checks of TypeScript."""
    _copy_request(request, folder / request)
    modules = folder / "node_modules"
    if not modules.exists():
        modules.symlink_to(tools / "node_modules")
    options = {**_STRICT, "skipLibCheck": "axios" in request}  # axios wants the types of Node
    config = {"compilerOptions": options, "files": [request]}
    (folder / "tsconfig.json").write_text(json.dumps(config))
    _run(folder, tools / "node_modules/.bin/tsc", "-p", ".")


def _copy_request(request: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(_REQUESTS / request, path)


def _run(folder: Path, *command: str | Path, **settings: str) -> str:
    path = f"{Path(command[0]).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, "PATH": path, **settings},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    if done.returncode:
        raise SystemExit(f"{Path(command[0]).name}:\n{done.stdout}")
    return done.stdout


if __name__ == "__main__":
    main(compiled if sys.argv[1:] == ["compiled"] else interpreted)
