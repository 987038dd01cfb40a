"""The `curl` commands of the documentation work as they are written."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# docs/api.md says what these are.
KNOWN = {"API", "KEY"}


def commands(text: str) -> Iterator[list[str]]:
    """The words of each `curl` in a block of shell commands."""
    for block in re.findall(r"^```(?:sh)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if "curl " not in block:
            continue
        words = shlex.split(block, comments=True)
        starts = [place for place, word in enumerate(words) if word == "curl"]
        for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
            yield words[start:end]


def test_there_are_commands_to_check() -> None:
    found = [command for page in PAGES for command in commands(page.read_text())]
    assert len(found) > 12


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_documented_request_uses_no_variable_that_no_page_explains(page: Path) -> None:
    for command in commands(page.read_text()):
        used = {name for word in command for name in re.findall(r"\$(\w+)", word)}
        assert used <= KNOWN, command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_documented_request_with_a_body_says_that_it_is_json(page: Path) -> None:
    for command in commands(page.read_text()):
        if "-d" in command:
            assert "Content-Type: application/json" in command, command
