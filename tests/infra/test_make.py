"""What `make` says about itself, and that texts name only what it has."""

import re
from pathlib import Path

import pytest

from tests.support.programs import ran

pytestmark = pytest.mark.thorough

PROJECT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`make ([a-z][a-z-]*)|^make ([a-z][a-z-]*)$", re.MULTILINE)


def targets() -> set[str]:
    (names,) = re.findall(r"^\.PHONY: (.*)$", (PROJECT / "Makefile").read_text(), re.MULTILINE)
    return set(names.split())


def test_make_alone_prints_each_target_with_a_line() -> None:
    printed = re.findall(r"^  make (\S+) +(\S.*)$", ran("make", cwd=PROJECT).stdout, re.MULTILINE)
    assert {name for name, _ in printed} == targets() - {"help"}


def test_each_target_that_a_page_names_is_one() -> None:
    pages = [*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md"), *PROJECT.glob(".github/**/*.*")]
    named = {
        (page.name, name)
        for page in pages
        if page.name != "CHANGELOG.md"
        for pair in NAMED.findall(page.read_text())
        for name in pair
        if name
    }
    assert ("CONTRIBUTING.md", "check") in named
    assert {pair for pair in named if pair[1] not in targets()} == set()
