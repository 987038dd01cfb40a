"""The client package: typed, complete, without the server, and generated from the description."""

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from chalicelib.description import openapi

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
    for name, text in generator.generated(description).items():
        assert (PACKAGE / name).read_text() == text, "run `make client`"


def test_each_operation_has_a_method(generator: ModuleType, description: Any) -> None:
    from backroom import Backroom

    names = {
        generator.method_name(operation["operationId"])
        for item in description["paths"].values()
        for method, operation in item.items()
        if method in generator.METHODS
    }
    assert len(names) == sum(len(item) for item in description["paths"].values()) > 50
    assert [name for name in names if not callable(getattr(Backroom, name, None))] == []


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
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as installed from a wheel, in a separate folder."""
    home = tmp_path_factory.mktemp("wheel")
    shutil.copytree(CLIENT, home / "source", ignore=shutil.ignore_patterns("*.egg-info", "build"))
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", str(home)]
    pip = [sys.executable, "-m", "pip", "wheel", *options, str(home / "source")]
    subprocess.run(pip, check=True)
    (wheel,) = home.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(home / "installed")
    return home / "installed"


def test_the_wheel_is_complete(installed: Path) -> None:
    source = {path.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("*.py")}
    assert source <= {path.relative_to(installed) for path in installed.rglob("*")}
    assert (installed / "backroom/py.typed").exists()
    (entry_points,) = installed.glob("*.dist-info/entry_points.txt")
    assert "backroom = backroom.cli:main" in entry_points.read_text()


def test_the_package_and_a_project_using_it_pass_strict_typing(installed: Path) -> None:
    """With Python 3.10's rules, the oldest that it runs on."""
    strict = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10"]
    own = subprocess.run([*strict, "src"], cwd=CLIENT, capture_output=True, text=True, check=False)
    assert own.returncode == 0, own.stdout
    example = subprocess.run(
        [*strict, "--config-file=", str(CLIENT / "examples/erp")],
        cwd=installed.parent,
        env=os.environ | {"MYPYPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert example.returncode == 0, example.stdout


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ('shop.create_order({"lineItem": []})', "lineItem"),
        ('shop.iter_orders(status="PAYED")', "status"),
        ('shop.get_product("prod_1")["prize"]', "prize"),
        ('shop.update_order("ord_1", {"status": "payed"})', "status"),
    ],
)
def test_the_type_checker_finds_misuse(
    installed: Path, tmp_path: Path, wrong: str, message: str
) -> None:
    program = f'from backroom import Backroom\nshop = Backroom("https://shop.test")\n{wrong}\n'
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "program.py"],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and message in done.stdout, done.stdout
