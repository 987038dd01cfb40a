"""What the documents name in code type, the code has: codes, states, options, files, commands."""

import re
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

PROJECT = Path(__file__).resolve().parents[2]
PAGES = [
    page
    for page in (*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"))
    if page.name != "CHANGELOG.md"  # which also names what is gone
]
QUOTED = re.compile(r"`([^`\n]+)`")
# A code, a state, a field, an option of a command; an event or an action; a file.
NAME = re.compile(
    r"[a-z]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z]+)*|[a-z]+(?:[A-Z][a-z0-9]*)+|--[a-z][a-z-]+"
)
KIND = re.compile(r"[a-z]+(?:_[a-z]+)*\.[a-z]+(?:_[a-z]+)*")
FILE = re.compile(r"[\w.-]+(?:/[\w.-]+)*\.(?:py|js|mjs|css|yaml|json|toml|txt|html|asl\.json)")
BELOW = ("", "docs", "chalicelib", "infra", "console", "console/src", "tests", "clients/python")
# Of other systems, or invented for an example.
OTHERS = {"AWS_PROFILE", "emp_mia", "order.py", "bring_back.py", "stock.csv", "prices.json"}


@cache
def sources() -> str:
    kinds = {".py", ".js", ".mjs", ".yaml", ".toml", ".json", ".in", ".txt", ".csv"}
    folders = ("chalicelib", "infra", "clients", "bench", "tests", "console/src", ".chalice")
    found = [path for folder in folders for path in (PROJECT / folder).rglob("*")]
    here = Path(__file__)
    read = [path for path in found if path.suffix in kinds and path.is_file() and path != here]
    tops = [PROJECT / name for name in ("app.py", "Makefile", "pyproject.toml", ".ci/run")]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in [*read, *tops])


@cache
def words() -> set[str]:
    return set(re.findall(r"[A-Za-z0-9_-]+", sources()))


def quoted() -> set[tuple[str, str]]:
    return {
        (page.relative_to(PROJECT).as_posix(), text)
        for page in PAGES
        for text in QUOTED.findall(page.read_text(encoding="utf-8"))
        if text not in OTHERS
    }


def test_each_code_state_and_option_in_a_page_is_in_the_code() -> None:
    named = {(page, text) for page, text in quoted() if NAME.fullmatch(text)}
    assert len(named) > 300
    assert sorted(pair for pair in named if pair[1] not in words()) == []


def test_each_event_and_action_in_a_page_is_in_the_code() -> None:
    ends = {"py", "js", "mjs", "css", "yaml", "json", "toml", "txt", "html", "md", "csv", "sh"}
    named = {
        (page, text)
        for page, text in quoted()
        if KIND.fullmatch(text) and text.rpartition(".")[2] not in ends
    }
    assert len(named) > 60
    assert sorted(pair for pair in named if not set(pair[1].split(".")) <= words()) == []


def test_each_file_that_a_page_names_is_there() -> None:
    names = {path.name for path in PROJECT.rglob("*") if ".venv" not in path.as_posix()}
    missing = [
        (page, text)
        for page, text in quoted()
        if FILE.fullmatch(text)
        and not any((PROJECT / folder / text).exists() for folder in BELOW)
        and Path(text).name not in names
    ]
    assert sorted(missing) == []
