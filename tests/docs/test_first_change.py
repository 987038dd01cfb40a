"""The first change of CONTRIBUTING.md, applied to a copy of the repository, passes its checks."""

import os
import re
from pathlib import Path

import pytest

from tests.e2e.readme import checkout
from tests.support.programs import ran
from tests.support.running import free_port

pytestmark = pytest.mark.thorough

PROJECT = Path(__file__).resolve().parents[2]
CHAPTER = (
    (PROJECT / "CONTRIBUTING.md")
    .read_text()
    .partition("\n### A field of an order\n")[2]
    .partition("\n### ")[0]
)


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", CHAPTER, re.DOTALL)
    return str(text)


def apply(hunk: str, text: str) -> str:
    """The text after a hunk: below its heading, the old lines occur and become the new ones."""
    heading, *lines = hunk.splitlines()
    old = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    new = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    before, found, after = text.partition(f"\n{heading}")
    assert found and old in after, hunk
    return before + found + after.replace(old, new, 1)


def test_the_field_of_an_order_is_added_as_described(tmp_path: Path) -> None:
    desk = checkout(tmp_path / "checkout", free_port())
    for part in block("diff").split("--- ")[1:]:
        name, *hunks = part.split("@@ ")
        file = desk.folder / name.strip()
        for hunk in hunks:
            file.write_text(apply(hunk, file.read_text()))
    test = block("python")
    (named,) = re.findall(r"^# (tests/\S+)$", test, re.MULTILINE)
    (desk.folder / named).write_text(test.partition("\n")[2])
    checks = ["ruff check chalicelib tests", "ruff format --check chalicelib tests"]
    checks += ["mypy --strict chalicelib"]
    for line in [*block("sh").splitlines(), *(f".venv/bin/{check}" for check in checks)]:
        ran("sh", "-ec", line, cwd=desk.folder, env=os.environ | desk.environment)
    for made in ("chalicelib/description/examples.json", "clients/python/src/backroom/models.py"):
        assert "gift" in (desk.folder / made).read_text()
