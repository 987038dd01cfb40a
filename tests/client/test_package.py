"""The client package: typed, complete, without the server, and generated from the description."""

import ast
import email
import importlib.util
import inspect
import json
import os
import re
import shutil
import sys
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from packaging.requirements import Requirement

import chalicelib
from chalicelib.description import openapi
from tests.support.programs import ran

pytestmark = pytest.mark.thorough

PROJECT = Path(__file__).resolve().parents[2]
CLIENT = PROJECT / "clients/python"
PACKAGE = CLIENT / "src/backroom"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", CLIENT / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def description() -> Any:
    import app

    assert app.app
    return openapi.document()


def test_models_and_operations_match_the_description(
    generator: ModuleType, description: Any
) -> None:
    for name, text in generator.generate_files(description).items():
        assert (PACKAGE / name).read_text() == text, f"{name}: run `make client`"


def test_each_operation_sends_its_method_path_parameters_and_body(
    generator: ModuleType, description: Any
) -> None:
    from backroom import Backroom

    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={})

    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        shop = Backroom("https://shop.test", "bk_1", http=http)
        for path, item in description["paths"].items():
            for method, operation in item.items():
                call = getattr(shop, generator.method_name(operation["operationId"]))
                given: dict[str, Any] = {name: name for name in inspect.signature(call).parameters}
                given |= {"body": {"is": "sent"}} if "body" in given else {}
                given |= {"file": b"rows"} if "file" in given else {}
                call(**{**given, "timeout": None})
                sent = asked.pop()
                assert sent.method == method.upper()
                assert sent.url.path == re.sub(r"{(\w+)}", r"\1", path)
                places = {"query": sent.url.params, "header": sent.headers}
                for one in operation.get("parameters", ()):
                    if one["in"] in places and one["name"] != "If-None-Match":
                        assert one["name"] in places[one["in"]], one
                if "body" in given:
                    assert json.loads(sent.content) == given["body"]


def test_the_package_imports_nothing_from_the_server() -> None:
    known = {"backroom", "httpx", "rich", "typer", "typing_extensions", "__future__"}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0 and node.module
                names = [node.module]
            tops = {name.partition(".")[0] for name in names}
            assert tops <= known | sys.stdlib_module_names, f"{path.name}: {tops}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    home = tmp_path_factory.mktemp("built")
    shutil.copytree(CLIENT, home / "source", ignore=shutil.ignore_patterns("*.egg-info", "build"))
    options = ["--no-isolation", "--outdir", str(home), str(home / "source")]
    ran(sys.executable, "-m", "build", *options)
    return home


@pytest.fixture(scope="module")
def installed(built: Path) -> Path:
    """The package as installed from its wheel, in a separate folder."""
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(built / "installed")
    return built / "installed"


def test_the_wheel_and_the_sdist_are_complete(built: Path, installed: Path) -> None:
    source = {path.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("*.py")}
    assert source <= {path.relative_to(installed) for path in installed.rglob("*")}
    assert (installed / "backroom/py.typed").exists()
    (entry_points,) = installed.glob("*.dist-info/entry_points.txt")
    assert "backroom = backroom.cli:main" in entry_points.read_text()
    licence = (PROJECT / "LICENSE").read_text()
    (kept,) = installed.glob("*.dist-info/licenses/LICENSE")
    assert kept.read_text() == licence
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "src/backroom/py.typed"} <= names


def test_the_page_of_the_package_is_complete(installed: Path) -> None:
    (about,) = installed.glob("*.dist-info/METADATA")
    found = email.message_from_string(about.read_text())
    assert (found["License-Expression"], found["License-File"]) == ("MIT", "LICENSE")
    assert found["Author"] and len(found.get_all("Classifier", [])) > 5
    links = re.findall(r"\]\((.*?)\)", found.get_payload())
    assert not links, "no address of the project is known, and a path would be dead on PyPI"


def needed(package: str, known: set[str]) -> set[str]:
    """The packages that a package needs to run, and those that they need."""
    for line in metadata.requires(package) or ():
        wanted = Requirement(line)
        applies = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
        if applies and wanted.name not in known:
            known.add(wanted.name)
            needed(wanted.name, known)
    return known


def test_the_wheel_runs_in_an_environment_that_has_only_what_it_needs(
    built: Path, tmp_path: Path
) -> None:
    venv.create(tmp_path / "empty")
    python = tmp_path / "empty/bin/python"
    (packages,) = (tmp_path / "empty/lib").glob("python*/site-packages")
    for name in needed("backroom", set()):
        for file in metadata.files(name) or ():
            if ".." not in file.parts and file.suffix != ".pyc":
                target = packages / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(file.locate()), target)
    (wheel,) = built.glob("*.whl")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--no-deps")
    ran(*pip, "--no-index", "--quiet", wheel)
    alone: Any = {"env": {}, "cwd": tmp_path}
    version = f"backroom {chalicelib.__version__}\n"
    assert ran(python, "-m", "backroom", "--version", **alone).stdout == version
    assert ran(python.with_name("backroom"), "--version", **alone).stdout == version
    program = "import backroom; print(backroom.AsyncBackroom, backroom.__file__)"
    assert str(tmp_path) in ran(python, "-c", program, **alone).stdout


def test_the_package_and_a_project_using_it_pass_strict_typing(installed: Path) -> None:
    """With Python 3.10's rules, the oldest that it runs on."""
    strict = (sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10")
    ran(*strict, "src", cwd=CLIENT)
    using: Any = {"cwd": installed.parent, "env": os.environ | {"MYPYPATH": str(installed)}}
    ran(*strict, "--config-file=", CLIENT / "examples/erp", **using)


def test_the_type_checker_finds_misuse(installed: Path, tmp_path: Path) -> None:
    wrong = {
        'shop.create_order({"lineItem": []})': "lineItem",
        'shop.iter_orders(status="PAYED")': "status",
        'shop.get_product("prod_1")["prize"]': "prize",
        'shop.update_order("ord_1", {"status": "payed"})': "status",
        'it["event"] == "order.paid" and it["data"]["numbr"]': "numbr",
        'it["event"] == "inventory.low" and it["data"]["number"]': "number",
    }
    program = [
        "from backroom import Backroom, verify",
        'shop, it = Backroom("https://shop.test"), verify(b"", {}, "whsec_")',
        *wrong,
    ]
    (tmp_path / "program.py").write_text("\n".join(program))
    options: Any = {"code": 1, "cwd": tmp_path, "env": os.environ | {"MYPYPATH": str(installed)}}
    done = ran(sys.executable, "-m", "mypy", "--strict", "--config-file=", "program.py", **options)
    for number, name in enumerate(wrong.values(), 3):
        found = re.findall(rf"^program.py:{number}: error: .*", done.stdout, re.MULTILINE)
        assert any(name in one for one in found), done.stdout
