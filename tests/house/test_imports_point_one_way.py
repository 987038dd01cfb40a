"""The layers: app → routes → store → mechanisms.

Slices meet through each other's `model`, `store` and `schemas` (a record as the API shows it) only;
the outbox knows their `consumer`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
ROOT = PROJECT / "chalicelib"

# Packages that are mechanisms; every other package but `request` is a slice.
MECHANISMS = {"values", "storage", "listing", "safe_post"}
# Of these, each may import the modules at the root, and those before it.
LAYERS = ["values", "storage", "listing"]
# These handle HTTP, as the slices' `routes.py` do; only app.py imports them.
ROUTES_TOO = {"chalicelib.description.openapi", "chalicelib.description.limits"}
KEY_PREFIX = re.compile(r"[a-z]+#")


def modules() -> dict[str, ast.Module]:
    found = {}
    for path in [*ROOT.rglob("*.py"), PROJECT / "app.py"]:
        name = ".".join(path.relative_to(PROJECT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = ast.parse(path.read_text())
    return found


MODULES = modules()


def imported(name: str) -> Iterator[str]:
    """The modules of the project that a module imports, anywhere in its text."""
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{name}: imports are absolute"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                target = whole if whole in MODULES else node.module
                if target in MODULES:
                    yield target


def package(name: str) -> str | None:
    """`products` for `chalicelib.products.store`, None at the root."""
    path = ROOT / "/".join(name.split(".")[1:])
    parts = name.split(".")[1:]
    return parts[0] if len(parts) > 1 or (parts and path.is_dir()) else None


def slice_of(name: str) -> str | None:
    folder = package(name)
    return None if folder in {None, "request", "description", *MECHANISMS} else folder


def is_routes(name: str) -> bool:
    return name in ROUTES_TOO or (slice_of(name) is not None and name.endswith(".routes"))


def is_request(name: str) -> bool:
    return package(name) == "request"


def is_mechanism(name: str) -> bool:
    own = name.startswith("chalicelib") and slice_of(name) is None
    return own and not is_request(name) and name not in ROUTES_TOO


def layer(name: str) -> int:
    folder = package(name)
    return LAYERS.index(folder) if folder in LAYERS else -1


def violations(name: str) -> Iterator[str]:
    for target in imported(name):
        if is_mechanism(name) and layer(target) > layer(name) and package(name) != "safe_post":
            yield f"{name} imports {target}, of a layer above it"
        if is_routes(target) and name not in {"app", *ROUTES_TOO}:
            yield f"{name} imports the routes {target}"
        if is_request(target) and not (is_routes(name) or is_request(name) or name == "app"):
            yield f"{name} imports {target}, but only routes know of HTTP"
        if is_mechanism(name) and not is_mechanism(target):
            yield f"{name} is a mechanism and imports {target}"
        theirs = slice_of(target)
        if theirs and theirs != slice_of(name) and name != "app":
            own = {"consumer"} if theirs != slice_of(name) == "outbox" else set[str]()
            if target.rpartition(".")[2] not in {"model", "store", "schemas"} | own:
                yield f"{name} imports {target}, which is inside that slice"
            if name.endswith(".model") and target.endswith(".store"):
                yield f"{name} is a model and imports {target}"


def test_imports_point_one_way() -> None:
    assert [line for name in MODULES for line in violations(name)] == []


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("orders.store", "from chalicelib.orders import routes", "imports the routes"),
        ("orders.store", "from chalicelib.request import rate", "only routes know of HTTP"),
        ("storage.table", "from chalicelib.orders import store", "is a mechanism and imports"),
        ("storage.table", "from chalicelib.listing import words", "of a layer above"),
        ("orders.store", "from chalicelib.products import merge", "is inside that slice"),
        ("orders.model", "from chalicelib.products import store", "is a model and imports"),
    ],
)
def test_an_import_in_the_wrong_direction_is_reported(
    monkeypatch: pytest.MonkeyPatch, name: str, code: str, says: str
) -> None:
    monkeypatch.setitem(MODULES, f"chalicelib.{name}", ast.parse(code))
    (line,) = violations(f"chalicelib.{name}")
    assert says in line


def test_no_two_modules_import_each_other() -> None:
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " → ".join([*way[way.index(name) :], name])
        if name not in done:
            for target in set(imported(name)):
                visit(target, (*way, name))
            done.add(name)

    for name in MODULES:
        visit(name, ())


def folder(name: str) -> str:
    """`chalicelib.imports.csv` for each module in it, and for the package itself."""
    is_package = (PROJECT / name.replace(".", "/")).is_dir()
    return name if is_package else name.rpartition(".")[0]


def folders_imported() -> dict[str, set[str]]:
    """By folder. Routes are a layer above all folders: only app.py imports them."""
    found: dict[str, set[str]] = {}
    for name in MODULES:
        if name != "app" and not is_routes(name):
            targets = {folder(target) for target in imported(name)}
            found.setdefault(folder(name), set()).update(targets - {folder(name)})
    return found


def test_no_two_folders_import_each_other_not_even_by_way_of_others() -> None:
    left = folders_imported()
    while done := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in done:
            del left[name]
    assert left == {}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("storage.commit", "from chalicelib.listing import words"),
        ("jobs.store", "from chalicelib.imports import model"),
        ("customers.store", "from chalicelib.orders import model"),
    ],
)
def test_folders_that_import_each_other_are_reported(
    monkeypatch: pytest.MonkeyPatch, name: str, code: str
) -> None:
    monkeypatch.setitem(MODULES, f"chalicelib.{name}", ast.parse(code))
    with pytest.raises(AssertionError):
        test_no_two_folders_import_each_other_not_even_by_way_of_others()


def test_only_settings_reads_the_environment() -> None:
    readers = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv", "environb"}
    }
    assert readers == {"chalicelib.settings"}


def test_a_key_prefix_is_used_by_one_slice_and_not_in_its_routes() -> None:
    owners: dict[str, set[str]] = {}
    for name, tree in MODULES.items():
        for prefix in key_prefixes(tree):
            assert not is_routes(name), f"{name} spells the key {prefix}"
            assert not name.endswith(".model"), f"{name} spells the key {prefix}"
            owners.setdefault(prefix, set()).add(package(name) or name)
    assert "key#" in owners
    assert {prefix: names for prefix, names in owners.items() if len(names) > 1} == {}


def test_a_public_class_has_no_namesake_in_another_slice() -> None:
    homes: dict[str, set[str]] = {}
    for name, tree in MODULES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, set()).add(package(name) or name)
    assert len(homes) > 200
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def key_prefixes(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            start = KEY_PREFIX.match(str(node.values[0].value))
            if start:
                yield start.group()
