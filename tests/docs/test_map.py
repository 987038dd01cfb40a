"""Each line of docs/map.md leads to a file, and to a function or class that the code uses."""

import ast
import re
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
ENTRY = re.compile(r"^- (?P<behaviour>.+): `(?P<file>[^`:]+)(?::(?P<name>\w+))?`$", re.M)
FOLDERS = ("chalicelib", "infra", "clients/python", "tests/support")


def entries() -> list[re.Match[str]]:
    text = (PROJECT / "docs/map.md").read_text()
    found = list(ENTRY.finditer(text))
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(found) == len(lines) and len(found) >= 40
    return found


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def code() -> tuple[Path, ...]:
    found = [path for folder in FOLDERS for path in (PROJECT / folder).rglob("*.py")]
    return (PROJECT / "app.py", *found)


def definition(file: str, name: str) -> ast.stmt | None:
    named = (ast.FunctionDef, ast.ClassDef)
    body = tree_of(PROJECT / file).body
    return next((each for each in body if isinstance(each, named) and each.name == name), None)


def is_used(file: str, name: str) -> bool:
    """Whether code names a function or a class, other than in its own definition."""
    own = set(map(id, ast.walk(definition(file, name) or ast.Pass())))
    return any(
        id(node) not in own
        and (
            (isinstance(node, ast.Name) and node.id == name)
            or (isinstance(node, ast.Attribute) and node.attr == name)
        )
        for path in code()
        if path == PROJECT / file or Path(file).stem in path.read_text()
        for node in ast.walk(tree_of(path))
    )


def test_each_line_leads_to_a_file_and_each_behaviour_has_one() -> None:
    behaviours = [entry["behaviour"] for entry in entries()]
    assert len(set(behaviours)) == len(behaviours)
    assert [entry.group() for entry in entries() if not (PROJECT / entry["file"]).is_file()] == []


def test_each_line_leads_to_a_function_or_class_that_is_used() -> None:
    named = [entry for entry in entries() if entry["name"]]
    missing = [entry.group() for entry in named if not definition(entry["file"], entry["name"])]
    assert missing == []
    unused = [each.group() for each in named if not is_used(each["file"], each["name"])]
    assert unused == []
