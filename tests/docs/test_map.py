"""The files and names in docs/map.md exist."""

import ast
import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
ENTRY = re.compile(r"^\| (?P<behaviour>[^|]+) \| `(?P<file>[^`:]+)(?::(?P<name>\w+))?` \|$", re.M)


def test_the_files_and_names_in_the_map_exist() -> None:
    text = (PROJECT / "docs/map.md").read_text()
    entries = list(ENTRY.finditer(text))
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(entries) == len(rows) - 1 and len(entries) >= 40
    behaviours = [entry["behaviour"] for entry in entries]
    assert len(set(behaviours)) == len(behaviours)
    missing = [entry.group() for entry in entries if not _is_there(entry["file"], entry["name"])]
    assert missing == []


def _is_there(file: str, name: str | None) -> bool:
    path = PROJECT / file
    if not path.is_file() or name is None:
        return path.is_file()
    named = (ast.FunctionDef, ast.ClassDef)
    body = ast.parse(path.read_text()).body
    return any(isinstance(node, named) and node.name == name for node in body)
